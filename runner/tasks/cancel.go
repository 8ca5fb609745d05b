package tasks

import (
	"context"
	"time"

	"claw/runner/clock"
	"claw/runner/control"
	"claw/runner/internal/proc"
	"claw/runner/settle"
	"claw/state"
	"claw/state/session"
	"claw/state/task"
)

// DefaultPatience is how long Cancel waits for the end of what it has told to
// end: TERM, its grace, KILL, and the writing of it.
const DefaultPatience = proc.DefaultGrace + proc.DefaultSettle + 6*time.Second

// lookAgain is how often Cancel looks whether it has ended.
const lookAgain = 20 * time.Millisecond

// Cancel ends the task that query means: the process, or the agent's turn, that
// carries it out gets TERM and five seconds later KILL, with all that it
// started, and only when that has ended is the task cancelled. One that ended
// by itself meanwhile keeps its end. A task that nothing carries out is ended
// in the ledger.
//
// A refusal is a CancelResult, and no error; errors are those of Find, of the
// state directory, and of ctx.
func (k *Keeper) Cancel(ctx context.Context, query string) (task.CancelResult, error) {
	t, err := k.Find(query)
	if err != nil {
		return task.CancelResult{}, err
	}
	if done, err := k.withdraw(ctx, t); err != nil || done {
		return k.outcome(t, err)
	}
	if done, err := k.endSubagent(ctx, t); err != nil || done {
		return k.outcome(t, err)
	}
	h, err := k.hold(t)
	if err != nil {
		return task.CancelResult{}, err
	}
	if why := task.CancelRefusal(t, h.Hold); why != "" {
		return task.CancelResult{Found: true, Reason: why, Task: &t}, nil
	}
	if h.Live {
		ended, err := k.end(ctx, t)
		if err != nil || !ended {
			return task.CancelOutcome(t), err
		}
	}
	return k.close(ctx, t.ID)
}

// hold is what carries a task out.
type hold struct {
	task.Hold
	process string // what can be told to end; empty: it has not begun yet
}

// hold finds what carries t out at this moment.
func (k *Keeper) hold(t task.Task) (h hold, err error) {
	err = k.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Tasks.Find(tx, t.ID)
		if err != nil || !ok || row.Rec.Status.Terminal() {
			h = hold{}
			return err
		}
		switch {
		case t.External && t.ChildSessionKey == "":
			h.Live = life(t.Executor) == task.LifeAlive
		case t.Kind == task.KindHook:
			h, err = ofHook(tx, t)
		case ofRun(t):
			h, err = ofAutomation(tx, t)
		case t.ChildSessionKey != "" && (t.Runtime == task.ACP || t.Runtime == task.Subagent):
			h, err = ofChild(tx, t)
		case t.RunID != "":
			s, lookErr := k.look(tx, row.Rec)
			h, err = hold{Hold: task.Hold{Live: s.evidence.Live}, process: t.RunID}, lookErr
		}
		return err
	})
	return h, err
}

// ofAutomation is the turn of a run.
func ofAutomation(tx *state.Tx, t task.Task) (hold, error) {
	run, ok, err := state.Runs.Get(tx, t.RunID)
	if err != nil || !ok || !run.Rec.Status.Open() || run.Rec.Owner == nil || run.Rec.Owner.TurnID == "" {
		return hold{}, err
	}
	turn, ok, err := state.Turns.Get(tx, run.Rec.Owner.TurnID)
	return ofTurn(turn.Rec, ok), err
}

// ofChild is the turn that runs in the session of a child.
func ofChild(tx *state.Tx, t task.Task) (hold, error) {
	s, ok, err := state.Sessions.Get(tx, t.ChildSessionKey)
	if err != nil || !ok {
		return hold{}, err
	}
	turn, ok, err := state.Turns.Get(tx, s.Rec.TurnID)
	h := ofTurn(turn.Rec, ok)
	h.Known = true
	return h, err
}

func ofTurn(t session.Turn, ok bool) hold {
	if !ok || t.Status.Ended() {
		return hold{}
	}
	return hold{Hold: task.Hold{Live: true, Known: true}, process: t.ProcessID}
}

// end tells whoever carries t out to end, and waits until he has. False: not in
// time.
func (k *Keeper) end(ctx context.Context, t task.Task) (bool, error) {
	patience := k.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	wait := clock.New() // other programs do not follow the clock of a test
	told := ""
	for {
		h, err := k.hold(t)
		if err != nil || !h.Live {
			return !h.Live, err
		}
		if h.process != "" && h.process != told {
			if err := k.Turns.Kill(h.process); err != nil {
				return false, err
			}
			told = h.process
		}
		// A turn that nobody waits for any more is ended here.
		if ofRun(t) || t.ChildSessionKey != "" {
			if _, _, err := k.Turns.Settle(ctx); err != nil {
				return false, err
			}
		}
		if wait.Elapsed() >= patience {
			return false, nil
		}
		if err := clock.Sleep(ctx, wait, lookAgain); err != nil {
			return false, err
		}
	}
}

// close writes the end of a task whose work has ended, unless it has one by
// now, and returns what became of it.
func (k *Keeper) close(ctx context.Context, id string) (task.CancelResult, error) {
	// A supervisor that died meanwhile did not end its command.
	if _, err := control.Settle(ctx, k.Store, k.Clock, k.OnLoss); err != nil {
		return task.CancelResult{}, err
	}
	var after task.Task
	told := false
	err := k.Store.Update(ctx, func(tx *state.Tx) error {
		told = false
		row, ok, err := state.Tasks.Find(tx, id)
		if err != nil || !ok {
			return err
		}
		if after = row.Rec; after.Status.Terminal() {
			return nil
		}
		if after, err = task.Cancel(row.Rec, "", tx.Now()); err != nil {
			return err
		}
		if told, err = tell(tx, &after); err != nil {
			return err
		}
		if err := state.Tasks.Put(tx, row.ID, row.Rev, after); err != nil {
			return err
		}
		return settle.Follow(tx, after)
	})
	if err == nil && told {
		err = k.poke()
	}
	if after.ID == "" {
		return task.CancelResult{Reason: task.ReasonNotFound}, err
	}
	return task.CancelOutcome(after), err
}
