package subagents

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/internal/failpoint"
	"claw/state"
	"claw/state/session"
	"claw/state/subagent"
)

// NoToolFreeError: an agent cannot be asked without tools.
type NoToolFreeError struct{ Agent string }

func (e *NoToolFreeError) Error() string {
	return "agent " + e.Agent + " cannot be asked without tools: nothing in its argv says so"
}

// Remedy is the way out.
func (e *NoToolFreeError) Remedy() string {
	return "say {tools} in its command, which is none then, or name a program for it: [agents." + e.Agent + "] complete"
}

// EndedError: a completion has ended without an answer.
type EndedError struct{ Run subagent.Run }

func (e *EndedError) Error() string {
	switch {
	case e.Run.Reason == subagent.Killed:
		return "the completion was cancelled"
	case e.Run.Error != "":
		return e.Run.Error
	}
	return "the completion has ended: " + string(e.Run.Outcome)
}

// Complete asks an agent without tools and without a session, and returns its whole
// answer. It waits for its turn behind those that have asked before, and for at most
// the timeout (0: 30 s; less: without end) with the queue. When stop is closed it
// ends: at once where it waits, and when its agent has ended where it runs. What
// comes late is not returned. The error is a *subagent.Refusal, a
// *NoToolFreeError, a *EndedError, or one of the state directory.
func (s *Service) Complete(ctx context.Context, a subagent.Ask, c Caller, stop <-chan struct{}) (r subagent.Run, text string, err error) {
	a.Kind = subagent.Completion
	timeout := a.Timeout
	if timeout == 0 {
		timeout = subagent.CompletionTimeout
	}
	if err := s.check(a); err != nil {
		return r, "", err
	}
	if !s.policy(a.Agent).ToolFree {
		return r, "", &NoToolFreeError{a.Agent}
	}
	r, leave, err := s.enqueue(ctx, a, c, timeout)
	if err != nil {
		return r, "", err
	}
	defer leave()
	failpoint.Hit("completion-queued")
	until := s.Clock.Elapsed() + timeout
	var res agent.Result
	for {
		turn, err := s.inTurn(ctx, r.ID, until, timeout > 0, stop)
		if err != nil || !turn {
			return s.gaveUp(r.ID, err)
		}
		left := time.Duration(-1)
		if timeout > 0 {
			left = max(time.Millisecond, until-s.Clock.Elapsed())
		}
		if res, err = s.ask(ctx, r, left, stop); err == nil {
			break
		}
		_, busy := errors.AsType[*agent.BusyError](err)
		switch {
		case res.Turn.ID != "":
			return r, "", err // it goes on, and its answer is nobody's
		case errors.Is(err, errPlace), busy:
			if err := clock.Sleep(ctx, s.Clock, lookFirst); err != nil {
				return s.gaveUp(r.ID, s.close(ctx, r.ID, cancelledWaiting))
			}
			continue
		case errors.Is(err, subagent.ErrGone):
			return s.gaveUp(r.ID, nil)
		}
		if failErr := s.fail(context.WithoutCancel(ctx), r.ID, err.Error()); failErr != nil {
			return r, "", failErr
		}
		return s.gaveUp(r.ID, nil)
	}
	if _, err := s.aside(context.WithoutCancel(ctx), r.ID); err != nil {
		return r, "", err
	}
	done, err := s.row(r.ID)
	if err != nil {
		return r, "", err
	}
	if stopped(stop) {
		done.Outcome, done.Reason = subagent.Failed, subagent.Killed // its answer came too late
	}
	if done.Outcome != subagent.OK || !done.CancelledAt.IsZero() {
		return done, "", &EndedError{done}
	}
	return done, strings.TrimRight(res.Reply, "\r\n"), nil
}

// cancelledWaiting is the end of one that whoever asked does not wait for any more.
var cancelledWaiting = subagent.End{Outcome: subagent.Failed, Reason: subagent.Killed, Error: "cancelled while it waited"}

// gaveUp is the answer of one that did not get its turn.
func (s *Service) gaveUp(id string, err error) (subagent.Run, string, error) {
	r, rowErr := s.row(id)
	if err == nil && rowErr == nil {
		err = &EndedError{r}
	}
	return r, "", errors.Join(err, rowErr)
}

// lifeline is the file that the claw which waits for a completion holds.
func (s *Service) lifeline(id string) string {
	return filepath.Join(s.Store.Dir(), "sessions", "complete-"+id+".lock")
}

// enqueue writes the row of a completion while it holds its life-line.
func (s *Service) enqueue(ctx context.Context, a subagent.Ask, c Caller, timeout time.Duration) (r subagent.Run, leave func(), err error) {
	if err := s.reap(ctx); err != nil {
		return r, nil, err
	}
	if err := os.MkdirAll(filepath.Join(s.Store.Dir(), "sessions"), 0o700); err != nil {
		return r, nil, err
	}
	leave = func() {}
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		leave()
		if r, err = s.draft(tx, a, c); err != nil {
			return err
		}
		if timeout > 0 {
			r.Deadline = tx.Now().Add(timeout)
		}
		path := s.lifeline(r.ID)
		unlock, ok, err := state.TryLock(path)
		if err != nil || !ok {
			return errors.Join(err, errors.New("another claw has the life-line of a completion that was just made"))
		}
		leave = func() {
			os.Remove(path)
			unlock()
		}
		return state.Subagents.Put(tx, r.ID, 0, r)
	})
	if err != nil {
		leave()
	}
	return r, leave, err
}

// inTurn waits until a completion may begin. false: it has ended meanwhile.
func (s *Service) inTurn(ctx context.Context, id string, until time.Duration, limited bool, stop <-chan struct{}) (bool, error) {
	ctx, cancel := stoppable(ctx, stop)
	defer cancel()
	for pause := lookFirst; ; pause = min(pause*3/2, lookLast) {
		mine, gone := false, false
		err := s.Store.View(func(tx *state.Tx) error {
			all, err := ledger(tx)
			row, ok, findErr := state.Subagents.Find(tx, id)
			mine, gone = subagent.Turn(all, id), !ok || row.Rec.Ended()
			return errors.Join(err, findErr)
		})
		left := until - s.Clock.Elapsed()
		switch {
		case err != nil || gone:
			return false, err
		case ctx.Err() != nil, stopped(stop):
			return false, s.close(ctx, id, cancelledWaiting)
		case mine:
			return true, nil
		case limited && left <= 0:
			return false, s.close(ctx, id, subagent.End{Outcome: subagent.TimedOut, Reason: subagent.Broke, Error: "it did not get its turn in time: " + strconv.Itoa(subagent.CompletionsAll) + " others were at work"})
		case !limited:
			left = pause
		}
		if clock.Sleep(ctx, s.Clock, min(pause, left)) != nil {
			return false, s.close(ctx, id, cancelledWaiting)
		}
		if err := s.reap(ctx); err != nil && ctx.Err() == nil {
			return false, err
		}
	}
}

// close ends one that waits.
func (s *Service) close(ctx context.Context, id string, e subagent.End) error {
	return s.Store.Update(context.WithoutCancel(ctx), func(tx *state.Tx) error {
		row, ok, err := state.Subagents.Get(tx, id)
		if err != nil || !ok || row.Rec.Status != subagent.Queued {
			return err
		}
		return closeRun(tx, row, e)
	})
}

// stopped tells that whoever asked wants no answer any more.
func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop: // never, when it is nil
		return true
	default:
		return false
	}
}

func stoppable(ctx context.Context, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-stop: // never, when it is nil
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// errPlace: another one has taken the place first.
var errPlace = errors.New("the place was taken")

// ask is the turn of a completion, in a session that is nobody's: one for each
// place, which is made for it and taken away afterwards.
func (s *Service) ask(ctx context.Context, r subagent.Run, left time.Duration, stop <-chan struct{}) (res agent.Result, err error) {
	for place := 1; place <= subagent.CompletionsAll; place++ {
		key := session.Key{Agent: r.Agent, Kind: session.KeyAgent, Rest: "complete:" + strconv.Itoa(place)}.String()
		res, err = s.Turns.Run(ctx, agent.Request{
			Agent: r.Agent, SessionKey: key, Fresh: true, Light: true, Kind: session.KindComplete, Reason: "complete", Message: r.Ask(),
			ReplyMode: session.ReplyNone, Timeout: left, Model: r.Model, Thinking: r.Thinking, Tools: []string{}, Stop: stop, Answer: s.answer,
			Admit: func(tx *state.Tx, t *session.Turn) error {
				all, err := ledger(tx)
				if err != nil {
					return err
				}
				if !subagent.Turn(all, r.ID) {
					return errPlace
				}
				return s.admitted(tx, t, r.ID)
			},
		})
		if _, busy := errors.AsType[*agent.BusyError](err); !busy {
			return res, err
		}
	}
	return res, err
}

// reap takes out the completions that wait and whose claw has died, and ends the
// turns of those that ran: without a tick nobody else would give their places back.
func (s *Service) reap(ctx context.Context) error {
	var dead []string
	left := false
	err := s.Store.View(func(tx *state.Tx) error {
		dead, left = dead[:0], false
		all, err := ledger(tx)
		for _, r := range all {
			if r.Kind != subagent.Completion || r.Ended() {
				continue
			}
			held, heldErr := state.Held(s.lifeline(r.ID))
			switch {
			case heldErr != nil || held:
			case r.Status == subagent.Queued:
				dead = append(dead, r.ID)
			default:
				left = true
			}
		}
		return err
	})
	for _, id := range dead {
		os.Remove(s.lifeline(id))
		err = errors.Join(err, s.close(ctx, id, subagent.End{Outcome: subagent.Failed, Reason: subagent.Killed, Error: "whoever waited for it is gone"}))
	}
	if left && err == nil {
		_, _, err = s.Turns.Settle(ctx)
	}
	return err
}
