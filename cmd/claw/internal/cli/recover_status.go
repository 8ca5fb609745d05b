package cli

import "claw/state/session"

// recoveryPart is the line of claw status about turns that were cut off.
func (a *app) recoveryPart(r *statusReport) error {
	rec, err := a.recoverer()
	if err != nil {
		return err
	}
	items, err := rec.List(a.now(), false)
	if err != nil {
		return err
	}
	for _, it := range items {
		r.Recovery[string(it.State)]++
	}
	words := ""
	for _, part := range [...]struct {
		state session.ViewState
		words string
	}{
		{session.ViewRecoverable, "cut off"},
		{session.ViewBlocked, "waiting"},
		{session.ViewExhausted, "to be given up"},
		{session.ViewTombstoned, "given up"},
	} {
		if n := r.Recovery[string(part.state)]; n > 0 {
			words = joinDots(words, itoa(n)+" "+part.words)
		}
	}
	if words == "" {
		r.say("recovery", "nothing interrupted", "")
		return nil
	}
	r.say("recovery", words, "claw recover scan")
	return nil
}
