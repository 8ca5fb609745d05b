// Package proc is what claw knows about processes of the operating system:
// who one is, whether it still lives, how to signal it and nothing else, what
// belongs to it, how to start it and how to learn its end.
//
// # Identity
//
// A pid is a name that is given away again. Everything here works on a
// process.Identity (boot, pid, the kernel's start stamp), compared exactly and
// never against a wall clock. A pid that now carries another start stamp is
// another process, and another boot means that the process is dead (B10).
//
// # How data flows
//
//	Scan ── one pass over /proc (Linux) or kern.proc.all (macOS) ──> Table
//	Table.Descendants, Table.Members, Target.find ──> the rows of one command
//	Terminate ──> SignalGroup + Signal on those rows, again until none is left
//
//	Start ──> Child ──> Reap ──> Reaper.Exit (once), Reaper.Changed (each orphan)
//
// # What proves that a process is ours
//
// The supervisor is a subreaper, so whatever leaves its session and its parent
// is re-parented to the supervisor: the descendants of the supervisor minus
// itself are exactly what it can prove to be its own. The exception is another
// claw: `claw exec -b` from within a command starts a supervisor that is our
// descendant and must survive us. Target.Mark tells them apart: every command
// of claw carries its process's id in its environment, and a descendant that
// carries another id is, with everything below it, not ours.
//
// Without an ancestor (the supervisor was killed) proof is: the root is still
// there, or a process carries our mark. Same group number alone proves
// nothing once the leader has been reaped, because the number may have been
// given away.
package proc
