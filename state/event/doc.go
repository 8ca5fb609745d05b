// Package event holds what a session is to be told, and the grammar of exec
// completions. It has no clock and does no I/O.
//
// A process that ends goes through ShouldQueue, which says no with a reason or
// yes, and then Completion makes the row that is written in the same
// transaction as the end. Parse takes such a text apart, be it ours or a
// seed's. What tells a completion from an ordinary event is the kind of its
// row, which claw writes: anybody can send a text of that form, and the seeds,
// which go by the text alone, take it for a command that ended.
//
//	Enqueue ──▶ queued ──▶ Ready ──▶ Show ──▶ ExecDetails, Reminders or Lines ──▶ a prompt
//	                                   └────▶ Failed, Notice ──▶ a person
//
// Whatever a program or a stranger wrote goes through Neutralise on its way
// into a prompt, so that none of its lines can pass for claw's own.
package event
