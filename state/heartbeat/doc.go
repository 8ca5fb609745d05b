// Package heartbeat holds the rules of the periodic check and of the quiet
// protocol around it. It has no clock and does no I/O.
//
//	configuration ──▶ Converge ──▶ Monitor row
//	Monitor row + Wake ──▶ Gate (cooldown) ──▶ Decide (the order of 1.6) ──▶ run, or a recorded reason
//	reply ──▶ ParseResponse, Strip ──▶ Judge (1.7) ──▶ outcome, text to send or nothing
//	after a run, or a skip for good ──▶ Monitor.AfterRun ──▶ the next due
//
// The numbers are sections of spec/heartbeat-automations.md. Where claw decides
// otherwise than the seeds, the comment of the function says so and why.
package heartbeat
