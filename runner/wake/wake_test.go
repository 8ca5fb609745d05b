package wake_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"claw/runner/clock"
	"claw/runner/clock/clocktest"
	"claw/runner/wake"
)

// patience is how long a real watch may take on a busy machine.
const patience = 30 * time.Second

func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err = f.Close(); err != nil {
		t.Fatal(err)
	}
}

func woken(t *testing.T, w *wake.Watcher, why string) {
	t.Helper()
	select {
	case <-w.C():
	case <-time.After(patience):
		t.Fatalf("no wake: %s", why)
	}
}

func quiet(t *testing.T, w *wake.Watcher, why string) {
	t.Helper()
	select {
	case <-w.C():
		t.Fatalf("woken: %s", why)
	default:
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	journal, other := filepath.Join(dir, "journal.jsonl"), filepath.Join(dir, "journal.new")
	w := wake.Watch(dir, clock.New())
	defer w.Close()
	if err := w.Polling(); err != nil {
		t.Skipf("the kernel does not tell here: %v", err)
	}
	write(t, journal, "one\n")
	woken(t, w, "the journal was made")
	write(t, journal, "two\n")
	woken(t, w, "the journal was appended to")
	write(t, other, "new\n")
	if err := os.Rename(other, journal); err != nil {
		t.Fatal(err)
	}
	woken(t, w, "the journal was replaced, as a checkpoint does")
	write(t, journal, "three\n")
	woken(t, w, "the new journal was appended to (fsnotify#17)")
	write(t, filepath.Join(dir, "runner.poke"), "\n")
	woken(t, w, "somebody poked")
}

func TestWatchSurvivesTheDirectory(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"renamed": func(dir string) error { return os.Rename(dir, dir+".old") },
	} {
		t.Run(name+" and made again", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			w := wake.Watch(dir, clock.New())
			defer w.Close()
			if err := away(dir); err != nil {
				t.Fatal(err)
			}
			woken(t, w, "the directory went away")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			journal := filepath.Join(dir, "journal.jsonl")
			write(t, journal, "one\n")
			woken(t, w, "the journal of the new directory was made")
			// Two wakes later it is the kernel again that tells.
			write(t, journal, "two\n")
			woken(t, w, "the new journal was appended to")
		})
	}
}

func TestWatchOfADirectoryThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	w := wake.Watch(dir, clock.New())
	defer w.Close()
	if !errors.Is(w.Polling(), os.ErrNotExist) {
		t.Errorf("Polling() = %v, want not found", w.Polling())
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "journal.jsonl"), "one\n")
	woken(t, w, "the directory was made")
}

// Where inotify is at its limit the directory is looked at every two seconds,
// and the reason names the limit.
func TestPollsAtTheLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		open  error // of opening the notifier
		add   error // of adding the directory
		limit string
	}{
		{name: "instances", open: os.NewSyscallError("inotify_init1", syscall.EMFILE), limit: "fs.inotify.max_user_instances"},
		{name: "watches", add: syscall.ENOSPC, limit: "fs.inotify.max_user_watches"},
		{name: "files of the machine", open: syscall.ENFILE, limit: "open files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			fake := clocktest.New(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
			w := wake.WatchWith(dir, fake, func() (*wake.Scripted, error) {
				s := wake.NewScripted()
				s.Refuse = c.add
				return s, c.open
			})
			defer w.Close()
			limit, ok := errors.AsType[*wake.LimitError](w.Polling())
			if !ok || (limit.Limit != c.limit && c.limit != "fs.inotify.max_user_instances") || limit.Remedy() == "" {
				t.Fatalf("Polling() = %v, want the limit of %s with a remedy", w.Polling(), c.limit)
			}
			look := func() {
				fake.WaitArmed(1)
				fake.Advance(wake.Every)
				fake.WaitArmed(1)
			}
			look()
			quiet(t, w, "nothing has changed")
			write(t, filepath.Join(dir, "journal.jsonl"), "one\n")
			fake.WaitArmed(1)
			quiet(t, w, "it is not time to look")
			look()
			woken(t, w, "the journal has changed since the last look")
			look()
			quiet(t, w, "nothing has changed since")
		})
	}
}

// After a minute the kernel is asked again, and then tells.
func TestPollingEnds(t *testing.T) {
	dir := t.TempDir()
	fake := clocktest.New(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	free := false
	s := wake.NewScripted()
	w := wake.WatchWith(dir, fake, func() (*wake.Scripted, error) {
		if !free {
			return nil, syscall.ENOSPC
		}
		return s, nil
	})
	defer w.Close()
	free = true // read by the watcher only after a timer that the test fires
	for range int(time.Minute / wake.Every) {
		fake.WaitArmed(1)
		fake.Advance(wake.Every)
	}
	woken(t, w, "it watches now, and something may have come in between")
	if err := w.Polling(); err != nil {
		t.Errorf("Polling() = %v, want none", err)
	}
	s.Changes <- fsnotify.Event{Name: filepath.Join(dir, "journal.jsonl"), Op: fsnotify.Write}
	woken(t, w, "the kernel has told")
}

func TestCoalesces(t *testing.T) {
	dir := t.TempDir()
	fake := clocktest.New(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	s := wake.NewScripted()
	w := wake.WatchWith(dir, fake, func() (*wake.Scripted, error) { return s, nil })
	defer w.Close()
	tell := func(name string) {
		s.Changes <- fsnotify.Event{Name: filepath.Join(dir, name), Op: fsnotify.Write}
	}
	tell("journal.jsonl")
	woken(t, w, "the first change is told at once")
	for range 100 {
		tell("journal.jsonl")
	}
	tell("FORMAT") // taken: everything before it has been dealt with
	quiet(t, w, "less than 50 ms later")
	tell("runner.poke")
	tell("FORMAT")
	woken(t, w, "a poke does not wait, and takes the changes before it along")
	tell("journal.jsonl")
	tell("FORMAT")
	quiet(t, w, "less than 50 ms after the poke")
	fake.WaitArmed(1)
	fake.Advance(wake.Coalesce)
	woken(t, w, "one wake for the hundred")
	fake.WaitArmed(1)
	fake.Advance(wake.Coalesce)
	for _, name := range []string{"lock", "sweep.lock", "runner.json", "FORMAT", "journal.jsonl.tmp"} {
		tell(name)
	}
	quiet(t, w, "none of these is the journal or a poke")
	s.Faults <- fsnotify.ErrEventOverflow
	woken(t, w, "the kernel has lost count: anything may have changed")
}

func TestClose(t *testing.T) {
	s := wake.NewScripted()
	w := wake.WatchWith(t.TempDir(), clock.New(), func() (*wake.Scripted, error) { return s, nil })
	w.Close()
	select {
	case <-s.Closed:
	default:
		t.Error("the notifier stays open")
	}
}

func TestStamp(t *testing.T) {
	dir := t.TempDir()
	journal := filepath.Join(dir, "journal.jsonl")
	old := wake.Look(dir)
	changed := func(what string, want bool) {
		t.Helper()
		now := wake.Look(dir)
		if (now != old) != want {
			t.Errorf("%s: changed is %v, want %v", what, now != old, want)
		}
		old = now
	}
	changed("nothing is there", false)
	write(t, journal, "one\n")
	changed("the journal was made", true)
	write(t, journal, "two\n")
	changed("it was appended to", true)
	write(t, filepath.Join(dir, "other"), "x")
	changed("another file was made", false)
	info, err := os.Stat(journal)
	if err != nil {
		t.Fatal(err)
	}
	write(t, journal+".new", "one\ntwo\n")
	if err := os.Chtimes(journal+".new", info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(journal+".new", journal); err != nil {
		t.Fatal(err)
	}
	changed("another file of the same size and time took its place", true)
	write(t, filepath.Join(dir, "runner.poke"), "\n")
	changed("somebody poked", true)
}
