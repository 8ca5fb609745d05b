package program

import (
	"context"

	"claw/runner/internal/proc"
	"claw/state/process"
)

// Kept is what of several writes is kept.
func Kept(keep Keep, pieces ...[]byte) []byte {
	k := &keeper{Keep: keep}
	for _, p := range pieces {
		k.Write(p)
	}
	return k.bytes()
}

// Await waits for a process that was started as s says.
func Await(ctx context.Context, s Spec, pid int) Result {
	return s.await(ctx, proc.Child{Identity: process.Identity{Boot: proc.Boot(), PID: pid}}, proc.Mark{})
}
