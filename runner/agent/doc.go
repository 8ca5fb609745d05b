// Package agent runs turns: one prompt to one agent in one session, and its
// reply.
//
//	Request ─▶ lane (a held lock) ─▶ hooks ─▶ admission: Turn + Session, one transaction
//	        ─▶ the argv under a supervisor, prompt on stdin ─▶ reply = its stdout
//	        ─▶ end: Turn + Session + what OnEnd adds (events, deliveries, monitor), one transaction
//	        ─▶ transcript, written from the rows
//
// Whoever waits may die: the argv goes on under its supervisor, and Settle
// finishes the turn from what is on disk by the same code.
package agent
