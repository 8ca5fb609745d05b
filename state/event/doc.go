// Package event holds what a session is to be told, and the grammar of exec
// completions. It has no clock and does no I/O.
//
// A process that ends goes through ShouldQueue, which says no with a reason or
// yes, and then Completion makes the row that is written in the same
// transaction as the end. Whoever reads a queued text back, be it ours or a
// seed's, asks Parse: completions are told from ordinary events by their form
// alone.
//
//	Enqueue ──▶ queued ──▶ Ready ──▶ Show ──▶ ExecDetails, Reminders or Lines ──▶ a prompt
//	                                   └────▶ Failed, Notice ──▶ a person
//
// Whatever a program or a stranger wrote goes through Neutralise on its way
// into a prompt, so that none of its lines can pass for claw's own.
package event
