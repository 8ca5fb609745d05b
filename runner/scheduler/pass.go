package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"claw/runner/internal/failpoint"
	"claw/state"
	"claw/state/automation"
	"claw/state/ulid"
)

// Plan is what a Pass at now would decide. Nothing is written.
func (s *Scheduler) Plan(now time.Time) (automation.Plan, error) {
	var p automation.Plan
	err := s.Store.View(func(tx *state.Tx) error {
		sh, err := s.read(tx, now, nobody)
		if err == nil {
			p = automation.Decide(sh.in)
		}
		return err
	})
	return p, err
}

func nobody(string) bool { return false }

// Pass decides what is due and writes it down, in one transaction: ends of
// runs, slots that are missed or skipped, claims, reminders. atWork tells the
// runs whose Start has not returned yet. A pass with nothing to do reads the
// agenda only and writes nothing.
//
// Only the holder of runner.lock may call it, and must Start what it returns.
func (s *Scheduler) Pass(ctx context.Context, atWork func(runID string) bool) (Work, error) {
	w, err := s.passRuns(ctx, atWork)
	if err != nil {
		return w, err
	}
	queued, err := s.passSources(ctx, atWork, &w)
	if err != nil || !queued {
		return w, err
	}
	again, err := s.passRuns(ctx, func(id string) bool { return atWork(id) || w.starts(id) })
	return w.and(again), err
}

// passRuns is Pass without the sources.
func (s *Scheduler) passRuns(ctx context.Context, atWork func(runID string) bool) (Work, error) {
	now := s.Clock.Now()
	sh, w, err := s.peek(now, atWork)
	if err != nil || sh == nil {
		return w, err
	}
	ends := make(map[string]outcome, len(sh.ended))
	for _, c := range sh.ended {
		ends[c.run.ID] = s.outcome(c)
	}
	w = Work{}
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		s.Spares.back(w.spares)
		w = Work{}
		return s.pass(tx, sh, atWork, ends, &w)
	}, sh.durability()...)
	switch {
	case err == nil:
		failpoint.Hit("run-claimed")
		err = s.reap(ctx)
	case !errors.Is(err, state.ErrNotDurable): // nothing has been claimed
		s.Spares.back(w.spares)
		w = Work{}
	}
	return w, err
}

// peek looks whether there is anything to write. A nil sheet says no; the work
// is then complete.
func (s *Scheduler) peek(now time.Time, atWork func(string) bool) (sh *sheet, w Work, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		row, err := agenda(tx)
		if err != nil {
			return err
		}
		if row.Rev > 0 && row.Rec.Quiet(now) && s.Enabled && s.converged(row.Rec) {
			w.Next, w.sources = row.Rec.Next, row.Rec.Sources
			return nil
		}
		if sh, err = s.read(tx, now, atWork); err != nil {
			return err
		}
		plan := automation.Decide(sh.in)
		sh.plan = plan
		if len(sh.ended) == 0 && len(plan.Runs)+len(plan.Automations)+len(plan.Deleted)+len(plan.Notices) == 0 && s.current(sh, plan) && s.converged(row.Rec) {
			w.Next, w.Stop, w.sources, sh = plan.Next, stopping(sh), row.Rec.Sources, nil
		}
		return nil
	})
	return sh, w, err
}

// durability of what is decided. Claims of commands alone need not be waited
// for: whoever starts one waits until its process's row is on the disk, and the
// claim with it, before the command runs. What a power cut takes before that
// has not begun.
func (sh *sheet) durability() []state.UpdateOption {
	if sh.startsOnly() {
		return []state.UpdateOption{state.Relaxed()}
	}
	return nil
}

// startsOnly tells that all there is to do is to start commands.
func (sh *sheet) startsOnly() bool {
	p := sh.plan
	if len(sh.ended)+len(p.Stop)+len(p.Notices)+len(p.Deleted) > 0 || len(p.Start) == 0 || len(p.Start) != len(p.Runs) {
		return false
	}
	return !slices.ContainsFunc(p.Start, func(r automation.Run) bool {
		a := sh.auto(r.AutomationID).Rec
		return a.Payload.Kind != automation.PayloadCommand || a.Checks(r)
	})
}

// current tells that the agenda says what the plan says, or that there is
// nothing to say. Without a clock the agenda is not kept.
func (s *Scheduler) current(sh *sheet, p automation.Plan) bool {
	a := sh.agenda.Rec
	if !s.Enabled || s.NoSlots || sh.agenda.Rev == 0 && len(sh.revs) == 0 {
		return true
	}
	age := sh.now.Sub(a.At)
	return !a.Stale && a.Next.Equal(p.Next) && a.Open == len(sh.in.Runs) && age >= 0 && age < automation.AgendaAge
}

// stopping are the runs that are to be stopped and have not ended: whoever was
// to stop them may have died.
func stopping(sh *sheet) []automation.Run {
	var list []automation.Run
	for _, r := range sh.in.Runs {
		if r.Status == automation.Running && !r.StoppedAt.IsZero() {
			list = append(list, r)
		}
	}
	return list
}

// pass is Pass within its transaction. What peek has read and decided holds if
// nothing has been written since.
func (s *Scheduler) pass(tx *state.Tx, sh *sheet, atWork func(string) bool, ends map[string]outcome, w *Work) error {
	busy := func(id string) bool {
		if _, known := ends[id]; known {
			return false
		}
		return atWork(id)
	}
	changed, err := s.converge(tx)
	if err != nil {
		return err
	}
	if now := sh.now; changed || tx.Position() != sh.position {
		if sh, err = s.read(tx, now, busy); err != nil {
			return err
		}
		sh.plan = automation.Decide(sh.in)
	}
	finished := false
	for _, c := range sh.ended {
		out, known := ends[c.run.ID]
		if !known {
			continue // it ended just now: the next pass has its output
		}
		end := s.finish
		if out.answer != nil {
			end = s.checked
		}
		r, err := end(tx, c.run, out)
		if err != nil {
			return err
		}
		if finished = true; !r.Status.Open() {
			w.Ended = append(w.Ended, r)
		}
	}
	if finished {
		if sh, err = s.read(tx, sh.now, busy); err != nil {
			return err
		}
		sh.plan = automation.Decide(sh.in)
	}
	return s.carry(tx, sh, sh.plan, w)
}

// carry writes a plan.
func (s *Scheduler) carry(tx *state.Tx, sh *sheet, p automation.Plan, w *Work) error {
	claims := map[string]bool{}
	for _, r := range p.Start {
		claims[r.ID] = true
	}
	open := len(sh.in.Runs)
	for _, r := range p.Runs {
		row, known := sh.runs[r.ID]
		if claims[r.ID] {
			r = s.claim(sh.auto(r.AutomationID).Rec, r, tx.Now(), w)
			w.Start = append(w.Start, r)
		}
		if !r.Status.Open() {
			var err error
			if r, err = s.closed(tx, sh, &p, r); err != nil {
				return err
			}
		}
		if err := state.Runs.Put(tx, r.ID, row.Rev, r); err != nil {
			return err
		}
		open += count(r.Status.Open()) - count(known && row.Rec.Status.Open())
		if !r.Status.Open() {
			w.Ended = append(w.Ended, r)
		}
	}
	if err := s.carryAutomations(tx, sh, p); err != nil {
		return err
	}
	w.Next = p.Next
	var err error
	if w.sources, err = s.arm(tx, sh); err != nil {
		return err
	}
	if err := s.putAgenda(tx, sh, p.Next, open, w.sources); err != nil {
		return err
	}
	if err := s.tellEvents(tx, sh, w); err != nil {
		return err
	}
	after := stopping(sh)
	w.Stop = append(after, p.Stop...)
	return nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// claim is a run that is about to be started, or asked about: its trigger
// script comes first.
func (s *Scheduler) claim(a automation.Automation, r automation.Run, now time.Time, w *Work) automation.Run {
	r.Owner = self()
	switch {
	case a.Checks(r):
		r.Owner.CheckID, r.TriggerRev = s.processID(now, w), a.State.TriggerRev
	case a.Payload.Kind == automation.PayloadCommand:
		r.Owner.ProcessID = s.processID(now, w)
	}
	return r
}

// processID is the ULID of a spare, or a new one.
func (s *Scheduler) processID(now time.Time, w *Work) string {
	id, ok := s.Spares.hold()
	if !ok {
		return ulid.New(now)
	}
	w.spares = append(w.spares, id)
	return id
}

func (s *Scheduler) carryAutomations(tx *state.Tx, sh *sheet, p automation.Plan) error {
	for _, a := range p.Automations {
		if err := state.Automations.Put(tx, a.ID, sh.auto(a.ID).Rev, a); err != nil {
			return err
		}
	}
	for _, id := range p.Deleted {
		if err := state.Automations.Delete(tx, id, sh.auto(id).Rev); err != nil {
			return err
		}
	}
	for _, n := range p.Notices {
		if err := s.notify(tx, sh.auto(n.AutomationID).Rec, n); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scheduler) putAgenda(tx *state.Tx, sh *sheet, next time.Time, open, sources int) error {
	if !s.Enabled || s.NoSlots { // when the next slot is, this plan does not know
		return stale(tx)
	}
	row, err := agenda(tx)
	if err != nil {
		return err
	}
	a := automation.Agenda{At: sh.now, Next: next, Open: open, Furthest: row.Rec.Furthest, Declared: row.Rec.Declared, Sources: sources}
	if sh.now.After(a.Furthest) {
		a.Furthest = sh.now
	}
	if row.Rec == a {
		return nil
	}
	return state.Agendas.Put(tx, automation.AgendaID, row.Rev, a)
}
