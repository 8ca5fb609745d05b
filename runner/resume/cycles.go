package resume

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/heartbeat"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
	"claw/state/session"
)

// Recoverer sees to turns that were cut off, by the rules of state/session:
// Plan decides, and Do carries one decision out. Both ask the same functions
// (session.Cycle.View, session.Judge), so that what is shown is what is done.
type Recoverer struct {
	Store     *state.Store
	Clock     clock.Clock
	Turns     *agent.Turns
	Heartbeat *heartbeat.Engine // what is said and sent
}

// Item is one session in which a turn was cut off, as it really is.
type Item struct {
	SessionKey string            `json:"sessionKey"`
	Agent      string            `json:"agentId"`
	State      session.ViewState `json:"state"`
	// Step is what will be done, of ViewRecoverable; Why is why, and of the
	// others why nothing is.
	Step        session.Step  `json:"step,omitempty"`
	Why         string        `json:"why,omitempty"`
	NextAttempt int           `json:"nextAttempt,omitempty"` // of ViewRecoverable, from 1
	Attempts    int           `json:"attempts"`              // charged, of session.Budget
	NotBefore   time.Time     `json:"notBefore,omitzero"`    // no attempt by itself before
	Due         bool          `json:"due"`                   // the next pass does something about it
	Remedy      string        `json:"remedy,omitempty"`      // the command that is the way out
	Cycle       session.Cycle `json:"cycle"`

	found   session.Session
	source  session.Turn // zero when nothing is left of it
	newest  session.Turn // of the session
	verdict session.Verdict
	stale   bool // a dead turn still holds the cycle
	// left is a turn that nobody has ended yet: the cycle is as the next Settle
	// makes it, and what the turn adds to the conversation is not written yet.
	left *agent.Left
}

// Plan is what there is to do about turns that were cut off. Nothing is written
// to find out.
type Plan struct {
	Items []Item    // by session; those that are not over
	Next  time.Time // when the first of those that wait is due; zero: none is foreseen
}

// lookAgain is when to look again at an agent that runs without a supervisor:
// nobody tells of its end. Most end at once, with what killed the supervisor; one
// that stays is looked at less and less often.
func lookAgain(interrupted, now time.Time) time.Time {
	return now.Add(min(max(now.Sub(interrupted), time.Second), time.Minute))
}

// Plan decides about all sessions at now. Where nothing was cut off it decodes
// nothing.
func (r *Recoverer) Plan(now time.Time) (Plan, error) {
	items, err := r.items(now, nil, session.CycleInterrupted, session.CycleReserved)
	return planned(items, now), err
}

// Foresee is the Plan of a pass that has ended the turns which nobody waits for
// any more, before anybody has done so.
func (r *Recoverer) Foresee(now time.Time) (Plan, error) {
	left, err := r.left()
	if err != nil {
		return Plan{}, err
	}
	items, err := r.items(now, left, session.CycleInterrupted, session.CycleReserved)
	return planned(items, now), err
}

func planned(items []Item, now time.Time) (p Plan) {
	for _, it := range items {
		if it.State == session.ViewInactive {
			continue // of a transcript that has been left behind
		}
		switch {
		case it.Due:
		case it.State == session.ViewRecoverable:
			p.soon(it.NotBefore)
		case it.Leftover():
			p.soon(lookAgain(it.Cycle.InterruptedAt, now))
		}
		p.Items = append(p.Items, it)
	}
	return p
}

func (p *Plan) soon(at time.Time) {
	if p.Next.IsZero() || at.Before(p.Next) {
		p.Next = at
	}
}

// Leftover tells that an agent which nobody supervises is waited for.
func (it Item) Leftover() bool {
	return it.State == session.ViewBlocked && it.Cycle.Phase == session.CycleInterrupted && it.Cycle.Foreground == "" && it.Cycle.Check() == nil
}

// List is every cycle that is not over, and those that were given up; all adds
// those that have been closed. By session, as they really are: a turn that was
// cut off is shown before anybody has written it down.
func (r *Recoverer) List(now time.Time, all bool) ([]Item, error) {
	left, err := r.left()
	if err != nil {
		return nil, err
	}
	phases := []session.Phase{session.CycleInterrupted, session.CycleReserved, session.CycleTombstoned}
	if all {
		phases = append(phases, session.CycleClosed)
	}
	items, err := r.items(now, left, phases...)
	return slices.DeleteFunc(items, func(it Item) bool { return !all && it.State == session.ViewInactive }), err
}

// Find is the cycle of one session; ok is false where nothing was ever cut off
// in it.
func (r *Recoverer) Find(now time.Time, key string) (it Item, ok bool, err error) {
	return r.find(now, key, nil)
}

// Seen is Find with what the next Settle will write.
func (r *Recoverer) Seen(now time.Time, key string) (it Item, ok bool, err error) {
	left, err := r.left()
	if err != nil {
		return it, false, err
	}
	return r.find(now, key, left)
}

func (r *Recoverer) find(now time.Time, key string, left map[string]agent.Left) (it Item, ok bool, err error) {
	err = r.Store.View(func(tx *state.Tx) error {
		row, found, err := state.Sessions.Get(tx, key)
		var s session.Session
		it, s = foreseen(row.Rec, left)
		if ok = found && !s.Recovery.IsZero(); err != nil || !ok {
			return err
		}
		it, err = r.look(tx, it, s, now)
		return err
	})
	if err == nil && ok {
		err = r.judge(&it, now)
	}
	return it, ok, err
}

// items are the sessions whose cycle is wanted. The phases are looked for in
// what is written before anything of it is decoded.
func (r *Recoverer) items(now time.Time, left map[string]agent.Left, phases ...session.Phase) ([]Item, error) {
	var items []Item
	err := r.Store.View(func(tx *state.Tx) error {
		items = nil
		if some, err := mentions(tx, phases); err != nil || !some && len(left) == 0 {
			return err
		}
		rows, err := state.Sessions.All(tx)
		for i := 0; i < len(rows) && err == nil; i++ {
			if it, s := foreseen(rows[i].Rec, left); slices.Contains(phases, s.Recovery.Phase) {
				it, err = r.look(tx, it, s, now)
				items = append(items, it)
			}
		}
		return err
	})
	for i := range items {
		if err == nil {
			err = r.judge(&items[i], now)
		}
	}
	slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.SessionKey, b.SessionKey) })
	return items, err
}

// left are the turns that the next Settle ends, by session.
func (r *Recoverer) left() (map[string]agent.Left, error) {
	turns, err := r.Turns.LeftBehind()
	by := make(map[string]agent.Left, len(turns))
	for _, l := range turns {
		by[l.Turn.SessionKey] = l
	}
	return by, err
}

// foreseen is a session as the end of a turn that was left in it will make it.
func foreseen(s session.Session, left map[string]agent.Left) (Item, session.Session) {
	l, ok := left[s.Key]
	if !ok {
		return Item{}, s
	}
	s.Recovery, _ = s.Recovery.AfterTurn(l.Turn, l.Finish)
	return Item{left: &l}, s
}

func mentions(tx *state.Tx, phases []session.Phase) (bool, error) {
	for _, phase := range phases {
		if has, err := state.Sessions.Mentions(tx, `"phase":"`+string(phase)+`"`); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// look is a session's cycle with what can be seen beside its row.
func (r *Recoverer) look(tx *state.Tx, it Item, s session.Session, now time.Time) (Item, error) {
	c := s.Recovery
	it.SessionKey, it.Agent, it.Cycle, it.Attempts, it.found = s.Key, s.Agent, c, c.Charged, s
	source, _, err1 := state.Turns.Find(tx, c.SourceTurnID)
	newest, _, err2 := state.Turns.Find(tx, s.TurnID)
	if err := errors.Join(err1, err2); err != nil {
		return it, err
	}
	it.source, it.newest = source.Rec, newest.Rec
	if it.left != nil && it.left.Turn.ID == it.source.ID {
		it.source = it.left.Turn
	}
	if it.left != nil && it.left.Turn.ID == it.newest.ID {
		it.newest = it.left.Turn
	}
	seen, err := r.sight(tx, it)
	if err != nil {
		return it, err
	}
	after, v := c.Observe(seen, now)
	it.stale = after != c
	it.State, it.Why, it.NextAttempt, it.NotBefore = v.State, v.Reason, v.NextAttempt, v.NotBefore
	it.Cycle, it.Due = after, v.Due(now) || v.State == session.ViewExhausted || it.stale
	switch v.State {
	case session.ViewTombstoned, session.ViewExhausted:
		it.Remedy = agent.RenewCommand(s.Key)
	case session.ViewInactive:
		it.Why = c.Reason
	case session.ViewBlocked:
		if c.Check() != nil {
			it.Remedy = "claw doctor --fix"
		}
	}
	return it, nil
}

// sight is what is seen of those who may be at work on a cycle.
func (r *Recoverer) sight(tx *state.Tx, it Item) (session.Sighting, error) {
	c := it.Cycle
	seen := session.Sighting{SessionID: it.found.ID}
	if id := cmp.Or(c.Reservation.TurnID, c.Foreground); id != "" {
		row, ok, err := state.Turns.Find(tx, id)
		if err != nil {
			return seen, err
		}
		switch held, _, laneErr := agent.Lane(r.Store, it.SessionKey); {
		case !ok || row.Rec.Status.Ended():
			seen.Owner = session.OwnerGone
		case laneErr == nil && held:
			seen.Owner = session.OwnerAlive
		}
	}
	for _, t := range [...]session.Turn{it.source, it.newest} {
		left, err := r.unsupervised(tx, t.ProcessID)
		if err != nil {
			return seen, err
		}
		seen.Leftover = seen.Leftover || left
	}
	return seen, nil
}

// unsupervised tells that the agent of a turn runs although its supervisor has
// died, also before anybody has written that down. What it has started besides
// does not count: that may be meant to stay.
func (r *Recoverer) unsupervised(tx *state.Tx, processID string) (bool, error) {
	if processID == "" {
		return false, nil
	}
	row, ok, err := state.Processes.Find(tx, processID)
	p := row.Rec
	if err == nil && ok && p.Live() && r.Turns.OnLoss != "kill" { // else whoever settles it ends it
		p = settle.View(r.Store, p, r.Clock.Now())
	}
	if err != nil || !ok || p.Phase != process.Lost {
		return false, err
	}
	return slices.ContainsFunc(settle.Survivors(p), func(l process.Leftover) bool { return l.Identity == p.Root }), nil
}

// Wedged is tasks.Keeper.Wedged: nothing goes on in a session that has been
// given up.
func Wedged(tx *state.Tx, sessionKey string) (why string, err error) {
	row, ok, err := state.Sessions.Get(tx, sessionKey)
	if err != nil || !ok {
		return "", err
	}
	s := row.Rec
	switch {
	case !s.Resumes.WedgedAt.IsZero():
		return s.Resumes.WedgedReason, nil
	case s.Recovery.Phase == session.CycleTombstoned && s.Recovery.SessionID == s.ID:
		return s.Recovery.Reason, nil
	}
	return "", nil
}
