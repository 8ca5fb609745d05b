package scheduler_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"claw/runner/internal/proc"
	"claw/runner/scheduler"
	"claw/runner/settle"
	"claw/state"
	"claw/state/automation"
	"claw/state/event"
	"claw/state/process"
	"claw/state/session"
	"claw/state/ulid"
)

// job is an automation of the year, and which slots it owes.
type job struct {
	name    string
	fails   bool // each time
	epochs  []epoch
	current *epoch // while it is on
	oracle  oracle
	rules   []automation.Automation // as it was at any time: edits change policies
	removed bool
}

// epoch is a time in which one schedule was in force: its slots after from and
// not after to are owed.
type epoch struct {
	oracle
	from, to time.Time
}

// execution is a command or a turn that goes on.
type execution struct {
	id      string // of the process or the turn
	turn    bool
	fails   bool
	stopped bool
	lost    bool // its supervisor is dead
	ends    time.Duration
}

// make adds an automation. Policies, payloads and zones go round, so that all
// there are meet.
func (y *year) make(i int) {
	y.serial++
	s, o := y.schedule(i)
	a := automation.Automation{
		Name: fmt.Sprintf("job%02d", y.serial), Enabled: true, Schedule: s, Delivery: &automation.Delivery{Mode: "none"},
		Payload: automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}},
		Missed:  automation.MissedRule{Policy: []automation.MissedPolicy{automation.MissedSkip, automation.MissedOnce, automation.MissedAll}[i%3], Limit: 1 + y.random.IntN(3)},
		Overlap: []automation.Overlap{automation.OverlapSkip, automation.OverlapQueue, automation.OverlapReplace, automation.OverlapAllow}[i/3%4],
	}
	switch i % 8 {
	case 3:
		a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
	case 5:
		a.Payload = automation.Payload{Kind: automation.PayloadEvent, Text: a.Name}
	}
	if i%6 == 1 {
		a.Missed.WindowMs = (3 * time.Hour).Milliseconds()
	}
	if i%9 == 8 {
		o = oracle{anchor: y.clock.Now().Add(time.Duration(y.random.IntN(2000)) * time.Hour).Truncate(time.Millisecond)}
		a.Schedule, a.DeleteAfterRun = automation.Schedule{Kind: automation.KindAt, At: o.anchor}, i%2 == 0
	}
	name := a.Name
	_, _, err := y.Add(y.t.Context(), a)
	y.try("add", err)
	rows := y.autos()
	at := slices.IndexFunc(rows, func(a automation.Automation) bool { return a.Name == name })
	if at < 0 {
		return // it died before that was written
	}
	a = rows[at]
	o.id = a.ID
	j := &job{name: a.Name, fails: i%12 == 10, oracle: o, rules: []automation.Automation{a}}
	j.current = &epoch{oracle: o, from: a.CreatedAt}
	if o.fields == nil && o.every == 0 {
		j.current.from = a.CreatedAt.Add(-time.Hour)
	}
	y.jobs[a.ID], y.ids = j, append(y.ids, a.ID)
}

// begin is what Start does, without the command and the agent: the row that is
// written before anything runs.
func (y *year) begin(r automation.Run) error {
	x := &execution{id: r.Owner.ProcessID, ends: y.clock.Elapsed() + time.Duration(y.random.IntN(50))*time.Second}
	if y.random.IntN(20) == 0 {
		x.ends += time.Duration(y.random.IntN(5*60)) * time.Minute
	}
	j := y.jobs[r.AutomationID]
	x.fails = j.fails || y.random.IntN(12) == 0
	err := y.Store.Update(y.t.Context(), func(tx *state.Tx) error {
		if x.id == "" {
			x.turn, x.id = true, ulid.New(tx.Now())
			return beginTurn(tx, r, x.id)
		}
		p := process.Process{
			ID: x.id, Slug: "tide-orbit", Phase: process.Running, Background: true, RunID: r.ID, Argv: []string{"true"}, CreatedAt: tx.Now(), StartedAt: tx.Now(),
			Supervisor: process.Identity{Boot: proc.Boot(), PID: 1, Start: 1},
		}
		if err := settle.AddTask(tx, &p); err != nil {
			return err
		}
		return state.Processes.Put(tx, p.ID, 0, p)
	})
	if err == nil {
		y.going[r.ID] = x
		y.begun[r.ID]++
	}
	return err
}

// beginTurn is an admission.
func beginTurn(tx *state.Tx, r automation.Run, id string) error {
	row, ok, err := state.Runs.Get(tx, r.ID)
	if err != nil || !ok {
		return fmt.Errorf("no run %s: %w", r.ID, err)
	}
	o := *row.Rec.Owner
	o.TurnID = id
	row.Rec.Owner = &o
	if err := state.Runs.Put(tx, r.ID, row.Rev, row.Rec); err != nil {
		return err
	}
	return state.Turns.Add(tx, id, session.Turn{ID: id, RunID: r.ID, Attempt: 1, Status: session.TurnRunning, Kind: session.KindCron, CreatedAt: tx.Now(), StartedAt: tx.Now()})
}

// find looks after a death for what had been begun just then: the row is there,
// and whoever began it is not.
func (y *year) find() {
	rows := all(y.world, state.Runs)
	y.remember(rows)
	y.stirred = true
	for _, r := range rows {
		if y.going[r.ID] != nil || r.Status != automation.Running || r.Owner == nil {
			continue
		}
		x := &execution{id: r.Owner.ProcessID, ends: y.clock.Elapsed(), lost: true}
		if r.Owner.TurnID != "" {
			x.id, x.turn = r.Owner.TurnID, true
		}
		if x.turn || slices.ContainsFunc(y.processes(), func(p process.Process) bool { return p.ID == x.id && p.Live() }) {
			y.going[r.ID] = x
			y.begun[r.ID]++
		}
	}
}

// rebooted is after a power cut: nothing lives, and claims are those of
// another boot.
func (y *year) rebooted() {
	y.cut = false
	y.pass(time.Duration(y.random.IntN(3600)) * time.Second)
	y.Boot = y.clock.Now()
	for _, x := range y.going {
		x.lost, x.ends = true, y.clock.Elapsed()
	}
	err := y.Store.Update(y.t.Context(), func(tx *state.Tx) error {
		rows, err := state.Runs.All(tx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.Rec.Status != automation.Running || row.Rec.Owner == nil {
				continue
			}
			o := *row.Rec.Owner
			o.Boot = "another"
			row.Rec.Owner = &o
			if err := state.Runs.Put(tx, row.ID, row.Rev, row.Rec); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		y.t.Fatal(err)
	}
}

// endings ends what has come to its end; false when the program died of it.
func (y *year) endings(whole bool) bool {
	for _, run := range slices.Sorted(maps.Keys(y.going)) {
		x := y.going[run]
		if !whole && y.clock.Elapsed() < x.ends {
			continue
		}
		if x.lost = x.lost || !x.stopped && !whole && y.random.IntN(60) == 0; x.lost {
			y.counts["lost"]++
		}
		end := y.conclude
		if x.turn {
			end = y.concludeTurn
		}
		if !y.try("end", end(x)) {
			return false // it is written, or will be in the next step
		}
		delete(y.going, run)
		y.stirred = true
	}
	return y.try("events", y.tellEvents())
}

func (y *year) conclude(x *execution) error {
	code := 0
	if x.fails {
		code = pick(y.random, 1, 75)
	}
	end := settle.End{Phase: process.Exited, Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, At: y.clock.Now()}
	switch {
	case x.lost:
		end.Phase, end.Exit = process.Lost, process.Exit{Reason: process.ReasonLost}
	case x.stopped:
		end.Exit = process.Exit{Signal: "SIGTERM", Reason: process.ReasonManualCancel}
	}
	return y.Store.Update(y.t.Context(), func(tx *state.Tx) error {
		row, ok, err := state.Processes.Find(tx, x.id)
		if err != nil || !ok || !row.Rec.Live() {
			return err // it was written before the death
		}
		_, err = settle.Conclude(tx, x.id, end)
		return err
	})
}

// concludeTurn is what agent.Turns does at the end of a turn.
func (y *year) concludeTurn(x *execution) error {
	return y.Store.Update(y.t.Context(), func(tx *state.Tx) error {
		row, ok, err := state.Turns.Get(tx, x.id)
		if err != nil || !ok || row.Rec.Status.Ended() {
			return err
		}
		t := row.Rec
		t.Status, t.EndedAt = session.TurnSucceeded, tx.Now()
		switch {
		case x.lost:
			t.Status = session.TurnLost
		case x.fails:
			t.Status, t.Error = session.TurnNotAccepted, "the agent did not take it"
		case x.stopped:
			t.Status, t.Error = session.TurnFailed, "it was ended"
		}
		if err := y.TurnEnded(tx, &t, "done"); err != nil {
			return err
		}
		return state.Turns.Put(tx, x.id, row.Rev, t)
	})
}

// tellEvents is the heartbeat: what is queued is told.
func (y *year) tellEvents() error {
	if !slices.ContainsFunc(y.events(), func(e event.Event) bool { return e.State == event.Queued }) {
		return nil
	}
	return y.Store.Update(y.t.Context(), func(tx *state.Tx) error {
		rows, err := state.Events.All(tx)
		for _, row := range rows {
			if row.Rec.State != event.Queued {
				continue
			}
			row.Rec.State, row.Rec.EndedAt = event.Consumed, tx.Now()
			if err := state.Events.Put(tx, row.ID, row.Rev, row.Rec); err != nil {
				return err
			}
		}
		return err
	})
}

// person does one thing to one automation; false when the program died of it.
func (y *year) person() bool {
	id := y.ids[y.random.IntN(len(y.ids))]
	j := y.jobs[id]
	if j.removed || !slices.ContainsFunc(y.autos(), func(a automation.Automation) bool { return a.ID == id }) {
		return true
	}
	switch y.random.IntN(8) {
	case 0, 1:
		_, _, err := y.Run(y.t.Context(), j.name, scheduler.RunOptions{})
		y.counts["by hand"]++
		return y.try("manual", err)
	case 2:
		return y.edit(id, func(a *automation.Automation) { a.Description += "." }, nil)
	case 3, 4:
		s, o := y.schedule(y.random.IntN(60))
		o.id = id
		if j.oracle.fields == nil && j.oracle.every == 0 {
			return true // a one-shot stays
		}
		return y.edit(id, func(a *automation.Automation) { a.Schedule = s }, &o)
	case 5:
		policy := pick(y.random, automation.MissedSkip, automation.MissedOnce, automation.MissedAll)
		overlap := pick(y.random, automation.OverlapSkip, automation.OverlapQueue, automation.OverlapReplace, automation.OverlapAllow)
		return y.edit(id, func(a *automation.Automation) { a.Missed.Policy, a.Overlap = policy, overlap }, nil)
	case 6:
		if y.random.IntN(4) > 0 {
			return true
		}
		_, err := y.Remove(y.t.Context(), j.name)
		died := !y.try("remove", err)
		if j.removed = y.automation(id).ID == ""; j.removed && j.current != nil {
			y.close(id, latest(j.current.from, y.lastRecord(id))) // also of a one-shot: nothing more is owed
		}
		y.make(y.random.IntN(60))
		return !died
	}
	return y.toggle(id)
}
