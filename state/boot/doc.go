// Package boot holds what is remembered of each start of a runner, and the
// rules that follow from it: when a runner that keeps dying is made to start
// quietly (safe mode), what still runs then, and when that is over. It has no
// clock and does no I/O.
//
//	Begin (a row without an end) ──▶ Ready ──▶ End (clean_stop, planned_restart, forced_stop, startup_failed)
//	        └── the runner dies: the row stays open, for nobody was left to end it
//	rows + now ──▶ Assess ──▶ Breaker (normal or safe, until when) ──▶ Mode.Allows
//
// An open row does not say that a runner is alive: the lock that a runner holds
// for life says so (design.md 3.2). An open row of a runner without the lock is
// one that died without a word: a kill, a crash, the machine.
//
// A runner is told to end, or to start anew, by an Order in its row (Tell); what
// a session is to go on with afterwards is a Continuation.
//
// Only a runner has rows. A tick lives for seconds, and cron calls it each
// minute: its death is found by the next one. But a tick does what a runner
// does, and so it asks the Breaker too. Where only ticks run nobody trips it.
// It is there for a service manager that starts what dies again within seconds;
// ticks that die come at most once a minute, or once for the end of a command,
// and what each of them was about is claimed first, so that its own budget ends
// it (three recoveries, three failures of an event, no second send).
//
// Where the rows cannot be read nothing is known against anybody: Assess of no
// rows is normal, and whoever could not read them says so (a damaged ledger
// must not stop everything, openclaw#116239).
//
// The numbers are those of spec/tasks-recovery.md 4.11.
package boot
