package task

import (
	"strings"
	"time"
)

// How long a task may be without anybody who carries it out before it is lost
// (spec/tasks-recovery.md 1.10), from the last that was heard of it.
const (
	Grace       = 5 * time.Minute
	NativeGrace = 30 * time.Minute // of a mirror of a subagent, without a session of its own
)

// Child is what is known of the session that a task's work runs in.
type Child string

// The answers.
const (
	ChildAbsent  Child = ""
	ChildPresent Child = "present"
	ChildWedged  Child = "wedged" // it is there, with a tombstone: nothing will go on in it
)

// Evidence is what is known of who carries a task out, besides its own row.
type Evidence struct {
	// History is how the work ended, by the durable record of whoever carried it
	// out: a process, a run, a turn. Nil: it has not ended, or there is none.
	History *End
	// Live: it provably goes on. A life-line is held, a turn runs, or the
	// scheduler has the run in hand.
	Live bool
	// Owner is what the execution identity says; LifeGone also when a life-line
	// is free that whoever carried it out would hold.
	Owner Life
	Child Child
	Wedge string // why ChildWedged
	// Unsure: this program cannot know, for another one that may is at work.
	Unsure bool
}

// Decision is what is to be done with a row.
type Decision string

// The decisions.
const (
	Retained  Decision = "retained"
	Reconcile Decision = "would_reconcile" // it is lost
	Recover   Decision = "would_recover"   // how it ended is on record
)

// Code is why a Decision.
type Code string

// The codes (spec/tasks-recovery.md 1.10). CodeOwnerGone and CodeHistory are
// claw's own.
const (
	CodeOwnerGone      Code = "owner_gone"
	CodeHistory        Code = "durable_history"
	CodeWedged         Code = "subagent_recovery_wedged"
	CodeBackingMissing Code = "backing_session_missing"
	CodeGrace          Code = "lost_grace_pending"
	CodeCronUnsure     Code = "cron_runtime_not_authoritative"
	CodeACPUnsure      Code = "acp_runtime_not_authoritative"
	CodeActiveRun      Code = "active_cli_run"
	CodeBacked         Code = "backing_session_present"
	CodeEnded          Code = "terminal"
)

// Verdict is what is to be done with a row, and the row after it.
type Verdict struct {
	Decision Decision
	Code     Code
	Until    time.Time // of CodeGrace: when it is over
	After    Task
}

// Reference is the last instant at which something was heard of a task.
func Reference(t Task) time.Time {
	for _, at := range [...]time.Time{t.LastEventAt, t.StartedAt} {
		if !at.IsZero() {
			return at
		}
	}
	return t.CreatedAt
}

// GraceOf is how long t may be without anybody who carries it out.
func GraceOf(t Task) time.Duration {
	if t.Runtime == Subagent && t.ChildSessionKey == "" && Mirror(t) {
		return NativeGrace
	}
	return Grace
}

// Judge decides about a row by what is known of who carries it out
// (spec/tasks-recovery.md 1.10, 1.13): what is on record counts first, then
// proof of death, then proof of life, and only what nobody knows waits for its
// grace. It is what list shows, what maintenance previews and what it writes.
func Judge(t Task, e Evidence, now time.Time) Verdict {
	if v, ok := recovered(t, e); ok {
		return v
	}
	kept := Verdict{Decision: Retained, Code: CodeEnded, After: t}
	if !t.Status.Active() {
		return kept
	}
	if e.Owner == LifeGone {
		return lost(t, CodeOwnerGone, OwnerGoneError, now)
	}
	if code, ok := backed(t, e); ok {
		kept.Code = code
		return kept
	}
	if until := Reference(t).Add(GraceOf(t)); now.Before(until) {
		kept.Code, kept.Until = CodeGrace, until
		return kept
	}
	if t.Runtime == Subagent && e.Child == ChildWedged {
		return lost(t, CodeWedged, filled(e.Wedge, MissingError), now)
	}
	return lost(t, CodeBackingMissing, MissingError, now)
}

// OwnerGoneError is the error of a task whose executor has provably died. What
// became of its work is not known, so it is lost: neither failed nor
// cancelled.
const OwnerGoneError = "the process that carried it out is gone"

// recovered is the verdict where the end is on record.
func recovered(t Task, e Evidence) (Verdict, bool) {
	if e.History == nil || !t.Status.Active() && !Repairable(t) {
		return Verdict{}, false
	}
	end := *e.History
	end.Canonical = true
	after, err := Conclude(t, end)
	if err != nil || after.Status == t.Status {
		return Verdict{}, false
	}
	return Verdict{Decision: Recover, Code: CodeHistory, After: after}, true
}

// backed tells that somebody carries t out, or may.
func backed(t Task, e Evidence) (Code, bool) {
	identified := t.RunID != "" || t.SourceID != ""
	live := e.Live || e.Owner == LifeAlive
	switch {
	case live && t.Runtime == CLI:
		return CodeActiveRun, true
	case live:
		return CodeBacked, true
	case e.Unsure && t.Runtime == ACP:
		return CodeACPUnsure, true
	case e.Unsure && t.Runtime == Cron:
		return CodeCronUnsure, true
	case e.Unsure && t.Runtime == CLI:
		return CodeActiveRun, true
	case t.Runtime == Cron, t.Runtime == CLI && identified:
		return "", false // lingering session rows do not count
	case t.ChildSessionKey == "" && t.External:
		return "", false // whoever carries it out says that he does
	case t.ChildSessionKey == "":
		return CodeBacked, !owned(t)
	case t.Runtime == ACP:
		return "", false // only a live turn is proof
	case t.Runtime == CLI && chat(t.ChildSessionKey):
		return "", false
	}
	return CodeBacked, e.Child == ChildPresent
}

// owned tells a row without a session that belongs to one process, and ends
// with it: mirrors, and the maintenance of an engine (openclaw 116329).
func owned(t Task) bool {
	return t.Runtime == Subagent && Mirror(t) || t.Runtime == ACP && strings.HasSuffix(t.Kind, "_maintenance")
}

// chat tells the session of a person's own conversation, which outlives every
// task: that it is there proves nothing.
func chat(key string) bool {
	return Shared(key) || strings.Contains(":"+key+":", ":direct:")
}

// lost is the verdict that t is.
func lost(t Task, code Code, why string, now time.Time) Verdict {
	return Verdict{Decision: Reconcile, Code: code, After: MarkLost(t, why, now)}
}

// MarkLost is t as lost: what it said of itself already stays, and it is kept
// for LostRetention.
func MarkLost(t Task, why string, now time.Time) Task {
	t.Status, t.LastEventAt = Lost, now
	t.Error, t.TerminalOutcome = filled(t.Error, why), ""
	if t.EndedAt.IsZero() {
		t.EndedAt = now
	}
	t = Normalise(t)
	t.CleanupAfter = CleanupAfter(t)
	return tidy(t)
}
