package scheduler

import (
	"time"

	"claw/runner/internal/proc"
	"claw/state"
	"claw/state/automation"
	"claw/state/external"
	"claw/state/process"
	"claw/state/session"
)

// sheet is what one transaction sees of automations.
type sheet struct {
	now    time.Time
	agenda state.Row[automation.Agenda]
	place  map[string]int // of an automation in in.Automations, and in revs
	revs   []int64
	runs   map[string]state.Row[automation.Run]
	in     automation.Input
	ended  []carried // runs whose process or turn has ended

	position int64           // of the transaction that was seen
	plan     automation.Plan // what follows, once it has been decided
}

// carried is a run with who has carried it out.
type carried struct {
	run     automation.Run
	process process.Process // with an ID, if it was a command
	most    int64           // outputMaxBytes of the automation; 0: none
	paced   bool            // the run may ask for its next check
	turn    session.Turn    // with an ID, if it was a turn
	check   bool            // the process was its trigger script
}

// auto is the row of an automation; the zero row where there is none. There may
// be thousands: they are kept once.
func (sh *sheet) auto(id string) state.Row[automation.Automation] {
	i, ok := sh.place[id]
	if !ok {
		return state.Row[automation.Automation]{}
	}
	return state.Row[automation.Automation]{ID: id, Rev: sh.revs[i], Rec: sh.in.Automations[i]}
}

// agenda is the row of the agenda.
func agenda(tx *state.Tx) (state.Row[automation.Agenda], error) {
	row, _, err := state.Agendas.Get(tx, automation.AgendaID)
	return row, err
}

// stale has the next pass look at everything.
func stale(tx *state.Tx) error {
	row, err := agenda(tx)
	if err != nil || row.Rec.Stale {
		return err
	}
	row.Rec.Stale = true
	return state.Agendas.Put(tx, automation.AgendaID, row.Rev, row.Rec)
}

// read makes the sheet. atWork tells a run that this program is starting or
// waiting for.
func (s *Scheduler) read(tx *state.Tx, now time.Time, atWork func(runID string) bool) (*sheet, error) {
	sh := &sheet{now: now, position: tx.Position(), runs: map[string]state.Row[automation.Run]{}}
	var err error
	if sh.agenda, err = agenda(tx); err != nil {
		return nil, err
	}
	sh.in = automation.Input{
		Now: now, Boot: s.boot(now), Zone: s.Zone, Paused: !s.Enabled, NoSlots: s.NoSlots, MaxTurns: s.MaxTurns, MaxCommands: s.MaxCommands, SkipMissed: s.SkipMissed, Retry: s.Retry,
		Recorded: func(id string) bool { return sh.recorded(tx, id) },
	}
	if sh.in.Taken, err = s.taken(tx, atWork); err != nil {
		return nil, err
	}
	autos, err := state.Automations.All(tx)
	if err != nil {
		return nil, err
	}
	sh.place, sh.revs = make(map[string]int, len(autos)), make([]int64, len(autos))
	sh.in.Automations = make([]automation.Automation, len(autos))
	for i, row := range autos {
		sh.place[row.ID], sh.revs[i], sh.in.Automations[i] = i, row.Rev, row.Rec
	}
	return sh, s.readRuns(tx, sh, atWork)
}

// taken is how many of MaxTurns turns have that somebody outside asked for, or
// that are kept for those.
func (s *Scheduler) taken(tx *state.Tx, atWork func(string) bool) (int, error) {
	all, err := state.OpenDispatches(tx)
	return external.Budget{Max: s.MaxTurns, Reserved: s.KeepHTTP}.Taken(external.Use(all, atWork)), err
}

func (s *Scheduler) boot(now time.Time) time.Time {
	if !s.Boot.IsZero() {
		return s.Boot
	}
	return bootTime(now)
}

func (s *Scheduler) readRuns(tx *state.Tx, sh *sheet, atWork func(runID string) bool) error {
	runs, err := state.Runs.All(tx)
	if err != nil {
		return err
	}
	lives := map[string]automation.Life{}
	for _, row := range runs {
		sh.runs[row.ID] = row
		r := row.Rec
		if !r.Status.Open() {
			continue
		}
		sh.in.Runs = append(sh.in.Runs, r)
		if r.Status != automation.Running {
			continue
		}
		life, c, err := s.look(tx, r, sh.now, atWork)
		if err != nil {
			return err
		}
		if lives[r.ID] = life; c != nil {
			a := sh.auto(r.AutomationID).Rec
			c.most, c.paced = a.Payload.OutputMaxBytes, a.Pacing != nil
			sh.ended = append(sh.ended, *c)
		}
	}
	sh.in.Life = func(r automation.Run) automation.Life { return lives[r.ID] }
	return nil
}

// recorded tells that a slot has its run already. Only when the clock was set
// back can that be, and only then is the archive asked.
func (sh *sheet) recorded(tx *state.Tx, id string) bool {
	if _, ok := sh.runs[id]; ok {
		return true
	}
	if !sh.now.Before(sh.agenda.Rec.Furthest) {
		return false
	}
	_, ok, err := state.Runs.Find(tx, id)
	return ok || err != nil
}

// provable is how long after its claim the absence of a process's row proves
// that nothing was started: archives are pruned after days.
const provable = 24 * time.Hour

// look finds who carries a running run out. Where that one has ended, it is
// returned, and the run counts as alive until its end is written.
func (s *Scheduler) look(tx *state.Tx, r automation.Run, now time.Time, atWork func(string) bool) (automation.Life, *carried, error) {
	o := r.Owner
	switch {
	case atWork(r.ID):
		return automation.Alive, nil, nil
	case o == nil:
		return automation.Unclear, nil, nil
	case o.TurnID != "":
		row, ok, err := state.Turns.Find(tx, o.TurnID)
		if err != nil || !ok {
			return automation.Unclear, nil, err
		}
		if row.Rec.Status.Ended() {
			return automation.Alive, &carried{run: r, turn: row.Rec}, nil
		}
		return automation.Alive, nil, nil
	case o.ProcessID != "" || o.CheckID != "":
		row, ok, err := state.Processes.Find(tx, o.ProcessID+o.CheckID)
		switch {
		case err != nil:
			return automation.Unclear, nil, err
		case ok && row.Rec.Live():
			return automation.Alive, nil, nil
		case ok:
			return automation.Alive, &carried{run: r, process: row.Rec, check: o.CheckID != ""}, nil
		}
		return s.unbegun(r, now), nil, nil
	}
	return s.unbegun(r, now), nil, nil // a turn that was not admitted
}

// unbegun is what is known of a claim after which nothing was started, as far
// as the ledgers know. A command's row may have been lost in a power cut; a
// turn's admission is on disk before its agent runs.
func (s *Scheduler) unbegun(r automation.Run, now time.Time) automation.Life {
	id := identity(r.Owner)
	switch {
	case id != proc.Self() && proc.Alive(id):
		return automation.Alive // another program that has it in hand
	case now.Sub(r.StartedAt).Abs() > provable:
		return automation.Dead
	case r.Owner.ProcessID+r.Owner.CheckID != "" && r.Owner.Boot != proc.Boot():
		return automation.Dead
	}
	return automation.NotBegun
}

func identity(o *automation.Owner) process.Identity {
	return process.Identity{Boot: o.Boot, PID: o.Pid, Start: o.StartTicks}
}

// self is this program as the owner of a claim.
func self() *automation.Owner {
	id := proc.Self()
	return &automation.Owner{Boot: id.Boot, Pid: id.PID, StartTicks: id.Start}
}
