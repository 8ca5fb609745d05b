// Package statetest makes every test that uses a state directory a test of the
// state directory: stores whose contents are checked when the test ends, and
// the enumeration of crashes over a flow.
package statetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/state"
	"claw/state/internal/vfs/faultfs"
)

// Open makes a store in a new directory. When the test ends the directory must
// be consistent: see Check.
func Open(t testing.TB) *state.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	t.Cleanup(func() { Remove(t, dir) })
	return OpenAt(t, dir, state.Options{})
}

// OpenAt is Open for a given directory and options.
func OpenAt(t testing.TB, dir string, o state.Options) *state.Store {
	t.Helper()
	s, err := state.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		Check(t, dir)
	})
	return s
}

// Check fails the test for everything that is wrong with a directory:
// checksums, sequence numbers without gaps, growing revisions, the agreement
// of journal and ledgers, permissions. A directory that does not exist is in
// order.
func Check(t testing.TB, dir string) {
	t.Helper()
	s, err := state.Open(dir, state.Options{})
	if err != nil {
		t.Errorf("state directory: %v", err)
		return
	}
	defer s.Close()
	problems, err := s.Check()
	if err != nil {
		t.Errorf("state directory: %v", err)
	}
	for _, p := range problems {
		t.Errorf("state directory: %s:%d: %s (%d bytes)", p.Path, p.Line, p.Why, len(p.Bytes))
	}
}

// Remove removes a directory for good: a supervisor, or a tick that it has
// started, may still be putting its things away after its end is written. Put
// it into a cleanup that comes before the test's own removal.
func Remove(t testing.TB, dir string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); os.RemoveAll(dir) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%s: somebody keeps writing there", dir)
			return
		}
	}
}

// Fast is a file system for tests that write much and cut no power: it does
// not wait for the disk.
func Fast(dir string) state.FS { return faultfs.New(filepath.Dir(dir)) }

// Crash runs flow once for every operation it makes on the file system and
// every way a machine can stop there (a kill; a power cut that loses, tears or
// zeroes what was not synced). Each time flow gets a file system that stops at
// that operation, and the path of a state directory that does not exist yet;
// then verify gets the directory as the next program finds it. Afterwards the
// next writer must be able to set the directory right by itself.
//
// flow opens its own store with state.Options{FS: fs} and returns the first
// error; it must do the same things in the same order each time. What it
// has been promised (an Update that returned nil) it notes in variables that
// verify sees.
func Crash(t *testing.T, flow func(fs state.FS, dir string) error, verify func(dir string) error) {
	t.Helper()
	CrashSome(t, 1, flow, verify)
}

// CrashSome is Crash for one operation of every so many only, from a random
// one on: for flows that are long.
func CrashSome(t *testing.T, every int, flow func(fs state.FS, dir string) error, verify func(dir string) error) {
	t.Helper()
	base := memory(t)
	root := filepath.Join(base, "whole")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	whole := faultfs.New(root)
	if err := run(whole, root, flow); err != nil {
		t.Fatalf("without a crash: %v", err)
	}
	total, points := len(whole.Ops()), 0
	defer func() { Tally(t, "points", points) }()
	for _, mode := range faultfs.Modes() {
		for n := 1 + rand.IntN(every); n <= total; n += every {
			if points++; !crashOnce(t, base, n, mode, flow, verify) {
				return
			}
		}
	}
	t.Logf("%d operations in %d modes: %d crash points", total, len(faultfs.Modes()), points)
}

// Tally adds n deaths of a kind (points: of file operations; kills: of real
// programs) to the file that CLAW_CRASH_TALLY names; without it it does nothing.
// make crash adds them up.
func Tally(t testing.TB, kind string, n int) {
	t.Helper()
	path := os.Getenv("CLAW_CRASH_TALLY")
	if path == "" || n == 0 {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %d %s\n", kind, n, t.Name())
		f.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// memory is a directory in memory where there is one: a crash is simulated, so
// that the disk would only cost time.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "claw-crash")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func run(fs *faultfs.FS, root string, flow func(fs state.FS, dir string) error) error {
	return flow(fs, filepath.Join(root, "state"))
}

// crashOnce is one crash; false when the test has failed.
func crashOnce(t *testing.T, base string, n int, mode faultfs.Mode, flow func(fs state.FS, dir string) error, verify func(dir string) error) bool {
	t.Helper()
	root, err := os.MkdirTemp(base, "crash")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	fs := faultfs.New(root)
	fs.CrashAt(n, mode)
	ferr := run(fs, root, flow)
	ops := fs.Ops()
	where := "after the end"
	if len(ops) >= n {
		where = ops[n-1].Name + " " + ops[n-1].Path
	}
	if err := fs.Settle(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "state")
	if err := verify(dir); err != nil {
		t.Errorf("%s, operation %d (%s): %v (the flow ended with: %v)", mode, n, where, err, ferr)
		return false
	}
	if err := heal(dir); err != nil {
		t.Errorf("%s, operation %d (%s): the next writer: %v", mode, n, where, err)
		return false
	}
	Check(t, dir)
	if t.Failed() {
		t.Logf("%s, operation %d (%s)", mode, n, where)
	}
	return !t.Failed()
}

// heal is the next writer in the next boot; it writes nothing of its own.
func heal(dir string) error {
	s, err := state.Open(dir, state.Options{Boot: "the boot after the crash", FS: Fast(dir)})
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Checkpoint(context.Background())
}
