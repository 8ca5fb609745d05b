// Package event holds what a session is to be told, and the grammar of exec
// completions. It has no clock and does no I/O.
//
// A process that ends goes through ShouldQueue, which says no with a reason or
// yes, and then Completion makes the row that is written in the same
// transaction as the end. Whoever reads a queued text back, be it ours or a
// seed's, asks Parse: completions are told from ordinary events by their form
// alone.
package event
