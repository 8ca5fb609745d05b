// Package man keeps the manual pages that lie beside it true.
//
// A page is written by hand, and parts of it are generated where the grammar
// or a table of claw knows the answer. Such a part stands between two
// comments, in the page itself:
//
//	.\" generated: options process log
//	…
//	.\" end
//
// Fill writes those parts anew and leaves everything else as it is:
//
//	kong model, Tables ──▶ Fill(page) ──▶ page
//
// The package imports nothing of claw: the test that calls Fill
// (cmd/claw/internal/cli, go test -run TestManual -update) hands it the
// grammar and the tables, and fails when a page differs.
//
// Pages are written with the man(7) macros, in ASCII, and are clean under
// `man --warnings` and `mandoc -T lint`.
package man
