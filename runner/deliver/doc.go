// Package deliver sends what ledgers/deliveries.jsonl holds through channels:
// attempt marker before the send, receipt after it, never twice by itself.
//
//	Intend ──▶ pending ──▶ begin (one transaction) ──▶ the channel ──▶ conclude (one transaction)
//	             ▲                                          │
//	             └── certainly not sent: the ladder         └── claw died here: unknown, see abandoned
//
// An attempt whose sender is gone, or whose channel was ended by a signal or
// by its time running out, may or may not have arrived. Nothing sends it again
// but a person, or the channel's own word (reconcile) that it did not arrive.
// The inbox is a ledger, so that there message and receipt are one
// transaction and nothing can be unknown.
package deliver
