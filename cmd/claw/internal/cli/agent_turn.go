package cli

import (
	"errors"
	"fmt"
	"io"

	"claw/cmd/claw/internal/config"
	"claw/runner/agent"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/session"
)

// turn runs it, and tells how it went.
func (c *agentSend) turn(a *app, turns *agent.Turns, req agent.Request) error {
	stopped := a.stopOnSignal(&req)
	out := &lastByte{w: a.io.Out}
	if !c.JSON {
		req.Stdout, req.Stderr = out, a.io.Err
	}
	req.Waiting = func(holder string) {
		a.io.Say("waiting for "+req.SessionKey+": "+holder, "Ctrl-C gives up; --no-wait does not wait")
	}
	res, err := turns.Run(stopped.ctx, req)
	code := stopped.done()
	if err != nil {
		return c.notRun(a, res, err, code)
	}
	if a.leftToDo(turns.Store, req.SessionKey) {
		if err := a.wake(); err != nil {
			a.io.Note("what waits for the next turn was not looked at: " + err.Error())
		}
	}
	if c.JSON {
		return c.json(a, res, code)
	}
	if a.io.OutTTY && out.last != 0 && out.last != '\n' {
		fmt.Fprintln(a.io.Out)
	}
	return a.goneOnWith(turnError(res.Turn, code), res.Turn)
}

// goneOnWith adds to the error of a turn that recovery goes on with it, where that
// is so.
func (a *app) goneOnWith(err error, t session.Turn) error {
	f, failed := err.(*failure)
	if !failed {
		return err
	}
	rec, noRec := a.recoverer()
	if noRec != nil {
		return err
	}
	it, ok, seenErr := rec.Seen(a.now(), t.SessionKey)
	begun := it.State == session.ViewRecoverable || it.State == session.ViewBlocked // by an attempt that is at work already
	if seenErr == nil && ok && begun && it.Cycle.SourceTurnID == t.ID {
		f.remedy = append(f.remedy, "it is gone on with by itself, and the answer delivered: claw recover scan says when")
	}
	return f
}

// sentTurn is the answer as JSON. The reply is in one place only.
type sentTurn struct {
	Reply string       `json:"reply"`
	Turn  session.Turn `json:"turn"`
}

func (c *agentSend) json(a *app, res agent.Result, signalled int) error {
	answer := sentTurn{Reply: res.Reply, Turn: res.Turn}
	answer.Turn.Reply = ""
	if err := a.io.JSON(answer); err != nil {
		return err
	}
	if err := turnError(res.Turn, signalled); err != nil {
		return silent(a.codeOf(err, 0))
	}
	return nil
}

// notRun explains why there is no turn, or none that has ended.
func (c *agentSend) notRun(a *app, res agent.Result, err error, signalled int) error {
	if res.Turn.ID != "" {
		return &failure{code: firstCode(signalled, exitClaw), text: "agent send: turn " + res.Turn.ID + " goes on without claw", err: err, remedy: []string{
			"claw sessions show " + res.Turn.SessionKey + " has the reply when it has ended",
		}}
	}
	if signalled != 0 {
		return silent(signalled)
	}
	if !errors.Is(err, agent.ErrNoAgent) {
		return refusedTurn("agent send", err)
	}
	return &failure{code: exitRefused, text: "agent send: no agent is configured", err: err, remedy: a.configuringAgents()}
}

// configuringAgents says how an agent is configured.
func (a *app) configuringAgents() []string {
	file := "claw.toml"
	if places, err := config.Paths(a.getenv); err == nil {
		file = places.Config
	}
	return []string{"set its command in " + file + ", for example:", "[agents.main]", `command = ["claude", "-p"]`}
}

// refusedTurn is an error of runner/agent that says that nothing was done.
func refusedTurn(command string, err error) error {
	busy, isBusy := errors.AsType[*agent.BusyError](err)
	fenced, isFenced := errors.AsType[*agent.FencedError](err)
	_, isLong := errors.AsType[*agent.TooLongError](err)
	switch {
	case isBusy:
		return &failure{code: exitRefused, text: command + ": " + busy.Error(), err: err, remedy: []string{"claw sessions list shows who is in which session"}}
	case isFenced:
		return &failure{code: exitRefused, text: command + ": " + fenced.Error(), err: err, remedy: remedyOf(err)}
	case isLong:
		return &failure{code: exitRefused, text: command + ": " + err.Error(), err: err, remedy: remedyOf(err)}
	}
	return err
}

func firstCode(codes ...int) int {
	for _, c := range codes {
		if c != 0 {
			return c
		}
	}
	return 0
}

// turnError is how a turn ended, nil for a success. signalled is the code of
// the signal that ended it, if one did.
func turnError(t session.Turn, signalled int) error {
	f := &failure{text: "agent send: " + firstOf(t.Error, string(t.Status))}
	switch t.Status {
	case session.TurnSucceeded:
		return nil
	case session.TurnTimedOut:
		f.code = exitTimedOut
	case session.TurnNotAccepted:
		f.code, f.remedy = exitRefused, []string{"the agent did nothing: the message can be sent again"}
	case session.TurnBlocked:
		f.code, f.remedy = exitFailed, []string{"the agent has not seen the message"}
	case session.TurnLost:
		f.code, f.remedy = exitClaw, []string{"claw sessions show " + t.SessionKey + " has what it said until then"}
	default:
		f.code = firstCode(signalled, exitFailed)
	}
	return f
}

// leftToDo tells whether the lane that has just become free was waited for by
// an event, or something is to be sent: nobody else might look soon.
func (a *app) leftToDo(store *state.Store, key string) (left bool) {
	store.View(func(tx *state.Tx) error {
		events, err := state.Events.All(tx)
		for _, row := range events {
			e := row.Rec
			left = left || e.State == event.Queued && e.SessionKey == key && !e.NextTurn && !e.NotBefore.After(tx.Now())
		}
		if err != nil || left {
			return err
		}
		sends, err := state.Deliveries.All(tx)
		for _, row := range sends {
			left = left || row.Rec.State == delivery.Pending && !row.Rec.NextAt.After(tx.Now())
		}
		return err
	})
	return left
}

// lastByte remembers how the output ends.
type lastByte struct {
	w    io.Writer
	last byte
}

func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.last = p[len(p)-1]
	}
	return l.w.Write(p)
}
