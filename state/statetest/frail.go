package statetest

import (
	"path/filepath"

	"claw/state"
	"claw/state/internal/vfs/faultfs"
)

// Frail is Fast for a test that kills programs and cuts the power itself.
type Frail struct {
	state.FS
	fault *faultfs.FS
}

// NewFrail tracks a state directory as it is now.
func NewFrail(dir string) *Frail {
	fs := faultfs.New(filepath.Dir(dir))
	return &Frail{FS: fs, fault: fs}
}

// Kill has the program die at the nth operation from now on: every operation
// fails from then on, and what was written stays.
func (f *Frail) Kill(n int) { f.fault.CrashAt(n, faultfs.Kept) }

// Cut has the power fail there: of what was not synced nothing is left, or what
// it happens to be (torn).
func (f *Frail) Cut(n int, torn bool) {
	mode := faultfs.Lost
	if torn {
		mode = faultfs.Torn
	}
	f.fault.CrashAt(n, mode)
}

// Stopped tells that it has come to that.
func (f *Frail) Stopped() bool { return f.fault.Crashed() }

// Settle leaves in the directory what the next program finds.
func (f *Frail) Settle() error { return f.fault.Settle() }
