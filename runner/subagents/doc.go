// Package subagents carries out the work that is given to agents.
//
//	Accept    one transaction: refused, or a row of ledgers/subagents.jsonl with its task
//	Pass      what may begin now, whose end is to be told, whose session is put aside
//	Run       one turn, of whose admission the run is part
//	TurnEnded what follows, in the transaction that ends the turn
//	Complete  a question without tools, in the foreground
//
// # What is known at each death
//
// Whoever holds runner.lock carries runs out: the caller may be gone.
//
//   - Before Accept's transaction: nothing has happened.
//   - After it (subagent-accepted): the row waits for the next pass.
//   - At the admission, which is one transaction over turn, run and task: it does not
//     begin a second time. An agent that provably did nothing is asked again; one that
//     was cut off is resumed, as far as session.Resumes allows it.
//   - At the end of the turn, in its transaction: the run has its frozen result, and
//     its announcement waits. Routing is looked at once here.
//   - At the announcement, in one transaction: whether the requester's conversation may
//     still be told is looked at again, and its event is queued. So it is told once,
//     whoever dies when; what it was told it keeps, whatever becomes of the child.
//
// A completion belongs to the claw that waits for it, which holds its life-line. A
// queued one without that is taken out by whoever finds it; one that runs goes on
// under its supervisor and keeps its place until then, and its answer is nobody's.
package subagents
