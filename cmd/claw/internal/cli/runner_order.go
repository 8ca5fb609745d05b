package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"claw/runner"
	"claw/state"
	"claw/state/boot"
	"claw/state/session"
)

type runnerDrain struct {
	Budget string `help:"How long what goes on may take, as in 90s or 5m; 0 not at all." default:"5m" placeholder:"TIME"`
	JSON   bool   `name:"json" help:"Print the row of its life at the end: {\"bootId\", \"startedAt\", \"completedAt\", \"outcome\", \"reason\", …}."`
}

// Help shows examples.
func (runnerDrain) Help() string {
	return "It begins nothing any more, and waits for the turns and the runs of automations that go on; what an agent, an automation or you would start meanwhile is refused with 4. Commands in the background are not waited for: they do not end with the runner, and a plain claw exec needs none. What takes longer than the budget goes on under its supervisor, and the next tick or runner ends it. A second drain ends it at once.\n\n" +
		examples("claw runner drain", "claw runner drain --budget 30s && sudo make install")
}

// Run drains the runner and waits for its end.
func (c *runnerDrain) Run(a *app) error {
	budget, err := budgetOf("runner drain", c.Budget)
	if err != nil {
		return err
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	asked, err := runner.Drain(a.ctx, store, a.clock, budget)
	if err != nil {
		return orderError("runner drain", err)
	}
	b, err := a.awaitEnd(asked, budget)
	if err != nil {
		return orderError("runner drain", err)
	}
	return a.tellEnd(b, c.JSON, "the runner has ended")
}

type runnerRestart struct {
	Continue string `help:"What the session is to go on with afterwards: its agent is told, once, also when heartbeats are off." placeholder:"TEXT"`
	Session  string `help:"Which session that is; default $$CLAW_SESSION, else the agent's main session." placeholder:"KEY"`
	Budget   string `help:"How long what goes on may take, as in 90s or 5m; 0 not at all." default:"5m" placeholder:"TIME"`
	NoWait   bool   `name:"no-wait" help:"Return when the runner has been told. Within a turn of an agent that is always so: the runner waits for that turn."`
	JSON     bool   `name:"json" help:"Print {\"bootId\", \"continuationId\", \"next\": ID of the new life, when it was waited for}."`
}

// Help shows examples.
func (runnerRestart) Help() string {
	return "The runner is drained and begins anew in place, with the program and the settings as they are then. What --continue says is written down before it ends, together with the order, and is told to the session when it has begun: once, on the way on which the session was spoken to last. Two restarts at the same time are one, and both continuations are carried out.\n\n" +
		examples("claw runner restart", "claw runner restart --continue 'check that the new build answers'")
}

// Run orders the restart.
func (c *runnerRestart) Run(a *app) error {
	budget, err := budgetOf("runner restart", c.Budget)
	if err != nil {
		return err
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	next, err := c.continuation(a, store)
	if err != nil {
		return err
	}
	asked, err := runner.Restart(a.ctx, store, a.clock, budget, next)
	if err != nil {
		return orderError("runner restart", err)
	}
	out := map[string]any{"bootId": asked.Boot.ID}
	if next != nil {
		out["continuationId"] = next.ID
	}
	words := "the runner has been told to restart"
	if !c.NoWait && a.env("TURN_ID") == "" {
		b, err := a.awaitNext(asked, budget)
		if err != nil {
			return orderError("runner restart", err)
		}
		out["next"], words = b.ID, "the runner has restarted, pid "+itoa(b.Owner.PID)
	}
	if c.JSON {
		return a.io.JSON(out)
	}
	a.io.Note(words)
	return nil
}

// continuation is what --continue asks for, nil for nothing.
func (c *runnerRestart) continuation(a *app, store *state.Store) (*boot.Continuation, error) {
	if strings.TrimSpace(c.Continue) == "" {
		if c.Session != "" || c.Continue != "" {
			return nil, usagef("runner restart: there is nothing to go on with", "claw runner restart --continue 'what is to be done then'")
		}
		return nil, nil
	}
	name, err := a.heartbeatAgent("")
	if err != nil {
		return nil, err
	}
	key := firstOf(c.Session, a.env("SESSION"), session.Main(name))
	k, err := session.Parse(key)
	switch {
	case err != nil:
		return nil, usagef("runner restart: "+err.Error(), remedyOf(err)...)
	case session.IsSubagent(key):
		return nil, usagef("runner restart: "+key+" is of a sub-agent, which is told nothing by itself", "name the session of whoever started it")
	case len(c.Continue) > maxContinue:
		return nil, usagef(fmt.Sprintf("runner restart: the text has %d bytes, at most %d are allowed", len(c.Continue), maxContinue), "keep it in a file and say where")
	}
	name = firstOf(k.Agent, name)
	if err := a.checkAgent("runner restart", name); err != nil {
		return nil, err
	}
	next := &boot.Continuation{SessionKey: key, Agent: name, Text: strings.ToValidUTF8(c.Continue, "\uFFFD")}
	return next, store.View(func(tx *state.Tx) error { return routeOf(tx, next, a.env("TURN_ID")) })
}

// maxContinue is the longest text of a continuation in bytes, that of an event.
const maxContinue = 64 << 10

// routeOf is where a continuation's reply goes: where the turn's goes that asks
// for it, else where its session was last spoken to.
func routeOf(tx *state.Tx, c *boot.Continuation, turn string) error {
	row, ok, err := state.Sessions.Get(tx, c.SessionKey)
	if ok {
		c.Route = row.Rec.Route
	}
	if err != nil || turn == "" {
		return err
	}
	t, ok, err := state.Turns.Get(tx, turn)
	if ok && t.Rec.SessionKey == c.SessionKey && !t.Rec.Route.IsZero() {
		c.Route = t.Rec.Route
	}
	return err
}

func budgetOf(command, typed string) (time.Duration, error) {
	d, err := time.ParseDuration(typed)
	if typed == "0" {
		d, err = 0, nil
	}
	if err != nil || d < 0 || d > 24*time.Hour {
		return 0, usagef(fmt.Sprintf("%s: --budget %q: it is a time of at most 24h", command, typed), "--budget 90s", "--budget 5m")
	}
	return d, nil
}

// endMargin is how long after its budget a runner has ended for certain: it
// gives messages ten seconds.
const endMargin = 15 * time.Second

func (a *app) awaitEnd(asked runner.Asked, budget time.Duration) (boot.Boot, error) {
	a.sayWaiting(asked)
	in := a.interruptible()
	ctx, cancel := context.WithTimeout(in.ctx, budget+endMargin)
	defer cancel()
	b, err := asked.Wait(ctx, a.clock)
	return b, leftAlone(err, in.done(), "it has been told to end, and does so without this command")
}

func (a *app) awaitNext(asked runner.Asked, budget time.Duration) (boot.Boot, error) {
	if _, err := a.awaitEnd(asked, budget); err != nil {
		return boot.Boot{}, err
	}
	in := a.interruptible()
	ctx, cancel := context.WithTimeout(in.ctx, endMargin)
	defer cancel()
	b, err := asked.Next(ctx, a.clock)
	if errors.Is(err, runner.ErrNotUp) {
		err = &failure{code: exitFailed, text: "runner restart: it has ended, and has not begun again", err: err, remedy: []string{"claw runner run", "what it was to go on with is kept until then"}}
	}
	return b, leftAlone(err, in.done(), "it restarts without this command")
}

// leftAlone is the error of a wait that a signal has ended.
func leftAlone(err error, code int, text string) error {
	if err == nil || code == 0 {
		return err
	}
	return &failure{code: code, text: text, err: err}
}

// sayWaiting tells a person at a terminal what is waited for.
func (a *app) sayWaiting(asked runner.Asked) {
	if a.io.ErrTTY {
		a.io.Note("pid " + itoa(asked.State.PID) + " has been told; claw runner status says what it waits for")
	}
}

// tellEnd says how a life ended.
func (a *app) tellEnd(b boot.Boot, asJSON bool, words string) error {
	if asJSON {
		if err := a.io.JSON(b); err != nil {
			return err
		}
	}
	switch {
	case b.Outcome == boot.Open && asJSON:
		return silent(exitFailed)
	case b.Outcome == boot.Open:
		return &failure{code: exitFailed, text: "the runner has died before it had ended in order", remedy: []string{"claw heartbeat tick takes over what it has left"}}
	case asJSON:
		return nil
	case b.Reason != "":
		words += "; " + b.Reason
	}
	a.io.Note(words)
	return nil
}

// orderError gives an error of a drain or a restart its exit code.
func orderError(command string, err error) error {
	order, isOrder := errors.AsType[*boot.OrderError](err)
	switch {
	case errors.Is(err, runner.ErrNotUp):
		return &failure{code: exitNotFound, text: command + ": " + err.Error(), err: err}
	case errors.Is(err, runner.ErrStillUp):
		return &failure{code: exitRefused, text: command + ": " + err.Error(), err: err, remedy: []string{"claw runner status says what it waits for"}}
	case errors.Is(err, runner.ErrNoRow):
		return &failure{code: exitRefused, text: command + ": " + err.Error(), err: err, remedy: []string{"claw runner stop ends it"}}
	case isOrder:
		return &failure{code: exitRefused, text: command + ": " + order.Error(), err: err, remedy: nonEmpty(order.Remedy())}
	}
	return err
}

// admitted refuses what a runner that is being drained would have to wait for:
// nothing is begun that it might leave behind (spec/tasks-recovery.md 4.2).
func (a *app) admitted(command string) error {
	dir, err := a.stateDir()
	if err != nil || !runner.Draining(dir) {
		return err
	}
	return &failure{code: exitRefused, text: command + ": " + boot.Draining.Why(), remedy: nonEmpty(boot.Draining.Remedy())}
}

// admittedInTurn is admitted for what only an agent is refused: a command that
// it starts would be told to a turn that nobody begins. A command of yours has a
// supervisor of its own, and its end waits.
func (a *app) admittedInTurn(command string) error {
	if a.env("TURN_ID") == "" {
		return nil
	}
	return a.admitted(command)
}

// breakerOf is how much begins by itself: what the runner says of itself, or what
// the next tick will find.
func (a *app) breakerOf(st runner.State) boot.Breaker {
	switch {
	case !st.Running:
		return a.breaker()
	case st.Mode == string(boot.Safe):
		b := a.breaker()
		b.Mode, b.Until = boot.Safe, st.Until
		return b
	}
	return boot.Breaker{Mode: boot.Normal}
}

// breaker is how much begins by itself where no runner is at work.
func (a *app) breaker() boot.Breaker {
	cfg, store, err := a.opened()
	if err != nil || cfg.Runner.SafeMode == "off" {
		return boot.Breaker{Mode: boot.Normal}
	}
	seen, err := runner.Assess(store, a.now())
	if err != nil {
		return boot.Breaker{Mode: boot.Normal}
	}
	return seen
}
