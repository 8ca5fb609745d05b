package scheduler

import (
	"context"
	"errors"
	"time"

	"claw/runner/clock"
	"claw/runner/control"
	"claw/runner/internal/failpoint"
	"claw/runner/settle"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/ulid"
)

// StartSource starts the command of a source that a Pass has claimed. An error
// is one of the state directory; what could not be started is tried again
// later, by the rules of the source.
func (s *Scheduler) StartSource(ctx context.Context, src automation.Source) error {
	a, ok, err := s.find(src.AutomationID)
	if err != nil || !ok || src.Unwanted(&a) {
		return err // the next pass takes the claim back
	}
	leave := s.enter()
	defer leave()
	if ctx.Err() != nil {
		return nil
	}
	failpoint.Hit("source-starting")
	id := src.Owner.ProcessID
	err = s.begin(ctx, s.waited(a), id, a.ID+"@"+id)
	if err == nil {
		failpoint.Hit("source-started")
		return nil
	}
	begun, findErr := s.known(id)
	if begun || findErr != nil || ctx.Err() != nil {
		return findErr
	}
	return s.notStarted(src, err)
}

// waited is the command of a source: a line for the shell whose end is waited
// for, or a program whose output is.
func (s *Scheduler) waited(a automation.Automation) control.Exec {
	e := s.unlisted(a)
	e.Command, e.Argv, e.Workdir = a.Schedule.Command, a.Schedule.Argv, a.Schedule.Cwd
	e.Env = []string{"CLAW_AUTOMATION=" + a.Name}
	return e
}

// notStarted writes down that a command could not be started.
func (s *Scheduler) notStarted(src automation.Source, why error) error {
	return s.Store.Update(context.Background(), func(tx *state.Tx) error {
		m := move{}
		var ok bool
		var err error
		if m.row, ok, err = state.Sources.Get(tx, src.AutomationID); err != nil || !ok {
			return err
		}
		if o := m.row.Rec.Owner; o == nil || o.ProcessID != src.Owner.ProcessID {
			return nil
		}
		if m.auto, ok, err = state.Automations.Get(tx, src.AutomationID); err != nil || !ok {
			return err
		}
		m.fired.Source = m.row.Rec
		m.fired = ended(m, automation.SourceEnd{At: tx.Now(), Error: "it could not be started: " + why.Error()}, tx.Now())
		return s.write(tx, m)
	})
}

// ended is what follows from the end of a command.
func ended(m move, end automation.SourceEnd, now time.Time) automation.Fired {
	if m.auto.Rec.Schedule.Kind == automation.KindOnExit {
		return automation.OnExitEnded(m.auto.Rec, m.fired.Source, end, m.runID(now), now)
	}
	return automation.StreamEnded(m.auto.Rec, m.fired.Source, end, now)
}

// StopSource ends the command of a source that is not wanted any more, TERM
// first, and waits for its end, so that a pass then finds it. Doing it again
// does no harm.
func (s *Scheduler) StopSource(ctx context.Context, src automation.Source) error {
	id := src.Owner.ProcessID
	var p process.Process
	err := s.Store.View(func(tx *state.Tx) error {
		row, _, err := state.Processes.Find(tx, id)
		p = row.Rec
		return err
	})
	if err != nil || p.ID == "" {
		return err
	}
	if !p.Live() {
		settle.EndLeftover(ctx, clock.New(), p) // a process of the system keeps to its time
		return nil
	}
	dir := s.Store.ProcessDir(id)
	_, err = supervisor.Call(dir, supervisor.Ask{Op: supervisor.OpKill})
	if errors.Is(err, supervisor.ErrNoSupervisor) {
		return nil // it has just ended, or will be found to have died
	}
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, quitPatience)
	defer cancel()
	if err = state.LockShared(waiting, settle.Lifeline(dir)); waiting.Err() != nil {
		return nil // a later pass asks again
	}
	return err
}

// quitPatience is longer than TERM, the grace after it, and KILL.
const quitPatience = 15 * time.Second

// quit has the command of a source ended. What it still says is nobody's
// business, and so is how it ends.
func (s *Scheduler) quit(m move, atWork func(string) bool, w *Work) move {
	o, p := m.fired.Source.Owner, m.process
	switch {
	case atWork(o.ProcessID): // it is just being started, or ended
	case p.ID == "" && s.claimed(o) == automation.Alive:
	case p.Live() || p.ID != "" && len(settle.Survivors(p)) > 0:
		m.fired.Source.Status = automation.SourceStopping
		w.Quit = append(w.Quit, m.fired.Source)
	default:
		m.fired.Source = m.fired.Source.EndedStale()
	}
	return m
}

// claimed is what is known of a claim whose process has no row.
func (s *Scheduler) claimed(o *automation.Owner) automation.Life {
	at, _ := ulid.Time(o.ProcessID)
	return s.unbegun(automation.Run{Owner: o, StartedAt: at}, s.Clock.Now())
}

// tend looks after the command of a source that is wanted.
func (s *Scheduler) tend(m move, atWork func(string) bool, w *Work) (move, error) {
	p, o, now := m.process, m.fired.Source.Owner, s.Clock.Now()
	switch {
	case atWork(o.ProcessID):
		return m, nil
	case p.ID == "":
		return s.unstarted(m, now), nil
	case p.Live():
		if m.fired.Source.Status == automation.SourceStarting && p.Phase == process.Running {
			m.fired.Source = m.fired.Source.Began()
		}
		if m.auto.Rec.Schedule.Kind == automation.KindStream && s.Enabled {
			return s.feed(m, w)
		}
		return m, nil
	case p.Phase == process.Lost && len(settle.Survivors(p)) > 0:
		return outlived(m, now, w), nil
	case m.auto.Rec.Schedule.Kind == automation.KindStream:
		return s.lastWords(m, now)
	}
	m.fired = ended(m, endOf(p), now)
	return m, nil
}

// outlived looks after a command that goes on without its supervisor. Two of one
// source never run at once: a stream is ended, since nobody takes in what it
// says; what is waited for goes on, and the source with it.
func outlived(m move, now time.Time, w *Work) move {
	if m.auto.Rec.Schedule.Kind == automation.KindStream {
		w.Quit = append(w.Quit, m.fired.Source)
		return m
	}
	m.fired.Source.Error = "its supervisor died, and the command goes on: nobody will know how it ends"
	w.wakeAt(now.Add(outlivedEach))
	return m
}

// outlivedEach is how often it is asked whether such a command has ended:
// nobody tells of it.
const outlivedEach = 15 * time.Second

// unstarted decides about a claim that nobody has carried out, as far as the
// ledgers know.
func (s *Scheduler) unstarted(m move, now time.Time) move {
	switch s.claimed(m.fired.Source.Owner) {
	case automation.Alive:
	case automation.NotBegun:
		m.claim = s.Enabled
	default: // its row may have been lost in a power cut
		m.fired = ended(m, automation.SourceEnd{At: now, Unknown: true}, now)
	}
	return m
}

// endOf is how the command of a source ended.
func endOf(p process.Process) automation.SourceEnd {
	end := automation.SourceEnd{Began: p.StartedAt, At: p.EndedAt, Tail: p.Tail}
	x := p.Exit
	switch {
	case p.Phase == process.Lost || x == nil:
		end.Unknown = true
	case x.Reason == process.ReasonSpawnError:
		end.Began, end.Error = time.Time{}, "it could not be started: "+x.Error
	default:
		end.Code, end.Signal = x.Code, x.Signal
	}
	return end
}
