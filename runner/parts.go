package runner

import (
	"context"
	"time"

	"claw/runner/agent"
	"claw/runner/control"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/resume"
	"claw/runner/retention"
	"claw/runner/scheduler"
	"claw/state"
	"claw/state/automation"
	"claw/state/boot"
	"claw/state/event"
	"claw/state/process"
	"claw/state/session"
)

// parts is what a pass is made of. They are the fields of a Runner, behind a
// seam: what a pass makes of them can be tested without agents and channels.
type parts struct {
	settle   func(ctx context.Context) (gone []process.Process, err error)
	live     func() (bool, error) // something runs whose death nobody would be told of
	turns    func(ctx context.Context) (ended []agent.Result, going []session.Turn, err error)
	noSlots  func() // slots that come due from now on are for somebody else
	schedule func(ctx context.Context, atWork func(runID string) bool) (scheduler.Work, error)
	start    func(ctx context.Context, group []automation.Run) error
	stop     func(r automation.Run) error

	// Before an instant: what is due then is made ready, in how many commands;
	// these are claimed; and then they are started.
	prepare func(at time.Time) (commands int, err error)
	ahead   func(ctx context.Context, at time.Time, atWork func(runID string) bool) (scheduler.Work, error)
	startAt func(ctx context.Context, at time.Time, runs []automation.Run) error

	asked []asked

	startSource, stopSource func(ctx context.Context, src automation.Source) error

	converge func(ctx context.Context) error
	plan     func(now time.Time) (heartbeat.Plan, error)
	do       func(ctx context.Context, w heartbeat.Planned) (session.Turn, error)
	cycles   func(now time.Time) (resume.Plan, error) // of turns that were cut off; nil: there are none
	goOn     func(ctx context.Context, it resume.Item) (resume.Done, error)
	flush    func(ctx context.Context) (deliver.Flushed, error)
	due      func(now time.Time) bool
	sweep    func(ctx context.Context, now time.Time)
	tasks    func(ctx context.Context)
	waiting  func(now time.Time) (time.Time, error) // the earliest event that is put off
}

// work are the parts of a pass in a mode. Where nothing begins by the clock,
// automations are looked after by a scheduler that starts only what a person
// starts, and writes down what ends.
func (r *Runner) work(m boot.Mode) *parts {
	if r.parts != nil {
		return r.parts
	}
	cron := r.Scheduler
	if !m.Allows(boot.Run) {
		cron = r.calm()
	}
	p := &parts{
		settle: func(ctx context.Context) ([]process.Process, error) {
			return control.Settle(ctx, r.Store, r.Clock, r.OnLoss)
		},
		live:     r.live,
		turns:    r.Turns.Settle,
		converge: r.Heartbeat.Converge,
		plan:     func(now time.Time) (heartbeat.Plan, error) { return r.Heartbeat.Plan(now) },
		do:       r.Heartbeat.Do,
		cycles:   r.Recoverer().Plan,
		goOn:     r.Recoverer().Do,
		flush:    r.Post.Flush,
		due:      func(now time.Time) bool { return retention.Due(r.Store, now) },
		sweep:    r.sweep,
		tasks:    r.settleTasks,
		waiting:  r.waiting,
	}
	if r.Hooks != nil {
		p.asked = append(p.asked, fromHooks(r.Hooks))
	}
	if r.Subagents != nil {
		p.asked = append(p.asked, fromSubagents(r.Subagents))
	}
	if cron == nil {
		p.schedule = func(context.Context, func(string) bool) (scheduler.Work, error) { return scheduler.Work{}, nil }
		p.prepare = func(time.Time) (int, error) { return 0, nil }
		return p
	}
	p.schedule, p.start, p.stop = cron.Pass, cron.StartAll, cron.Stop
	p.prepare, p.ahead, p.startAt = cron.Prepare, cron.PassAhead, cron.StartAt
	p.noSlots = func() { cron.NoSlots = true }
	p.startSource, p.stopSource = cron.StartSource, cron.StopSource
	return p
}

// calm is the scheduler of the modes in which nothing begins by the clock.
func (r *Runner) calm() *scheduler.Scheduler {
	if r.calmed == nil && r.Calm != nil {
		r.calmed = r.Calm()
	}
	return r.calmed
}

// sweep removes what is no longer kept. Errors are not worth more than the next
// try.
func (r *Runner) sweep(ctx context.Context, now time.Time) {
	retention.Once(ctx, r.Store, r.Retain, now)
	r.settleTasks(ctx)
	if r.Hooks != nil {
		r.Hooks.Reap(ctx, now)
	}
}

// settleTasks ends the tasks that nobody carries out any more, and removes those
// that are past their time.
func (r *Runner) settleTasks(ctx context.Context) { r.keeper().Sweep(ctx) }

func (r *Runner) live() (bool, error) {
	found := false
	err := r.Store.View(func(tx *state.Tx) error {
		rows, err := state.Processes.All(tx)
		for _, row := range rows {
			found = found || row.Rec.Live()
		}
		return err
	})
	return found, err
}

// waiting is when the earliest event may be shown that may not be shown yet.
func (r *Runner) waiting(now time.Time) (time.Time, error) {
	var first time.Time
	err := r.Store.View(func(tx *state.Tx) error {
		rows, err := state.Events.All(tx)
		for _, row := range rows {
			if e := row.Rec; e.State == event.Queued && e.NotBefore.After(now) {
				first = earlier(first, e.NotBefore)
			}
		}
		return err
	})
	return first, err
}

// earlier of two instants; the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
