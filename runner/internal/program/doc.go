// Package program runs a short-lived helper to its end: a hook that guards a
// turn, a check of heartbeat.d, the program of a channel. What must outlive
// claw runs under a supervisor instead.
//
// # How data flows
//
//	Spec ── Resolve (the PATH that the child sees) ──> proc.Start, session and mark of its own
//	Stdin ──pipe──> child ──pipes──> the first and the last bytes of what it says
//	its end, its limit or the end of ctx ──> Result
//
// # How it ends
//
// Whoever ends by itself may leave something running. That keeps running, and
// may hold the pipes as long as it likes: it is read, and fed, for drainGrace
// and not longer, after which it has no reader. Whoever is ended by us goes
// with all that it has started, also what left its session: first TERM, after
// grace KILL. Only another command of claw that it started, which carries a
// mark of its own, is spared (package proc).
//
// Either way the child is reaped. One that the kernel does not let go of, on a
// dead network disk say, is not waited for; it is reaped when it goes, as long
// as claw lives.
package program
