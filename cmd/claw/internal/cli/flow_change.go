package cli

import (
	"errors"
	"fmt"

	"claw/runner/flows"
	"claw/state/flow"
	"claw/state/task"
)

// changing is what every change of a flow takes.
type changing struct {
	owned
	ID     string  `arg:"" help:"Its id, or the first four or more characters." placeholder:"ID"`
	Expect *int64  `name:"expect-revision" required:"" help:"The revision that you have seen; at another one nothing is written, and it exits 4." placeholder:"N"`
	Step   *string `help:"Where it is; empty takes it away." placeholder:"TEXT"`
	State  string  `name:"state-json" help:"What the controller wants to find again; null takes it away, - reads stdin." placeholder:"JSON"`
	JSON   bool    `name:"json" help:"Print {\"applied\", \"flow\"}, or {\"applied\", \"code\", \"current\"}."`
}

// blocking is what a flow may be blocked by.
type blocking struct {
	BlockedTask    *string `name:"blocked-task" help:"The task that blocks it, one of its own." placeholder:"TASK"`
	BlockedSummary *string `name:"blocked-summary" help:"Why it is blocked." placeholder:"TEXT"`
}

// change is the patch of these flags.
func (c *changing) change(a *app, op flow.Op) (flow.Change, error) {
	out := flow.Change{Op: op, Expect: c.Expect, Patch: flow.Patch{Step: c.Step}}
	v, err := a.jsonValue("stateJson", c.State)
	out.Patch.State = v
	return out, err
}

// apply writes a change, and says what became of it.
func (c *changing) apply(a *app, ch flow.Change) error {
	book, err := c.book(a)
	if err != nil {
		return err
	}
	r, err := book.Change(a.ctx, c.ID, ch)
	return a.tellChange("flow "+string(ch.Op), c.ID, r, err, c.JSON)
}

// tellChange prints the new revision, or the record as it is where nothing was
// written: a loop in a shell can look at that and try again.
func (a *app) tellChange(command, id string, r flows.Result, err error, asJSON bool) error {
	switch {
	case err != nil && r.Code == "" && isInput(err):
		return flowInput(err)
	case err != nil && r.Code == "":
		return flowMissing(command, err)
	}
	if asJSON {
		if err := a.io.JSON(r); err != nil {
			return err
		}
		return a.codeOfChange(r)
	}
	switch {
	case r.Applied:
		_, err = fmt.Fprintln(a.io.Out, r.Flow.Revision)
		return err
	case r.Code == flow.CodeNotFound:
		return flowMissing(command, err)
	case err != nil:
		return unknownChange(command, id, r, err)
	}
	if err := a.io.Pairs(flowPairs(*r.Current, &r.Current.Revision)); err != nil {
		return err
	}
	no := &flow.Rejection{Code: r.Code, Flow: *r.Current}
	return &failure{code: exitRefused, text: command + ": " + no.Error(), remedy: changeRemedy(r)}
}

func changeRemedy(r flows.Result) []string {
	switch r.Code {
	case flow.CodeConflict:
		return []string{fmt.Sprintf("it is at revision %d: look at it, and decide anew", r.Current.Revision)}
	case flow.CodeCancelRequested:
		return []string{"claw flow cancel " + r.Current.ID + " carries that through"}
	}
	return nil
}

// unknownChange: the ledger took nothing, or may have.
func unknownChange(command, id string, r flows.Result, err error) error {
	f := &failure{code: exitState, text: command + ": " + err.Error(), remedy: remedyOf(err), err: err}
	if r.Code == flow.CodeUnknown {
		f.remedy = []string{"it may have been written: claw flow get " + id + " says so, before you try again"}
	}
	return f
}

func (a *app) codeOfChange(r flows.Result) error {
	switch {
	case r.Applied:
		return nil
	case r.Code == flow.CodeNotFound:
		return silent(exitNotFound)
	case r.Code == flow.CodePersist, r.Code == flow.CodeUnknown:
		return silent(exitState)
	}
	return silent(exitRefused)
}

type flowWait struct {
	changing
	blocking
	Wait string `name:"wait-json" help:"What it waits for, as JSON, at most 64 KiB; null takes it away, - reads stdin." placeholder:"JSON"`
}

// Help shows examples.
func (flowWait) Help() string {
	return "It returns at once: what is waited for is written down, and whoever keeps the flow looks for it himself. With --blocked-task or --blocked-summary it is blocked, which the audit shows. Prints the new revision.\n\n" +
		examples(`claw flow wait 01JE8 --expect-revision 2 --wait-json '{"pr":17}'`, "claw flow wait 01JE8 --expect-revision 2 --blocked-summary 'no quota'")
}

// Run writes it down.
func (c *flowWait) Run(a *app) error {
	ch, err := c.change(a, flow.Wait)
	if err != nil {
		return err
	}
	if c.State == "-" && c.Wait == "-" {
		return usagef("flow wait: stdin can be read once", "give one of --state-json and --wait-json in words")
	}
	if ch.Patch.Wait, err = a.jsonValue("waitJson", c.Wait); err != nil {
		return err
	}
	ch.Patch.BlockedTask, ch.Patch.BlockedSummary = c.BlockedTask, c.BlockedSummary
	return c.apply(a, ch)
}

type flowResume struct {
	changing
	Status string `help:"queued (the default) or running." enum:"queued,running" default:"queued" placeholder:"STATUS"`
}

// Help shows examples.
func (flowResume) Help() string {
	return "What it waited for, and what blocked it, is taken away. Prints the new revision.\n\n" +
		examples("claw flow resume 01JE8 --expect-revision 3 --status running", "claw flow resume 01JE8 --expect-revision 3 --step build")
}

// Run goes on with it.
func (c *flowResume) Run(a *app) error {
	ch, err := c.change(a, flow.Resume)
	if err != nil {
		return err
	}
	ch.To = flow.Status(c.Status)
	return c.apply(a, ch)
}

type flowFinish struct{ changing }

// Help shows examples.
func (flowFinish) Help() string {
	return "What has ended stays so. Prints the new revision.\n\n" +
		examples("claw flow finish 01JE8 --expect-revision 4", `claw flow finish 01JE8 --expect-revision 4 --state-json '{"tag":"v1"}'`)
}

// Run ends it.
func (c *flowFinish) Run(a *app) error {
	ch, err := c.change(a, flow.Finish)
	if err != nil {
		return err
	}
	return c.apply(a, ch)
}

type flowFail struct {
	changing
	blocking
}

// Help shows examples.
func (flowFail) Help() string {
	return "What has ended stays so. Prints the new revision.\n\n" +
		examples("claw flow fail 01JE8 --expect-revision 4 --blocked-summary 'tests'", "claw flow fail 01JE8 --expect-revision 4 --step deploy")
}

// Run ends it.
func (c *flowFail) Run(a *app) error {
	ch, err := c.change(a, flow.Fail)
	if err != nil {
		return err
	}
	ch.Patch.BlockedTask, ch.Patch.BlockedSummary = c.BlockedTask, c.BlockedSummary
	return c.apply(a, ch)
}

type flowCancel struct {
	owned
	ID      string  `arg:"" help:"Its id, or the first four or more characters." placeholder:"ID"`
	Expect  *int64  `name:"expect-revision" help:"Only at this revision; default: whatever it is." placeholder:"N"`
	Request bool    `help:"Only write down that it is to be cancelled; its tasks go on."`
	Step    *string `help:"Where it is; empty takes it away." placeholder:"TEXT"`
	State   string  `name:"state-json" help:"What the controller wants to find again, written with the wish; null takes it away, - reads stdin." placeholder:"JSON"`
	JSON    bool    `name:"json" help:"Print {\"found\", \"cancelled\", \"reason\", \"flow\", \"tasks\"}; with --request {\"applied\", …}."`
}

// Help shows examples.
func (flowCancel) Help() string {
	return "The wish is written first, and never taken back: from then on it takes no more tasks, and nothing else can become of it. Its tasks are then ended as claw tasks cancel does, and it is cancelled when none goes on, at once or with the end of the last. Exits 75 while one does.\n\n" +
		examples("claw flow cancel 01JE8", "claw flow cancel 01JE8 --request --expect-revision 4")
}

// Run cancels it.
func (c *flowCancel) Run(a *app) error {
	ch := flow.Change{Op: flow.RequestCancel, Expect: c.Expect, Patch: flow.Patch{Step: c.Step}}
	var err error
	if ch.Patch.State, err = a.jsonValue("stateJson", c.State); err != nil {
		return err
	}
	book, err := c.book(a)
	if err != nil {
		return err
	}
	if c.Request {
		r, err := book.Change(a.ctx, c.ID, ch)
		return a.tellChange("flow cancel", c.ID, r, err, c.JSON)
	}
	return a.cancelFlow("flow cancel", book, c.ID, ch, c.JSON)
}

// cancelFlow ends a flow with its tasks.
func (a *app) cancelFlow(command string, book *flows.Book, id string, ch flow.Change, asJSON bool) error {
	keeper, err := a.ender()
	if err != nil {
		return err
	}
	book.End = keeper.Cancel
	in := a.interruptible()
	r, err := book.Cancel(in.ctx, id, ch)
	if code := in.done(); code != 0 && err != nil {
		return &failure{code: code, text: command + ": interrupted; what was told to end goes on ending", remedy: []string{"claw flow get " + id + " says how it stands"}}
	}
	if err != nil && isInput(err) {
		return flowInput(err)
	}
	if err != nil && r.Code == "" {
		return flowMissing(command, err)
	}
	if asJSON {
		return errors.Join(a.io.JSON(r), codeOfFlow(r, err))
	}
	if r.Cancelled {
		a.io.Note("cancelled flow " + r.Flow.ID)
		return nil
	}
	return a.notCancelled(command, r, err)
}

func codeOfFlow(r flows.Cancelled, err error) error {
	switch {
	case r.Cancelled:
		return nil
	case !r.Found:
		return silent(exitNotFound)
	case err != nil:
		return silent(exitState)
	case r.Reason == flow.ReasonStillActive:
		return silent(exitRunning)
	}
	return silent(exitRefused)
}

// notCancelled says why, and shows the record as it is.
func (a *app) notCancelled(command string, r flows.Cancelled, err error) error {
	f := &failure{code: exitRefused, text: command + ": " + r.Reason}
	switch {
	case !r.Found:
		f.code, f.remedy = exitNotFound, []string{"claw flow list shows what there is"}
		return f
	case err != nil:
		return err
	case r.Reason == flow.ReasonStillActive:
		f.code = exitRunning
		for _, t := range r.Tasks {
			if !t.Cancelled && t.Task != nil && t.Task.Status.Active() {
				f.remedy = append(f.remedy, "task "+task.Name(*t.Task)+": "+t.Reason)
			}
		}
		f.remedy = append(f.remedy, "the wish stays; the flow is cancelled with the end of the last of them")
	}
	if r.Flow != nil {
		if err := a.io.Pairs(flowPairs(*r.Flow, &r.Flow.Revision)); err != nil {
			return err
		}
	}
	return f
}
