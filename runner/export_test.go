package runner

import (
	"context"
	"time"

	"claw/runner/agent"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/session"
)

// Script replaces the parts of a pass; what is nil has nothing to do.
type Script struct {
	Settle  func() ([]process.Process, error)
	Live    func() bool
	Turns   func() ([]agent.Result, []session.Turn, error)
	Plan    func(now time.Time) (heartbeat.Plan, error)
	Do      func(ctx context.Context, w heartbeat.Planned) (session.Turn, error)
	Flush   func(ctx context.Context) (deliver.Flushed, error)
	Waiting func() time.Time
	Tasks   func() // nobody may carry out what goes on
	// Next is when automations have something to do next; Prepare is told so
	// shortly before, and says how many commands that are. They are claimed by
	// Ahead and started by StartAt.
	Next    func(now time.Time) time.Time
	Prepare func(at time.Time) (commands int)
	Ahead   func(at time.Time) scheduler.Work
	StartAt func(at time.Time, runs []automation.Run)
}

// Play makes the passes of r those of a script.
func (r *Runner) Play(s Script) {
	p := &parts{
		settle:   func(context.Context) ([]process.Process, error) { return nil, nil },
		live:     func() (bool, error) { return s.Live != nil && s.Live(), nil },
		turns:    func(context.Context) ([]agent.Result, []session.Turn, error) { return nil, nil, nil },
		schedule: func(context.Context, func(string) bool) (scheduler.Work, error) { return scheduler.Work{}, nil },
		converge: func(context.Context) error { return nil },
		plan:     func(time.Time) (heartbeat.Plan, error) { return heartbeat.Plan{}, nil },
		do:       s.Do,
		flush:    func(context.Context) (deliver.Flushed, error) { return deliver.Flushed{}, nil },
		due:      func(time.Time) bool { return false },
		tasks: func(context.Context) {
			if s.Tasks != nil {
				s.Tasks()
			}
		},
		waiting: func(time.Time) (time.Time, error) { return time.Time{}, nil },
	}
	if s.Next != nil {
		p.schedule = func(context.Context, func(string) bool) (scheduler.Work, error) {
			return scheduler.Work{Next: s.Next(r.Clock.Now())}, nil
		}
	}
	p.prepare = func(at time.Time) (int, error) {
		if s.Prepare != nil {
			return s.Prepare(at), nil
		}
		return 0, nil
	}
	p.ahead = func(_ context.Context, at time.Time, _ func(string) bool) (scheduler.Work, error) {
		if s.Ahead != nil {
			return s.Ahead(at), nil
		}
		return scheduler.Work{}, nil
	}
	p.startAt = func(_ context.Context, at time.Time, runs []automation.Run) error {
		s.StartAt(at, runs)
		return nil
	}
	if s.Settle != nil {
		p.settle = func(context.Context) ([]process.Process, error) { return s.Settle() }
	}
	if s.Turns != nil {
		p.turns = func(context.Context) ([]agent.Result, []session.Turn, error) { return s.Turns() }
	}
	if s.Plan != nil {
		p.plan = s.Plan
	}
	if s.Flush != nil {
		p.flush = s.Flush
	}
	if s.Waiting != nil {
		p.waiting = func(time.Time) (time.Time, error) { return s.Waiting(), nil }
	}
	r.parts = p
}

// Awake keeps the machine awake, in tests.
type Awake struct{ awake }

// NewAwake says what happens on log.
func NewAwake(log func(string)) *Awake { return &Awake{awake{log: log}} }

// Keep is awake.keep.
func (a *Awake) Keep(want bool, now time.Duration) { a.keep(want, now) }

// Held is the pid of the inhibitor; 0: there is none.
func (a *Awake) Held() int {
	if a.hold == nil {
		return 0
	}
	return a.child.PID
}

// Inhibitor is inhibitor.
func Inhibitor(goos string, pid int) []string { return inhibitor(goos, pid) }
