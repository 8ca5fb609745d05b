package settle_test

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"claw/runner/internal/proc"
	"claw/runner/settle"
	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/statetest"
	"claw/state/task"
)

const id = "01M8Q3513B8TWZQ8ZJXQS6Q6FB"

// put writes a row as exec does, with its folder.
func put(t *testing.T, s *state.Store, p process.Process) process.Process {
	t.Helper()
	if err := os.MkdirAll(s.ProcessDir(p.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *state.Tx) error {
		if p.Background {
			if err := settle.AddTask(tx, &p); err != nil {
				return err
			}
		}
		return state.Processes.Put(tx, p.ID, 0, p)
	})
	return p
}

func update(t *testing.T, s *state.Store, fn func(tx *state.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn, state.Relaxed()); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s *state.Store) process.Process {
	t.Helper()
	var p process.Process
	if err := s.View(func(tx *state.Tx) error {
		row, _, err := state.Processes.Get(tx, id)
		p = row.Rec
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return p
}

func counts(t *testing.T, s *state.Store) (tasks, events int) {
	t.Helper()
	if err := s.View(func(tx *state.Tx) error {
		ts, err := state.Tasks.All(tx)
		if err != nil {
			return err
		}
		es, err := state.Events.All(tx)
		tasks, events = len(ts), len(es)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return tasks, events
}

func running(background bool) process.Process {
	now := time.Now()
	return process.Process{
		ID: id, Slug: "tide-orbit", Agent: "main", Session: "agent:main:main", Command: "make", Argv: []string{"make"},
		NotifyOnExit: true, Phase: process.Running, Background: background, CreatedAt: now, StartedAt: now,
		Supervisor: proc.Self(),
	}
}

func exited(code int) settle.End {
	return settle.End{Phase: process.Exited, Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, At: time.Now(), Tail: "done"}
}

// The first end stands; a second one, of whatever kind, changes nothing and
// tells nobody (pains B36).
func TestConcludeTwice(t *testing.T) {
	s := statetest.Open(t)
	put(t, s, running(true))
	for _, end := range []settle.End{exited(3), exited(4), {Phase: process.Lost, At: time.Now(), Exit: process.Exit{Reason: process.ReasonLost}}} {
		update(t, s, func(tx *state.Tx) error {
			p, err := settle.Conclude(tx, id, end)
			if p.Exit == nil || p.Exit.Code == nil || *p.Exit.Code != 3 {
				t.Errorf("ended as %+v, want code 3", p.Exit)
			}
			return err
		})
	}
	if tasks, events := counts(t, s); tasks != 1 || events != 1 {
		t.Errorf("%d tasks, %d events; want one each", tasks, events)
	}
}

// Row, task and event are one transaction: after an end they agree.
func TestConcludeAgrees(t *testing.T) {
	s := statetest.Open(t)
	put(t, s, running(true))
	update(t, s, func(tx *state.Tx) error { _, err := settle.Conclude(tx, id, exited(0)); return err })
	p := get(t, s)
	if err := s.View(func(tx *state.Tx) error {
		job, ok, err := state.Tasks.Get(tx, p.TaskID)
		if !ok || job.Rec.Status != task.Succeeded {
			t.Errorf("task %+v", job.Rec)
		}
		e, ok, err2 := state.Events.Get(tx, p.EventID)
		if !ok || e.Rec.State != event.Queued || e.Rec.ProcessID != id {
			t.Errorf("event %+v", e.Rec)
		}
		if err == nil {
			err = err2
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A foreground result that its caller did not live to take is listed, has a
// task that agrees, and is told once.
func TestUnclaimed(t *testing.T) {
	s := statetest.Open(t)
	put(t, s, running(false))
	update(t, s, func(tx *state.Tx) error { _, err := settle.Conclude(tx, id, exited(3)); return err })
	if tasks, events := counts(t, s); tasks != 0 || events != 0 {
		t.Errorf("in the foreground: %d tasks, %d events", tasks, events)
	}
	for range 2 {
		update(t, s, func(tx *state.Tx) error { _, err := settle.Unclaimed(tx, id); return err })
	}
	p := get(t, s)
	if !p.Background || p.Phase != process.Exited || *p.Exit.Code != 3 {
		t.Errorf("row %+v", p)
	}
	if tasks, events := counts(t, s); tasks != 1 || events != 1 {
		t.Errorf("%d tasks, %d events; want one each", tasks, events)
	}
	if err := s.View(func(tx *state.Tx) error {
		job, _, err := state.Tasks.Get(tx, p.TaskID)
		if job.Rec.Status != task.Failed {
			t.Errorf("task %+v", job.Rec)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A free life-line is not death when the end was written after the row had
// been read: readers take no lock.
func TestViewOfARowThatEndedMeanwhile(t *testing.T) {
	s := statetest.Open(t)
	before := put(t, s, running(true))
	update(t, s, func(tx *state.Tx) error { _, err := settle.Conclude(tx, id, exited(7)); return err })
	if settle.Abandoned(s, before) {
		t.Error("an ended process is taken for abandoned")
	}
	p := settle.View(s, before, time.Now())
	if p.Phase != process.Exited || p.Exit == nil || p.Exit.Code == nil || *p.Exit.Code != 7 {
		t.Errorf("shown as %s, %+v; want exited, 7", p.Phase, p.Exit)
	}
}

// A held life-line is life, whatever else the row says; a free one is death,
// and who looks sees what settling would write.
func TestLost(t *testing.T) {
	for _, background := range []bool{true, false} {
		s := statetest.Open(t)
		p := put(t, s, running(background))
		held, err := state.LockFile(settle.Lifeline(s.ProcessDir(id)))
		if err != nil {
			t.Fatal(err)
		}
		if gone, err := settle.Lost(t.Context(), s); err != nil || len(gone) != 0 || settle.Abandoned(s, p) {
			t.Errorf("settled %v, %v while the life-line was held", gone, err)
		}
		held.Close()
		view := settle.View(s, p, time.Now())
		for range 2 {
			if _, err := settle.Lost(context.Background(), s); err != nil {
				t.Fatal(err)
			}
		}
		got := get(t, s)
		if got.Phase != process.Lost || view.Phase != process.Lost || !got.Background || !view.Background || got.Exit.Code != nil {
			t.Errorf("background %v: written %+v, shown %+v", background, got, view)
		}
		if tasks, events := counts(t, s); tasks != 1 || events != 1 {
			t.Errorf("background %v: %d tasks, %d events; want one each", background, tasks, events)
		}
	}
}

// What carries the mark of a lost process is its leftover, even when nothing
// else is known of it, and can be ended.
func TestLostLeftover(t *testing.T) {
	s := statetest.Open(t)
	p := running(true)
	p.Phase = process.Starting
	put(t, s, p)
	child := exec.Command("sleep", "600")
	child.Env = []string{proc.RunVar + "=" + id}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	if _, err := settle.Lost(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	got := get(t, s)
	if len(got.Leftover) != 1 || got.Leftover[0].PID != child.Process.Pid || got.Leftover[0].Command != "sleep 600" {
		t.Errorf("leftover %+v, want pid %d", got.Leftover, child.Process.Pid)
	}
	if alive := settle.Survivors(got); len(alive) != 1 {
		t.Errorf("survivors %+v", alive)
	}
	child.Process.Kill()
	child.Wait()
	if alive := settle.Survivors(got); len(alive) != 0 {
		t.Errorf("survivors of the dead: %+v", alive)
	}
}
