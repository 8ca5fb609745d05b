// Package scheduler carries automations out: what is due is claimed, started,
// followed to its end, and told.
//
//	agenda ── quiet ──▶ nothing is read
//	   └────▶ automations + open runs ─▶ automation.Decide ─▶ Pass: one transaction (claims, ends, events)
//	Start: a command under its supervisor, or a turn of an agent
//	the end: Pass (commands, by the process's row) or TurnEnded (in the turn's own transaction)
//
// # What holds
//
// Only the holder of runner.lock calls Pass and Start. A slot is claimed in the
// ledger before anything starts, with the ULID that its process will have; the
// process's row is written by Launch before the command runs. So whoever comes
// later knows: no row, nothing was started, and the claim is taken back; a row
// that has ended is the end of the run; a supervisor that died leaves a run
// that is unknown, which is not repeated by itself. A turn writes its id into
// the run in the transaction of its admission.
//
// A reminder is queued in the transaction of its claim, so that there is no
// instant in between.
//
// The agenda is one small row that says when there will be something to do.
// Whoever writes an automation or a run marks it stale in the same transaction.
package scheduler
