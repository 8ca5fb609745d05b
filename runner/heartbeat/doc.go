// Package heartbeat decides when a session is woken, composes what its agent
// is told, and makes of the reply what is sent and what is recorded.
//
//	config ─▶ Converge ─▶ monitor rows
//	events, monitors, lanes ─▶ Plan (pure decisions of state/heartbeat) ─▶ Wakes
//	Wake ─▶ checks of heartbeat.d ─▶ prompt ─▶ runner/agent ─▶ End: outcome, consumed events, delivery
//
// # What holds
//
// Plan writes nothing and reads nothing that grows with history. Do reads the
// queue again, and the turn's admission a third time in its own transaction: an
// event that somebody else has shown meanwhile is never shown twice. End is
// part of the transaction that ends the turn, whoever ends it.
//
// An event is consumed by the success of a turn that showed it, and by nothing
// else. A failed turn puts it off (a minute, then five), and the third failure
// sends it to the person as it is. An agent that says that it did nothing is
// asked again each minute without being charged, for an hour; from then on that
// counts as failing. What a turn was cut off with is unknown, is told to the
// person, and is not repeated.
//
// A slot of the clock is used up at the admission of its turn, so that no crash
// uses it twice. A wake that finds a session busy uses up nothing.
//
// # What differs from the specs
//
// A check that is due when an event wakes its session follows the event's turn
// at once, unless a task of HEARTBEAT.md is due, which goes first. The model
// and the timeout of heartbeats hold for the check alone: events continue the
// agent's own work. Checks in heartbeat.d count as something to look at, so
// that an empty HEARTBEAT.md, or one without a due task, skips the agent and
// not the checks; a due task opens a gate. What the checks say is sent to the
// person as it is when the agent fails that was to look at it.
package heartbeat
