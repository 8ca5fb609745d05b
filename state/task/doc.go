// Package task holds the ledger row of one piece of detached work and the
// rules over it. It has no clock and does no I/O.
//
// A row begins as New (what a producer knows, completed by the defaults) or
// FromProcess, is read back through Check, which takes no unknown word, and
// changes only as CanMove and CanEnd allow. Finish carries the end of a process
// over, Conclude any other. Nothing here starts, stops or tells anything: the
// ledger describes work, it does not cause it.
//
// What is known of who carries a task out is Evidence, which others gather.
// Judge decides by it whether the row is as it should be, Maintain what is to
// be done with it, Audit what a person may have to look at. Lists, previews
// and the real run use the same functions.
package task
