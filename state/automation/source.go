package automation

import "time"

// Source is one row of ledgers/sources.jsonl, keyed by the automation's id:
// what goes on for one that is not run by the clock
// (spec/heartbeat-automations.md 3.4, 3.5; pains B30).
type Source struct {
	AutomationID string       `json:"automationId"`
	ScheduleRev  int          `json:"scheduleRev,omitempty"` // of the automation when this was armed; another: arm anew
	Status       SourceStatus `json:"status"`
	ArmedAt      time.Time    `json:"armedAt,omitzero"`
	RetryAt      time.Time    `json:"retryAt,omitzero"`    // not to be started again before
	Failures     int          `json:"failures,omitempty"`  // starts in a row that failed or were short
	Exhausted    bool         `json:"exhausted,omitempty"` // given up until it is switched on again
	Error        string       `json:"error,omitempty"`
	FiredAt      time.Time    `json:"firedAt,omitzero"` // when it last queued a run

	// Owner is who has claimed to start the command; its ProcessID is the command
	// (on-exit, stream).
	Owner *Owner `json:"owner,omitempty"`

	Offset    int64 `json:"offset,omitempty"`    // stream: the output up to here has been told or counted as lost
	OffsetErr int64 `json:"offsetErr,omitempty"` // stream: the same of its stderr; Offset is that of its stdout
	Dropped   int64 `json:"dropped,omitempty"`   // stream: batches that were not told
	Coalesced int64 `json:"coalesced,omitempty"` // stream: batches that were told together with another

	Seen   string    `json:"seen,omitempty"`  // watch: the digest of what was there when it last fired
	SeenAt time.Time `json:"seenAt,omitzero"` // watch: when that was
	// Listing is what Seen is the digest of, if it is not long: see Keeping.
	Listing string `json:"listing,omitempty"`
	Held    string `json:"held,omitempty"`  // watch: the digest of what is not told yet, while it is left alone, see Source.Alone
	Loops   int    `json:"loops,omitempty"` // watch: firings in a row whose changes were all made during the run before

	Boot string `json:"boot,omitempty"` // boot: the one that it has run for
}

// SourceStatus is how a source stands.
type SourceStatus string

// The states of a source (3.5).
const (
	SourceStarting   SourceStatus = "starting"
	SourceRunning    SourceStatus = "running"
	SourceRestarting SourceStatus = "restarting" // waits for RetryAt
	SourceStopping   SourceStatus = "stopping"   // its command is being ended: what it still prints, and how it ends, is nobody's business
	SourceStopped    SourceStatus = "stopped"    // nothing goes on: its command has ended and was reported, or it is switched off
	SourceError      SourceStatus = "error"      // given up
)

// SourceEnd is how the command of a source ended (on-exit, stream).
type SourceEnd struct {
	Began   time.Time // zero: it could not be started
	At      time.Time
	Code    *int   // its exit code
	Signal  string // or the signal that ended it
	Unknown bool   // nobody knows how it ended: its supervisor died, or the machine went down
	Error   string // why it could not be started or waited for; empty: it ran to its end
	Tail    string // what it wrote last
}

// lasted is how long the command ran.
func (e SourceEnd) lasted() time.Duration {
	if e.Began.IsZero() {
		return 0
	}
	return max(0, e.At.Sub(e.Began))
}

// Fired is what follows from something that has happened at a source. The
// caller writes all of it in one transaction, together.
type Fired struct {
	Automation Automation
	Source     Source
	Run        *Run // queued, or only for the record; nil: none
	Notices    []Notice
}

// Armed is what is to be done about a source now. Where Source differs from
// what there was, it is written; where Remove, its row is deleted.
type Armed struct {
	Source Source
	Start  bool // its command is to be claimed, see Source.Claimed, and started
	Stop   bool // the command of its Owner is to be ended; only then is it armed anew
	Remove bool
	Next   time.Time // when it is to be looked at again by the clock; zero: never
}

// Arm says how a source has to stand: a is its automation, nil when that is
// gone, and src its row, nil when there is none. What it runs is known by the
// ScheduleRev of its automation, that is by the command and its directory, and
// nothing else restarts it (openclaw 99709, 104518). Switching off and on again
// arms it anew, also when it was given up.
//
// Two commands of one source never run at the same time: what the old one still
// says is ignored, and when its end is known, which is for EndedStale, the new
// one is armed.
func Arm(a *Automation, src *Source, now time.Time) Armed {
	switch {
	case a == nil || a.Schedule.Kind.Timed():
		if src == nil {
			return Armed{Remove: true}
		}
		return stopping(*src)
	case !a.Enabled:
		return disarmed(a.ID, src)
	case src != nil && src.current(*a):
		return armed(*src, now)
	case src != nil && src.Owner != nil:
		return stopping(*src)
	}
	fresh := Source{AutomationID: a.ID, ScheduleRev: a.State.ScheduleRev, ArmedAt: now, Status: SourceStopped}
	if a.State.Settled.After(now) { // the clock was set back
		fresh.ArmedAt = a.State.Settled
	}
	switch a.Schedule.Kind {
	case KindOnExit, KindStream:
		fresh.Status = SourceRestarting
	case KindWatch:
		fresh.Status = SourceRunning
	case KindBoot:
		fresh.Status = SourceRunning
		if src != nil {
			fresh.Boot = src.Boot
		}
	}
	return armed(fresh, now)
}

// stopping is a source that is not wanted any more.
func stopping(s Source) Armed {
	if s.Owner == nil {
		return Armed{Source: s, Remove: true}
	}
	s.Status = SourceStopping
	return Armed{Source: s, Stop: true}
}

// current tells a source that was armed for what its automation, which is
// enabled, is now.
func (s Source) current(a Automation) bool {
	return s.ScheduleRev == a.State.ScheduleRev && !s.ArmedAt.Before(a.State.Settled) &&
		s.Status != SourceStopping && s.Status != SourceStopped && !s.Exhausted
}

// disarmed is the source of an automation that is switched off.
func disarmed(id string, src *Source) Armed {
	switch {
	case src == nil:
		return Armed{Remove: true}
	case src.Owner != nil:
		return stopping(*src)
	}
	s := *src
	s.AutomationID, s.RetryAt = id, time.Time{}
	if s.Status != SourceError {
		s.Status = SourceStopped
	}
	return Armed{Source: s}
}

// armed is a source that stands as it should.
func armed(s Source, now time.Time) Armed {
	out := Armed{Source: s, Start: s.Due(now)}
	if !out.Start && s.waits() {
		out.Next = s.RetryAt
	}
	return out
}

// waits tells a source whose command is to be started, now or later.
func (s Source) waits() bool { return s.Status == SourceRestarting && s.Owner == nil && !s.Exhausted }

// Due tells that the command of a source is to be started now. A clock that was
// set back does not make it wait for longer than the longest step.
func (s Source) Due(now time.Time) bool {
	wait := s.RetryAt.Sub(now)
	return s.waits() && (wait <= 0 || wait > longestRetry)
}

const longestRetry = 15 * time.Minute

// Claimed is a source whose command its owner is about to start. What an
// earlier command has written is over.
func (s Source) Claimed(owner Owner) Source {
	s.Status, s.Owner, s.RetryAt, s.Offset, s.OffsetErr = SourceStarting, &owner, time.Time{}, 0, 0
	return s
}

// Began is a source whose command has started.
func (s Source) Began() Source {
	s.Status, s.Error = SourceRunning, ""
	return s
}

// EndedStale is a source whose command has ended that is not wanted any more:
// nothing follows from it but that the next Arm may start another.
func (s Source) EndedStale() Source {
	s.Owner, s.Status = nil, SourceStopped
	return s
}

// Unwanted tells that what the command of a source says counts no more: its
// automation (nil: gone) is switched off, or runs something else by now.
func (s Source) Unwanted(a *Automation) bool {
	return a == nil || !a.Enabled || a.Schedule.Kind.Timed() || !s.current(*a)
}

// step is the delay after so many failures in a row, from 1; the last repeats.
func step(ladder []time.Duration, failures int) time.Duration {
	return ladder[min(max(failures, 1), len(ladder))-1]
}
