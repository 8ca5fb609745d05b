// Package heartbeat holds the rules of the periodic check and of the quiet
// protocol around it. It has no clock and does no I/O.
//
//	Monitor row + Wake ──▶ Gate (cooldown) ──▶ Decide (the order of 1.6) ──▶ run, or a recorded reason
//	reply ──▶ ParseResponse, Strip ──▶ Judge (1.7) ──▶ outcome, text to send or nothing
package heartbeat
