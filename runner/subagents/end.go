package subagents

import (
	"time"

	"claw/runner/scheduler"
	"claw/runner/settle"
	"claw/state"
	"claw/state/session"
	"claw/state/subagent"
	"claw/state/task"
)

// TurnEnded is what follows from the end of a turn of KindSubagent or KindComplete,
// in the transaction that writes the end; see agent.Turns.OnEnd.
func (s *Service) TurnEnded(tx *state.Tx, t *session.Turn, reply string) error {
	row, ok, err := state.Subagents.Get(tx, t.DispatchID)
	r := row.Rec
	if err != nil || !ok || r.Status != subagent.Running || r.TurnID != t.ID {
		return err
	}
	stopped, err := scheduler.Stopped(tx, *t)
	if err != nil {
		return err
	}
	stopped = stopped || !r.CancelledAt.IsZero()
	if t.Status == session.TurnNotAccepted && !stopped {
		if next, ok := subagent.Retry(r, tx.Now()); ok {
			return state.Subagents.Put(tx, row.ID, row.Rev, next)
		}
	}
	end := subagent.EndOf(*t, reply, stopped)
	if r.Kind == subagent.Detached && subagent.CutOff(*t, stopped) {
		again, why, err := revive(tx, r, t)
		if err != nil {
			return err
		}
		if again {
			return state.Subagents.Put(tx, row.ID, row.Rev, subagent.Resume(r))
		}
		end.Outcome, end.Error = subagent.Unknown, why
	}
	return closeRun(tx, row, end)
}

// revive decides about a run whose turn was cut off, and charges a resume before
// anything comes of it.
func revive(tx *state.Tx, r subagent.Run, t *session.Turn) (again bool, why string, err error) {
	row, ok, err := state.Sessions.Get(tx, r.SessionKey)
	if err != nil {
		return false, "", err
	}
	if !ok || row.Rec.ID != t.SessionID {
		return false, "orphaned: its session is gone", nil
	}
	timeout := max(0, r.Timeout())
	sess := row.Rec
	what, why := sess.Resumes.Resume(r.StartedAt, timeout, tx.Now())
	switch what {
	case session.Revive:
		sess.Resumes = sess.Resumes.Accepted(r.ID, tx.Now())
	case session.Wedge:
		sess.Resumes = sess.Resumes.Wedged(why, tx.Now())
	default:
		return false, why, nil
	}
	return what == session.Revive, why, state.Sessions.Put(tx, row.ID, row.Rev, sess)
}

// closeRun writes the end of a run with all that follows from it: its task, and
// that somebody is to be told. The first look at whether he may be is here.
func closeRun(tx *state.Tx, row state.Row[subagent.Run], end subagent.End) error {
	if end.At.IsZero() {
		end.At = tx.Now()
	}
	r, changed := subagent.Close(row.Rec, end)
	if !changed {
		return nil
	}
	if r.Announce.Due() {
		door, why, err := look(tx, r.Announce)
		if err != nil {
			return err
		}
		if door == subagent.Gone {
			r.Announce = r.Announce.Attempt(door, why, r.EndedAt, tx.Now(), 0)
		}
	}
	if err := endTask(tx, r); err != nil {
		return err
	}
	return state.Subagents.Put(tx, row.ID, row.Rev, r)
}

// endTask ends the task of a run that has ended.
func endTask(tx *state.Tx, r subagent.Run) error {
	row, ok, err := state.Tasks.Get(tx, r.TaskID)
	if err != nil || !ok {
		return err
	}
	t := row.Rec
	if !t.Status.Terminal() {
		end := task.End{Status: StatusOf(r), At: r.EndedAt, Error: r.Error}
		if r.Outcome == subagent.OK {
			end.Outcome, end.Summary = task.OutcomeSucceeded, r.Summary()
		}
		if t, err = task.Conclude(t, end); err != nil {
			return err
		}
	}
	return putTask(tx, row, told(t, r.Announce, tx.Now()))
}

// StatusOf is the end of a run in the words of the task ledger.
func StatusOf(r subagent.Run) task.Status {
	switch {
	case r.Outcome == subagent.OK:
		return task.Succeeded
	case r.Reason == subagent.Killed:
		return task.Cancelled
	case r.Outcome == subagent.TimedOut:
		return task.TimedOut
	case r.Outcome == subagent.Unknown:
		return task.Lost
	}
	return task.Failed
}

// told is a task with what became of the announcement.
func told(t task.Task, a subagent.Announce, now time.Time) task.Task {
	if t.DeliveryStatus == task.DeliveryNotApplicable {
		return t
	}
	switch a.State {
	case subagent.Delivered:
		t.DeliveryStatus, t.LastNotifiedAt = task.DeliverySessionQueued, now
	case subagent.NotRequired:
		t.DeliveryStatus = task.DeliveryNotApplicable
	case subagent.Suspended:
		t.DeliveryStatus = task.DeliveryFailed
	case subagent.Discarded:
		t.DeliveryStatus = task.DeliveryParentMissing
	}
	return t
}

func putTask(tx *state.Tx, row state.Row[task.Task], t task.Task) error {
	if t == row.Rec {
		return nil
	}
	if err := state.Tasks.Put(tx, row.ID, row.Rev, t); err != nil {
		return err
	}
	return settle.Follow(tx, t)
}
