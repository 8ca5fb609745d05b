package cli

import (
	"errors"
	"fmt"
	"strings"

	"claw/runner/heartbeat"
	"claw/runner/poke"
	"claw/state/event"
	"claw/state/session"
)

type eventSend struct {
	Text      []string `arg:"" help:"What the session is told; - reads it from stdin." placeholder:"TEXT"`
	Mode      string   `help:"now wakes the agent; next-heartbeat (the default) waits for its next turn." enum:"now,next-heartbeat" default:"next-heartbeat" placeholder:"WHEN"`
	Session   string   `help:"The session that is told; default $$CLAW_SESSION, else the agent's main session." placeholder:"KEY"`
	Agent     string   `help:"The agent whose main session is meant; default $$CLAW_AGENT, else main." placeholder:"NAME"`
	Key       string   `help:"What it is about: the same text under the same key waits only once." placeholder:"CONTEXT"`
	Untrusted bool     `help:"Say in the prompt that the text is somebody else's."`
	JSON      bool     `name:"json" help:"Print {\"outcome\": \"queued\"|\"coalesced\", \"event\": {…}}."`
}

// Help shows examples.
func (eventSend) Help() string {
	return "Prints queued, or coalesced when the same waits already. The session is told it in a turn, at most 20 events at a time, and the event is consumed when that turn has succeeded.\n\n" +
		examples("claw event send --mode now 'the deploy of api has finished'", "journalctl -p err -S -1h | claw event send - --untrusted --key journal")
}

// Run queues the event.
func (c *eventSend) Run(a *app) error {
	ev, err := c.event(a)
	if err != nil {
		return err
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	who, err := a.actor(store)
	if err != nil {
		return err
	}
	if who.Agent != "" {
		ev.Tools = session.LimitTo(who.Tools)
	}
	sent, why, err := heartbeat.Send(a.ctx, store, ev)
	if err != nil {
		return refusal("event send", err)
	}
	outcome := "queued"
	if why != "" {
		outcome = "coalesced"
	}
	if c.JSON {
		err = a.io.JSON(map[string]any{"outcome": outcome, "event": sent})
	} else {
		_, err = fmt.Fprintln(a.io.Out, outcome)
	}
	if c.Mode == "now" {
		return errors.Join(err, a.wake())
	}
	return err
}

func (c *eventSend) event(a *app) (event.Event, error) {
	text, err := a.textOf(strings.Join(c.Text, " "))
	if err != nil {
		return event.Event{}, err
	}
	if strings.TrimSpace(string(text)) == "" {
		return event.Event{}, usagef("event send: the text is blank", "say what the session is to be told")
	}
	agent, err := a.heartbeatAgent(c.Agent)
	if err != nil {
		return event.Event{}, err
	}
	key := c.Session
	if key == "" && c.Agent == "" {
		key = a.env("SESSION")
	}
	key = firstOf(key, session.Main(agent))
	k, err := session.Parse(key)
	if err != nil {
		return event.Event{}, usagef("event send: "+err.Error(), remedyOf(err)...)
	}
	if err := a.checkAgent("event send", firstOf(k.Agent, agent)); err != nil {
		return event.Event{}, err
	}
	return event.Event{
		Kind: event.KindEvent, SessionKey: key, Agent: firstOf(k.Agent, agent), ContextKey: c.Key, Text: strings.ToValidUTF8(string(text), "\uFFFD"),
		Untrusted: c.Untrusted, NextTurn: c.Mode != "now",
	}, nil
}

// wake has whoever works, or a tick, look at the state directory now.
func (a *app) wake() error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	return poke.Act(store.Dir(), cfg.Wake.OnExit, a.environ)
}
