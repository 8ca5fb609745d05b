package scheduler_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/runner/clock/clocktest"
	"claw/runner/output"
	"claw/runner/settle"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/statetest"
)

// launched is what Launch does before a command runs.
func launched(w *world, id, runID string) error {
	return w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
		p := process.Process{ID: id, Slug: "tide-orbit", Phase: process.Running, Background: true, RunID: runID, Argv: []string{"true"}, CreatedAt: tx.Now(), StartedAt: tx.Now()}
		if err := settle.AddTask(tx, &p); err != nil {
			return err
		}
		return state.Processes.Put(tx, p.ID, 0, p)
	})
}

// prints is what a command wrote to stdout; it is no part of the ledgers.
func prints(w *world, id, text string) error {
	dir := w.Store.ProcessDir(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	out, err := output.OpenWriter(dir, output.WriterOptions{Now: w.clock.Now})
	if err != nil {
		return err
	}
	out.Write(output.Stdout, []byte(text))
	return out.Close()
}

// whole makes passes, as one program after the other, in which every command
// that is claimed begins and every one that has begun ends. begun counts what
// was begun, by what it is.
func whole(w *world, answer string) (begun map[string]int, err error) {
	begun = map[string]int{}
	for range 6 {
		w.clock.Advance(automation.StreamGap)
		w.Eyes = nil
		work, err := w.Pass(w.t.Context(), nobody)
		if err != nil {
			return begun, err
		}
		for _, src := range work.Begin {
			begun["source"]++
			if err := launched(w, src.Owner.ProcessID, src.AutomationID+"@x"); err != nil {
				return begun, err
			}
		}
		for _, r := range work.Start {
			id := r.Owner.ProcessID
			if begun["payload"]++; r.Owner.CheckID != "" {
				begun["payload"]--
				begun["check"]++
				if id = r.Owner.CheckID; answer != "" {
					if err := prints(w, id, answer); err != nil {
						return begun, err
					}
				}
			}
			if err := launched(w, id, r.ID); err != nil {
				return begun, err
			}
		}
		for _, p := range w.processes() {
			if err := conclude(w, p.ID); err != nil {
				return begun, err
			}
		}
	}
	return begun, nil
}

// next opens a directory that a crash has left.
func next(t *testing.T, dir string, look func(w *world) error) error {
	w, err := at(t, clocktest.New(noon.Add(time.Minute)), dir, state.OS())
	if err != nil {
		return err
	}
	defer w.Store.Close()
	return look(w)
}

// Wherever the machine stops, an on-exit fires once at most, its command is
// not begun again once it may have run, and an end that was written is told.
func TestCrashOfAnOnExit(t *testing.T) {
	var promised struct{ made, begun, ended bool }
	flow := func(fs state.FS, dir string) error {
		promised.made, promised.begun, promised.ended = false, false, false
		w, err := at(t, clocktest.New(noon), dir, fs)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		a := everyMinute("build", automation.Payload{Kind: automation.PayloadEvent, Text: "look"})
		a.Schedule = onExit("make")
		if _, _, err := w.Add(t.Context(), a); err != nil {
			return err
		}
		promised.made = true
		work, err := w.Pass(t.Context(), nobody)
		if err != nil {
			return err
		}
		id := work.Begin[0].Owner.ProcessID
		if err := launched(w, id, work.Begin[0].AutomationID+"@x"); err != nil {
			return err
		}
		promised.begun = true
		if _, err := w.Pass(t.Context(), nobody); err != nil {
			return err
		}
		if err := conclude(w, id); err != nil {
			return err
		}
		promised.ended = true
		_, err = w.Pass(t.Context(), nobody)
		return err
	}
	statetest.Crash(t, flow, func(dir string) error {
		return next(t, dir, func(w *world) error {
			begun, err := whole(w, "")
			runs, events := w.runs(), w.events()
			switch {
			case err != nil:
				return err
			case promised.begun && begun["source"] > 0 || begun["source"] > 1:
				return fmt.Errorf("its command was begun again")
			case len(events) > 1 || len(runs) > 1:
				return fmt.Errorf("%d runs, %d events", len(runs), len(events))
			case promised.made && (len(events) != 1 || runs[0].Status != automation.Succeeded || w.autos()[0].Enabled):
				return fmt.Errorf("runs %+v, %d events, automations %+v", runs, len(events), w.autos())
			}
			return nil
		})
	})
}

// Wherever the machine stops, each line of a stream is told once.
func TestCrashOfAStream(t *testing.T) {
	var promised struct {
		begun bool
		lines []string
	}
	flow := func(fs state.FS, dir string) error {
		promised.begun, promised.lines = false, nil
		clock := clocktest.New(noon)
		w, err := at(t, clock, dir, fs)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		a := everyMinute("log", automation.Payload{Kind: automation.PayloadEvent, Text: "look"})
		a.Schedule = automation.Schedule{Kind: automation.KindStream, Argv: []string{"tail"}}
		if _, _, err := w.Add(t.Context(), a); err != nil {
			return err
		}
		work, err := w.Pass(t.Context(), nobody)
		if err != nil {
			return err
		}
		id := work.Begin[0].Owner.ProcessID
		if err := launched(w, id, work.Begin[0].AutomationID+"@x"); err != nil {
			return err
		}
		promised.begun = true
		for _, lines := range [][]string{{"one", "two"}, {"three"}} {
			if err := prints(w, id, strings.Join(lines, "\n")+"\n"); err != nil {
				return err
			}
			promised.lines = append(promised.lines, lines...)
			if _, err := w.Pass(t.Context(), nobody); err != nil {
				return err
			}
			clock.Advance(automation.StreamGap)
		}
		if err := prints(w, id, "end"); err != nil {
			return err
		}
		promised.lines = append(promised.lines, "end")
		if err := conclude(w, id); err != nil {
			return err
		}
		_, err = w.Pass(t.Context(), nobody)
		return err
	}
	statetest.Crash(t, flow, func(dir string) error {
		return next(t, dir, func(w *world) error {
			if _, err := whole(w, ""); err != nil {
				return err
			}
			told := w.toldLines()
			if promised.begun && !slices.Equal(told, promised.lines) || !promised.begun && len(told) > 0 {
				return fmt.Errorf("told %q of %q", told, promised.lines)
			}
			return nil
		})
	})
}

// Wherever the machine stops between a slot, its trigger script and its
// payload, the slot has one run in the end, and its payload was begun once.
func TestCrashOfACheck(t *testing.T) {
	const yes = `{"fire":true,"message":"now","state":1}`
	var promised struct{ made, checked, begun bool }
	flow := func(fs state.FS, dir string) error {
		promised.made, promised.checked, promised.begun = false, false, false
		clock := clocktest.New(noon)
		w, err := at(t, clock, dir, fs)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		a := everyMinute("mail", automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}})
		a.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: 3600_000}
		a.Trigger = &automation.Trigger{Script: "check", Once: true}
		if _, _, err := w.Add(t.Context(), a); err != nil {
			return err
		}
		promised.made = true
		clock.Advance(time.Hour)
		for _, step := range []*bool{&promised.checked, &promised.begun} {
			work, err := w.Pass(t.Context(), nobody)
			if err != nil {
				return err
			}
			r := work.Start[0]
			id := r.Owner.CheckID + r.Owner.ProcessID
			if r.Owner.CheckID != "" {
				if err := prints(w, id, yes); err != nil {
					return err
				}
			}
			if err := launched(w, id, r.ID); err != nil {
				return err
			}
			*step = true
			if err := conclude(w, id); err != nil {
				return err
			}
		}
		_, err = w.Pass(t.Context(), nobody)
		return err
	}
	statetest.Crash(t, flow, func(dir string) error {
		return next(t, dir, func(w *world) error {
			w.clock.Advance(time.Hour - time.Minute)
			begun, err := whole(w, yes)
			runs := w.runs()
			switch {
			case err != nil:
				return err
			case promised.begun && begun["payload"] > 0 || begun["payload"] > 1:
				return fmt.Errorf("its payload was begun again")
			case promised.checked && begun["check"] > 0 || begun["check"] > 1:
				return fmt.Errorf("its script was asked again")
			case len(runs) > 1:
				return fmt.Errorf("runs %+v", runs)
			case promised.made && (len(runs) != 1 || runs[0].Status != automation.Succeeded || w.autos()[0].State.TriggerState != "1"):
				return fmt.Errorf("runs %+v, automations %+v", runs, w.autos())
			}
			return nil
		})
	})
}

// A quiet check leaves the memory of the script and no run, or a run that is
// checked once more.
func TestCrashOfAQuietCheck(t *testing.T) {
	flow := func(fs state.FS, dir string) error {
		clock := clocktest.New(noon)
		w, err := at(t, clock, dir, fs)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		a := everyMinute("mail", automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}})
		a.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: 3600_000}
		a.Trigger = &automation.Trigger{Script: "check"}
		if _, _, err := w.Add(t.Context(), a); err != nil {
			return err
		}
		clock.Advance(time.Hour)
		work, err := w.Pass(t.Context(), nobody)
		if err != nil {
			return err
		}
		id := work.Start[0].Owner.CheckID
		if err := prints(w, id, `{"fire":false,"state":"seen"}`); err != nil {
			return err
		}
		if err := launched(w, id, work.Start[0].ID); err != nil {
			return err
		}
		if err := conclude(w, id); err != nil {
			return err
		}
		_, err = w.Pass(t.Context(), nobody)
		return err
	}
	statetest.Crash(t, flow, func(dir string) error {
		return next(t, dir, func(w *world) error {
			w.clock.Advance(time.Hour - time.Minute)
			begun, err := whole(w, `{"fire":false,"state":"seen"}`)
			switch autos := w.autos(); {
			case err != nil:
				return err
			case begun["payload"] > 0 || len(w.runs()) > 0 || len(w.tasks()) > 0:
				return fmt.Errorf("begun %v, runs %+v, tasks %+v", begun, w.runs(), w.tasks())
			case len(autos) == 1 && (autos[0].State.TriggerState != `"seen"` || autos[0].State.Quiet != 1):
				return fmt.Errorf("state %+v", autos[0].State)
			}
			return nil
		})
	})
}
