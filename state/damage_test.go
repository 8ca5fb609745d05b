package state_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"claw/state"
	"claw/state/internal/vfs/faultfs"
	"claw/state/statetest"
	"claw/state/task"

	"github.com/google/go-cmp/cmp"
)

// lived is a directory with history: records 1 and 2 checkpointed, 3 and 4 in
// the journal only, all running.
func lived(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	defer s.Close()
	for i := range 4 {
		if i == 2 {
			if err := s.Checkpoint(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if err := start(s, ulid(epoch, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// seen is how many processes and tasks there are to see.
func seen(t *testing.T, s *state.Store) (counts [2]int, problems []state.Problem, errs [2]error) {
	t.Helper()
	view(t, s, func(tx *state.Tx) error {
		p, err1 := state.Processes.All(tx)
		k, err2 := state.Tasks.All(tx)
		counts, errs, problems = [2]int{len(p), len(k)}, [2]error{err1, err2}, tx.Problems()
		return nil
	})
	return counts, problems, errs
}

// quarantined is everything in quarantine/, reasons aside.
func quarantined(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	paths, _ := filepath.Glob(filepath.Join(dir, "quarantine/*"))
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil && !strings.HasSuffix(p, ".why") {
			all = append(all, string(b))
		}
	}
	return strings.Join(all, "\n")
}

func mangle(path, from, to string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) { replace(t, filepath.Join(dir, path), from, to) }
}

func rewrite(path string, change func([]byte) []byte) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		b, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), change(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(path string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
}

func empty([]byte) []byte { return nil }

func instead(path string, put func(string) error) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, path)
		if err := errors.Join(os.RemoveAll(path), put(path)); err != nil {
			t.Fatal(err)
		}
	}
}

func mkdir(path string) error { return os.Mkdir(path, 0o700) }

// Damage, and what becomes of it: what a View sees, whether the next Update
// goes on by itself, and what has to lie in quarantine afterwards.
// Pains B33, B34, B40.
func TestDamage(t *testing.T) {
	const all = 4
	tests := []struct {
		name       string
		damage     func(t *testing.T, dir string)
		processes  int // to be seen afterwards
		tasks      int // -1: the ledger is an error
		problems   int // that a View reports
		refused    bool
		quarantine string
	}{
		{"a torn end of the journal", rewrite("journal.jsonl", func(b []byte) []byte { return append(b, `{"tx":5,"ti`...) }), all, all, 0, false, `{"tx":5,"ti`},
		{"zeros at the end of the journal", rewrite("journal.jsonl", func(b []byte) []byte { return append(b, 0, 0, 0) }), all, all, 0, false, "\x00\x00\x00"},
		{"a journal cut in its last line", rewrite("journal.jsonl", func(b []byte) []byte { return b[:len(b)-20] }), 3, 3, 0, false, `"ledger":"processes"`},
		{"a damaged line in the journal", mangle("journal.jsonl", `{"tx":3,`, `{"tx":7,`), 3, 3, 1, false, `{"tx":7,`},
		{"a damaged last line of the journal", mangle("journal.jsonl", `{"tx":4,`, `{"tx":7,`), 3, 3, 1, false, `{"tx":7,`},
		{"a damaged first line of the journal", mangle("journal.jsonl", `"generation":2`, `"generation":9`), all, all, 1, true, `"generation":9`},
		{"a missing journal", remove("journal.jsonl"), all, all, 1, true, ""},
		{"an empty journal", rewrite("journal.jsonl", empty), all, all, 1, true, ""},
		{"a missing ledger", remove("ledgers/tasks.jsonl"), all, -1, 0, true, ""},
		{"an empty ledger", rewrite("ledgers/tasks.jsonl", empty), all, -1, 0, true, ""},
		{"a damaged line in a ledger", mangle("ledgers/tasks.jsonl", `"rev":1`, `"rev":9`), all, 3, 1, false, `"rev":9`},
		{"a ledger line that is garbage", mangle("ledgers/tasks.jsonl", `{"seq":2`, "\xff\xfe\x00"), all, 3, 1, false, "\xff\xfe\x00"},
		{"a ledger cut in its checkpointed part", rewrite("ledgers/tasks.jsonl", func(b []byte) []byte { return b[:bytes.IndexByte(b, '\n')+30] }), all, 3, 1, false, `{"seq":2,`},
		{"damage in what repeats the journal", mangle("ledgers/tasks.jsonl", `{"seq":4`, `{"seq":8`), all, all, 0, false, ""},
		{"a ledger without what repeats the journal", rewrite("ledgers/tasks.jsonl", func(b []byte) []byte { return bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:2], nil) }), all, all, 0, false, ""},
		{"a line added to a ledger by hand", rewrite("ledgers/tasks.jsonl", func(b []byte) []byte { return append(b, `{"seq":9,"tx":9,"id":"x"`...) }), all, all, 0, false, ""},
		{"notes added to a ledger by hand", rewrite("ledgers/tasks.jsonl", func(b []byte) []byte { return append(b, "remember the milk\n"...) }), all, all, 0, false, "the milk"},
		{"an edited ledger that is ahead of a torn journal", func(t *testing.T, dir string) {
			rewrite("journal.jsonl", func(b []byte) []byte { return b[:len(b)-20] })(t, dir)
			mangle("ledgers/tasks.jsonl", `{"seq":1`, `{ "seq":1`)(t, dir)
			rewrite("ledgers/tasks.jsonl", func(b []byte) []byte {
				sum := bytes.Index(b, []byte(`,"sum":`))
				return append(append(bytes.Clone(b[:sum]), '}'), b[sum+len(`,"sum":"01234567"}`):]...)
			})(t, dir)
		}, 3, 3, 0, false, `"ledger":"processes"`},
		{"a missing FORMAT", remove("FORMAT"), all, all, 0, false, ""},
		{"a FORMAT that is no number", rewrite("FORMAT", func([]byte) []byte { return []byte("gibberish") }), all, all, 0, true, "gibberish"},
		{"an empty FORMAT", rewrite("FORMAT", empty), all, all, 0, true, ""},
		{"a missing folder of ledgers", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "ledgers")); err != nil {
				t.Fatal(err)
			}
		}, -1, -1, 0, true, ""},
		{"a directory in place of a ledger", instead("ledgers/tasks.jsonl", mkdir), all, -1, 0, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := lived(t)
			tt.damage(t, dir)
			s := open(t, dir)
			defer s.Close()
			before := tree(t, dir)
			counts, problems, errs := seen(t, s)
			if tt.processes < 0 {
				remedied(t, errs[0], state.ErrDamaged)
			} else if errs[0] != nil || counts[0] != tt.processes || len(problems) != tt.problems {
				t.Errorf("%d processes, %v, problems %+v", counts[0], errs[0], problems)
			}
			if tt.tasks < 0 {
				remedied(t, errs[1], state.ErrDamaged)
			} else if errs[1] != nil || counts[1] != tt.tasks {
				t.Errorf("%d tasks, %v", counts[1], errs[1])
			}
			if found, err := s.Check(); len(found) == 0 && tt.name != "a ledger without what repeats the journal" || err != nil {
				t.Errorf("Check has found nothing: %v", err)
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("reading has written: %s", diff)
			}
			goOn(t, s, dir, tt.refused)
			if got := quarantined(t, dir); !strings.Contains(got, tt.quarantine) {
				t.Errorf("quarantine holds %q, not %q", got, tt.quarantine)
			}
			counts, problems, errs = seen(t, s)
			if want := [2]int{max(2, tt.processes) + 1, max(2, tt.tasks) + 1}; counts != want || len(problems) > 0 || errs != [2]error{} {
				t.Errorf("in the end: %v, want %v, %v, %v", counts, want, problems, errs)
			}
			if tt.name != "a missing FORMAT" {
				statetest.Check(t, dir)
			}
		})
	}
}

// goOn writes one more record, after a repair where that has to come first.
func goOn(t *testing.T, s *state.Store, dir string, refused bool) {
	t.Helper()
	before := tree(t, dir)
	err := start(s, ulid(epoch, 9))
	if refused {
		remedied(t, err, state.ErrDamaged)
		if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
			t.Errorf("a refused Update has written: %s", diff)
		}
		if _, err := s.Repair(context.Background()); err != nil {
			t.Fatal(err)
		}
		err = start(s, ulid(epoch, 9))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// remedied wants an *Error of a kind, with everything a person needs.
func remedied(t *testing.T, err, kind error) {
	t.Helper()
	e, ok := errors.AsType[*state.Error](err)
	if !ok || !errors.Is(err, kind) {
		t.Fatalf("%v (%T), want %v", err, err, kind)
	}
	if e.Op == "" || e.Path == "" || e.Why == "" || e.Hint == "" {
		t.Errorf("incomplete: %+v", e)
	}
}

// Directories that Open, or the first use, refuses; pains B35, B39.
func TestRefused(t *testing.T) {
	link := func(path string) error { return os.Symlink("/etc/hostname", path) }
	linkDir := func(path string) error { return os.Symlink(os.TempDir(), path) }
	tests := []struct {
		name   string
		damage func(t *testing.T, dir string)
		kind   error
		hint   string
	}{
		{"the group can write", func(t *testing.T, dir string) { chmod(t, dir, 0o770) }, state.ErrPermissions, "chmod 700"},
		{"everybody can write", func(t *testing.T, dir string) { chmod(t, dir, 0o707) }, state.ErrPermissions, "chmod 700"},
		{"a file in place of the directory", instead("", func(path string) error { return os.WriteFile(path, nil, 0o600) }), state.ErrNotDir, "move it away"},
		{"somebody else's", func(t *testing.T, dir string) { chown(t, dir) }, state.ErrNotOurs, "owner"},
		{"a link for ledgers/", instead("ledgers", linkDir), state.ErrSymlink, "link"},
		{"a link for archive/", instead("archive", linkDir), state.ErrSymlink, "link"},
		{"a link for processes/", instead("processes", linkDir), state.ErrSymlink, "link"},
		{"a link for the journal", instead("journal.jsonl", link), state.ErrSymlink, "link"},
		{"a link for a ledger", instead("ledgers/tasks.jsonl", link), state.ErrSymlink, "link"},
		{"a link for the lock", instead("lock", link), state.ErrSymlink, "link"},
		{"a link for FORMAT", instead("FORMAT", link), state.ErrSymlink, "link"},
		{"a directory in place of the lock", instead("lock", mkdir), state.ErrDamaged, "move it away"},
		{"a directory in place of the journal", instead("journal.jsonl", mkdir), state.ErrDamaged, "move it away"},
		{"a file in place of ledgers/", instead("ledgers", func(path string) error { return os.WriteFile(path, nil, 0o600) }), state.ErrDamaged, "move it away"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := lived(t)
			tt.damage(t, dir)
			s, err := state.Open(dir, state.Options{})
			if err == nil {
				defer s.Close()
				err = start(s, ulid(epoch, 9))
			}
			remedied(t, err, tt.kind)
			if e, _ := errors.AsType[*state.Error](err); !strings.Contains(e.Hint, tt.hint) || !strings.HasPrefix(e.Path, dir) {
				t.Errorf("%+v", e)
			}
		})
	}
}

func chmod(t *testing.T, dir string, mode os.FileMode) {
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
}

func chown(t *testing.T, dir string) {
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Skip("only root can give a directory away:", err)
	}
}

func TestReadableForOthersIsFine(t *testing.T) {
	dir := lived(t)
	chmod(t, dir, 0o755)
	s := open(t, dir)
	defer s.Close()
	if err := start(s, "x"); err != nil {
		t.Error(err)
	}
}

// A link to the directory itself is the owner's choice.
func TestDirectoryMayBeALink(t *testing.T) {
	dir := lived(t)
	to := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, to); err != nil {
		t.Fatal(err)
	}
	s := open(t, to)
	defer s.Close()
	if err := start(s, "x"); err != nil {
		t.Error(err)
	}
}

func TestNewerFormat(t *testing.T) {
	dir := lived(t)
	rewrite("FORMAT", func([]byte) []byte { return []byte("2\n") })(t, dir)
	s := open(t, dir)
	defer s.Close()
	before := tree(t, dir)
	if counts, _, errs := seen(t, s); counts != [2]int{4, 4} || errs != [2]error{} {
		t.Errorf("%v %v", counts, errs)
	}
	remedied(t, start(s, "x"), state.ErrNewerFormat)
	_, err := s.Repair(context.Background())
	remedied(t, err, state.ErrNewerFormat)
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestNetworkFS(t *testing.T) {
	dir := lived(t)
	fs := faultfs.New(filepath.Dir(dir))
	fs.PretendRemote("nfs")
	_, err := state.Open(dir, state.Options{FS: fs})
	remedied(t, err, state.ErrNetworkFS)
	s, err := state.Open(filepath.Join(filepath.Dir(dir), "new"), state.Options{FS: fs})
	if err != nil {
		t.Fatal(err) // nothing to look at yet
	}
	remedied(t, start(s, "x"), state.ErrNetworkFS)
	s, err = state.Open(dir, state.Options{FS: fs, UnsafeFS: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := start(s, "x"); err != nil {
		t.Error(err)
	}
}

func TestReadOnlyOption(t *testing.T) {
	dir := lived(t)
	s, err := state.Open(dir, state.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	remedied(t, start(s, "x"), state.ErrReadOnly)
	if counts, _, _ := seen(t, s); counts != [2]int{4, 4} {
		t.Error(counts)
	}
	view(t, s, func(tx *state.Tx) error {
		remedied(t, state.Tasks.Put(tx, "x", 0, task.Task{}), state.ErrReadOnly)
		return nil
	})
}

// A full disk: whatever operation finds it full, the transaction is whole or
// an error that says nothing was changed, and when there is space again it
// goes on.
func TestFullDisk(t *testing.T) {
	for n := 1; ; n++ {
		dir := lived(t)
		fs := faultfs.New(filepath.Dir(dir))
		s, err := state.Open(dir, state.Options{FS: fs, Now: func() time.Time { return epoch }})
		if err != nil {
			t.Fatal(err)
		}
		ops := 0
		before, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
		fs.Fail(func(op faultfs.Op) error {
			if op.Name != "write" && op.Name != "create" && op.Name != "mkdir" {
				return nil
			}
			if ops++; ops >= n {
				return syscall.ENOSPC
			}
			return nil
		})
		err = start(s, ulid(epoch, 9))
		full := ops >= n
		want := 5
		if err != nil {
			remedied(t, err, state.ErrNoSpace)
			want = 4
			if now, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl")); !bytes.Equal(now, before) {
				t.Errorf("operation %d: the journal was left at %d bytes instead of %d", n, len(now), len(before))
			}
		}
		if counts, problems, errs := seen(t, s); counts != [2]int{want, want} || len(problems) > 0 || errs != [2]error{} {
			t.Errorf("operation %d: %v, %v, %v after %v", n, counts, problems, errs, err)
		}
		cerr := s.Checkpoint(context.Background())
		fs.Fail(nil)
		if err := errors.Join(start(s, ulid(epoch, 10)), s.Checkpoint(context.Background())); err != nil {
			t.Errorf("operation %d: with space again: %v", n, err)
		}
		if counts, problems, _ := seen(t, s); counts != [2]int{want + 1, want + 1} || len(problems) > 0 {
			t.Errorf("operation %d: in the end %v, %v", n, counts, problems)
		}
		statetest.Check(t, dir)
		s.Close()
		if !full && cerr == nil {
			return // nothing was full any more
		}
	}
}

// A sync that fails is no success, and no lie either.
func TestSyncFails(t *testing.T) {
	dir := lived(t)
	fs := faultfs.New(filepath.Dir(dir))
	s, err := state.Open(dir, state.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fs.Fail(func(op faultfs.Op) error {
		if op.Name == "sync" {
			return syscall.EIO
		}
		return nil
	})
	err = start(s, ulid(epoch, 9))
	remedied(t, err, state.ErrNotDurable)
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("%v hides the cause", err)
	}
	if counts, _, _ := seen(t, s); counts != [2]int{5, 5} {
		t.Errorf("%v", counts)
	}
}
