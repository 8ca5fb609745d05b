package state

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"claw/state/automation"
	"claw/state/boot"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/external"
	"claw/state/flow"
	"claw/state/internal/ledger"
	"claw/state/process"
	"claw/state/session"
	"claw/state/subagent"
	"claw/state/task"
)

// How long finished records stay in their ledgers; what is beyond goes to the
// archive, where Find and Archived still see it. The numbers bound what list
// has to read: design.md section 3, spec/exec-process.md 8.7.
const (
	keepProcesses = 50               // finished background processes
	keepTasks     = 100              // finished tasks
	keepFlows     = 100              // flows that have ended
	keepEvents    = 100              // events that are no longer queued
	keepTurns     = 100              // finished turns
	keepSent      = 100              // deliveries that arrived, or that a person has dismissed
	keepRead      = 100              // inbox messages that have been read
	keepRuns      = 100              // runs of automations that have ended
	keepHooks     = external.MaxKeys // turns that were asked for from outside and have ended: their keys are known
	keepSubagents = 100              // work given to agents that has ended, and was told of
	keepBoots     = 20               // boots, ended or not: the newest is the one that may be alive
	keepFor       = time.Hour        // all of these but processes, flows and boots
)

// archivable picks the records of a ledger that may leave it for the archive.
func (s *Store) archivable(name string, rows []ledger.Line) map[string]bool {
	now := s.o.Now()
	switch name {
	case Processes.name:
		return pick(rows, keepProcesses, func(p process.Process) (time.Time, verdict) { return judgeProcess(p, now) })
	case Tasks.name:
		return pick(rows, keepTasks, func(t task.Task) (time.Time, verdict) { return judgeTask(t, now) })
	case Flows.name:
		return pick(rows, keepFlows, judgeFlow)
	case Events.name:
		return pick(rows, keepEvents, func(e event.Event) (time.Time, verdict) { return judgeEvent(e, now) })
	case Turns.name:
		return pick(rows, keepTurns, func(t session.Turn) (time.Time, verdict) { return judge(t.Status.Ended(), t.EndedAt, now) })
	case Runs.name:
		return pick(rows, keepRuns, func(r automation.Run) (time.Time, verdict) { return judge(!r.Status.Open(), r.EndedAt, now) })
	case Dispatches.name:
		return pick(rows, keepHooks, func(d external.Dispatch) (time.Time, verdict) { return judgeHook(d, now) })
	case Subagents.name:
		return pick(rows, keepSubagents, func(r subagent.Run) (time.Time, verdict) { return judgeSubagent(r, now) })
	case Boots.name:
		return pick(rows, keepBoots, func(b boot.Boot) (time.Time, verdict) { return b.StartedAt, ages })
	case Deliveries.name:
		return pick(rows, keepSent, func(d delivery.Delivery) (time.Time, verdict) {
			return judge(d.State == delivery.Delivered || d.State == delivery.Dismissed, d.EndedAt, now)
		})
	case Inbox.name:
		return pick(rows, keepRead, func(m delivery.Message) (time.Time, verdict) { return judge(!m.ReadAt.IsZero(), m.ReadAt, now) })
	}
	return nil
}

// verdict on one record.
type verdict int

const (
	stays verdict = iota // it is not finished
	goes                 // it is finished and past its time
	ages                 // it is finished; only so many of these are kept
)

// judgeProcess lets a foreground process go at its end, a background one when
// it is no longer listed.
func judgeProcess(p process.Process, now time.Time) (ended time.Time, v verdict) {
	switch {
	case p.Phase != process.Exited && p.Phase != process.Lost:
		return p.EndedAt, stays
	case !p.Background, p.Removed, p.Cleared, !p.EndedAt.Add(time.Duration(p.TTLMs) * time.Millisecond).After(now):
		return p.EndedAt, goes
	}
	return p.EndedAt, ages
}

// judgeTask lets a lost one go only when there are too many: somebody has to
// look at it, and it is removed sooner than an archive would be.
func judgeTask(t task.Task, now time.Time) (ended time.Time, v verdict) {
	switch {
	case t.Status == task.Lost:
		return t.EndedAt, ages
	case t.Status.Terminal():
		return t.EndedAt, aged(t.EndedAt, now)
	}
	return t.EndedAt, stays
}

// judgeFlow lets one that has ended go only when there are too many: there are
// few, and their controllers ask for the latest. One whose state says that
// something is owed stays.
func judgeFlow(f flow.Flow) (ended time.Time, v verdict) {
	if !f.Terminal() || flow.Owes(f) {
		return f.EndedAt, stays
	}
	return f.EndedAt, ages
}

func judgeEvent(e event.Event, now time.Time) (ended time.Time, v verdict) {
	return judge(e.State != event.Queued, e.EndedAt, now)
}

// judgeHook keeps one that has ended for as long as its key may be asked for.
func judgeHook(d external.Dispatch, now time.Time) (ended time.Time, v verdict) {
	switch {
	case !d.Status.Ended():
		return d.EndedAt, stays
	case now.Sub(d.EndedAt) >= external.MaxKeyWindow:
		return d.EndedAt, goes
	}
	return d.EndedAt, ages
}

// judgeSubagent keeps one as long as somebody is to be told of it, or its session
// is to be put aside. One that made children says how deep they are.
func judgeSubagent(r subagent.Run, now time.Time) (ended time.Time, v verdict) {
	waits := r.Announce.Due() || r.Announce.State == subagent.Suspended || r.SessionKey != "" && r.ArchivedAt.IsZero()
	return judge(r.Ended() && !waits, r.EndedAt, now)
}

func judge(done bool, ended, now time.Time) (time.Time, verdict) {
	if !done {
		return ended, stays
	}
	return ended, aged(ended, now)
}

func aged(ended, now time.Time) verdict {
	if now.Sub(ended) >= keepFor {
		return goes
	}
	return ages
}

// pick judges every record and lets go, besides those past their time, the
// oldest of the finished beyond keep. A record that cannot be read stays.
func pick[T any](rows []ledger.Line, keep int, judge func(T) (time.Time, verdict)) map[string]bool {
	type finished struct {
		id    string
		ended time.Time
	}
	gone := make(map[string]bool)
	var ageing []finished
	for _, l := range rows {
		record, _, err := l.Open()
		var rec T
		if err != nil || json.Unmarshal(record, &rec) != nil {
			continue
		}
		switch ended, v := judge(rec); v {
		case goes:
			gone[l.ID] = true
		case ages:
			ageing = append(ageing, finished{l.ID, ended})
		}
	}
	slices.SortFunc(ageing, func(a, b finished) int { return cmp.Or(a.ended.Compare(b.ended), cmp.Compare(a.id, b.id)) })
	for _, f := range ageing[:max(0, len(ageing)-keep)] {
		gone[f.id] = true
	}
	return gone
}
