// Package session holds conversations with agents: keys, the session's row,
// its turns, and the transcript with its filter. It has no clock and does no
// I/O.
//
//	message ──▶ Turn (admitted: one transaction with the Session) ──▶ reply ──▶ Turn (ended)
//	                     └──────────── Entry ──▶ sessions/FILE.jsonl ◀── Entry ┘
//
// The row of a turn is the truth; the transcript is written from it, by entry
// ids that follow from the turn's, so that writing it again changes nothing.
package session
