// Package state is what claw knows: one locked directory of JSON ledgers, and
// the promises of design.md section 3 over it.
//
// # Use
//
//	s, err := state.Open(dir, state.Options{Now: clk.Now})
//	err = s.Update(ctx, func(tx *state.Tx) error {
//		if err := state.Processes.Put(tx, p.ID, 0, p); err != nil {
//			return err
//		}
//		return state.Tasks.Put(tx, t.ID, 0, t)
//	})
//
// Update is one transaction over any number of ledgers, whole or absent, and
// durable when it returns nil. View shows one consistent state and takes no
// lock. Every record has a revision, and Put and Delete name the one they
// replace: whoever is too late gets a ConflictError with the record as it is
// and has changed nothing.
//
// # How data flows
//
//	Put ──▶ Tx ──▶ journal.jsonl ──(checkpoint)──▶ ledgers/NAME.jsonl ──▶ archive/NAME/DAY.jsonl
//	                    └──(repeated, unsynced)──▶ ledgers/NAME.jsonl
//
// The state is the checkpointed part of each ledger, overlaid by the journal.
// The journal is the commit point: one appended line per transaction, synced
// after the lock has been released. The same lines are repeated at the end of
// the ledgers at once, so that a person with jq finds them there, but nothing
// depends on that copy until a checkpoint has completed, synced and counted
// it. Package state/internal/ledger has the formats and the argument for
// every crash.
//
// A record that is finished and past its retention (see retention.go) leaves
// its ledger for the archive at a checkpoint, so that the cost of a command
// depends on what is live and not on history.
//
// # Damage
//
// Every failure is an *Error with a remedy. Reading goes on around damaged
// lines and reports them (Tx.Problems); the next Update that checkpoints moves
// their bytes to quarantine/. A ledger that is missing or empty but should not
// be fails every use of it until Repair: it is never taken for an empty one.
package state
