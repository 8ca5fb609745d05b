package flow

import (
	"bytes"
	"encoding/json"
	"time"

	"claw/state/task"
)

// Retention is how long a flow is kept after its end (spec/tasks-recovery.md
// 3.7).
const Retention = 7 * 24 * time.Hour

// Act is what maintenance does to a flow.
type Act string

// The acts.
const (
	ActNone      Act = ""
	ActReconcile Act = "reconciled" // it is cancelled, follows its task, or has its times in order
	ActPrune     Act = "pruned"     // it is past its time
)

// Upkeep is what maintenance does to a flow, and the flow after it.
type Upkeep struct {
	Act   Act
	After Flow // of ActPrune, and of none: as it was
}

// Maintain decides what maintenance does to a flow, if anything: it is what a list
// shows, a preview says and the real run writes. keep is how long whatever belongs
// to tasks is kept (state.retentionDays): longer than Retention it holds for flows
// too, 0 is for ever.
func Maintain(f Flow, linked []task.Task, keep time.Duration, now time.Time) Upkeep {
	if f.SyncMode == Managed && f.Cancelling() && Active(linked) == 0 {
		return Upkeep{ActReconcile, Close(f, now)}
	}
	if next, changed := mirrored(f, linked, now); changed {
		return Upkeep{ActReconcile, next}
	}
	if next, changed := ordered(f); changed {
		return Upkeep{ActReconcile, next}
	}
	if at := Expires(f, keep); !at.IsZero() && !now.Before(at) && Active(linked) == 0 && !Owes(f) {
		return Upkeep{ActPrune, f}
	}
	return Upkeep{After: f}
}

// View is f as it really is, before anybody has written it down: its revision is
// still the one that is written.
func View(f Flow, linked []task.Task, now time.Time) Flow {
	next := Maintain(f, linked, 0, now).After
	if t, ok := LatestTask(linked); ok && f.SyncMode == Mirrored {
		next = f.follow(t)
	}
	next.Revision = f.Revision
	return next
}

// mirrored follows the task; one whose task is gone is lost.
func mirrored(f Flow, linked []task.Task, now time.Time) (Flow, bool) {
	if f.SyncMode != Mirrored {
		return f, false
	}
	if t, ok := LatestTask(linked); ok {
		return Sync(f, t)
	}
	if f.Terminal() {
		return f, false
	}
	f = f.written(now)
	f.ends(Lost)
	return f, true
}

// ordered is f with times that can be: it was created first, and did not change
// after its end.
func ordered(f Flow) (Flow, bool) {
	if inversion(f) == "" {
		return f, false
	}
	if !f.EndedAt.IsZero() && f.EndedAt.Before(f.CreatedAt) {
		f.CreatedAt = f.EndedAt
	}
	if f.UpdatedAt.Before(f.CreatedAt) {
		f.UpdatedAt = f.CreatedAt
	}
	if !f.EndedAt.IsZero() {
		f.UpdatedAt = f.EndedAt
	}
	f.Revision++
	return f, true
}

// Expires is when a flow that has ended may go; zero: never. One that is blocked
// without an end can be gone on with, and stays (openclaw 117606). keep is as in
// Maintain.
func Expires(f Flow, keep time.Duration) time.Time {
	if !f.Terminal() || keep == 0 {
		return time.Time{}
	}
	at := f.EndedAt
	if at.IsZero() {
		at = f.UpdatedAt
	}
	return at.Add(max(keep, Retention))
}

// Owes tells a flow whose state says that something is still to be done for
// somebody: stateJson is an object with an obligation or obligations that are
// neither null, false, empty nor nothing. It stays until its controller, or a
// person, has taken that away.
func Owes(f Flow) bool {
	var marks struct {
		Obligation  json.RawMessage `json:"obligation"`
		Obligations json.RawMessage `json:"obligations"`
	}
	if f.StateJSON == nil || !bytes.HasPrefix(f.StateJSON, []byte("{")) || json.Unmarshal(f.StateJSON, &marks) != nil {
		return false
	}
	return owed(marks.Obligation) || owed(marks.Obligations)
}

func owed(v json.RawMessage) bool {
	switch string(v) {
	case "", "null", "false", `""`, "[]", "{}", "0":
		return false
	}
	return true
}
