package scheduler

import (
	"reflect"
	"time"

	"claw/state/automation"
)

// Change is what Add has done.
type Change string

// The changes.
const (
	Added     Change = "added"
	Changed   Change = "changed"
	Unchanged Change = "unchanged"
)

func upsert(old, a automation.Automation, now time.Time, zone automation.Zones) (automation.Automation, []automation.Run, Change) {
	was := automation.New(old, now)
	is := automation.New(a, now)
	was.State, was.CreatedAt, was.UpdatedAt = automation.State{}, time.Time{}, time.Time{}
	is.State, is.CreatedAt, is.UpdatedAt = automation.State{}, time.Time{}, time.Time{}
	is.ID, is.Owner, is.Schedule.AnchorMs = was.ID, was.Owner, was.Schedule.AnchorMs
	if reflect.DeepEqual(was, is) {
		return old, nil, Unchanged
	}
	is.State = old.State
	made, runs := automation.Edit(old, is, now, zone)
	return made, runs, Changed
}
