package wake_test

import (
	"errors"
	"io/fs"
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

func hinted(t *testing.T, w *wake.Tree, why string) {
	t.Helper()
	select {
	case <-w.C():
	case <-time.After(patience):
		t.Fatalf("no hint: %s", why)
	}
}

// told does something again and again until it is hinted: the watch of a
// directory that has just been made begins a little later.
func told(t *testing.T, w *wake.Tree, why string, do func()) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		do()
		select {
		case <-w.C():
			return
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("no hint: %s", why)
		}
	}
}

// drained takes what is hinted about changes of before.
func drained(w *wake.Tree) {
	for {
		select {
		case <-w.C():
		case <-time.After(100 * time.Millisecond):
			return
		}
	}
}

func mkdir(t *testing.T, path ...string) string {
	t.Helper()
	dir := filepath.Join(path...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := mkdir(t, dir, "a", "b")
	w := wake.WatchTree(wake.TreeSpec{Dir: dir, Deep: true}, clock.New())
	defer w.Close()
	hinted(t, w, "it has begun: what changed before is to be looked for")
	if err := w.Polling(); err != nil {
		t.Skipf("the kernel does not tell here: %v", err)
	}
	drained(w)
	write(t, filepath.Join(deep, "file"), "one")
	hinted(t, w, "a file two levels down was made")
	drained(w)
	late := mkdir(t, dir, "new", "x", "y")
	hinted(t, w, "a directory was made")
	told(t, w, "in a directory that was not there at first", func() { write(t, filepath.Join(late, "file"), "one") })
	drained(w)
	write(t, filepath.Join(deep, "file.tmp"), "two")
	if err := os.Rename(filepath.Join(deep, "file.tmp"), filepath.Join(deep, "file")); err != nil {
		t.Fatal(err)
	}
	hinted(t, w, "an editor saved by rename (fsnotify#372)")
	drained(w)
	write(t, filepath.Join(deep, "file"), "three")
	hinted(t, w, "and what is written to the new file is told too")
}

func TestTreeOfOneLevel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	below := mkdir(t, dir, "below")
	w := wake.WatchTree(wake.TreeSpec{Dir: dir}, clock.New())
	defer w.Close()
	hinted(t, w, "it has begun")
	drained(w)
	write(t, filepath.Join(below, "file"), "one")
	write(t, filepath.Join(dir, "file"), "one")
	hinted(t, w, "a file in the directory itself")
}

// claw's own state within a watched tree must not keep it going by itself.
func TestTreeSkips(t *testing.T) {
	dir := t.TempDir()
	state := mkdir(t, dir, "state")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	s := wake.NewScripted()
	w := wake.WatchTreeWith(wake.TreeSpec{Dir: link, Deep: true, Skip: state}, clock.New(), func() (*wake.Scripted, error) { return s, nil })
	defer w.Close()
	hinted(t, w, "it has begun")
	for _, e := range []fsnotify.Event{
		{Name: state, Op: fsnotify.Write},
		{Name: filepath.Join(state, "journal.jsonl"), Op: fsnotify.Write},
		{Name: filepath.Join(dir, "file"), Op: fsnotify.Chmod},
	} {
		s.Changes <- e
	}
	s.Changes <- fsnotify.Event{Name: state, Op: fsnotify.Chmod} // taken: those before it have been dealt with
	select {
	case <-w.C():
		t.Error("hinted of what is nobody's business")
	default:
	}
	s.Changes <- fsnotify.Event{Name: filepath.Join(dir, "state.txt"), Op: fsnotify.Write}
	hinted(t, w, "a name that begins the same is another one")
}

func TestTreeSurvivesItsDirectory(t *testing.T) {
	t.Parallel()
	dir := mkdir(t, t.TempDir(), "watched")
	w := wake.WatchTree(wake.TreeSpec{Dir: dir, Deep: true}, clock.New())
	defer w.Close()
	hinted(t, w, "it has begun")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	hinted(t, w, "it went away")
	for deadline := time.Now().Add(patience); !errors.Is(w.Polling(), fs.ErrNotExist); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("Polling() = %v, want not found", w.Polling())
		}
	}
	mkdir(t, dir)
	told(t, w, "it is there again and watched", func() { write(t, filepath.Join(dir, "file"), "x") })
}

func TestTreePolls(t *testing.T) {
	for _, c := range []struct {
		name      string
		open, add error
	}{
		{name: "at the limit of watches", add: syscall.ENOSPC},
		{name: "at the limit of instances", open: syscall.EMFILE},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake := clocktest.New(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
			w := wake.WatchTreeWith(wake.TreeSpec{Dir: t.TempDir()}, fake, func() (*wake.Scripted, error) {
				s := wake.NewScripted()
				s.Refuse = c.add
				return s, c.open
			})
			defer w.Close()
			hinted(t, w, "it has begun")
			fake.WaitArmed(1)
			if _, ok := errors.AsType[*wake.LimitError](w.Polling()); !ok {
				t.Errorf("Polling() = %v", w.Polling())
			}
			for range 3 {
				fake.WaitArmed(1)
				fake.Advance(wake.Every)
				hinted(t, w, "two seconds have passed")
			}
		})
	}
}

func TestRemote(t *testing.T) {
	if err := wake.Remote(t.TempDir()); err != nil {
		t.Errorf("a local directory: %v", err)
	}
	if err := wake.Remote(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}
