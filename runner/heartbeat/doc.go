// Package heartbeat decides when a session is woken, composes what its agent
// is told, and makes of the reply what is sent and what is recorded.
//
//	config ─▶ Converge ─▶ monitor rows
//	events, monitors, lanes ─▶ Plan (pure decisions of state/heartbeat) ─▶ Wakes
//	Wake ─▶ checks of heartbeat.d ─▶ prompt ─▶ runner/agent ─▶ End: outcome, consumed events, delivery
package heartbeat
