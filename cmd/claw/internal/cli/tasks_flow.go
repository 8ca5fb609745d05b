package cli

import (
	"claw/runner/flows"
	"claw/state/flow"
)

// tasksFlow is `claw tasks flow`: the flows of all owners, for an operator;
// spec/tasks-recovery.md 3.7.
type tasksFlow struct {
	List   tasksFlowList   `cmd:"" default:"withargs" aliases:"ls" help:"Show the flows of all owners, newest first."`
	Show   tasksFlowShow   `cmd:"" help:"Show everything that is known about one flow."`
	Cancel tasksFlowCancel `cmd:"" help:"Cancel one, with the tasks that are part of it."`
}

// Help shows examples.
func (tasksFlow) Help() string {
	return "A flow ties tasks together: see claw flow. Without an action, list.\n\n" +
		examples("claw tasks flow list --status blocked", "claw tasks flow cancel 01JE8")
}

// allFlows is the ledger of all owners.
func (a *app) allFlows() (*flows.Book, error) {
	keeper, err := a.keeper()
	if err != nil {
		return nil, err
	}
	return &flows.Book{Store: keeper.Store, All: true, Shown: keeper.Shown}, nil
}

type tasksFlowList struct {
	Status string `help:"Only flows in this status: queued, running, waiting, blocked, succeeded, failed, cancelled, lost." placeholder:"STATUS"`
	Limit  int    `help:"At most so many (default 50)." default:"50" placeholder:"N"`
	All    bool   `help:"All that are kept, the archive included."`
	JSON   bool   `name:"json" help:"Print {\"count\", \"total\", \"status\", \"flows\": […]}."`
}

// Help shows examples.
func (tasksFlowList) Help() string {
	return examples("claw tasks flow list --status blocked", "claw tasks flow list --json | jq '.flows[].taskSummary.active'")
}

// Run prints the list.
func (c *tasksFlowList) Run(a *app) error {
	book, err := a.allFlows()
	if err != nil {
		return err
	}
	return a.flowsListed(book, flows.Filter{Status: flow.Status(c.Status), Limit: c.Limit, Archived: c.All}, c.JSON)
}

type tasksFlowShow struct {
	Lookup string `arg:"" help:"Its id, the first four or more characters, or the key of its owner." placeholder:"ID"`
	JSON   bool   `name:"json" help:"Print the flow with its tasks as one JSON object."`
}

// Help shows examples.
func (tasksFlowShow) Help() string {
	return examples("claw tasks flow show 01JE8", "claw tasks flow show agent:main:main --json | jq .waitJson")
}

// Run shows one flow.
func (c *tasksFlowShow) Run(a *app) error {
	book, err := a.allFlows()
	if err != nil {
		return err
	}
	e, err := book.Show(c.Lookup)
	if err != nil {
		return flowMissing("tasks flow show", err)
	}
	return a.flowShown(e, c.JSON)
}

type tasksFlowCancel struct {
	Lookup string `arg:"" help:"Its id, the first four or more characters, or the key of its owner." placeholder:"ID"`
	JSON   bool   `name:"json" help:"Print {\"found\", \"cancelled\", \"reason\", \"flow\", \"tasks\"}."`
}

// Help shows examples.
func (tasksFlowCancel) Help() string {
	return "As claw flow cancel, whoever it belongs to. A flow that only mirrors a task has that task cancelled. Within an agent's turn only its own flows can be.\n\n" +
		examples("claw tasks flow cancel 01JE8", "claw tasks flow cancel 01JE8 --json | jq -r .reason")
}

// Run cancels one flow.
func (c *tasksFlowCancel) Run(a *app) error {
	book, err := a.allFlows()
	if err != nil {
		return err
	}
	if a.env("TURN_ID") != "" {
		if book, err = (owned{}).reading(a); err != nil {
			return err
		}
	}
	return a.cancelFlow("tasks flow cancel", book, c.Lookup, flow.Change{Op: flow.RequestCancel}, c.JSON)
}
