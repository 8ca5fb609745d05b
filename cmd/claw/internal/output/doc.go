// Package output is how claw speaks: streams, notices, tables, JSON. It is the
// only importer of pterm.
//
// The rules, for every command:
//
//   - Data goes to stdout and nothing else does. Everything else goes to stderr
//     and begins with "claw: ". No capitals, no full stop, no banner.
//   - An error is `claw: what could not be done: why`, the offending value quoted,
//     and indented under it what to do.
//   - What other programs wrote is data: their control sequences never reach the
//     terminal (Safe), and one row of a table stays one line (Escape).
//   - On a terminal a table is aligned, coloured and fitted to its width. Anywhere
//     else it is tab-separated, without a header and without colour, with full
//     values: `claw process list | cut -f1`.
//   - JSON is one object, the same fields either way; on a terminal it is indented.
//   - A write that failed is remembered: Flush returns it, so that a full disk
//     never ends as success.
//
// A table goes Table.rows → fit (how wide) → paint (colour) → pterm (alignment) →
// Out. pterm renders only on a terminal, so nothing else pays for it.
package output
