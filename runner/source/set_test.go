package source_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/runner/clock"
	"claw/runner/clock/clocktest"
	"claw/runner/source"
	"claw/runner/wake"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

func rings(t *testing.T, s *source.Set, why string) {
	t.Helper()
	select {
	case <-s.C():
	case <-time.After(patience):
		t.Fatalf("it does not ring: %s", why)
	}
}

func look(t *testing.T, s *source.Set, spec source.Spec) source.Seen {
	t.Helper()
	seen, ok := s.Look("one", spec)
	if !ok {
		t.Fatal("a scan of a few files takes longer than two seconds")
	}
	return seen
}

// A tick looks anew after two seconds, and not before.
func TestLooksOfATick(t *testing.T) {
	fake := clocktest.New(time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC))
	s := source.NewSet(fake, false)
	defer s.Close()
	spec := source.Spec{Dir: t.TempDir()}
	first := look(t, s, spec)
	put(t, spec.Dir, "file")
	if look(t, s, spec).Digest != first.Digest {
		t.Error("it has looked again at once")
	}
	fake.Advance(wake.Every)
	second := look(t, s, spec)
	if second.Digest == first.Digest || first.Digest == "" {
		t.Errorf("digests %q and %q", first.Digest, second.Digest)
	}
	if _, ok := s.Base("one", second.Digest); ok {
		t.Error("nothing has been told yet")
	}
	s.Told("one", second)
	if base, ok := s.Base("one", second.Digest); !ok || len(base.Entries) != 1 {
		t.Errorf("what was told: %+v, %v", base, ok)
	}
	s.Keep(nil)
	if _, ok := s.Base("one", second.Digest); ok {
		t.Error("it is remembered although it is not kept")
	}
}

// A runner is told, and between two changes looks at nothing.
func TestLooksOfARunner(t *testing.T) {
	s := source.NewSet(clock.New(), true)
	defer s.Close()
	spec := source.Spec{Dir: t.TempDir(), Recursive: true}
	first := look(t, s, spec)
	rings(t, s, "the watch has begun")
	if why := s.Polling("one"); why != nil {
		t.Skipf("the kernel does not tell here: %v", why)
	}
	for deadline := time.Now().Add(patience); look(t, s, spec).Digest == first.Digest; {
		put(t, spec.Dir, "file")
		rings(t, s, "a file was made")
		if time.Now().After(deadline) {
			t.Fatal("it is not seen")
		}
	}
	if err := os.RemoveAll(spec.Dir); err != nil {
		t.Fatal(err)
	}
	rings(t, s, "the directory is gone")
	for deadline := time.Now().Add(patience); look(t, s, spec).Err == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is not seen that the directory is gone")
		}
	}
}

// Another directory under the same automation is another watch.
func TestLookElsewhere(t *testing.T) {
	s := source.NewSet(clock.New(), false)
	defer s.Close()
	a, b := t.TempDir(), t.TempDir()
	put(t, b, "file")
	if look(t, s, source.Spec{Dir: a}).Digest == look(t, s, source.Spec{Dir: b}).Digest {
		t.Error("it has not looked there")
	}
}

func TestFollow(t *testing.T) {
	dir := t.TempDir()
	s := source.NewSet(clock.New(), true)
	defer s.Close()
	s.Follow("one", dir, 50*time.Millisecond)
	rings(t, s, "it has begun")
	put(t, dir, "output")
	rings(t, s, "there is output")
	s.Hold("one", true)
	for range 3 {
		put(t, filepath.Join(dir, "output"))
	}
	s.Hold("one", false)
	s.Follow("one", dir, 50*time.Millisecond) // of the same process: nothing changes
	put(t, dir, "output")
	rings(t, s, "it is told again")
}

// What was read without anything to tell is not read again, but by another
// program.
func TestScanned(t *testing.T) {
	s := source.NewSet(clock.New(), false)
	defer s.Close()
	record := source.Cursor{Out: 10, Err: 20}
	if got := s.From("one", "p", record); got != record {
		t.Errorf("from %+v", got)
	}
	further := source.Cursor{Out: 30, Err: 20}
	s.Scanned("one", "p", further)
	if got := s.From("one", "p", record); got != further {
		t.Errorf("from %+v, want %+v", got, further)
	}
	if got := s.From("one", "p", source.Cursor{Out: 40, Err: 20}); got.Out != 40 {
		t.Errorf("from %+v: the record has moved on", got)
	}
	if got := s.From("one", "q", source.Cursor{}); got != (source.Cursor{}) {
		t.Errorf("from %+v in the output of another process", got)
	}
	s.Keep(map[string]bool{"two": true})
	if got := s.From("one", "p", record); got != record {
		t.Errorf("from %+v although it is not kept", got)
	}
}
