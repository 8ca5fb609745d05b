package task

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"claw/state/process"
)

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	SeverityWarn  Severity = "warn"
	SeverityError Severity = "error"
)

// How long a task may say nothing before the audit wonders
// (spec/tasks-recovery.md 1.9); the bounds belong to the finding.
const (
	StaleQueued  = 10 * time.Minute
	StaleRunning = 30 * time.Minute
)

// The codes of findings, in the order of the spec's table.
const (
	FindStaleQueued    = "stale_queued"
	FindStaleRunning   = "stale_running"
	FindLost           = "lost"
	FindDeliveryFailed = "delivery_failed"
	FindMissingCleanup = "missing_cleanup"
	FindTimestamps     = "inconsistent_timestamps"
)

// FindCodes are all of them.
func FindCodes() []string {
	return []string{FindStaleQueued, FindStaleRunning, FindLost, FindDeliveryFailed, FindMissingCleanup, FindTimestamps}
}

// Finding is one thing about a task, or about the flow that ties some together,
// that somebody may have to look at; spec/tasks-recovery.md 1.7, 1.9.
type Finding struct {
	Kind     string   `json:"kind"` // KindTask, or that of a flow
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Detail   string   `json:"detail"`
	AgeMs    *int64   `json:"ageMs,omitempty"` // since something was last heard of it
	Status   Status   `json:"status"`
	Token    string   `json:"token"` // what the task is called on the command line
	Hint     string   `json:"hint"`  // the command that repairs it
	Task     Task     `json:"task,omitzero"`
	Flow     any      `json:"flow,omitempty"` // of a finding about a flow: it
}

// KindTask is the kind of a finding about a task.
const KindTask = "task"

// Known is what is known of a task besides its row, for better words.
type Known struct {
	Live bool // it provably goes on
	// Keep is as in Expires.
	Keep time.Duration
}

// Audit is what there is to find about one task, in the order of the table of
// spec/tasks-recovery.md 1.9.
func Audit(t Task, k Known, now time.Time) []Finding {
	age := max(0, now.Sub(Reference(t)))
	var found []Finding
	add := func(s Severity, code, detail, hint string) {
		ms := age.Milliseconds()
		found = append(found, Finding{Kind: KindTask, Severity: s, Code: code, Detail: detail, AgeMs: &ms, Status: t.Status, Token: Name(t), Hint: hint, Task: t})
	}
	if t.Status == Queued && age >= StaleQueued {
		add(SeverityWarn, FindStaleQueued, "nobody has begun it for "+process.HumanDuration(age), "claw tasks cancel "+Name(t))
	}
	if t.Status == Running && age >= StaleRunning {
		add(SeverityError, FindStaleRunning, silentFor(t, k, age), lookAt(t))
	}
	if t.Status == Lost {
		add(lostFinding(t, k, now))
	}
	if t.DeliveryStatus == DeliveryFailed && t.NotifyPolicy != Silent {
		add(SeverityWarn, FindDeliveryFailed, "its end could not be told to "+whom(t), undelivered(t))
	}
	if t.Status.Terminal() && t.Status != Lost && t.CleanupAfter.IsZero() {
		add(SeverityWarn, FindMissingCleanup, "how long it is kept is not written in it", applyHint)
	}
	if inverted(t) {
		add(SeverityWarn, FindTimestamps, inversion(t), applyHint)
	}
	return found
}

const applyHint = "claw tasks maintenance --apply"

// Name is what a task is called on the command line: the slug of its process,
// else its id.
func Name(t Task) string { return filled(t.Slug, t.ID) }

func silentFor(t Task, k Known, age time.Duration) string {
	text := "nothing was heard of it for " + process.HumanDuration(age)
	if k.Live {
		return text + "; it runs, and may only be quiet"
	}
	return text
}

// lookAt is how to see what a task does, and to end it.
func lookAt(t Task) string {
	if t.External {
		return "claw tasks progress " + Name(t) + " TEXT, or claw tasks finish " + Name(t) + ", says how it goes"
	}
	if t.Kind == KindExec && t.Slug != "" {
		return "claw process log " + t.Slug + " shows its output; claw tasks cancel " + t.Slug + " ends it"
	}
	return "claw tasks cancel " + Name(t) + " ends it"
}

// lostFinding is a warning for as long as the row is kept, and an error when it
// should have gone.
func lostFinding(t Task, k Known, now time.Time) (s Severity, code, detail, hint string) {
	detail = process.Collapse(filled(t.Error, MissingError))
	switch {
	case t.CleanupAfter.IsZero():
		return SeverityError, FindLost, detail + "; how long it is kept is not written in it", applyHint
	case !now.Before(t.CleanupAfter):
		return SeverityError, FindLost, detail + "; it should have been removed by now", applyHint
	}
	left := process.HumanDuration(max(0, Expires(t, k.Keep).Sub(now)))
	return SeverityWarn, FindLost, detail + "; kept for another " + left, "claw tasks show " + Name(t)
}

func whom(t Task) string {
	switch {
	case t.RequesterOrigin.Channel != "":
		return "channel " + t.RequesterOrigin.Channel
	case t.OwnerKey != "":
		return t.OwnerKey
	}
	return "anybody"
}

func undelivered(t Task) string {
	if t.DeliveryID != "" {
		return "claw deliveries retry " + t.DeliveryID + ", or claw tasks notify " + Name(t) + " silent"
	}
	return "claw tasks notify " + Name(t) + " silent"
}

// inversion says which of the times cannot be.
func inversion(t Task) string {
	var parts []string
	if !t.StartedAt.IsZero() && t.StartedAt.Before(t.CreatedAt) {
		parts = append(parts, "it started before it was created")
	}
	if !t.EndedAt.IsZero() && t.EndedAt.Before(t.StartedAt) {
		parts = append(parts, "it ended before it started")
	}
	if !t.EndedAt.IsZero() && t.Status.Active() {
		parts = append(parts, "it has an end and has not ended")
	}
	return strings.Join(parts, "; ")
}

// SortFindings puts errors before warnings, older ones first, then by the time
// of creation (spec/tasks-recovery.md 1.7).
func SortFindings(all []Finding) {
	rank := func(s Severity) int {
		if s == SeverityError {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Severity), rank(b.Severity)), cmp.Compare(*b.AgeMs, *a.AgeMs), a.Task.CreatedAt.Compare(b.Task.CreatedAt), cmp.Compare(a.Task.ID, b.Task.ID))
	})
}

// Age is an age in a table: "fresh" under a second, then "12s", "3m", "2h5m",
// "1d4h" (spec/tasks-recovery.md 1.7).
func Age(d time.Duration) string {
	n := func(v time.Duration, unit string) string { return itoa(int64(v)) + unit }
	switch {
	case d < time.Second:
		return "fresh"
	case d < time.Minute:
		return n(d/time.Second, "s")
	case d < time.Hour:
		return n(d/time.Minute, "m")
	case d < 24*time.Hour:
		return n(d/time.Hour, "h") + n(d%time.Hour/time.Minute, "m")
	}
	return n(d/(24*time.Hour), "d") + n(d%(24*time.Hour)/time.Hour, "h")
}
