package cli

import (
	"errors"
	"fmt"

	"claw/cmd/claw/internal/output"
	"claw/runner/flows"
	"claw/state/flow"
	"claw/state/task"
)

func isInput(err error) bool {
	_, ok := errors.AsType[*flow.InputError](err)
	return ok
}

type flowList struct {
	owned
	Status     string `help:"Only flows in this status: queued, running, waiting, blocked, succeeded, failed, cancelled, lost." placeholder:"STATUS"`
	Controller string `help:"Only those of this controller." placeholder:"NAME"`
	Limit      int    `help:"At most so many (default 50)." default:"50" placeholder:"N"`
	All        bool   `help:"All that are kept, the archive included."`
	JSON       bool   `name:"json" help:"Print {\"count\", \"total\", \"status\", \"flows\": […]}."`
}

// Help shows examples.
func (flowList) Help() string {
	return "Flows as they really are, before anybody has written that down. What is read here gives no right to change: claw flow get has the revision.\n\n" +
		examples("claw flow list --status waiting", "claw flow list --json | jq -r '.flows[].flowId'")
}

// Run prints the list.
func (c *flowList) Run(a *app) error {
	book, err := c.reading(a)
	if err != nil {
		return err
	}
	return a.flowsListed(book, flows.Filter{Status: flow.Status(c.Status), Controller: c.Controller, Limit: c.Limit, Archived: c.All}, c.JSON)
}

// flowsListed prints the flows of a book.
func (a *app) flowsListed(book *flows.Book, f flows.Filter, asJSON bool) error {
	if f.Status != "" {
		if _, err := flow.ParseStatus(string(f.Status)); err != nil {
			return usagef("flow list: "+err.Error(), remedyOf(err)...)
		}
	}
	if f.Archived {
		f.Limit = 0
	}
	list, err := book.List(f)
	if err != nil {
		return err
	}
	if asJSON {
		return a.io.JSON(list)
	}
	if len(list.Flows) == 0 {
		a.io.Note("No flows.")
		return nil
	}
	if err := a.io.Table(a.flowTable(list.Flows, book.All)); err != nil {
		return err
	}
	if n := list.Counts; a.io.OutTTY {
		a.io.Note(fmt.Sprintf("%d active · %d blocked · %d cancel-requested · %d total", n.Active, n.Blocked, n.Cancelled, n.Total))
	}
	if list.Count < list.Total {
		a.io.Note(fmt.Sprintf("the newest %d of %d; --limit and --all show more", list.Count, list.Total))
	}
	return nil
}

type flowLatest struct {
	owned
	Controller string `help:"Only those of this controller." placeholder:"NAME"`
	JSON       bool   `name:"json" help:"Print the flow with its tasks as one JSON object."`
}

// Help shows examples.
func (flowLatest) Help() string {
	return "What a controller asks first when it begins: is there something to go on with? Exits 3 when there is none.\n\n" +
		examples("claw flow latest --controller release", "claw flow latest --json | jq -r '.status, .currentStep'")
}

// Run shows the latest flow.
func (c *flowLatest) Run(a *app) error {
	book, err := c.reading(a)
	if err != nil {
		return err
	}
	e, err := book.Latest(c.Controller)
	if err != nil {
		return flowMissing("flow latest", err)
	}
	return a.flowShown(e, c.JSON)
}

type flowResolve struct {
	owned
	Token string `arg:"" help:"An id, the first four or more characters of one, or the owner's key: of its flows the latest." placeholder:"TOKEN"`
	JSON  bool   `name:"json" help:"Print the flow with its tasks as one JSON object."`
}

// Help shows examples.
func (flowResolve) Help() string {
	return examples("claw flow resolve 01JE8", "claw flow resolve agent:main:main --json | jq -r .flowId")
}

// Run finds one flow.
func (c *flowResolve) Run(a *app) error {
	book, err := c.reading(a)
	if err != nil {
		return err
	}
	e, err := book.Show(c.Token)
	if err != nil {
		return flowMissing("flow resolve", err)
	}
	return a.flowShown(e, c.JSON)
}

// flowShown prints a flow with its tasks.
func (a *app) flowShown(e flows.Entry, asJSON bool) error {
	if asJSON {
		return a.io.JSON(e)
	}
	pairs := append(flowPairs(e.Flow, e.Revision), [2]string{"tasks", fmt.Sprintf("%d active, %d total", e.Summary.Active, e.Summary.Total)})
	for _, t := range e.Tasks {
		pairs = append(pairs, [2]string{"task " + task.Name(t), string(t.Status) + ": " + task.Title(t)})
	}
	return a.io.Pairs(pairs)
}

type flowSummary struct {
	owned
	ID   string `arg:"" help:"Its id, or the first four or more characters." placeholder:"ID"`
	JSON bool   `name:"json" help:"Print {\"total\", \"active\", \"terminal\", \"failures\", \"byStatus\", \"byRuntime\"}."`
}

// Help shows examples.
func (flowSummary) Help() string {
	return examples("claw flow summary 01JE8", "claw flow summary 01JE8 --json | jq .active")
}

// Run counts the tasks.
func (c *flowSummary) Run(a *app) error {
	book, err := c.reading(a)
	if err != nil {
		return err
	}
	e, err := book.Show(c.ID)
	if err != nil {
		return flowMissing("flow summary", err)
	}
	if c.JSON {
		return a.io.JSON(e.Summary)
	}
	s := e.Summary
	pairs := [][2]string{{"total", itoa(s.Total)}, {"active", itoa(s.Active)}, {"ended", itoa(s.Terminal)}, {"failed or lost", itoa(s.Failures)}}
	for _, status := range [...]task.Status{task.Queued, task.Running, task.Succeeded, task.Failed, task.TimedOut, task.Cancelled, task.Lost} {
		if n := s.ByStatus[status]; n > 0 {
			pairs = append(pairs, [2]string{string(status), itoa(n)})
		}
	}
	return a.io.Pairs(pairs)
}

// flowCandidates are flows for a completion script.
func (a *app) flowCandidates() ([]candidate, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	list, err := (&flows.Book{Store: store, All: true}).List(flows.Filter{Limit: 50})
	var all []candidate
	for _, e := range list.Flows {
		all = append(all, candidate{name: e.ID, help: oneLine(string(e.Status) + ": " + output.Safe(e.Goal))})
	}
	return all, err
}
