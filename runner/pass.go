package runner

import (
	"context"
	"errors"
	"time"

	"claw/runner/clock"
	"claw/runner/heartbeat"
	"claw/state"
	"claw/state/boot"
	"claw/state/task"
)

// pass does each part once. What takes long (turns, messages, sweeping) is
// started and lands later.
func (s *shift) pass(ctx context.Context) {
	now := s.clock.Now()
	s.again, s.stuck, s.passed = false, nil, now
	s.review(ctx)
	w := s.r.work(s.mode)
	gone, err := w.settle(ctx)
	s.fail(err)
	ended, going, err := w.turns(ctx)
	s.fail(err)
	s.say(gone, ended)
	live, err := w.live()
	s.fail(err)
	s.going, s.live = going, live || len(going) > 0
	s.schedule(ctx, w)
	s.carryAsked(ctx, w)
	s.settleTasks(ctx, w)
	s.fail(w.converge(ctx))
	plan, err := w.plan(now)
	s.fail(err)
	if ctx.Err() != nil {
		return
	}
	s.planNext, s.retryAt = plan.Next, time.Time{}
	if s.stuck != nil {
		return // what begins could not be written down
	}
	s.begin(w, plan, now)
	s.report.Next = s.next()
}

// tasksEvery is how often tasks are looked at that nobody may carry out any more
// (spec/tasks-recovery.md 1.10): a little less than the minute after which a pass
// is made while some go on.
const tasksEvery = clock.Longest - 5*time.Second

// tasksSeen is what was seen of the tasks.
type tasksSeen struct {
	looked   bool
	at       time.Duration // on the monotonic clock
	active   bool          // some went on
	position int64         // of the journal then
}

// settleTasks ends the tasks that nobody carries out any more, and does to their
// flows what follows: with each tick, and each minute of a runner. What is merely
// old goes with the sweep. Errors are not worth more than the next try: the audit
// has them.
func (s *shift) settleTasks(ctx context.Context, w *parts) {
	seen := &s.tasks
	if s.mode == boot.Draining || seen.looked && s.clock.Elapsed()-seen.at < tasksEvery {
		return
	}
	if err := s.lookForTasks(); err == nil && seen.active {
		w.tasks(ctx)
	}
	seen.looked, seen.at = true, s.clock.Elapsed()
}

// lookForTasks finds out whether any row says that it goes on. Nothing is decoded,
// and where nothing was written since the last time nothing is read.
func (s *shift) lookForTasks() error {
	return s.r.Store.View(func(tx *state.Tx) error {
		seen := &s.tasks
		if seen.looked && !seen.active && seen.position == tx.Position() {
			return nil
		}
		queued, err1 := state.Tasks.Mentions(tx, `"status":"`+string(task.Queued)+`"`)
		running, err2 := state.Tasks.Mentions(tx, `"status":"`+string(task.Running)+`"`)
		seen.active, seen.position = queued || running, tx.Position()
		return errors.Join(err1, err2)
	})
}

// begin starts what takes long, as far as the mode allows it.
func (s *shift) begin(w *parts, plan heartbeat.Plan, now time.Time) {
	if s.mode.Allows(boot.Turn) {
		s.resume(w, now)
		s.wake(w, plan)
	} else {
		s.planNext, s.cycleNext = time.Time{}, time.Time{}
	}
	if s.mode.Allows(boot.Send) {
		s.send(w)
	} else {
		s.postNext = time.Time{}
	}
	if s.mode != boot.Draining && w.due(now) && s.busy[slotSweep] == 0 {
		s.launch(landing{slot: slotSweep}, func(l *landing) { w.sweep(s.sends, now) })
	}
}

// wake carries out what is planned, one wake for each agent at a time. A skip
// is recorded once for as long as it is planned for the same reason.
func (s *shift) wake(w *parts, plan heartbeat.Plan) {
	remembered := make(map[string]memo, len(plan.Wakes))
	for _, p := range plan.Wakes {
		key := p.Agent + "\x00" + p.SessionKey
		m := s.memory[key]
		remembered[key] = m
		switch {
		case s.busy[p.Agent] > 0: // its landing makes another pass
		case p.Status == "deferred":
			s.putOff(p, p.RetryAt)
		case m.tries > 0 && m.until > s.clock.Elapsed():
			s.putOff(p, s.clock.Now().Add(m.until-s.clock.Elapsed()))
		case !p.Run && m.sign == sign(p):
			s.putOff(p, p.RetryAt)
		default:
			s.launch(landing{slot: p.Agent, key: key, wake: p}, func(l *landing) { l.turn, l.err = w.do(s.turns, p) })
		}
	}
	for key, m := range s.memory { // of an agent at work, whose session is not planned meanwhile
		if _, ok := remembered[key]; !ok && s.busy[agentOf(key)] > 0 {
			remembered[key] = m
		}
	}
	s.memory = remembered
}

func agentOf(key string) string {
	for i := range key {
		if key[i] == 0 {
			return key[:i]
		}
	}
	return key
}

// sign tells one skip from another.
func sign(p heartbeat.Planned) string {
	return p.Status + "\x00" + p.Reason + "\x00" + p.Due.UTC().Format(time.RFC3339Nano)
}

// putOff notes when a wake can be looked at again. The heartbeat's own cadence
// is nothing a tick lingers for.
func (s *shift) putOff(p heartbeat.Planned, at time.Time) {
	if p.Intent != "scheduled" {
		s.retryAt = earlier(s.retryAt, at)
	}
}

// senders is how many may look for messages at once. Each message is sent by
// one of them; one that waits for a slow channel does not hold up the others.
const senders = 4

// send looks for messages that are due, beside the passes.
func (s *shift) send(w *parts) {
	if s.busy[slotPost] >= senders {
		return
	}
	s.launch(landing{slot: slotPost}, func(l *landing) { l.flushed, l.err = w.flush(s.sends) })
}

func (s *shift) launch(l landing, fn func(l *landing)) {
	s.busy[l.slot]++
	go func() {
		fn(&l)
		s.landed <- l
	}()
}

// land takes in what has ended.
func (s *shift) land(l landing) {
	if s.busy[l.slot]--; s.busy[l.slot] == 0 {
		delete(s.busy, l.slot)
	}
	switch l.slot {
	case slotPost:
		s.landPost(l)
	case slotSweep:
	case slotRun:
		s.landRun(l)
	default:
		if l.cycle != "" {
			s.landCycle(l)
			return
		}
		s.landWake(l)
	}
}

func (s *shift) landPost(l landing) {
	s.fail(l.err)
	s.postNext = l.flushed.Next
	s.report.Next = s.next()
	f := l.flushed
	s.report.Delivered += f.Delivered
	for _, x := range []struct {
		n   int
		how string
	}{{f.Delivered, "delivered"}, {f.Failed, "could not be delivered: claw deliveries list"}, {f.Unknown, "may or may not have arrived: claw deliveries list"}} {
		if x.n > 0 {
			s.done("%s %s", messages(x.n), x.how)
		}
	}
}

// landWake frees the agent for its next wake.
func (s *shift) landWake(l landing) {
	s.again = true
	m := s.memory[l.key]
	switch {
	case l.err == nil:
		m, s.stuck = memo{}, nil // it has been written down
		if !l.wake.Run {
			m.sign = sign(l.wake)
		}
	default:
		m.until = s.clock.Elapsed() + min(firstRetry<<min(m.tries, 6), lastRetry)
		m.tries++
		if !busyLane(l.err) && s.turns.Err() == nil {
			s.fail(l.err)
		}
	}
	s.memory[l.key] = m
	if l.turn.ID != "" && l.turn.Status.Ended() {
		s.turnEnded(l.turn, "")
	}
}
