// Package resume goes on with turns that were cut off: by the rules of
// state/session, a bounded number of times, and with a word to the person where
// nothing can go on.
//
//	session row (Cycle) + turn + transcript + deliveries ─▶ Plan (session.View, session.Judge) ─▶ Items
//	Item ─▶ looked at again ─▶ an attempt (runner/agent), or the end of the cycle with what is owed
//
// # What holds
//
// Plan and Do ask the same functions, so that `claw recover scan` shows what a
// tick does. An attempt is charged in the transaction that admits its turn and
// settled in the one that ends it (runner/agent), whoever does that: whatever
// dies in between, the charge is on disk before the agent is started. All other
// moves are one transaction each, with the message that is owed, and show the
// Ticket of the cycle they were decided about: of two who decide at once one is
// rejected, and has done nothing.
//
// A recovered turn has the route, the reply mode and the events of the turn it
// stands for, and one dispatch id for all attempts, so that what they send has
// one idempotency key. It never waits for the lane: a person goes first.
//
// # Failpoints
//
// recovery-begun is before an attempt is admitted; then come those of
// runner/agent. recovery-moved is after a move of the cycle without a turn.
package resume
