// Package deliver sends what ledgers/deliveries.jsonl holds through channels:
// attempt marker before the send, receipt after it, never twice by itself.
package deliver
