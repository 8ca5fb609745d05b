package recovery

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"claw/runner/clock"
	"claw/runner/resume"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/boot"
)

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	SeverityError Severity = "error" // something is damaged, or cannot work
	SeverityWarn  Severity = "warn"  // it works, but will not in some situation
	SeverityInfo  Severity = "info"  // nothing is wrong; it is good to know
)

// Finding is one thing that is not as it should be, or that is good to know.
type Finding struct {
	Code     string   `json:"code"` // one of Codes
	Severity Severity `json:"severity"`
	Where    string   `json:"where"` // a path in the state directory, a key of claw.toml, or what of the machine is meant
	What     string   `json:"what"`
	Fix      string   `json:"fix"` // the command that repairs it; after a repair, what was done
	Fixed    bool     `json:"fixed"`
}

// mends is how a fix begins that Examine does itself.
const mends = "claw doctor --fix"

// Mendable tells a finding that Examine would set right.
func (f Finding) Mendable() bool { return !f.Fixed && strings.HasPrefix(f.Fix, mends) }

// Exam is everything that was found, the worst first.
type Exam struct {
	OK       bool      `json:"ok"` // no error is left; warnings may be
	Dir      string    `json:"dir"`
	Findings []Finding `json:"findings"`
}

// Doctor looks at a state directory, at what of this machine claw depends on,
// and at what is configured; spec/tasks-recovery.md 4.12. Dir, Open, Clock,
// Tasks and Ticks must be set; what else is empty is not looked at.
type Doctor struct {
	Dir   string // absolute
	Open  func() (*state.Store, error)
	Clock clock.Clock
	// Tasks judges tasks, see tasks.Keeper.
	Tasks func(*state.Store) *tasks.Keeper
	// Cut are the sessions in which a turn was cut off, as claw recover has them and
	// a tick sees to them; nil: nobody looks.
	Cut func() ([]resume.Item, error)
	// Environ is the environment of whoever asks.
	Environ []string
	// UnsafeFS: a network file system was accepted.
	UnsafeFS bool

	// Configured is what is wrong with the configuration. It may look at files
	// anywhere, and is not waited for longer than Patience.
	Configured func() []Finding
	// Unstartable are the keys of agents and channels whose programs are not
	// found in a PATH, with what is missing.
	Unstartable func(path string) []string
	// Checks is heartbeat.d.
	Checks string
	// Beating are the agents that are to have a monitor, and Converge makes what
	// of these is missing.
	Beating  []string
	Converge func(ctx context.Context) error

	// Self is the file of this program, Version what claw version prints of it.
	Self, Version string
	// StateDirOf is the state directory that an environment means.
	StateDirOf func(getenv func(string) string) (string, error)
	// Ticks looks at how the work is done.
	Ticks func() Ticks

	// Patience is how long the machine may take to answer; 0: two seconds.
	Patience time.Duration
	// Root is put before the paths of the system, for tests.
	Root string
}

// Ticks is how the work is done at present.
type Ticks struct {
	Running  bool      // a runner is at work
	Polls    string    // why it looks every two seconds; empty: it is told by the kernel
	LastTick time.Time // the end of the last tick
	Wanted   string    // what of the configuration needs somebody who ticks; empty: nothing
	// Breaker says how much begins by itself: by the runner, or where none is at
	// work by the next tick.
	Breaker boot.Breaker
}

// exam is one examination.
type exam struct {
	*Doctor
	ctx      context.Context
	fix      bool
	store    *state.Store
	findings []Finding
	jobs     int  // automations that are switched on
	readonly bool // the disk is
}

// Examine looks at everything. With fix it mends what it can, moving what is in
// the way to quarantine/; without, it writes nothing. What cannot be looked at
// is a finding. Whoever does not answer, a dead network disk for example, is
// given up after Patience.
func (d *Doctor) Examine(ctx context.Context, fix bool) Exam {
	x := &exam{Doctor: d, ctx: ctx, fix: fix}
	asked := x.ask(x.machine()...)
	if x.place() {
		x.contents()
	}
	x.findings = append(x.findings, asked.answers()...)
	x.findings = append(x.findings, x.ask(x.tickers()).answers()...)
	return x.exam()
}

func (x *exam) exam() Exam {
	e := Exam{OK: true, Dir: x.Dir, Findings: x.findings}
	if e.Findings == nil {
		e.Findings = []Finding{}
	}
	for _, f := range e.Findings {
		e.OK = e.OK && (f.Fixed || f.Severity != SeverityError)
	}
	slices.SortStableFunc(e.Findings, func(a, b Finding) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return e
}

func rank(s Severity) int {
	return slices.Index([]Severity{SeverityError, SeverityWarn, SeverityInfo}, s)
}

// add notes a finding with the usual severity of its code.
func (x *exam) add(code, where, what, fix string) {
	x.findings = append(x.findings, Found(code, where, what, fix))
}

// mended notes what has been set right.
func (x *exam) mended(code, where, what, done string) {
	f := Found(code, where, what, done)
	f.Fixed = true
	x.findings = append(x.findings, f)
}

// Found is a finding with the usual severity of its code.
func Found(code, where, what, fix string) Finding {
	for _, k := range codes {
		if k.Code == code {
			return Finding{Code: code, Severity: k.Severity, Where: where, What: what, Fix: fix}
		}
	}
	return Finding{Code: code, Severity: SeverityError, Where: where, What: what, Fix: fix}
}

// part carries out one part of the examination: what it cannot do is a finding,
// and the others go on.
func (x *exam) part(code string, do func() error) {
	if err := do(); err != nil {
		x.failed(code, err)
	}
}

// failed makes a finding of an error.
func (x *exam) failed(code string, err error) {
	where, what, fix := x.Dir, err.Error(), "claw doctor once more, when that has been seen to"
	if e, ok := asStateError(err); ok {
		where, what, fix = cmp.Or(e.Path, where), e.Why, cmp.Or(e.Hint, fix)
	}
	f := Found(code, where, what, fix)
	if !slices.Contains(x.findings, f) {
		x.findings = append(x.findings, f)
	}
}
