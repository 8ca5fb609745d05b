package faultfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claw/state/internal/vfs/faultfs"

	"github.com/google/go-cmp/cmp"
)

// script works on a directory in one line per operation: "w NAME TEXT" appends,
// "s NAME" syncs, "d" syncs the directory, "r OLD NEW" renames, "x NAME"
// removes, "m NAME" makes a directory. It stops at the first error.
func script(fs *faultfs.FS, dir string, lines ...string) error {
	for _, l := range lines {
		f := strings.Fields(l)
		path := func(i int) string { return filepath.Join(dir, f[i]) }
		var err error
		switch f[0] {
		case "w", "s":
			file, oerr := fs.OpenFile(path(1), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if oerr != nil {
				return oerr
			}
			if f[0] == "w" {
				_, err = file.Write([]byte(f[2]))
			} else {
				err = file.Sync()
			}
			file.Close()
		case "d":
			err = fs.SyncDir(dir)
		case "r":
			err = fs.Rename(path(1), path(2))
		case "x":
			err = fs.Remove(path(1))
		case "m":
			err = fs.Mkdir(path(1), 0o700)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		if info.IsDir() {
			got[rel] = "/"
			return nil
		}
		b, err := os.ReadFile(path)
		got[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// What a crash leaves, by the contract of package vfs. The crash comes with the
// operation after the script: a removal that is not carried out.
func TestWhatACrashLeaves(t *testing.T) {
	type files = map[string]string
	tests := []struct {
		name   string
		script []string
		want   map[faultfs.Mode]files
	}{
		{"nothing synced", []string{"w a 1234"}, map[faultfs.Mode]files{
			faultfs.Kept: {"old": "old", "a": "1234"}, faultfs.Lost: {"old": "old"},
			faultfs.Torn: {"old": "old", "a": "12"}, faultfs.Zeroed: {"old": "old", "a": "\x00\x00\x00\x00"},
		}},
		{"bytes synced, the name not", []string{"w a 1234", "s a"}, map[faultfs.Mode]files{
			faultfs.Lost: {"old": "old"}, faultfs.Torn: {"old": "old", "a": "1234"}, faultfs.Zeroed: {"old": "old", "a": "1234"},
		}},
		{"the name synced, bytes not", []string{"w a 1234", "d"}, map[faultfs.Mode]files{
			faultfs.Lost: {"old": "old", "a": ""}, faultfs.Torn: {"old": "old", "a": "12"},
		}},
		{"both, and an append", []string{"w a 1234", "s a", "d", "w a 5678"}, map[faultfs.Mode]files{
			faultfs.Kept: {"old": "old", "a": "12345678"}, faultfs.Lost: {"old": "old", "a": "1234"},
			faultfs.Torn: {"old": "old", "a": "123456"}, faultfs.Zeroed: {"old": "old", "a": "1234\x00\x00\x00\x00"},
		}},
		{"replaced, the directory not synced", []string{"w a 1234", "s a", "r a old"}, map[faultfs.Mode]files{
			faultfs.Kept: {"old": "1234"}, faultfs.Lost: {"old": "old"}, faultfs.Torn: {"old": "1234"},
		}},
		{"replaced without a sync of the bytes", []string{"w a 1234", "r a old", "d"}, map[faultfs.Mode]files{
			faultfs.Lost: {"old": ""}, faultfs.Torn: {"old": "12"}, faultfs.Zeroed: {"old": "\x00\x00\x00\x00"},
		}},
		{"removed", []string{"x old"}, map[faultfs.Mode]files{faultfs.Kept: {}, faultfs.Lost: {"old": "old"}, faultfs.Torn: {}}},
		{"removed and synced", []string{"x old", "d"}, map[faultfs.Mode]files{faultfs.Lost: {}}},
		{"a directory", []string{"m p", "w p/f 12", "s p/f"}, map[faultfs.Mode]files{
			faultfs.Kept: {"old": "old", "p": "/", "p/f": "12"}, faultfs.Lost: {"old": "old"}, faultfs.Torn: {"old": "old", "p": "/", "p/f": "12"},
		}},
		{"a directory whose name is synced", []string{"m p", "w p/f 12", "s p/f", "d"}, map[faultfs.Mode]files{faultfs.Lost: {"old": "old", "p": "/"}}},
	}
	for _, tt := range tests {
		for mode, want := range tt.want {
			t.Run(tt.name+", "+mode.String(), func(t *testing.T) {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
				fs := faultfs.New(dir)
				if err := script(fs, dir, tt.script...); err != nil {
					t.Fatal(err)
				}
				fs.CrashAt(1, mode)
				if err := fs.Remove(filepath.Join(dir, "any")); !errors.Is(err, faultfs.ErrCrashed) {
					t.Fatalf("%v", err)
				}
				if err := script(fs, dir, "w later x"); !errors.Is(err, faultfs.ErrCrashed) || !fs.Crashed() {
					t.Errorf("the dead write: %v", err)
				}
				if err := fs.Settle(); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// The write in which the machine stops is done by half.
func TestCrashInAWrite(t *testing.T) {
	for mode, want := range map[faultfs.Mode]map[string]string{
		faultfs.Kept: {"a": "12345"}, faultfs.Lost: {"a": "1234"}, faultfs.Torn: {"a": "1234"}, faultfs.Zeroed: {"a": "1234\x00\x00"},
	} {
		dir := t.TempDir()
		fs := faultfs.New(dir)
		if err := script(fs, dir, "w a 1234", "s a", "d"); err != nil {
			t.Fatal(err)
		}
		fs.CrashAt(1, mode)
		if err := script(fs, dir, "w a 56"); !errors.Is(err, faultfs.ErrCrashed) {
			t.Fatalf("%v", err)
		}
		if err := fs.Settle(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
	}
}

func TestFail(t *testing.T) {
	dir := t.TempDir()
	fs := faultfs.New(dir)
	fs.Fail(func(op faultfs.Op) error {
		if op.Name == "write" {
			return syscall.ENOSPC
		}
		return nil
	})
	if err := script(fs, dir, "w a 1234"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	fs.Fail(nil)
	if err := script(fs, dir, "w a 5"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "125"}, contents(t, dir)); diff != "" {
		t.Error(diff)
	}
	var names []string
	for _, op := range fs.Ops() {
		names = append(names, op.Name)
	}
	if diff := cmp.Diff([]string{"create", "write", "write"}, names); diff != "" {
		t.Error(diff)
	}
}
