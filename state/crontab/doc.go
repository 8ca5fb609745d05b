// Package crontab reads and writes crontabs as crontab(5) and cron(8) have
// them: vixie cron, as Debian ships it, and what cronie adds. It is pure.
//
//	text + form ──▶ Parse ──▶ entries, each with the comment above it and the
//	                          variables that were set above it; problems by line
//	expression, command, stdin ──▶ Line
//
// A line that cannot be read is a problem and no more: every other line counts
// as it would have without it.
package crontab
