package task

import "claw/state/process"

// Executor is the process that carries a task out, as it was when the task
// began: captured once, from whoever knows it, and never claw's own in its
// place (seed 004; spec/tasks-recovery.md 1.13). A task whose executor is
// remote or not known has none.
type Executor struct {
	// Host names the machine; empty: not known. A boot id is one machine's
	// too, so that within one boot the host need not be known.
	Host string `json:"host,omitempty"`
	process.Identity
}

// Life is what is known of an executor. Unknown is not dead.
type Life string

// The answers.
const (
	LifeUnknown Life = "unknown"
	LifeAlive   Life = "alive"
	LifeGone    Life = "gone" // verifiably
)

// Seen is what a look at this machine has shown of an executor's pid.
type Seen struct {
	Host     string // this machine; empty: it does not say
	Boot     string // this boot of it; empty: it does not say
	Readable bool   // whether anybody has the pid could be seen
	Found    bool   // somebody has it
	Start    uint64 // and has begun at this instant, in the kernel's own units
}

// LifeOf judges an executor by what was seen (spec/tasks-recovery.md 1.13):
// the same machine and no such process, or one with another start, or another
// boot, is verifiably gone. No identity, another machine, or nothing to be
// seen is unknown, and has the ordinary grace.
func LifeOf(e *Executor, s Seen) Life {
	if e == nil || e.PID <= 0 {
		return LifeUnknown
	}
	sameBoot := e.Boot != "" && e.Boot == s.Boot
	sameHost := e.Host != "" && e.Host == s.Host
	switch {
	case e.Host != "" && s.Host != "" && e.Host != s.Host:
		return LifeUnknown // another machine
	case !sameBoot && !sameHost:
		return LifeUnknown // perhaps another machine
	case e.Boot != "" && s.Boot != "" && e.Boot != s.Boot:
		return LifeGone // this machine has come up anew since
	case !s.Readable:
		return LifeUnknown
	case !s.Found || s.Start != e.Start:
		return LifeGone
	}
	return LifeAlive
}
