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
// A runner does most of this before the instant: half a second before, supervisors
// boot (Prepare); some 20 ms before, and 2 ms for each command, PassAhead claims
// what is due if that is commands and nothing else, and StartAt has the rows on
// the disk and the specifications with supervisors that are held, each of which
// takes its claim back if the runner dies before it gives the word.
//
// A reminder is queued in the transaction of its claim, so that there is no
// instant in between.
//
// The agenda is one small row that says when there will be something to do.
// Whoever writes an automation or a run marks it stale in the same transaction.
//
// # Messages
//
// The end of a run, the intent to tell it and, for a reminder, its event are one
// transaction. What becomes of the message is noted in the run by Delivered, in
// the transaction of the receipt; it never changes how the run ended. A result
// that comes more than three hours after its slot is a message that has failed
// already: it is listed with its reason, and a person may have it sent. A
// failure is told by the rule of cron.failureAlert, however late.
//
// # What is kept of secrets
//
// The variables that a person gives a command (Payload.Env) are part of the
// automation, so that their values stand in ledgers/automations.jsonl, which
// only its owner can read; they are copied into no other ledger, and listings
// show the names. The token of webhooks stands in claw.toml or a file of its
// own, and goes to curl by its stdin.
//
// # Declared automations
//
// The tables of claw.toml are converged in the first pass, or the first change
// by a person, that finds their digest different from the agenda's. Until then
// List and Find show what they will be.
package scheduler
