package automation

import (
	"slices"
	"strings"
	"time"
)

// The limits of spec/heartbeat-automations.md 2.7 to 2.10.
const (
	// Grace is how late a slot may be looked at and still be on time: a tick
	// comes once a minute, and takes a while.
	Grace = 2 * time.Minute
	// RefireGap is the least time between the end of a run and the next one.
	RefireGap = 2 * time.Second
	// StuckAfter is how long a run of which nobody knows anything counts as
	// going on, and how long one waits for its turn.
	StuckAfter = 2 * time.Hour
	// BootHold is how long after a boot turns of agents are not made up.
	BootHold = 2 * time.Minute
	// CatchUpAtOnce is how many missed slots are made up at once; the others
	// follow CatchUpStep apart.
	CatchUpAtOnce = 5
	CatchUpStep   = 5 * time.Second
	// Correction is how far a clock must be set back for the new time to count
	// at once.
	Correction = 3 * time.Hour
	// MaxQueued is how many runs of one automation wait at most.
	MaxQueued = 20
	// SkipsToTell is after how many skips in a row a person is told (B29).
	SkipsToTell = 3
	// SkipsCooldown is the least between two such messages of one automation.
	SkipsCooldown = time.Hour
	// MaxScheduleErrors in a row, at least a minute apart, switch an
	// automation off.
	MaxScheduleErrors = 3
	// MaxWait bounds the sleep between two looks, LeastWait the hurry when
	// something due cannot start.
	MaxWait   = time.Minute
	LeastWait = 2 * time.Second

	maxRequeued = 3
)

// Life is what is known about who carries a running run out.
type Life int

// The answers. Unclear is not dead.
const (
	Unclear Life = iota
	Alive
	Dead
	NotBegun // provably: it was claimed, and nothing was started
)

// Input is everything Decide looks at.
type Input struct {
	Now         time.Time
	Boot        time.Time // when the machine came up; zero: nothing is held back
	Automations []Automation
	Runs        []Run // those queued or running
	Zone        Zones
	Life        func(Run) Life       // of a running run; nil: Unclear
	Recorded    func(id string) bool // there is a run with this id; nil: no

	// Paused: the clock starts nothing (cron.enabled is false). What a person
	// starts runs all the same, and what goes on is followed to its end.
	Paused bool
	// NoSlots: slots that have come due wait for somebody else. What was queued
	// begins, and what goes on is followed to its end.
	NoSlots bool
	// How many runs go on at once, of all automations: turns of agents
	// (cron.maxConcurrentRuns), and commands with trigger scripts; 0: no limit.
	MaxTurns, MaxCommands int
	// Taken is how many of MaxTurns others have, or are kept for them.
	Taken      int
	SkipMissed bool // recurring slots are never made up (cron.skipMissedJobs)
	Retry      Retry
}

// Plan is what is to be done now. All of it is written in one transaction;
// then Stop is stopped and Start is started, in this order.
type Plan struct {
	Start       []Run        // claimed: their rows are running
	Stop        []Run        // running, to give way to a later slot
	Runs        []Run        // every row that is new or changed, those of Start and Stop too
	Automations []Automation // every one that changed
	Deleted     []string     // ids of automations that are done with
	Notices     []Notice
	Next        time.Time // when there is something to do by the clock; zero: never
}

// Notice is something a person is told about an automation.
type Notice struct {
	AutomationID, Name string
	Code               string // consecutive-failures, schedule-errors or skips
	Text, Hint         string
}

// Sleep is how long to wait before the next look (2.7): until Next, but at
// most a minute, and at least two seconds if Next has passed.
func (p Plan) Sleep(now time.Time) time.Duration {
	if p.Next.IsZero() {
		return MaxWait
	}
	d := p.Next.Sub(now)
	if d <= 0 {
		return LeastWait
	}
	return min(d, MaxWait)
}

// Decide says what is to be done now. It is pure: the runner does it, a dry
// run shows it.
func Decide(in Input) Plan {
	p := newPlanner(in)
	p.settleRunning()
	for _, id := range p.order {
		if !in.Paused && !in.NoSlots {
			p.decide(p.autos[id])
		}
	}
	p.drain()
	return p.plan()
}

// entry is an automation while it is planned.
type entry struct {
	Automation
	slots   Slots
	broken  bool // its schedule cannot be computed now
	deleted bool
	changed bool
	open    []*Run // its runs that have not ended
}

type planner struct {
	in       Input
	now      time.Time
	order    []string
	autos    map[string]*entry
	runs     []*Run // in order of appearance
	changed  map[*Run]bool
	started  []*Run
	stopped  []*Run
	notices  []Notice
	running  [3]int // of each class
	catchUps int    // made up and not yet started, or started in this pass
	next     time.Time
}

func newPlanner(in Input) *planner {
	p := &planner{in: in, now: in.Now, autos: make(map[string]*entry, len(in.Automations)), changed: map[*Run]bool{}}
	for _, a := range in.Automations {
		e := &entry{Automation: a}
		p.autos[a.ID] = e
		p.order = append(p.order, a.ID)
		p.compile(e)
	}
	for _, r := range in.Runs {
		if !r.Status.Open() {
			continue
		}
		p.add(&r, false)
		if r.Status == Queued && r.CatchUp {
			p.catchUps++
		}
	}
	return p
}

// add takes a run into account.
func (p *planner) add(r *Run, changed bool) {
	p.runs = append(p.runs, r)
	if e := p.autos[r.AutomationID]; e != nil && r.Status.Open() {
		e.open = append(e.open, r)
	}
	if r.Status == Running {
		p.running[p.class(r)]++
	}
	if changed {
		p.changed[r] = true
	}
}

// compile finds the slots; a schedule that cannot be computed is counted, and
// stops none of the others.
func (p *planner) compile(e *entry) {
	if !e.Schedule.Kind.Timed() {
		return
	}
	slots, err := e.Slots(p.in.Zone)
	if err == nil {
		e.slots = slots
		if e.State.ScheduleErrors > 0 {
			e.State.ScheduleErrors, e.State.ScheduleError, e.State.ScheduleErrorAt = 0, "", time.Time{}
			e.changed = true
		}
		return
	}
	e.broken = true
	if since := p.now.Sub(e.State.ScheduleErrorAt); !e.Enabled || since >= 0 && since < time.Minute {
		return
	}
	e.changed = true
	e.State.ScheduleErrors++
	e.State.ScheduleError, e.State.ScheduleErrorAt = err.Error(), p.now
	if e.State.ScheduleErrors >= MaxScheduleErrors && !e.System {
		e.State.AutoDisabled = &AutoDisabled{Reason: ReasonSchedule, At: p.now, Errors: e.State.ScheduleErrors}
		e.Enabled = false
		p.notices = append(p.notices, disabledNotice(e.Automation, err.Error()))
	}
}

// settleRunning ends the runs whose owners died, and those of which nobody has
// known anything for two hours.
func (p *planner) settleRunning() {
	for _, r := range slices.Clone(p.runs) {
		if r.Status != Running {
			continue
		}
		life := Unclear
		if p.in.Life != nil {
			life = p.in.Life(*r)
		}
		age := p.now.Sub(r.StartedAt).Abs() // a clock set back must not keep it for ever
		switch {
		case life == Alive:
		case life == NotBegun && r.Requeued < maxRequeued:
			p.requeue(r)
		case life == Dead || life == NotBegun:
			p.end(r, End{Status: Interrupted, At: p.now, Code: CodeOwnerDied, Error: "who carried it out died before it ended"})
		case age > StuckAfter:
			p.end(r, End{Status: Unknown, At: p.now, Code: CodeStuck, Error: "nothing was heard of it for two hours"})
		default:
			p.wakeAt(r.StartedAt.Add(StuckAfter + time.Second))
		}
	}
}

// requeue takes back a claim that was not carried out.
func (p *planner) requeue(r *Run) {
	p.running[p.class(r)]--
	r.Status, r.Requeued, r.Owner = Queued, r.Requeued+1, nil
	r.Code, r.Why = CodeNotBegun, "the claim of "+stamp(r.StartedAt)+" was not carried out"
	r.StartedAt, r.NotBefore, r.LateMs = time.Time{}, time.Time{}, 0
	p.changed[r] = true
}

// end ends a running run, with all that follows from it.
func (p *planner) end(r *Run, end End) {
	e := p.autos[r.AutomationID]
	if e == nil {
		*r = ended(*r, end)
		p.close(r, Running)
		return
	}
	f := Finish(e.Automation, *r, end, p.in.Retry, p.in.Zone)
	*r = f.Run
	p.close(r, Running)
	e.Automation, e.changed = f.Automation, true
	e.deleted = e.deleted || f.Delete
	p.notices = append(p.notices, f.Notices...)
	if f.Retry != nil {
		p.add(f.Retry, true)
	}
}

// close takes a run that has ended out of what is open.
func (p *planner) close(r *Run, was Status) {
	p.changed[r] = true
	if was == Running {
		p.running[p.class(r)]--
	}
	if e := p.autos[r.AutomationID]; e != nil {
		e.open = slices.DeleteFunc(e.open, func(o *Run) bool { return o == r })
	}
}

func (p *planner) wakeAt(t time.Time) {
	if p.next.IsZero() || t.Before(p.next) {
		p.next = t
	}
}

// plan gathers what was decided.
func (p *planner) plan() Plan {
	out := Plan{Notices: p.notices, Next: p.next}
	for _, r := range p.runs {
		if p.changed[r] {
			out.Runs = append(out.Runs, *r)
		}
	}
	for _, r := range p.started {
		out.Start = append(out.Start, *r)
	}
	for _, r := range p.stopped {
		out.Stop = append(out.Stop, *r)
	}
	for _, id := range p.order {
		switch e := p.autos[id]; {
		case e.deleted:
			out.Deleted = append(out.Deleted, id)
		case e.changed:
			out.Automations = append(out.Automations, e.Automation)
		}
	}
	return out
}

// drain starts what waits and may start, fairly: what has waited longest
// first, then whose automation has not run for longest.
func (p *planner) drain() {
	var waiting []*Run
	for _, r := range p.runs {
		if r.Status == Queued && (r.Manual || !p.in.Paused) {
			waiting = append(waiting, r)
		}
	}
	slices.SortStableFunc(waiting, func(a, b *Run) int {
		if c := a.readyAt().Compare(b.readyAt()); c != 0 {
			return c
		}
		if c := p.lastStart(a).Compare(p.lastStart(b)); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	for _, r := range waiting {
		p.admit(r)
	}
}

// readyAt is since when a run could have started.
func (r *Run) readyAt() time.Time {
	at := r.Slot
	if at.IsZero() {
		at = r.QueuedAt
	}
	if r.NotBefore.After(at) {
		return r.NotBefore
	}
	return at
}

func (p *planner) lastStart(r *Run) time.Time {
	e := p.autos[r.AutomationID]
	switch {
	case e == nil:
		return time.Time{}
	case e.State.CheckedAt.After(e.State.LastRunAt):
		return e.State.CheckedAt
	}
	return e.State.LastRunAt
}
