package agent

import (
	"claw/runner/settle"
	"claw/state/process"
	"claw/state/session"
)

// Left is a turn that nobody waits for any more and whose argv has ended, as
// the next Settle will end it.
type Left struct {
	Turn   session.Turn
	Finish session.Finish
	Reply  string
}

// LeftBehind are the turns that the next Settle ends, with the ends that it
// will write: the same code decides (collect, judge). Nothing is written.
func (r *Turns) LeftBehind() ([]Left, error) {
	open, err := live(r.Store, "")
	if err != nil {
		return nil, err
	}
	var left []Left
	for _, t := range open {
		held, _, err := Lane(r.Store, t.SessionKey)
		if err != nil {
			return nil, err
		}
		if held {
			continue
		}
		e, going, err := r.foresee(t)
		if err != nil {
			return nil, err
		}
		if !going {
			e.left = true
			e.apply(&t, r.Clock.Now())
			left = append(left, Left{Turn: t, Finish: e.finish(), Reply: e.reply})
		}
	}
	return left, nil
}

// foresee is collect without settling the process of the turn.
func (r *Turns) foresee(t session.Turn) (e ending, going bool, err error) {
	if t.ProcessID == "" {
		return neverStarted(t), false, nil
	}
	p, ok, err := r.process(t.ProcessID)
	if err != nil {
		return e, false, err
	}
	if ok && settle.Abandoned(r.Store, p) {
		p.Phase = process.Lost
	}
	return r.concluded(t, p, ok)
}
