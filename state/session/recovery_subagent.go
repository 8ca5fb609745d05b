package session

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"claw/state/process"
)

// The bounds of resuming sub-agents; spec/tasks-recovery.md 4.10.
const (
	ResumeAge    = 2 * time.Hour    // older work is not revived
	ResumeSlack  = 60 * time.Second // beyond the timeout of a run
	MaxResumeAsk = 2000             // characters of the task that are told again

	resumeWindow = 2 * time.Minute
	resumesRapid = 2 // accepted within resumeWindow
	resumesAll   = 3 // more than these, in all
)

// Resumes is what is known of the resumes of one sub-agent's session. Its
// values are compared with ==.
type Resumes struct {
	Attempts     int       `json:"automaticAttempts"` // accepted
	LastAt       time.Time `json:"lastAttemptAt"`
	BeforeAt     time.Time `json:"attemptBeforeAt,omitzero"` // the one before the last
	LastRunID    string    `json:"lastRunId,omitempty"`
	WedgedAt     time.Time `json:"wedgedAt,omitzero"`
	WedgedReason string    `json:"wedgedReason,omitempty"`
}

// IsZero tells that it was never resumed.
func (r Resumes) IsZero() bool { return r == Resumes{} }

// Revival is what is to be done about a sub-agent whose turn was cut off.
type Revival string

// The revivals.
const (
	Revive   Revival = "resume"   // with its original task
	Finalise Revival = "finalise" // it ends as failed: it is too old
	Wedge    Revival = "wedge"    // it ends as failed, and is not resumed again
)

// Resume decides about a sub-agent that began at started and may run so long
// (0: no limit). what says why it is not resumed, for the end of its run.
//
// Two accepted resumes within the last two minutes, or more than three in all,
// wedge it for good. A resume that is dated after now is as recent as one can
// be: the clock was set back.
func (r Resumes) Resume(started time.Time, timeout time.Duration, now time.Time) (what Revival, why string) {
	most := max(ResumeAge, timeout+ResumeSlack)
	switch {
	case !r.WedgedAt.IsZero():
		return Wedge, r.WedgedReason
	case now.Sub(started) > most:
		return Finalise, "it was interrupted, and began more than " + process.HumanDuration(most) + " ago"
	case r.Attempts > resumesAll:
		return Wedge, "it was resumed " + strconv.Itoa(r.Attempts) + " times and was cut off each time"
	case r.Attempts >= resumesRapid && !r.BeforeAt.IsZero() && now.Sub(r.BeforeAt) <= resumeWindow:
		return Wedge, "it was resumed " + strconv.Itoa(resumesRapid) + " times within two minutes and was cut off each time"
	}
	return Revive, ""
}

// Accepted notes a resume that the agent has taken.
func (r Resumes) Accepted(runID string, now time.Time) Resumes {
	r.Attempts++
	r.BeforeAt, r.LastAt, r.LastRunID = r.LastAt, now, runID
	return r
}

// Wedged notes that it is not resumed any more; the first reason stays.
func (r Resumes) Wedged(why string, now time.Time) Resumes {
	if r.WedgedAt.IsZero() {
		r.WedgedAt, r.WedgedReason = now, why
	}
	return r
}

// ResumeAsk is the original task as a resumed sub-agent is told it: at most
// MaxResumeAsk characters.
func ResumeAsk(task string) string {
	task = strings.TrimSpace(task)
	if utf8.RuneCountInString(task) <= MaxResumeAsk {
		return task
	}
	runes := []rune(task)
	return string(runes[:MaxResumeAsk-1]) + "…"
}

// ScanDelay is how long to wait before the nth look (from 1) for sub-agents to
// resume; false after the third.
func ScanDelay(n int) (time.Duration, bool) {
	if n < 1 || n > 3 {
		return 0, false
	}
	return recoveryFirst << (n - 1), true
}
