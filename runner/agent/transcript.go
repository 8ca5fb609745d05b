package agent

import "claw/state/session"

// record writes what the transcript of a turn lacks.
func (r *Turns) record(t session.Turn, e ending) error { return nil }

// input is what the agent reads, and each hook before it.
func (x *run) input() (string, error) { return x.turn.Message, nil }
