// Package lock is the only user of advisory file locks. A held lock is how claw
// knows that somebody is alive (design.md 3.2): the kernel lets go when the
// holder dies, whatever kills it. A lock file carries no data and is never
// removed: two processes holding "the" lock on two inodes would be none.
//
// Every descriptor is close-on-exec, so that a job cannot keep its parent's
// lock (pains B12); the one exception is File, whose descriptor is meant to be
// handed on. No link is followed.
package lock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const createFlags = os.O_CREATE | os.O_RDWR | syscall.O_NOFOLLOW

// Acquire takes the exclusive lock on path, creating the file 0600. It sleeps
// in the kernel's queue, which is first come, first served; when ctx ends it
// returns ctx's error, and the abandoned request lets go as soon as it is
// granted. The caller must call unlock, once.
func Acquire(ctx context.Context, path string) (unlock func(), err error) {
	l := flock.New(path, flock.SetFlag(createFlags))
	ok, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		if err := wait(ctx, l.Lock, l.Unlock); err != nil {
			return nil, err
		}
	}
	return func() { _ = l.Unlock() }, nil
}

// wait runs a blocking take in a goroutine of its own, unless ctx can never
// end. After ctx has ended the goroutine stays until the take returns, then
// undoes it.
func wait(ctx context.Context, take, undo func() error) error {
	if ctx.Done() == nil {
		return take()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- take() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		go func() {
			if <-done == nil {
				_ = undo()
			}
		}()
		return ctx.Err()
	}
}

// Try takes the exclusive lock if nobody holds it. ok is false, without an
// error, when somebody does.
func Try(path string) (unlock func(), ok bool, err error) {
	f, err := File(path)
	if errors.Is(err, ErrHeld) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return func() { _ = f.Close() }, true, nil
}

// ErrHeld says that another open file holds the lock.
var ErrHeld = errors.New("the lock is held by another process")

// File takes the exclusive lock if nobody holds it and returns the open file.
// The lock belongs to the open file description: it lasts until every
// descriptor of it is closed, here and in children that were given it.
// The error is ErrHeld when somebody holds it.
func File(path string) (*os.File, error) {
	f, err := os.OpenFile(path, createFlags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryExclusive(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// tryExclusive does not mistake a prober (Held, or a Wait that has just woken
// up) for a holder: those have the lock shared and for microseconds. Where an
// exclusive try fails and a shared one succeeds, there is only such a one.
func tryExclusive(f *os.File) error {
	for pause := 50 * time.Microsecond; ; pause *= 2 {
		err := try(f, syscall.LOCK_EX)
		if err != syscall.EWOULDBLOCK {
			return wrap(f, err)
		}
		if err := try(f, syscall.LOCK_SH); err != nil || pause > time.Second {
			return ErrHeld
		}
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		time.Sleep(pause)
	}
}

// Wait returns nil once no exclusive lock is held on path: at once when the
// file does not exist, else when the last holder has died or let go. It never
// creates the file.
func Wait(ctx context.Context, path string) error {
	f, err := open(path)
	if f == nil {
		return err
	}
	take := func() error { return flockRetry(f, syscall.LOCK_SH) }
	undo := func() error { return f.Close() }
	if err := wait(ctx, take, undo); err != nil {
		if ctx.Err() == nil {
			f.Close()
		}
		return wrap(f, err)
	}
	return f.Close()
}

// Held tells whether somebody holds the exclusive lock, without waiting and
// without writing. A missing file is not held.
func Held(path string) (bool, error) {
	f, err := open(path)
	if f == nil {
		return false, err
	}
	defer f.Close()
	err = try(f, syscall.LOCK_SH)
	if err == syscall.EWOULDBLOCK {
		return true, nil
	}
	return false, wrap(f, err)
}

// open returns nil and no error for a file that does not exist.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

func try(f *os.File, how int) error { return flockRetry(f, how|syscall.LOCK_NB) }

// flockRetry repeats after a signal, which is no answer.
func flockRetry(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return err
		}
	}
}

func wrap(f *os.File, err error) error {
	if errno, ok := err.(syscall.Errno); ok {
		return &os.PathError{Op: "flock", Path: f.Name(), Err: errno}
	}
	return err
}
