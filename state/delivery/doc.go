// Package delivery holds one intent to send, the rules of its attempts, and
// what a channel's answer means. It has no clock and does no I/O.
//
//	intent (Pending) ──▶ attempt marker (Sending) ──▶ the channel ──▶ receipt (Delivered)
//	     ▲──── proven not sent, ladder ◀───────────────┤
//	     │                                             ├─▶ Failed   permanent, or out of attempts
//	     └──── a person's retry ◀── Unknown ◀──────────┘   timeout, signal, or the sender died
package delivery
