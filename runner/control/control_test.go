package control_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"claw/runner/clock"
	"claw/runner/control"
	"claw/runner/internal/proc"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
	"claw/state/statetest"
)

// fixture is a store with one process in each state, and a Control over it.
type fixture struct {
	*control.Control
	t    *testing.T
	held map[string]*os.File
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, held: map[string]*os.File{}}
	f.Control = &control.Control{Store: statetest.Open(t), Clock: clock.New(), Agent: "main"}
	f.add("01AAAAAAAAAAAAAAAAAAAAAAAA", "live-fore", "main", false, true, false)
	f.add("01BBBBBBBBBBBBBBBBBBBBBBBB", "live-back", "main", true, true, false)
	f.add("01CCCCCCCCCCCCCCCCCCCCCCCC", "done-back", "main", true, false, false)
	f.add("01DDDDDDDDDDDDDDDDDDDDDDDD", "other-back", "other", true, true, false)
	f.add("01EEEEEEEEEEEEEEEEEEEEEEEE", "dead-fore", "main", false, true, true)
	return f
}

// add writes a process; unless it is abandoned, a living one's life-line is held.
func (f *fixture) add(id, slug, agent string, background, live, abandoned bool) {
	f.t.Helper()
	now := time.Now()
	p := process.Process{
		ID: id, Slug: slug, Agent: agent, Session: "agent:" + agent + ":main", Command: "make", Argv: []string{"make"},
		NotifyOnExit: true, Phase: process.Running, CreatedAt: now, StartedAt: now, TTLMs: 1800000, Supervisor: proc.Self(),
	}
	if err := os.MkdirAll(f.Store.ProcessDir(id), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if live && !abandoned {
		lock, err := state.LockFile(settle.Lifeline(f.Store.ProcessDir(id)))
		if err != nil {
			f.t.Fatal(err)
		}
		f.held[id] = lock
		f.t.Cleanup(func() { lock.Close() })
	}
	err := f.Store.Update(f.t.Context(), func(tx *state.Tx) error {
		if background {
			if err := settle.AddTask(tx, &p); err != nil {
				return err
			}
		}
		if err := state.Processes.Put(tx, id, 0, p); err != nil || live {
			return err
		}
		code := 3
		_, err := settle.Conclude(tx, id, settle.End{Phase: process.Exited, Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, At: now})
		return err
	}, state.Relaxed())
	if err != nil {
		f.t.Fatal(err)
	}
}

// The refusals of spec/exec-process.md 2, 2.5 and 2.8, word for word.
func TestRefusals(t *testing.T) {
	f := setup(t)
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		act  func() error
		kind control.Kind
		text string
	}{
		{"kill of nobody", func() error { _, err := f.Kill(ctx, "no-such"); return err }, control.Missing, "No active session found for no-such"},
		{"kill of the ended", func() error { _, err := f.Kill(ctx, "done-back"); return err }, control.Missing, "No active session found for done-back"},
		{"kill in the foreground", func() error { _, err := f.Kill(ctx, "live-fore"); return err }, control.Denied, "Session live-fore is not backgrounded."},
		{"kill of another agent's", func() error { _, err := f.Kill(ctx, "other-back"); return err }, control.Missing, "No active session found for other-back"},
		{"write to nobody", func() error { _, err := f.Write(ctx, "no-such", nil, false); return err }, control.Missing, "No active session found for no-such"},
		{"write to the ended", func() error { _, err := f.Write(ctx, "done-back", nil, false); return err }, control.Missing, "No active session found for done-back"},
		{"write without stdin", func() error { _, err := f.Write(ctx, "live-back", nil, false); return err }, control.Denied, "Session live-back stdin is not writable."},
		{"empty plain paste", func() error { _, err := f.Paste(ctx, "live-back", "", false); return err }, control.Invalid, "No paste text provided."},
		{"clear of the living", func() error { _, err := f.Clear(ctx, "live-back"); return err }, control.Missing, "No finished session found for live-back"},
		{"remove of nobody", func() error { _, err := f.Remove(ctx, "no-such"); return err }, control.Missing, "No session found for no-such"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var refused *control.Refused
			if err := tt.act(); !errors.As(err, &refused) || refused.Kind != tt.kind || refused.Text != tt.text {
				t.Errorf("%v (%+v), want %q", err, refused, tt.text)
			}
		})
	}
}

// A list shows what an agent may see, newest first, and a foreground process
// only once its supervisor is dead (design.md 3.3): nothing runs unnoticed.
func TestListShowsTheReconciledView(t *testing.T) {
	f := setup(t)
	r, err := f.List(control.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range r.Details.(control.List).Sessions {
		got = append(got, s.SessionID+" "+s.State)
	}
	want := []string{"dead-fore lost", "done-back failed", "live-back running"}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Wait sleeps on the life-line and returns with the end that was written
// before that was let go; without one, as lost.
func TestWait(t *testing.T) {
	f := setup(t)
	if _, err := f.Wait(t.Context(), "live-back", time.Millisecond); !errors.Is(err, control.ErrStillRunning) {
		t.Errorf("%v, want still running", err)
	}
	ended := make(chan process.Process, 1)
	go func() {
		p, err := f.Wait(t.Context(), "live-back", 0)
		if err != nil {
			t.Error(err)
		}
		ended <- p
	}()
	code := 4
	const id = "01BBBBBBBBBBBBBBBBBBBBBBBB"
	if err := f.Store.Update(t.Context(), func(tx *state.Tx) error {
		_, err := settle.Conclude(tx, id, settle.End{Phase: process.Exited, Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, At: time.Now()})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	f.held[id].Close()
	if p := <-ended; process.ExitCode(p) != 4 {
		t.Errorf("exit code %d, want 4", process.ExitCode(p))
	}
	p, err := f.Wait(t.Context(), "dead-fore", 0)
	if err != nil || process.ExitCode(p) != 125 {
		t.Errorf("of an abandoned one: %d, %v; want 125", process.ExitCode(p), err)
	}
}

// A cleared or removed process is gone for every action; its row stays.
func TestClearAndRemove(t *testing.T) {
	f := setup(t)
	if _, err := f.Clear(t.Context(), "done-back"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Find("done-back", "absent"); err == nil || err.Error() != "absent" {
		t.Errorf("%v, want absent", err)
	}
	if _, err := f.Remove(t.Context(), "dead-fore"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.Store.ProcessDir("01EEEEEEEEEEEEEEEEEEEEEEEE")); !os.IsNotExist(err) {
		t.Errorf("its output is still there: %v", err)
	}
}
