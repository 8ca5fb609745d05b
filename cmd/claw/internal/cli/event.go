package cli

import (
	"claw/cmd/claw/internal/output"
	"claw/runner/control"
	"claw/state/event"
)

// eventCmd is `claw event`; spec/exec-process.md section 4.
type eventCmd struct {
	List eventList `cmd:"" default:"withargs" aliases:"ls" help:"Show what sessions are to be told, and what became of it."`
	Send eventSend `cmd:"" help:"Tell a session something."`
}

// Help shows examples.
func (eventCmd) Help() string {
	return "The end of a background command is an event for the session that started it; more come from event send. Without an action, list.\n\n" +
		examples("claw event list --state queued", "claw event send --mode now 'the deploy has finished'")
}

type eventList struct {
	State   string `help:"Only events in this state: queued, consumed, retired, unknown, relayed." enum:",queued,consumed,retired,unknown,relayed" default:"" placeholder:"STATE"`
	Session string `help:"Only events of this session." placeholder:"KEY"`
	All     bool   `help:"All that are kept, the archive included."`
	JSON    bool   `name:"json" help:"Print {\"events\": [{\"id\", \"state\", \"kind\", \"sessionKey\", \"text\", …}]}."`
}

// Help shows examples.
func (eventList) Help() string {
	return examples("claw event list --state queued", "claw event list --json | jq -r '.events[] | .state + \" \" + .text'")
}

// Run prints the list.
func (c *eventList) Run(a *app) error {
	ctl, err := a.control("", true)
	if err != nil {
		return err
	}
	events, err := ctl.Events(control.EventFilter{State: event.State(c.State), Session: c.Session, Archived: c.All})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(map[string]any{"events": events})
	}
	if len(events) == 0 {
		a.io.Note("No events.")
		return nil
	}
	t := output.Table{Columns: []output.Column{{Name: "STATE", State: true}, {Name: "WHEN"}, {Name: "SESSION", Flex: true}, {Name: "EVENT", Flex: true}}}
	for _, e := range events {
		t.Rows = append(t.Rows, []string{string(e.State), a.ago(e.CreatedAt), e.SessionKey, e.Text})
	}
	return a.io.Table(t)
}
