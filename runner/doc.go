// Package runner does what there is to do: once (Runner.Tick), or for as long as
// it lives (Run). Both do the same thing, a pass:
//
//	settle what died ─▶ end the turns that nobody waits for ─▶ converge the monitors
//	   ─▶ plan ─▶ one wake for each agent, in a goroutine ─▶ send what waits ─▶ sweep
//
// A tick makes passes until one finds that nothing has changed since it began,
// and nothing it started is still going on. A part that fails does not stop the
// others; their errors are joined.
//
// # Who works
//
// Whoever works holds runner.lock: a tick while it works, a runner for life.
// The kernel lets go of it whatever kills the holder, so that the next one can
// begin at once (design.md 3.2, pains B11). A runner also holds runner.up, by
// which it is told from a tick, and writes runner.json for people to read: the
// locks are the truth, the note is a hint.
//
// # No wake is lost
//
// Whoever has work for another bumps the generation and then tries the lock
// (package poke). The holder looks at the stamp of journal and generation before
// each pass, and once more after he has let the lock go. If the bump came
// before that last look he sees it and takes the lock again. If it came later,
// then so did the attempt at the lock, which was free by then.
package runner
