// Package automation holds what automations mean: their records, the slots at
// which they are due, and what is to be done about them now. It has no clock
// and does no I/O; time zones and what is known of processes are passed in.
//
//	Automation + zone ──▶ Slots (at, every, cron; stagger)
//	Automations + runs not ended + now ──▶ Decide ──▶ Plan: rows to write, runs to start and to stop, the next instant
//	the end of a run ──▶ Finish ──▶ counters, retry, back-off, one-shot rules
//	a person's change ──▶ Actor.Authorise, Validate ──▶ New, Edit, Upsert, Manual
//	the tables of claw.toml ──▶ Declare
//	a source and its automation ──▶ Arm: start its command, stop it, wait
//	what happens at a source ──▶ OnExitEnded, StreamEnded, Batch, Watched, Booted ──▶ Fired: a run
//	the answer of a trigger script ──▶ Checked: no run, or its payload
//	the message about a run ──▶ Alert, Stale, Receipt
//
// Why nothing is done twice: a slot is decided once. State.Settled is how far
// slots have been decided, it only grows, and every slot up to it has a run
// that says what became of it (succeeded, failed, missed, skipped, replaced…);
// the id of a run is made of automation and slot. Decide looks at slots after
// Settled only, and its rows are written in one transaction before anything
// starts. A clock set back therefore decides nothing again, and a sleep, a
// restart and a clock set forward are the same thing: slots that come due late.
//
// A clock set back by more than three hours is a correction (as in cron(8)):
// the new time counts, and a slot is due again unless it has a run already.
// Should the clock come back to where it was, State.Decided remembers how far
// that is: a clock that was wrong for a while decides nothing twice.
//
// spec/heartbeat-automations.md 2.4 has `every` follow the last start instead
// of the grid when that is later. Here the grid of the anchor is kept always:
// else a slot would not be an instant that can be told beforehand, and a late
// start would move the cadence (pains B26).
package automation
