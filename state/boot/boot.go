package boot

import (
	"fmt"
	"time"

	"claw/state/process"
)

// Outcome is how a boot ended. The empty one is a boot that has not ended, or
// of which nobody has written how.
type Outcome string

// The outcomes; spec/tasks-recovery.md 4.11.
const (
	Open           Outcome = ""
	CleanStop      Outcome = "clean_stop"      // it was told to end, and ended in order
	PlannedRestart Outcome = "planned_restart" // it ended for another to take over
	ForcedStop     Outcome = "forced_stop"     // the time to end in order was not enough
	StartupFailed  Outcome = "startup_failed"  // it could not begin
)

// The StartupReasons. Only CrashLoop holds beyond the boot that has it.
const (
	CrashLoop = "crash_loop" // it began in safe mode, because others had died
	AskedSafe = "asked_safe" // it began in safe mode, because somebody wanted it so
	Restarted = "restart"    // it took over from one that was told to restart
)

// Reasons why a runner refuses to begin although nothing is wrong with it: such
// a start is no sign of a crash loop, however often it is tried.
const (
	ReasonAlreadyRunning = "already_running" // another runner is at work on the directory
	ReasonNewerFormat    = "newer_format"    // the directory belongs to a newer claw
	ReasonDraining       = "draining"        // another one is being drained
)

// Boot is one row of ledgers/boots.jsonl, keyed by ID: one life of a runner.
type Boot struct {
	ID            string           `json:"bootId"` // ULID
	Owner         process.Identity `json:"owner,omitzero"`
	Version       string           `json:"version,omitempty"` // of claw
	StartedAt     time.Time        `json:"startedAt"`
	ReadyAt       time.Time        `json:"readyAt,omitzero"` // when it had begun to work
	CompletedAt   time.Time        `json:"completedAt,omitzero"`
	Outcome       Outcome          `json:"outcome,omitempty"`
	StartupReason string           `json:"startupReason,omitempty"` // CrashLoop, or what it was started for
	Reason        string           `json:"reason,omitempty"`        // of the outcome: a word of the above, or one sentence
	RecoveredAt   time.Time        `json:"recoveredAt,omitzero"`    // when the safe mode ended that it began with
	Order         Order            `json:"order,omitzero"`          // what it was told to do with itself
	Found         Fate             `json:"found,omitempty"`         // what became of one that nobody ended: died, outage or unknown
	FoundAt       time.Time        `json:"foundAt,omitzero"`
}

// MoveError is an illegal change of outcome; it names both ends.
type MoveError struct{ From, To Outcome }

func (e *MoveError) Error() string {
	return fmt.Sprintf("a boot cannot go from %s to %s", outcomeName(e.From), outcomeName(e.To))
}

func outcomeName(o Outcome) string {
	if o == Open {
		return "open"
	}
	return string(o)
}

// Begin is the row that a runner writes before it does anything. seen is what
// Assess said of the rows before it: in safe mode the row says so, and that
// holds until it is recovered, whatever becomes of this runner.
func Begin(id string, owner process.Identity, version string, seen Breaker, now time.Time) Boot {
	b := Boot{ID: id, Owner: owner, Version: version, StartedAt: now}
	if seen.Mode == Safe {
		b.StartupReason = CrashLoop
	}
	return b
}

// Ready notes that it works, once.
func (b Boot) Ready(now time.Time) Boot {
	if b.ReadyAt.IsZero() && b.Outcome == Open {
		b.ReadyAt = now
	}
	return b
}

// End writes how it ended. A boot ends once: the error is a *MoveError. One that
// has worked has not failed to start.
func (b Boot) End(o Outcome, reason string, now time.Time) (Boot, error) {
	if err := CanMove(b.Outcome, o); err != nil {
		return b, err
	}
	if o == StartupFailed && !b.ReadyAt.IsZero() {
		return b, &MoveError{From: b.Outcome, To: o}
	}
	b.Outcome, b.Reason, b.CompletedAt = o, reason, now
	if now.Before(b.StartedAt) { // the clock was set back meanwhile
		b.CompletedAt = b.StartedAt
	}
	return b, nil
}

// CanMove is nil when an outcome may follow another, else a *MoveError: an
// open boot may end in any way, and an end is final.
func CanMove(from, to Outcome) error {
	switch to {
	case CleanStop, PlannedRestart, ForcedStop, StartupFailed:
		if from == Open {
			return nil
		}
	}
	return &MoveError{From: from, To: to}
}

// Fate is what is known of a boot.
type Fate string

// The fates. Ended is one whose row has an outcome.
const (
	Alive   Fate = "alive"   // it holds the lock
	Died    Fate = "died"    // it is gone and nobody wrote how: killed, or crashed
	Outage  Fate = "outage"  // the machine went down under it
	Unknown Fate = "unknown" // its row is open, and nothing is known of its process
	Ended   Fate = "ended"
)

// FateOf tells what an open row means. alive says that this boot holds the
// runner's lock; machine is the kernel's id of the present boot of the machine,
// "" where there is none.
//
// A row without an identity, on a machine that has no boot id, and without the
// lock: it does not live, and why is not known.
func FateOf(b Boot, alive bool, machine string) Fate {
	switch {
	case b.Outcome != Open:
		return Ended
	case alive:
		return Alive
	case b.Owner.Boot == "" || machine == "":
		return Unknown
	case b.Owner.Boot != machine:
		return Outage
	}
	return Died
}
