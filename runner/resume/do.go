package resume

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"claw/prompts"
	"claw/runner/agent"
	"claw/runner/internal/failpoint"
	"claw/state"
	"claw/state/session"
)

// Done is what became of an Item.
type Done struct {
	Turn session.Turn // the attempt; its ID is empty where no agent was needed
	What string       // in words, for the log; empty: nothing was to be done any more
}

// Do looks at an item again and does what is then due about it: an attempt, or
// the end of its cycle. That somebody else was quicker is no error, and neither
// is a busy session: *agent.BusyError says so, for whoever wants to wait.
func (r *Recoverer) Do(ctx context.Context, it Item) (Done, error) {
	it, ok, err := r.Find(r.Clock.Now(), it.SessionKey)
	if err != nil || !ok || !it.Due {
		return Done{}, err
	}
	done, err := r.do(ctx, it)
	if _, quicker := errors.AsType[*session.Rejection](err); quicker {
		return Done{}, nil
	}
	return done, err
}

func (r *Recoverer) do(ctx context.Context, it Item) (Done, error) {
	if it.stale {
		return Done{What: "whoever was at it is gone"}, r.release(ctx, it)
	}
	if it.State == session.ViewExhausted {
		return Done{What: "given up after " + attempts(it.Attempts)}, r.end(ctx, it, func(c session.Cycle) (session.Cycle, *session.Rejection) {
			return c.Tombstone(it.Cycle.Ticket(), r.Clock.Now())
		})
	}
	switch v := it.verdict; v.Step {
	case session.StepBegin, session.StepContinue:
		return r.attempt(ctx, it)
	case session.StepComplete:
		return Done{What: "nothing is left to do: " + v.Why}, r.close(ctx, it, session.EndCompleted)
	case session.StepCarry:
		return Done{What: "its answer is handed over: " + v.Why}, r.carry(ctx, it)
	case session.StepFail:
		return Done{What: "not continued: " + v.Why}, r.move(ctx, it, nil, r.closing(it, session.EndFailed))
	}
	return Done{What: "not continued: " + it.verdict.Why}, r.close(ctx, it, session.EndFailed)
}

// mover is a command of a cycle; over is what follows in the same transaction.
type mover func(c session.Cycle) (session.Cycle, *session.Rejection)

// move carries out a command on the cycle of an item. A rejection changes
// nothing and is the error.
func (r *Recoverer) move(ctx context.Context, it Item, over func(tx *state.Tx, c session.Cycle) error, f mover) error {
	err := r.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Sessions.Get(tx, it.SessionKey)
		if err != nil || !ok {
			return err
		}
		c, no := f(row.Rec.Recovery)
		if no != nil {
			return no
		}
		if err := state.Sessions.Put(tx, row.ID, row.Rev, row.Rec.WithCycle(c, tx.Now())); err != nil || over == nil {
			return err
		}
		return over(tx, c)
	})
	if err == nil {
		failpoint.Hit("recovery-moved")
	}
	return err
}

// end is a move that ends the cycle: what a person is owed is written with it.
func (r *Recoverer) end(ctx context.Context, it Item, f mover) error {
	return r.move(ctx, it, r.Heartbeat.Over, f)
}

func (r *Recoverer) close(ctx context.Context, it Item, e session.Ending) error {
	return r.end(ctx, it, r.closing(it, e))
}

func (r *Recoverer) closing(it Item, e session.Ending) mover {
	return func(c session.Cycle) (session.Cycle, *session.Rejection) {
		return c.Close(it.Cycle.Ticket(), e, it.verdict.Why, r.Clock.Now())
	}
}

// release takes a cycle from a turn that is gone.
func (r *Recoverer) release(ctx context.Context, it Item) error {
	return r.move(ctx, it, nil, func(c session.Cycle) (session.Cycle, *session.Rejection) {
		if c != it.found.Recovery {
			return c, &session.Rejection{Command: "observe", Code: session.ConflictStaleRevision, Phase: c.Phase}
		}
		return it.Cycle, nil
	})
}

// carry hands over an answer that is known.
func (r *Recoverer) carry(ctx context.Context, it Item) error {
	over := func(tx *state.Tx, c session.Cycle) error {
		if err := r.Heartbeat.Carry(tx, it.source, it.verdict.Text); err != nil {
			return err
		}
		return r.Heartbeat.Over(tx, c)
	}
	return r.move(ctx, it, over, r.closing(it, session.EndCompleted))
}

// attempt is a turn that goes on with what was cut off. It is charged in the
// transaction that admits it, and settled in the one that ends it, whoever does
// that.
func (r *Recoverer) attempt(ctx context.Context, it Item) (Done, error) {
	req, err := r.request(it)
	if err != nil {
		return Done{}, err
	}
	failpoint.Hit("recovery-begun")
	res, err := r.Turns.Run(ctx, req)
	return Done{Turn: res.Turn, What: "attempt " + attemptOf(it.NextAttempt)}, err
}

// request is the turn of an attempt. What the answer is for, and where it goes,
// is the source's: a recovered turn never picks another target.
func (r *Recoverer) request(it Item) (agent.Request, error) {
	src := it.source
	req := agent.Request{
		Agent: src.Agent, SessionKey: src.SessionKey, Kind: src.Kind, Reason: "recovery", Message: src.Message,
		EventIDs: src.EventIDs, Failures: src.Failures, Tasks: src.Tasks, Tools: src.Tools, Quiet: src.Quiet,
		Route: src.Route, ReplyMode: src.ReplyMode,
		Recover: &agent.Attempt{Seen: it.Cycle.Ticket(), Number: it.NextAttempt},
		Admit: func(_ *state.Tx, t *session.Turn) error {
			t.Title, t.Source, t.Alerts, t.Checks = src.Title, src.Source, src.Alerts, src.Checks
			t.Source.TurnID = t.ID
			return nil
		},
	}
	if req.ReplyMode == session.ReplyCaller {
		req.ReplyMode = session.ReplyDeliver // whoever wanted to read it is gone
	}
	if it.Step == session.StepContinue {
		req.Kind, req.Message = session.KindRecovery, r.message(src)
	}
	if len(r.Turns.Agent(src.Agent).Command) == 0 {
		report, err := r.report(src)
		req.Answer = &report
		return req, err
	}
	return req, nil
}

// message is what the agent is told to go on (spec/tasks-recovery.md 4.5).
func (r *Recoverer) message(src session.Turn) string {
	const room = 8 << 10 // for the words around it
	about := prompts.Recovery{Message: cut(src.Message, session.MaxMessage-room)}
	text, err := r.Heartbeat.Prompts.Recovery(about)
	if message := session.Compose(session.KindRecovery, text); err == nil && len(message) <= session.MaxMessage {
		return message
	}
	text, _ = prompts.Default().Recovery(about)
	return session.Compose(session.KindRecovery, text)
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "\n[…]"
}

func (r *Recoverer) report(src session.Turn) (text string, err error) {
	err = r.Store.View(func(tx *state.Tx) (err error) {
		text, err = r.Heartbeat.Report(tx, src)
		return err
	})
	return strings.TrimSpace(text), err
}
