package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"claw/state/internal/vfs"
	"claw/state/internal/vfs/faultfs"
)

// both runs a test on the real file system and on the one that can fail.
func both(t *testing.T, test func(t *testing.T, fsys vfs.FS, dir string)) {
	t.Run("os", func(t *testing.T) { test(t, vfs.OS{}, t.TempDir()) })
	t.Run("faultfs", func(t *testing.T) {
		dir := t.TempDir()
		test(t, faultfs.New(dir), dir)
	})
}

func TestWriteFile(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, dir string) {
		path := filepath.Join(dir, "f")
		for _, want := range []string{"one", "", "longer than before"} {
			if err := vfs.WriteFile(fsys, path, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := vfs.ReadFile(fsys, path, 100); string(got) != want || err != nil {
				t.Errorf("%q %v", got, err)
			}
		}
		if info, err := fsys.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		if names, err := fsys.ReadDir(dir); len(names) != 1 || err != nil {
			t.Errorf("%v %v", names, err)
		}
		if _, err := vfs.ReadFile(fsys, path, 5); !errors.Is(err, vfs.ErrTooLarge) {
			t.Errorf("%v", err)
		}
		if _, err := vfs.ReadFile(fsys, dir, 5000000); !errors.Is(err, syscall.EISDIR) {
			t.Errorf("%v", err)
		}
	})
}

func TestReadRangeOfAShorterFile(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, dir string) {
		path := filepath.Join(dir, "f")
		if err := vfs.WriteFile(fsys, path, []byte("0123456789"), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for r, want := range map[[2]int64]string{{2, 5}: "234", {8, 20}: "89", {20, 30}: "", {5, 5}: "", {6, 5}: ""} {
			if got, err := vfs.ReadRange(f, r[0], r[1], 100); string(got) != want || err != nil {
				t.Errorf("%v: %q %v", r, got, err)
			}
		}
	})
}

func TestNoLinkIsFollowed(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, dir string) {
		path := filepath.Join(dir, "link")
		if err := os.Symlink(filepath.Join(dir, "target"), path); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_CREATE, os.O_RDWR | os.O_CREATE | os.O_TRUNC} {
			if _, err := fsys.OpenFile(path, flag, 0o600); !errors.Is(err, syscall.ELOOP) {
				t.Errorf("flags %x: %v", flag, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "target")); err == nil {
			t.Error("the target was made")
		}
	})
}

func TestMkdirAll(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, dir string) {
		for range 2 {
			if err := vfs.MkdirAll(fsys, filepath.Join(dir, "a/b/c")); err != nil {
				t.Fatal(err)
			}
		}
		if info, err := fsys.Stat(filepath.Join(dir, "a/b")); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v %v", info, err)
		}
		if err := vfs.WriteFile(fsys, filepath.Join(dir, "f"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := vfs.MkdirAll(fsys, filepath.Join(dir, "f/x")); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%v", err)
		}
	})
}

func TestRemoveAndRename(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, dir string) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		if err := errors.Join(vfs.WriteFile(fsys, a, []byte("x"), 0o600), fsys.Rename(a, b), fsys.SyncDir(dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := fsys.Lstat(a); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		if err := fsys.Rename(a, b); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		if err := fsys.Remove(b); err != nil {
			t.Error(err)
		}
		if err := fsys.Remove(b); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
	})
}

func TestLocalDirectoryIsNotRemote(t *testing.T) {
	if kind, err := (vfs.OS{}).Remote(t.TempDir()); kind != "" || err != nil {
		t.Errorf("%q %v", kind, err)
	}
	if _, err := (vfs.OS{}).Remote(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
