// Package supervisor runs one command and is the only thing that may say how
// it ended.
//
// How a command flows through it:
//
//	claw exec                     claw supervise ULID
//	Prepare: spawn supervisor ──▶ boots while the caller works
//	Launch:  claim the row
//	         send spec + lock ──▶ start the command
//	         wait           ◀──── started, or why not
//	         pump           ◀──── stdout and stderr frames (foreground only)
//	         signal, detach ────▶
//	         result         ◀──── backgrounded, or the end
//	exit                          control socket, deadline, capture … the end
//
// The caller and the supervisor talk over one socketpair in frames (wire.go).
// The life-line, processes/ID/lock, is taken by the caller before the row is
// written and travels to the supervisor as an open file, so that there is no
// instant at which a live row has no holder. The supervisor owns all state in
// one goroutine (loop.go); readers, the reaper and the control server only
// send it values.
//
// What is known at each death:
//
//   - The caller dies before the spec is sent: the supervisor reads end of
//     file and leaves; the row says starting with a free life-line: lost,
//     never started.
//   - The caller dies in the foreground: the process is moved to the
//     background, listed, and told about when it ends.
//   - The supervisor dies: its life-line is free, whoever looks next settles
//     the row as lost (package settle). The command lives on: its output
//     pipes are opened for reading as well as writing, so it gets no SIGPIPE.
//   - The supervisor panics: it executes itself again in place with its
//     descriptors (rescue.go); pid, child and capture go on.
package supervisor
