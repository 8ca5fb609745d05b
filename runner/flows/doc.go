// Package flows reads and writes the ledger of flows for one owner.
//
//	Book        what one session sees of it, and does to its own flows; an
//	            operator's Book sees them all
//	Mirror      the flow of a task that gets one of its own
//	Kept        the whole ledger, for the audit of package tasks
//	Maintain    what maintenance does to flows, for that of package tasks
//
// What the end of a task does to its flow stands in package settle (Follow): it
// is one transaction with that end.
//
// # Every command is one transaction
//
// Owner, mode and revision are looked at where the change is written: whoever is
// too late has written nothing and gets the record as it is. A flow of another
// owner does not exist. An error that matches state.ErrNotDurable may follow a
// write that has been made; every other error says that nothing was.
//
// The exception is Cancel, which ends work that other programs carry out: the
// wish is one transaction, each child ends in its own, and the end of the last
// one closes the flow in that very transaction (settle.Follow). Whoever dies in between
// leaves the wish, which refuses new children and every other change, and the
// next sweep closes the flow when nothing of it goes on.
package flows
