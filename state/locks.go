package state

import (
	"context"
	"os"

	"claw/state/internal/ledger"
	"claw/state/internal/lock"
)

// TryLock takes the exclusive lock on a file, made 0600 where it does not
// exist, if nobody holds it. ok is false, without an error, when somebody does.
func TryLock(path string) (unlock func(), ok bool, err error) {
	unlock, ok, err = lock.Try(path)
	return unlock, ok, ledger.Wrap("lock", path, err)
}

// LockFile is TryLock for a life-line that is handed on: the lock lasts until
// every descriptor of the returned file is closed, here and in the children
// that were given it. Never unlock it, only close it. The error matches
// ErrHeld when somebody holds the lock.
func LockFile(path string) (*os.File, error) {
	f, err := lock.File(path)
	return f, ledger.Wrap("lock", path, err)
}

// ErrHeld says that another process holds the lock.
var ErrHeld = lock.ErrHeld

// LockShared returns nil once nobody holds the exclusive lock on path any
// more: at once when the file does not exist, else within about a millisecond
// of the holder's death. It holds nothing afterwards and never writes.
func LockShared(ctx context.Context, path string) error {
	err := lock.Wait(ctx, path)
	if ctx.Err() != nil {
		return err
	}
	return ledger.Wrap("lock", path, err)
}

// Held tells whether somebody holds the exclusive lock, without waiting and
// without writing. A missing file is not held.
func Held(path string) (bool, error) {
	held, err := lock.Held(path)
	return held, ledger.Wrap("lock", path, err)
}
