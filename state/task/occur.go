package task

import (
	"strings"
	"time"

	"claw/state/process"
)

// OccurrenceKind is what kind of thing happened to a run.
type OccurrenceKind string

// The kinds (spec/tasks-recovery.md 1.4). OccurEnd and OccurError end the run;
// OccurComplaint is an error that it goes on after.
const (
	OccurStart     OccurrenceKind = "start"
	OccurEnd       OccurrenceKind = "end"
	OccurError     OccurrenceKind = "error"
	OccurProgress  OccurrenceKind = "progress"
	OccurComplaint OccurrenceKind = "complaint"
)

// Stop reasons of a run that has ended.
const (
	StopCompleted = "completed"
	StopAborted   = "aborted"
	StopCancelled = "cancelled"
	StopTimeout   = "timeout" // a hard or an observed one
	StopBlocked   = "blocked"
	StopFailed    = "failed"
)

// PhaseProvider is where the time of a run ran out that had begun to be
// carried out.
const PhaseProvider = "provider"

// Occurrence is one thing that happened to the run of a task.
type Occurrence struct {
	Kind    OccurrenceKind
	At      time.Time
	Summary string // words about it; empty: none
	Error   string

	// Of an end:
	Stop         string // one of the Stop constants; empty: completed
	Aborted      bool   // somebody has taken it back
	TimeoutPhase string // where the time ran out; empty: it did not
	Started      bool   // the provider had begun
}

// Classify is the status of a run that has ended
// (spec/tasks-recovery.md 1.4). A timeout of the provider is one however the
// run was stopped for it, provided that the provider had begun: what was taken
// back while it waited is cancelled.
func Classify(o Occurrence) Status {
	late := o.TimeoutPhase == PhaseProvider && (o.Started || !o.Aborted)
	switch {
	case late, o.Stop == StopTimeout:
		return TimedOut
	case o.Aborted, o.Stop == StopAborted, o.Stop == StopCancelled:
		return Cancelled
	case o.Kind == OccurError, o.Stop == StopBlocked, o.Stop == StopFailed:
		return Failed
	}
	return Succeeded
}

// Apply is t after an occurrence, and what there is to tell about it; nil:
// nothing. What comes after the end is ignored, to the last field.
func Apply(t Task, o Occurrence) (Task, *Change) {
	if !t.Status.Active() {
		return t, nil
	}
	switch o.Kind {
	case OccurStart:
		return changed(t, End{Status: Running, At: o.At}, o.Summary)
	case OccurEnd, OccurError:
		return changed(t, End{Status: Classify(o), At: o.At, Error: o.Error, Summary: o.Summary}, o.Summary)
	case OccurComplaint:
		t.Error = filled(o.Error, t.Error)
	}
	if o.At.After(t.LastEventAt) {
		t.LastEventAt = o.At
	}
	words := process.Collapse(o.Summary)
	if o.Kind != OccurProgress || words == "" {
		return Normalise(t), nil
	}
	t.ProgressSummary = words
	return Normalise(t), &Change{At: o.At, Kind: Progress, Summary: words}
}

func changed(t Task, e End, summary string) (Task, *Change) {
	before := t.Status
	t, err := Conclude(t, e)
	if err != nil || t.Status == before {
		return t, nil
	}
	return t, &Change{At: e.At, Kind: string(t.Status), Summary: process.Collapse(summary)}
}

// Scope says which tasks of a run are meant. Empty fields do not narrow.
type Scope struct {
	RunID      string
	Runtime    Runtime
	SessionKey string
}

// Select gives the indices of the tasks that an occurrence of a run is about
// (spec/tasks-recovery.md 1.4): those whose work runs in the session, else
// those that it owns. Without a session, a run that stands for several pieces
// of work means none of them.
func Select(rows []Task, s Scope) []int {
	var child, owner, all []int
	for i, t := range rows {
		if s.RunID == "" || t.RunID != s.RunID || s.Runtime != "" && t.Runtime != s.Runtime {
			continue
		}
		all = append(all, i)
		if s.SessionKey == "" {
			continue
		}
		if t.ChildSessionKey == s.SessionKey {
			child = append(child, i)
		}
		if t.ScopeKind == ScopeSession && t.OwnerKey == s.SessionKey {
			owner = append(owner, i)
		}
	}
	switch {
	case len(child) > 0:
		return child
	case s.SessionKey != "":
		return owner
	}
	for _, i := range all {
		if !same(rows[i], rows[all[0]]) {
			return nil
		}
	}
	return all
}

// same tells two rows about one piece of work of a run.
func same(a, b Task) bool {
	return a.Runtime == b.Runtime && a.ScopeKind == b.ScopeKind && a.OwnerKey == b.OwnerKey && a.ChildSessionKey == b.ChildSessionKey
}

func contains(s, part string) bool { return strings.Contains(s, part) }
