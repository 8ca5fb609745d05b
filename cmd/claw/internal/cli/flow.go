package cli

import (
	"fmt"

	"claw/cmd/claw/internal/output"
	"claw/runner/control"
	"claw/runner/flows"
	"claw/state"
	"claw/state/flow"
	"claw/state/session"
	"claw/state/task"
)

// flowCmd is `claw flow`; spec/tasks-recovery.md section 3.
type flowCmd struct {
	Create    flowCreate    `cmd:"" help:"Make a flow, and print its id."`
	TryCreate flowTryCreate `cmd:"" name:"try-create" help:"The same, but go on without one when the ledger takes nothing."`
	Get       flowGet       `cmd:"" help:"Show a flow with its revision, which a change names."`
	List      flowList      `cmd:"" aliases:"ls" help:"Show the flows of an owner, newest first."`
	Latest    flowLatest    `cmd:"" help:"Show the newest flow that has not ended, else the newest."`
	Resolve   flowResolve   `cmd:"" help:"Find the flow that an id, its beginning or an owner means."`
	Wait      flowWait      `cmd:"" help:"Write down what it waits for, or what blocks it."`
	Resume    flowResume    `cmd:"" help:"Go on with one that waited or was blocked."`
	Finish    flowFinish    `cmd:"" help:"End it: it succeeded."`
	Fail      flowFail      `cmd:"" help:"End it: it failed."`
	Cancel    flowCancel    `cmd:"" help:"Cancel it, with the tasks that are part of it."`
	RunTask   flowRunTask   `cmd:"" name:"run-task" help:"Make a task that exists part of it; nothing is started."`
	Summary   flowSummary   `cmd:"" help:"Count the tasks that are part of it."`
}

// Help shows examples.
func (flowCmd) Help() string {
	return "A flow is the record of work in several steps: what it is to come to, how far it is, what it waits for, and which tasks are part of it. A script keeps it, so that it can go on where it was when it, or the machine, has died. It starts nothing and wakes nobody.\n\n" +
		"Each change names the revision that was seen last and makes it one greater. Whoever is too late gets the record as it is, and exit 4. Flows belong to a session: those of another one do not exist.\n\n" +
		examples("F=$(claw flow create --controller release --goal 'ship 1.4')", "claw flow wait $F --expect-revision 0 --step test", "claw flow latest --controller release")
}

// owned binds a command to the flows of one session.
type owned struct {
	Owner string `help:"The session that the flow belongs to; default $$CLAW_SESSION, else the agent's main session." placeholder:"KEY"`
}

// book is the ledger as the owner has it. Within a turn the owner is a session of
// the turn's agent, whatever the environment says: its own, or one that is named.
func (o owned) book(a *app) (*flows.Book, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	key, agent, err := a.turnOwner(store)
	if err != nil {
		return nil, err
	}
	owner := firstOf(o.Owner, key, a.session("", a.agent("")))
	k, err := session.Parse(owner)
	if err != nil {
		return nil, usagef("flow: "+err.Error(), remedyOf(err)...)
	}
	if agent != "" && owner != key && k.Agent != agent {
		return nil, &failure{code: exitRefused, text: "flow: " + owner + " is a session of somebody else, and an agent has flows of its own only", remedy: []string{"leave --owner out"}}
	}
	return &flows.Book{Store: store, Owner: owner}, nil
}

// turnOwner is the session and the agent of the turn that this runs in; empty: it
// runs in none.
func (a *app) turnOwner(store *state.Store) (key, agent string, err error) {
	id := a.env("TURN_ID")
	if id == "" {
		return "", "", nil
	}
	err = store.View(func(tx *state.Tx) error {
		row, ok, err := state.Turns.Find(tx, id)
		if ok {
			key, agent = row.Rec.SessionKey, row.Rec.Agent
		}
		return err
	})
	return key, firstOf(agent, a.env("AGENT"), "unknown"), err
}

// reading is a book that shows tasks as they are.
func (o owned) reading(a *app) (*flows.Book, error) {
	book, err := o.book(a)
	if err != nil {
		return nil, err
	}
	keeper, err := a.keeper()
	if err != nil {
		return nil, err
	}
	book.Shown = keeper.Shown
	return book, nil
}

type flowCreate struct {
	flowDraft
	JSON bool `name:"json" help:"Print the record as one JSON object."`
}

// flowDraft is what a new flow may be given.
type flowDraft struct {
	owned
	Controller string `help:"The program that keeps it, such as release." placeholder:"NAME"`
	Goal       string `help:"What it is to come to, in a few words." placeholder:"TEXT"`
	Step       string `help:"Where it is." placeholder:"TEXT"`
	Status     string `help:"queued (the default), running or waiting." enum:"queued,running,waiting" default:"queued" placeholder:"STATUS"`
	StateJSON  string `name:"state-json" help:"What the controller wants to find again, as JSON, at most 64 KiB; - reads stdin." placeholder:"JSON"`
	WaitJSON   string `name:"wait-json" help:"What it waits for, as JSON, at most 64 KiB; - reads stdin." placeholder:"JSON"`
	Notify     string `help:"The notify policy that is kept with it: done_only (the default), state_changes or silent." placeholder:"done_only|state_changes|silent"`
}

func (c *flowDraft) flow(a *app) (f flow.Flow, err error) {
	f = flow.Flow{
		ControllerID: c.Controller, Goal: c.Goal, CurrentStep: c.Step, Status: flow.Status(c.Status), NotifyPolicy: task.NotifyPolicy(c.Notify),
	}
	if c.StateJSON == "-" && c.WaitJSON == "-" {
		return f, usagef("flow create: stdin can be read once", "give one of --state-json and --wait-json in words")
	}
	if v, err := a.jsonValue("stateJson", c.StateJSON); err != nil {
		return f, err
	} else if v != nil {
		f.StateJSON = v.JSON
	}
	if v, err := a.jsonValue("waitJson", c.WaitJSON); err != nil {
		return f, err
	} else if v != nil {
		f.WaitJSON = v.JSON
	}
	return f, nil
}

// jsonValue is a value as a flag gives it; nil: it was not given.
func (a *app) jsonValue(field, arg string) (*flow.Value, error) {
	if arg == "" {
		return nil, nil
	}
	text, err := a.textOf(arg)
	if err != nil {
		return nil, err
	}
	v, err := flow.JSON(field, string(text))
	if err != nil {
		return nil, flowInput(err)
	}
	return &flow.Value{JSON: v, Clear: v == nil}, nil
}

// flowInput gives a value that cannot stand in a flow its code.
func flowInput(err error) error {
	return &failure{code: exitUsage, text: "flow: " + err.Error(), remedy: remedyOf(err), err: err}
}

// Help shows examples.
func (flowCreate) Help() string {
	return "It begins at revision 0. --controller and --goal are needed. When the ledger takes nothing it fails, before there is any work that nobody has written down.\n\n" +
		examples("F=$(claw flow create --controller release --goal 'ship 1.4')", `claw flow create --controller etl --goal load --state-json '{"day":4}'`)
}

// Run makes a flow.
func (c *flowCreate) Run(a *app) error {
	book, draft, err := c.ready(a)
	if err != nil {
		return err
	}
	f, err := book.Create(a.ctx, draft)
	if err != nil {
		return created(f, err)
	}
	if c.JSON {
		return a.io.JSON(f)
	}
	_, err = fmt.Fprintln(a.io.Out, f.ID)
	return err
}

func (c *flowDraft) ready(a *app) (*flows.Book, flow.Flow, error) {
	draft, err := c.flow(a)
	if err != nil {
		return nil, draft, err
	}
	book, err := c.book(a)
	return book, draft, err
}

// created gives an error of creation its code and its way out.
func created(f flow.Flow, err error) error {
	if isInput(err) {
		return flowInput(err)
	}
	fail := &failure{code: exitState, text: "flow create: " + err.Error(), remedy: remedyOf(err), err: err}
	if f.ID != "" {
		fail.text = "flow create: whether flow " + f.ID + " was written is not known: " + err.Error()
		fail.remedy = []string{"claw flow get " + f.ID + " says whether it is there, before you try again"}
	}
	return fail
}

type flowTryCreate struct {
	flowDraft
	JSON bool `name:"json" help:"Print the record as one JSON object, or null."`
}

// Help shows examples.
func (flowTryCreate) Help() string {
	return "For work that matters more than its record: when the state directory is full or cannot be written, nothing (with --json, null) is printed, stderr says why, and it exits 0. Wrong flags are still an error.\n\n" +
		examples("F=$(claw flow try-create --controller backup --goal nightly)", "claw flow try-create --controller b --goal n --json | jq -r .flowId")
}

// Run makes a flow, if that is possible.
func (c *flowTryCreate) Run(a *app) error {
	book, draft, err := c.ready(a)
	if err != nil {
		return err
	}
	f, err := book.Create(a.ctx, draft)
	switch {
	case err != nil && (isInput(err) || f.ID != ""):
		return created(f, err)
	case err != nil:
		a.io.Say("no flow was made: "+err.Error(), remedyOf(err)...)
		if c.JSON {
			return a.io.JSON(nil)
		}
		return nil
	case c.JSON:
		return a.io.JSON(f)
	}
	_, err = fmt.Fprintln(a.io.Out, f.ID)
	return err
}

type flowGet struct {
	owned
	ID   string `arg:"" help:"Its id, or the first four or more characters." placeholder:"ID"`
	JSON bool   `name:"json" help:"Print the record as one JSON object."`
}

// Help shows examples.
func (flowGet) Help() string {
	return "The record as it is written. Its revision is what --expect-revision of a change takes.\n\n" +
		examples("claw flow get 01JE8", "claw flow get 01JE8 --json | jq .revision")
}

// Run shows the record.
func (c *flowGet) Run(a *app) error {
	book, err := c.book(a)
	if err != nil {
		return err
	}
	f, err := book.Get(c.ID)
	if err != nil {
		return flowMissing("flow get", err)
	}
	if c.JSON {
		return a.io.JSON(f)
	}
	return a.io.Pairs(flowPairs(f, &f.Revision))
}

// flowMissing: a flow of somebody else does not exist either.
func flowMissing(command string, err error) error {
	r, ok := control.IsRefused(err)
	if !ok {
		return err
	}
	remedy := nonEmpty(r.Remedy)
	if r.Kind == control.Missing && command != "tasks flow show" {
		remedy = []string{"claw flow list shows what there is"}
	}
	return &failure{code: codeOfRefusal(r.Kind), text: command + ": " + r.Text, remedy: remedy, err: err}
}

// flowPairs is what a person reads about one flow; revision may be nil.
func flowPairs(f flow.Flow, revision *int64) [][2]string {
	all := [][2]string{
		{"flow", f.ID},
		{"mode", string(f.SyncMode)},
		{"status", string(f.Status)},
		{"revision", ""},
		{"goal", f.Goal},
		{"step", f.CurrentStep},
		{"owner", f.OwnerKey},
		{"controller", f.ControllerID},
		{"notify", string(f.NotifyPolicy)},
		{"blocked by", f.BlockedTaskID},
		{"blocked", f.BlockedSummary},
		{"waits for", string(f.WaitJSON)},
		{"state", string(f.StateJSON)},
		{"to be cancelled", exact(f.CancelRequestedAt)},
		{"created", exact(f.CreatedAt)},
		{"changed", exact(f.UpdatedAt)},
		{"ended", exact(f.EndedAt)},
	}
	if revision != nil {
		all[3][1] = itoa(int(*revision))
	}
	pairs := all[:0]
	for _, p := range all {
		if p[1] != "" {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// flowTable is a list of flows; rev: with their revisions.
func (a *app) flowTable(rows []flows.Entry, rev bool) output.Table {
	t := output.Table{Columns: []output.Column{{Name: "FLOW"}, {Name: "MODE"}, {Name: "STATUS", State: true}}}
	if rev {
		t.Columns = append(t.Columns, output.Column{Name: "REV", Right: true})
	}
	t.Columns = append(t.Columns, output.Column{Name: "CONTROLLER", Flex: true}, output.Column{Name: "TASKS"}, output.Column{Name: "GOAL", Flex: true})
	for _, e := range rows {
		row := []string{e.ID, string(e.SyncMode), string(e.Status)}
		if a.io.OutTTY {
			row[0], row[1] = e.ID[:min(len(e.ID), shortFlow)], modeWord(e.SyncMode)
		}
		if rev {
			row = append(row, itoa(int(*e.Revision)))
		}
		t.Rows = append(t.Rows, append(row, e.ControllerID, fmt.Sprintf("%d active/%d total", e.Summary.Active, e.Summary.Total), e.Goal))
	}
	return t
}

// shortFlow is how much of an id a table for people shows: enough to be typed.
const shortFlow = 13

func modeWord(m flow.Mode) string {
	if m == flow.Mirrored {
		return "mirrored"
	}
	return string(m)
}
