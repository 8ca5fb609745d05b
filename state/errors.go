package state

import (
	"fmt"

	"claw/state/internal/ledger"
)

// Error is a failure of the state directory, fit to be shown: Op is what was
// being done, Path where, Why the reason, Hint the remedy. It unwraps to one
// of the Err… values below and to the system's own error.
type Error = ledger.Error

// What an Error can match with errors.Is.
var (
	// Opening.
	ErrNotOurs     = ledger.ErrNotOurs     // the directory belongs to another user
	ErrPermissions = ledger.ErrPermissions // others can write to it, or we cannot
	ErrNetworkFS   = ledger.ErrNetworkFS   // nfs, cifs, …: locks are not to be trusted there
	ErrSymlink     = ledger.ErrSymlink     // a link inside the directory
	ErrNotDir      = ledger.ErrNotDir      // the path is a file
	ErrNewerFormat = ledger.ErrNewerFormat // View works, Update does not

	// Writing.
	ErrReadOnly   = ledger.ErrReadOnly
	ErrNoSpace    = ledger.ErrNoSpace
	ErrNotDurable = ledger.ErrNotDurable // written, but the sync failed
	ErrTooLarge   = ledger.ErrTooLarge

	// Contents.
	ErrDamaged = ledger.ErrDamaged
)

// Problem is one damaged thing: a line of a file (from 1), or a whole file
// (Line 0). Path is relative to the state directory; Bytes are those that were
// found, where there are any.
type Problem = ledger.Bad

// ConflictError says that a record was not at the revision that was to be
// replaced. Nothing has been changed.
type ConflictError struct {
	Ledger, ID string
	Want, Have int64  // revisions; 0 is "does not exist"
	Current    []byte // the record as it is, JSON; nil when it does not exist
}

func (e *ConflictError) Error() string {
	switch {
	case e.Want == 0:
		return fmt.Sprintf("%s %s exists already", e.Ledger, e.ID)
	case e.Have == 0:
		return fmt.Sprintf("%s %s does not exist any more", e.Ledger, e.ID)
	}
	return fmt.Sprintf("%s %s has changed meanwhile (revision %d, not %d)", e.Ledger, e.ID, e.Have, e.Want)
}
