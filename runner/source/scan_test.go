package source_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"claw/runner/source"
)

func put(t testing.TB, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestScan(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "b.txt", "sub/c.go", "sub/deep/d.go", "state/journal.jsonl", "state2/e.go"} {
		put(t, dir, name)
	}
	outside := t.TempDir()
	put(t, outside, "far.go")
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	byLink := filepath.Join(t.TempDir(), "here")
	if err := os.Symlink(dir, byLink); err != nil {
		t.Fatal(err)
	}
	skip := filepath.Join(dir, "state")
	for _, tt := range []struct {
		name string
		spec source.Spec
		want []string
	}{
		{"one level", source.Spec{Dir: dir}, []string{"a.go", "b.txt", "link", "state", "state2", "sub"}},
		{"all below it, but no links and not claw's own", source.Spec{Dir: dir, Recursive: true, Skip: skip}, []string{"a.go", "b.txt", "link", "state2", "state2/e.go", "sub", "sub/c.go", "sub/deep", "sub/deep/d.go"}},
		{"some names", source.Spec{Dir: dir, Recursive: true, Glob: "*.go"}, []string{"a.go", "state2/e.go", "sub/c.go", "sub/deep/d.go"}},
		{"some paths", source.Spec{Dir: dir, Recursive: true, Glob: "sub/*.go"}, []string{"sub/c.go"}},
		{"through a link that a person names", source.Spec{Dir: byLink, Glob: "*.txt", Skip: skip}, []string{"b.txt"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, err := source.Scan(t.Context(), tt.spec)
			var names []string
			for _, e := range entries {
				names = append(names, e.Name)
			}
			if err != nil || !slices.Equal(names, tt.want) {
				t.Errorf("found %q, %v; want %q", names, err, tt.want)
			}
		})
	}
}

func TestScanOfTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 20,000 files")
	}
	dir, err := os.MkdirTemp("/dev/shm", "claw-scan")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for i := range source.MostEntries {
		if err := os.Mkdir(filepath.Join(dir, strconv.Itoa(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := source.Scan(t.Context(), source.Spec{Dir: dir}); err != nil {
		t.Errorf("as many as are allowed: %v", err)
	}
	put(t, dir, "one more")
	_, err = source.Scan(t.Context(), source.Spec{Dir: dir})
	if many, ok := errors.AsType[*source.TooManyError](err); !ok || many.Remedy() == "" {
		t.Errorf("one more: %v", err)
	}
}

func TestCheck(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	for _, tt := range []struct {
		name string
		dir  string
		is   func(err error) bool
	}{
		{"well", dir, func(err error) bool { return err == nil }},
		{"missing", filepath.Join(dir, "none"), func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{"a file", put(t, dir, "file"), func(err error) bool { return err != nil }},
		{"claw's own", filepath.Dir(put(t, state, "processes", "x")), func(err error) bool {
			own, ok := errors.AsType[*source.OwnError](err)
			return ok && own.Remedy() != ""
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := source.Check(source.Spec{Dir: tt.dir, Skip: state}); !tt.is(err) {
				t.Errorf("Check: %v", err)
			}
		})
	}
}
