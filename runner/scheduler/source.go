package scheduler

import (
	"context"

	"claw/runner/source"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
)

// starts tells a run that was claimed and has not been started yet.
func (w Work) starts(runID string) bool {
	for _, r := range w.Start {
		if r.ID == runID {
			return true
		}
	}
	return false
}

// and is the work of two passes, one after the other.
func (w Work) and(later Work) Work {
	later.wakeAt(w.Next)
	later.Start, later.Ended = append(w.Start, later.Start...), append(w.Ended, later.Ended...)
	later.Begin, later.Quit = append(w.Begin, later.Begin...), append(w.Quit, later.Quit...)
	later.Stop = append(w.Stop, later.Stop...)
	return later
}

// Sources are the automations that are run by something else than the clock
// (spec/heartbeat-automations.md 3.4, 3.5; pains B30). Each has a row, which
// arm makes when the agenda is counted anew. A pass looks at them one by one:
// what it reads of files and output it reads outside of any transaction, and
// what follows is written in one, if row and automation are still what they
// were. Otherwise the next pass decides anew, and nothing was lost.

// place is one source while a pass looks at it.
type place struct {
	row  state.Row[automation.Source]
	auto state.Row[automation.Automation] // Rev 0: it is gone
	open []automation.Run                 // of it, not ended
	last *automation.Run                  // the latest it has fired and that has ended

	process process.Process // of its owner, with an ID if there is a row
}

func (p place) id() string { return p.row.ID }

// wanted is the automation, or nil.
func (p place) wanted() *automation.Automation {
	if p.auto.Rev == 0 {
		return nil
	}
	return &p.auto.Rec
}

// move is what is to be written about one source.
type move struct {
	place
	fired  automation.Fired // Source is what the row becomes
	claim  bool             // its command is to be started
	remove bool
	after  func() // once it is written
}

// changes tells a move that changes something.
func (m move) changes() bool {
	return m.remove || m.claim || m.fired.Run != nil || m.fired.Source != m.row.Rec
}

// arm makes the rows of sources that have none yet, and counts all of them.
func (s *Scheduler) arm(tx *state.Tx, sh *sheet) (int, error) {
	rows, err := state.Sources.All(tx)
	if err != nil {
		return 0, err
	}
	known := make(map[string]bool, len(rows))
	for _, row := range rows {
		known[row.ID] = true
	}
	n := len(rows)
	for i := range sh.in.Automations {
		a := &sh.in.Automations[i]
		if a.Schedule.Kind.Timed() || known[a.ID] {
			continue
		}
		if armed := automation.Arm(a, nil, tx.Now()); !armed.Remove {
			if err := state.Sources.Put(tx, a.ID, 0, armed.Source); err != nil {
				return 0, err
			}
			n++
		}
	}
	return n, nil
}

// passSources looks at the sources, and tells whether runs have been queued.
func (s *Scheduler) passSources(ctx context.Context, atWork func(string) bool, w *Work) (queued bool, err error) {
	eyes := s.eyes()
	if w.sources == 0 {
		eyes.Keep(nil)
		return false, nil
	}
	places, err := s.places()
	if err != nil {
		return false, err
	}
	keep := make(map[string]bool, len(places))
	var moves []move
	for _, p := range places {
		keep[p.id()] = true
		m, err := s.lookAt(p, atWork, w)
		if err != nil {
			return false, err
		}
		if m.changes() {
			moves = append(moves, m)
		}
	}
	eyes.Keep(keep)
	if len(moves) == 0 {
		return false, nil
	}
	return s.makeMoves(ctx, moves, w)
}

// eyes is what this program knows of its sources.
func (s *Scheduler) eyes() *source.Set {
	if s.Eyes == nil {
		s.Eyes = source.NewSet(s.Clock, false)
	}
	return s.Eyes
}

// places reads all that is known of each source.
func (s *Scheduler) places() (places []place, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		places = places[:0]
		rows, err := state.Sources.All(tx)
		if err != nil {
			return err
		}
		runs, err := runsBy(tx, rows)
		if err != nil {
			return err
		}
		for _, row := range rows {
			p := place{row: row, open: runs[row.ID].open, last: runs[row.ID].last}
			if p.auto, _, err = state.Automations.Get(tx, row.ID); err != nil {
				return err
			}
			if o := row.Rec.Owner; o != nil {
				found, _, err := state.Processes.Find(tx, o.ProcessID)
				if err != nil {
					return err
				}
				p.process = found.Rec
			}
			places = append(places, p)
		}
		return nil
	})
	return places, err
}

// ofSource are the runs of one source.
type ofSource struct {
	open []automation.Run
	last *automation.Run
}

// runsBy finds the runs of sources.
func runsBy(tx *state.Tx, sources []state.Row[automation.Source]) (map[string]ofSource, error) {
	by := make(map[string]ofSource, len(sources))
	for _, row := range sources {
		by[row.ID] = ofSource{}
	}
	rows, err := state.Runs.All(tx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		r := row.Rec
		of, known := by[r.AutomationID]
		switch {
		case !known:
			continue
		case r.Status.Open():
			of.open = append(of.open, r)
		case !r.Manual && (of.last == nil || r.QueuedAt.After(of.last.QueuedAt)):
			of.last = &r
		}
		by[r.AutomationID] = of
	}
	return by, nil
}

// lookAt decides about one source. What is to be done beside the ledger is
// added to the work.
func (s *Scheduler) lookAt(p place, atWork func(string) bool, w *Work) (move, error) {
	now := s.Clock.Now()
	m := move{place: p, fired: automation.Fired{Source: p.row.Rec, Automation: p.auto.Rec}}
	armed := automation.Arm(p.wanted(), &p.row.Rec, now)
	m.fired.Source, m.remove = armed.Source, armed.Remove
	switch {
	case armed.Stop:
		return s.quit(m, atWork, w), nil
	case armed.Remove:
		return m, nil
	case armed.Start:
		m.claim = s.Enabled
		return m, nil
	case p.wanted() == nil || !p.auto.Rec.Enabled:
		return m, nil
	}
	w.wakeAt(armed.Next)
	switch p.auto.Rec.Schedule.Kind {
	case automation.KindOnExit, automation.KindStream:
		if m.fired.Source.Owner != nil {
			return s.tend(m, atWork, w)
		}
	case automation.KindWatch:
		return s.scan(m, now, w), nil
	case automation.KindBoot:
		if s.Enabled {
			m.fired = automation.Booted(p.auto.Rec, m.fired.Source, s.bootID(), s.boot(now), now)
		}
	}
	return m, nil
}
