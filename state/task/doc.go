// Package task holds the ledger row of one piece of detached work and the
// rules over it. It has no clock and does no I/O.
//
// A row begins as New (what a producer knows, completed by the defaults) or
// FromProcess, is read back through Check, which takes no unknown word, and
// changes only as CanMove allows. Finish carries the end of a process over.
// Nothing here starts, stops or tells anything: the ledger describes work, it
// does not cause it.
package task
