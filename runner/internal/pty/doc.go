// Package pty holds what claw knows about terminals: opening a pair whose
// output is never lost, encoding keys and pastes, and answering the queries a
// program sends to a terminal.
//
// # How data flows
//
//	Open ──> PTY.Slave() is given to the child as 0, 1 and 2
//	child ──> PTY.Read ──> Responder.Filter ──> captured output
//	                                   └──> Reply, once per query ──> PTY.Write
//	keys, text ──> Keys.Encode, Paste, Submit, EOF ──> PTY.Write
//
// # Why nothing is lost (B03)
//
// A program that prints and exits at once closes the last slave. Linux then
// gives the buffered bytes and after them EIO; macOS throws them away. So the
// slave stays open here until the child has been reaped (Hangup), and EIO on
// the master is the end of the output and not an error.
//
// The master is a duplicate put into non-blocking mode before Go sees it. A
// file as creack/pty opens it has been through Fd, which makes it blocking:
// SetReadDeadline then does nothing and Close does not wake a reader.
package pty
