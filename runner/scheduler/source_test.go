package scheduler_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"claw/runner/clock"
	"claw/runner/control"
	"claw/runner/internal/proc"
	"claw/runner/output"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
)

// on makes an automation of another schedule than the clock's.
func (w *world) on(name string, s automation.Schedule, change func(a *automation.Automation)) automation.Automation {
	w.t.Helper()
	return w.add(name, "1m", func(a *automation.Automation) {
		a.Schedule = s
		if change != nil {
			change(a)
		}
	})
}

func onExit(command string) automation.Schedule {
	return automation.Schedule{Kind: automation.KindOnExit, Command: command}
}

// keeps makes the payload a command that keeps what it is told in a file.
func keeps(name string) func(a *automation.Automation) {
	return sh(`cat >> ` + name + `; echo "$CLAW_TRIGGER" >> ` + name + `.trigger`)
}

// round is a pass with all that it asks for, by a program that remembers
// nothing.
func (w *world) round() {
	w.t.Helper()
	if _, err := control.Settle(w.t.Context(), w.Store, clock.New(), ""); err != nil {
		w.t.Fatal(err)
	}
	w.Eyes = nil
	work := w.pass()
	for _, src := range work.Begin {
		if err := w.StartSource(w.t.Context(), src); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, src := range work.Quit {
		if err := w.StopSource(w.t.Context(), src); err != nil {
			w.t.Fatal(err)
		}
	}
	w.audit()
}

// audit checks what always holds of sources: cursors are within the output,
// and of each there is at most one command.
func (w *world) audit() {
	w.t.Helper()
	live := map[string]int{}
	for _, p := range w.processes() {
		if id, command, _ := strings.Cut(p.RunID, "@"); command == p.ID && (p.Live() || proc.Alive(p.Root)) {
			live[id]++
		}
	}
	for id, n := range live {
		if n > 1 {
			w.t.Errorf("source %s has %d commands", id, n)
		}
	}
	for _, src := range w.sources() {
		if src.Owner == nil || src.Offset+src.OffsetErr == 0 {
			continue
		}
		r, err := output.Open(w.Store.ProcessDir(src.Owner.ProcessID))
		if err != nil || max(src.Offset, src.OffsetErr) > r.Size() {
			w.t.Errorf("the cursor is beyond the output (%v): %+v", err, src)
		}
	}
}

// rounds makes rounds until something is so.
func (w *world) rounds(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("it never happened that %s; sources %+v, runs %s", what, w.sources(), w.story())
		}
		w.round()
	}
}

func (w *world) sources() []automation.Source { return all(w, state.Sources) }

// source is the only one.
func (w *world) source() automation.Source {
	w.t.Helper()
	list := w.sources()
	if len(list) != 1 {
		w.t.Fatalf("sources %+v", list)
	}
	return list[0]
}

func (w *world) row(id string) automation.Automation {
	w.t.Helper()
	for _, a := range w.autos() {
		if a.ID == id {
			return a
		}
	}
	w.t.Fatalf("%s is gone", id)
	return automation.Automation{}
}

func (w *world) text(name string) string {
	raw, _ := os.ReadFile(filepath.Join(w.dir, name))
	return string(raw)
}

// finished tells that nothing of an automation is open and so many of its runs
// stand so.
func (w *world) has(status automation.Status, n int) func() bool {
	return func() bool {
		got := 0
		for _, r := range w.runs() {
			if r.Status.Open() {
				return false
			}
			if r.Status == status {
				got++
			}
		}
		return got == n
	}
}

// running tells that the command of the only source runs.
func (w *world) running() bool {
	list := w.sources()
	return len(list) == 1 && list[0].Status == automation.SourceRunning
}

// command is the process of the only source.
func (w *world) command() process.Process {
	w.t.Helper()
	src := w.source()
	if src.Owner == nil {
		w.t.Fatalf("source %+v has no command", src)
	}
	for _, p := range w.processes() {
		if p.ID == src.Owner.ProcessID {
			return p
		}
	}
	w.t.Fatalf("source %+v has no process", src)
	return process.Process{}
}

func TestOnExitFiresOnce(t *testing.T) {
	w := newWorld(t)
	a := w.on("build", onExit(`echo begun >> begun; until test -f go; do sleep 0.02; done; echo it is done; exit 3`), keeps("told"))
	w.rounds("it runs", w.running)
	for range 3 {
		w.round()
	}
	if n := len(w.lines("begun")); n != 1 {
		t.Fatalf("its command began %d times", n)
	}
	w.write("go")
	w.rounds("it has fired", w.has(automation.Succeeded, 1))
	for range 3 {
		w.clock.Advance(time.Minute)
		w.round()
	}
	if runs := w.runs(); len(runs) != 1 || runs[0].Slot != (time.Time{}) {
		t.Errorf("runs %+v", runs)
	}
	told := w.text("told")
	if !strings.HasPrefix(told, "exit: 3\nduration: ") || !strings.HasSuffix(strings.TrimSpace(told), "output:\nit is done") {
		t.Errorf("the run was told %q", told)
	}
	if got := strings.TrimSpace(w.text("told.trigger")); got != "on-exit" {
		t.Errorf("CLAW_TRIGGER is %q", got)
	}
	if w.row(a.ID).Enabled || w.source().Status != automation.SourceStopped {
		t.Errorf("it is to be switched off: %+v", w.source())
	}
	if n := len(w.lines("begun")); n != 1 {
		t.Errorf("its command began %d times", n)
	}
}

// Switched on again it waits for another end.
func TestOnExitAgain(t *testing.T) {
	w := newWorld(t)
	a := w.on("build", onExit("echo begun >> begun"), keeps("told"))
	w.rounds("it has fired", w.has(automation.Succeeded, 1))
	w.clock.Advance(time.Second)
	if _, _, err := w.Enable(t.Context(), a.Name, true); err != nil {
		t.Fatal(err)
	}
	w.rounds("it has fired again", w.has(automation.Succeeded, 2))
	if n := len(w.lines("begun")); n != 2 {
		t.Errorf("its command began %d times", n)
	}
}

func TestOnExitIsDeletedAfterItsRun(t *testing.T) {
	w := newWorld(t)
	w.on("build", onExit("true"), func(a *automation.Automation) { a.DeleteAfterRun = true })
	w.rounds("it is gone with its source", func() bool { return len(w.autos()) == 0 && len(w.sources()) == 0 })
	w.tells("by hand succeeded")
}

// Only another command or directory restarts what is waited for (openclaw
// 99709, 104518).
func TestOnExitAndEdits(t *testing.T) {
	waits := `echo x >> begun; trap 'echo late; exit 0' TERM; until test -f go; do sleep 0.02; done`
	for _, tt := range []struct {
		name   string
		change func(w *world, name string) error
		begun  int
		left   int // sources
	}{
		{"a description", func(w *world, name string) error {
			_, err := w.Edit(w.t.Context(), name, func(a *automation.Automation) error {
				a.Description, a.Payload.Env = "new", map[string]string{"A": "b"}
				return nil
			})
			return err
		}, 1, 1},
		{"the command", func(w *world, name string) error {
			_, err := w.Edit(w.t.Context(), name, func(a *automation.Automation) error {
				a.Schedule.Command = "true; " + a.Schedule.Command
				return nil
			})
			return err
		}, 2, 1},
		{"off", func(w *world, name string) error {
			_, _, err := w.Enable(w.t.Context(), name, false)
			return err
		}, 1, 1},
		{"off and on", func(w *world, name string) error {
			if _, _, err := w.Enable(w.t.Context(), name, false); err != nil {
				return err
			}
			w.clock.Advance(time.Second)
			_, _, err := w.Enable(w.t.Context(), name, true)
			return err
		}, 2, 1},
		{"removed", func(w *world, name string) error {
			_, err := w.Remove(w.t.Context(), name)
			return err
		}, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.on("build", onExit(waits), nil)
			w.rounds("it runs", func() bool { return w.running() && len(w.lines("begun")) == 1 })
			first := w.command()
			w.clock.Advance(time.Second)
			if err := tt.change(w, a.Name); err != nil {
				t.Fatal(err)
			}
			w.rounds("all stands as it should", func() bool {
				list := w.sources()
				switch {
				case tt.left == 0:
					return len(list) == 0
				case !w.row(a.ID).Enabled:
					return list[0].Status == automation.SourceStopped && list[0].Owner == nil
				}
				return w.running() && len(w.lines("begun")) == tt.begun
			})
			if w.story() != "" {
				t.Errorf("the end of a command that is not wanted has fired: %s", w.story())
			}
			if tt.left > 0 && tt.begun == 1 && w.row(a.ID).Enabled && w.command().ID != first.ID {
				t.Error("it was restarted")
			}
			live := 0
			for _, p := range w.processes() {
				if p.Live() {
					live++
				}
			}
			if want := tt.begun - 1; tt.name != "a description" && live != want && live != 0 {
				t.Errorf("%d commands live", live)
			}
			w.write("go")
			w.Remove(t.Context(), a.Name)
			w.rounds("nothing is left", func() bool { return len(w.sources()) == 0 })
		})
	}
}

// An end that nobody knows never fires; it is on record, and a person is told.
func TestOnExitOfADeadSupervisor(t *testing.T) {
	w := newWorld(t)
	a := w.on("build", onExit("until test -f go; do sleep 0.02; done"), keeps("told"))
	w.rounds("it runs", w.running)
	p := w.command()
	if err := syscall.Kill(p.Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.rounds("its death is noticed", func() bool { return w.source().Error != "" })
	if _, _, err := w.Enable(t.Context(), a.Name, true); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.round()
	}
	if w.command().ID != p.ID || !proc.Alive(p.Root) {
		t.Error("the command that goes on is not that of the source any more")
	}
	w.write("go")
	w.rounds("its end is unknown", w.has(automation.Unknown, 1))
	if w.text("told") != "" || w.row(a.ID).Enabled {
		t.Errorf("told %q; enabled %v", w.text("told"), w.row(a.ID).Enabled)
	}
	if sent := w.sent(); len(sent) != 1 || !strings.Contains(sent[0].Text, "claw cron enable build") {
		t.Errorf("messages %+v", sent)
	}
	w.until("what it left has ended", func() bool { return !proc.Alive(p.Root) })
}

func TestOnExitThatCannotBeStarted(t *testing.T) {
	w := newWorld(t)
	place := filepath.Join(w.dir, "later")
	w.on("build", automation.Schedule{Kind: automation.KindOnExit, Command: "true", Cwd: place}, nil)
	for i, wait := range []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 5 * time.Minute, 5 * time.Minute} {
		w.rounds("it has failed", func() bool { return len(w.sources()) == 1 && w.source().Failures == i+1 })
		if src := w.source(); !src.RetryAt.Equal(w.clock.Now().Add(wait)) || !strings.Contains(src.Error, "no such directory") {
			t.Errorf("after failure %d: %+v", i+1, src)
		}
		w.round()
		if n := w.source().Failures; n != i+1 {
			t.Errorf("it was tried again at once")
		}
		w.clock.Advance(wait)
	}
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	w.rounds("it has fired", w.has(automation.Succeeded, 1))
}

// A claim that was not carried out is taken back; one of another boot may have
// been.
func TestClaimsOfSources(t *testing.T) {
	for _, tt := range []struct {
		name   string
		boot   string
		status automation.Status
	}{
		{"provably not begun", "", automation.Succeeded},
		{"of another boot", "another", automation.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.on("build", onExit("echo x >> begun"), nil)
			work, err := w.Pass(t.Context(), nobody)
			if err != nil || len(work.Begin) != 1 {
				t.Fatalf("%+v, %v", work, err)
			}
			again, err := w.Pass(t.Context(), func(id string) bool { return id == work.Begin[0].Owner.ProcessID })
			if err != nil || len(again.Begin) != 0 {
				t.Fatalf("claimed twice: %+v, %v", again, err)
			}
			w.edit(func(src *automation.Source) {
				if tt.boot != "" {
					src.Owner.Boot = tt.boot
				}
			})
			w.rounds("it has ended", w.has(tt.status, 1))
		})
	}
}

// edit changes the only source's row.
func (w *world) edit(change func(src *automation.Source)) {
	w.t.Helper()
	err := w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
		rows, err := state.Sources.All(tx)
		if err != nil || len(rows) != 1 {
			w.t.Fatalf("%d sources, %v", len(rows), err)
		}
		change(&rows[0].Rec)
		return state.Sources.Put(tx, rows[0].ID, rows[0].Rev, rows[0].Rec)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// A boot fires once, and not the one in which the automation was made.
func TestBoot(t *testing.T) {
	w := newWorld(t)
	a := w.on("up", automation.Schedule{Kind: automation.KindBoot}, nil)
	w.round()
	w.round()
	w.tells("")
	w.edit(func(src *automation.Source) { src.Boot = "the one before" })
	w.clock.Advance(time.Hour)
	w.Boot = noon.Add(time.Minute)
	w.rounds("it has run", w.has(automation.Succeeded, 1))
	w.round()
	w.edit(func(src *automation.Source) { src.Boot = "the one before" }) // as a directory that was put back from a copy
	w.round()
	w.tells("by hand succeeded")
	if _, _, err := w.Enable(t.Context(), a.Name, false); err != nil {
		t.Fatal(err)
	}
	w.edit(func(src *automation.Source) { src.Boot = "the one before" })
	w.round()
	w.tells("by hand succeeded")
}

// With automations of the clock only, sources cost nothing: no row, no write.
func TestWithoutSources(t *testing.T) {
	w := newWorld(t)
	w.add("backup", "1h", nil)
	w.round()
	before := w.position()
	w.round()
	if w.position() != before || len(w.sources()) != 0 {
		t.Error("a quiet pass has written something")
	}
	a := w.on("up", automation.Schedule{Kind: automation.KindBoot}, nil)
	w.round()
	w.round()
	if got := all(w, state.Agendas)[0].Sources; got != 1 {
		t.Errorf("the agenda counts %d sources", got)
	}
	before = w.position()
	w.round()
	if w.position() != before {
		t.Error("a quiet pass with a source has written something")
	}
	if _, err := w.Remove(t.Context(), a.Name); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.round()
	if got := all(w, state.Agendas)[0].Sources; got != 0 || len(w.sources()) != 0 {
		t.Errorf("the agenda counts %d sources, there are %d", got, len(w.sources()))
	}
}
