package state_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"claw/state"
)

// On a real file system that is mounted read-only, and on one that is full.
func TestRealReadOnlyAndFull(t *testing.T) {
	mnt := t.TempDir()
	if err := syscall.Mount("tmpfs", mnt, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("only root can mount:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(mnt, 0) })
	dir := filepath.Join(mnt, "state")
	s := open(t, dir)
	defer s.Close()
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = start(s, ulid(epoch, n))
	}
	remedied(t, err, state.ErrNoSpace)
	counts, problems, _ := seen(t, s)
	if counts != [2]int{n - 1, n - 1} || len(problems) > 0 {
		t.Errorf("%d were promised, %v are there, %v", n-1, counts, problems)
	}
	if err := syscall.Mount("tmpfs", mnt, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=256k"); err != nil {
		t.Skip(err)
	}
	ro := open(t, dir)
	defer ro.Close()
	if counts, _, _ := seen(t, ro); counts != [2]int{n - 1, n - 1} {
		t.Errorf("%v", counts)
	}
	remedied(t, start(ro, "x"), state.ErrReadOnly)
}
