package crash_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claw/runner/tasks"
	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/process"
	"claw/state/session"
	"claw/state/task"
)

// rows is everything of a state directory that the properties are about.
type rows struct {
	processes     []process.Process
	tasks         []task.Task
	events        []event.Event
	turns         []session.Turn
	sessions      []session.Session
	deliveries    []delivery.Delivery
	runs          []automation.Run
	continuations int
}

func (l *life) rows() (r rows, err error) {
	err = l.Store.View(func(tx *state.Tx) error {
		waiting, err := state.Continuations.All(tx)
		r.continuations = len(waiting)
		return errors.Join(err, every(tx, state.Processes, &r.processes), every(tx, state.Tasks, &r.tasks), every(tx, state.Events, &r.events),
			every(tx, state.Turns, &r.turns), every(tx, state.Sessions, &r.sessions), every(tx, state.Deliveries, &r.deliveries), every(tx, state.Runs, &r.runs))
	})
	return r, err
}

// every is a ledger with its archive.
func every[T any](tx *state.Tx, l state.Ledger[T], into *[]T) error {
	live, err := l.All(tx)
	for _, row := range live {
		*into = append(*into, row.Rec)
	}
	for row, archived := range l.Archived(tx) {
		err = errors.Join(err, archived)
		*into = append(*into, row.Rec)
	}
	return err
}

// open names what has not come to its end; "" when all has.
func (r rows) open() string {
	for _, p := range r.processes {
		if p.Live() && p.Background {
			return fmt.Sprintf("process %s is %s", p.Slug, p.Phase)
		}
	}
	for _, t := range r.tasks {
		if !t.Status.Terminal() {
			return fmt.Sprintf("task %s is %s", t.ID, t.Status)
		}
	}
	for _, e := range r.events {
		if e.State == event.Queued {
			return "event " + e.Text + " is queued"
		}
	}
	for _, t := range r.turns {
		if !t.Status.Ended() {
			return fmt.Sprintf("turn %s (%s) is %s", t.ID, t.Reason, t.Status)
		}
	}
	for _, d := range r.deliveries {
		if d.State == delivery.Pending || d.State == delivery.Sending {
			return fmt.Sprintf("message %q is %s", d.Text, d.State)
		}
	}
	for _, s := range r.sessions {
		if p := s.Recovery.Phase; s.Status == session.Running || p == session.CycleInterrupted || p == session.CycleReserved {
			return fmt.Sprintf("session %s is %s, its cycle %+v", s.Key, s.Status, s.Recovery)
		}
	}
	for _, run := range r.runs {
		if run.Status.Open() {
			return fmt.Sprintf("run %s is %s", run.ID, run.Status)
		}
	}
	if r.continuations > 0 {
		return "a continuation waits"
	}
	return ""
}

// final is what property 1 forbids to change: by record, its end.
func (r rows) final() map[string]string {
	ends := map[string]string{}
	for _, p := range r.processes {
		if !p.Live() {
			ends["process "+p.ID] = fmt.Sprint(p.Phase, p.EndedAt.UTC())
		}
	}
	for _, t := range r.tasks {
		if t.Status.Terminal() {
			ends["task "+t.ID] = fmt.Sprint(t.Status, t.EndedAt.UTC(), t.CleanupAfter.UTC())
		}
	}
	for _, t := range r.turns {
		if t.Status.Ended() {
			ends["turn "+t.ID] = fmt.Sprint(t.Status, t.EndedAt.UTC())
		}
	}
	for _, d := range r.deliveries {
		if d.State == delivery.Delivered {
			ends["message "+d.ID] = fmt.Sprint(d.State, d.EndedAt.UTC(), d.ReceiptAt.UTC())
		}
	}
	for _, run := range r.runs {
		if !run.Status.Open() {
			ends["run "+run.ID] = fmt.Sprint(run.Status, run.EndedAt.UTC())
		}
	}
	return ends
}

// kept is property 1: no end of before has changed. What was past its time may
// be gone.
func (r rows) kept(before map[string]string) error {
	now := r.final()
	for id, end := range before {
		if after, ok := now[id]; ok && after != end {
			return fmt.Errorf("property 1: %s ended as %s, and now %s", id, end, after)
		}
	}
	return nil
}

// times is property 2: created, started, ended, in this order.
func (r rows) times() error {
	inOrder := func(what string, at ...time.Time) error {
		at = slices.DeleteFunc(at, time.Time.IsZero)
		if !slices.IsSortedFunc(at, time.Time.Compare) {
			return fmt.Errorf("property 2: the times of %s are %v", what, at)
		}
		return nil
	}
	var errs []error
	for _, p := range r.processes {
		errs = append(errs, inOrder("process "+p.Slug, p.CreatedAt, p.StartedAt, p.EndedAt))
	}
	for _, t := range r.tasks {
		errs = append(errs, inOrder("task "+t.ID, t.CreatedAt, t.StartedAt, t.EndedAt, t.CleanupAfter))
	}
	for _, t := range r.turns {
		errs = append(errs, inOrder("turn "+t.ID, t.CreatedAt, t.StartedAt, t.EndedAt))
	}
	for _, d := range r.deliveries {
		errs = append(errs, inOrder("message "+d.ID, d.CreatedAt, d.AttemptedAt, d.EndedAt))
	}
	for _, run := range r.runs {
		errs = append(errs, inOrder("run "+run.ID, run.QueuedAt, run.StartedAt, run.EndedAt))
	}
	return errors.Join(errs...)
}

// digest is what property 3 compares: every file with its bytes.
func digest(dir string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n", path, len(raw))
		sum.Write(raw)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// looks is property 3: whatever only looks leaves the directory as it is.
func (l *life) looks() error {
	before, err := digest(l.Store.Dir())
	if err != nil {
		return err
	}
	now := l.clock.Now()
	k := tasks.Keeper{Store: l.Store, Clock: l.clock}
	_, err1 := l.Preview(now)
	_, err2 := l.Recoverer().List(now, true)
	_, err3 := l.Recoverer().Foresee(now)
	_, err4 := k.List(tasks.Filter{Archived: true})
	_, err5 := k.Audit(tasks.AuditFilter{})
	_, err6 := k.Maintain(l.w.ctx(), false)
	_, err7 := l.Turns.Sessions("")
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		return fmt.Errorf("looking: %w", err)
	}
	after, err := digest(l.Store.Dir())
	if err == nil && after != before {
		err = errors.New("property 3: looking has changed the directory")
	}
	return err
}

// obligations are properties 4, 6 and 7: what was promised has reached the
// person once or is said not to be known, nothing twice; no agent was started
// twice for one turn; no cycle was dispatched more than three times.
func (r rows) obligations(w *world) error {
	var errs []error
	for marker, promised := range w.owed {
		var told []delivery.Delivery
		for _, d := range r.deliveries {
			if strings.Contains(d.Text+d.Title+d.Body, marker) {
				told = append(told, d)
			}
		}
		heard := w.heard(marker)
		switch {
		case len(told) > 1 || heard > 1:
			errs = append(errs, fmt.Errorf("property 6: %q: %d messages, heard %d times: %+v", marker, len(told), heard, told))
		case promised && len(told) == 0:
			errs = append(errs, fmt.Errorf("property 6: %q was promised, and nobody was told", marker))
		case len(told) == 1 && told[0].State == delivery.Delivered && heard != 1, len(told) == 0 && heard > 0:
			errs = append(errs, fmt.Errorf("property 6: %q: %d messages, heard %d times", marker, len(told), heard))
		case len(told) == 1 && told[0].State != delivery.Delivered && told[0].State != delivery.Unknown:
			errs = append(errs, fmt.Errorf("property 6: %q is %s: %s", marker, told[0].State, told[0].Error))
		}
	}
	for id, n := range w.began {
		if n > 1 {
			errs = append(errs, fmt.Errorf("property 6: %s was begun %d times", id, n))
		}
	}
	return errors.Join(append(errs, r.attempts()...)...)
}

// attempts is property 7.
func (r rows) attempts() (errs []error) {
	dispatched := map[string]int{}
	for _, t := range r.turns {
		if t.Reason == "recovery" && t.Status != session.TurnNotAccepted {
			dispatched[t.DispatchID]++
		}
		if t.Attempt > session.Budget {
			errs = append(errs, fmt.Errorf("property 7: attempt %d of %s", t.Attempt, t.DispatchID))
		}
	}
	for id, n := range dispatched {
		if n > session.Budget {
			errs = append(errs, fmt.Errorf("property 7: %s was dispatched %d times", id, n))
		}
	}
	for _, s := range r.sessions {
		if err := s.Recovery.Check(); err != nil {
			errs = append(errs, fmt.Errorf("session %s: %w", s.Key, err))
		}
		if why := s.Contradiction(); why != "" {
			errs = append(errs, fmt.Errorf("session %s: %s", s.Key, why))
		}
	}
	return errs
}

// events: each is consumed by one turn that succeeded, or was told to the
// person himself; and each process that ended has one at most.
func (r rows) eventsOnce() error {
	var errs []error
	of := map[string]int{}
	for _, e := range r.events {
		good := 0
		for _, t := range r.turns {
			if t.Status == session.TurnSucceeded && slices.Contains(t.EventIDs, e.ID) {
				good++
			}
		}
		if e.State == event.Consumed && good != 1 || (e.State == event.Unknown || e.State == event.Relayed) && good != 0 {
			errs = append(errs, fmt.Errorf("property 4: event %q is %s, %d turns that showed it succeeded", e.Text, e.State, good))
		}
		if e.ProcessID != "" {
			of[e.ProcessID]++
		}
	}
	for id, n := range of {
		if n > 1 {
			errs = append(errs, fmt.Errorf("property 4: %d events for the end of %s", n, id))
		}
	}
	return errors.Join(errs...)
}
