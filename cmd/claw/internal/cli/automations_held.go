package cli

import (
	"time"

	"claw/runner"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/boot"
)

// hold is why nothing begins by the clock at present; the zero hold holds
// nothing back.
type hold struct {
	brief  string // for a column: "safe mode"
	why    string
	remedy []string
	wanted bool // by a person, who is told in pipes too
}

// tickedLately is how long after a tick another one is still expected: cron
// calls it each minute.
const tickedLately = 5 * time.Minute

// heldBack finds out whether anything starts automations.
func (a *app) heldBack(s *scheduler.Scheduler) hold {
	if !s.Enabled {
		return hold{"cron.enabled is false", "cron.enabled is false: nothing runs by the clock", []string{"claw cron run NAME runs one by hand"}, true}
	}
	st, err := runner.Look(s.Store.Dir())
	if err != nil {
		return hold{}
	}
	if h := a.modeHolds(st); h.why != "" || st.Running {
		return h
	}
	if st.TickAtWork || a.now().Sub(st.LastTick).Abs() < tickedLately {
		return hold{}
	}
	return hold{
		brief:  "no runner, no tick",
		why:    "no runner is at work, and no tick was called lately: nothing starts it",
		remedy: []string{"claw runner run", "crontab -e:  * * * * * claw heartbeat tick"},
	}
}

func safeMode(until time.Time, why string) hold {
	words := "safe mode"
	if !until.IsZero() {
		words += " until " + exact(until)
	}
	return hold{brief: words, why: firstOf(why, boot.Safe.Why()), remedy: nonEmpty(boot.Safe.Remedy())}
}

// sayHeld tells people that nothing starts automations.
func (a *app) sayHeld(h hold) {
	if h.why != "" && (h.wanted || a.io.ErrTTY) {
		a.io.Say(h.why, h.remedy...)
	}
}

// nobodyRuns is sayHeld for who has just made or changed an automation.
func (a *app) nobodyRuns(s *scheduler.Scheduler) { a.sayHeld(a.heldBack(s)) }

// overdue says, for a narrow column, why an automation that was due has not
// begun; empty when it is not late, or when nothing holds it back.
func (h hold) overdue(e scheduler.Entry, now time.Time) string {
	if h.brief == "" || e.Next.IsZero() || !e.Enabled || !e.Next.Before(now) {
		return ""
	}
	for _, r := range e.Open {
		if r.Status == automation.Running {
			return ""
		}
	}
	return "held back: " + h.brief
}

// atWork says who starts automations: "a runner", "ticks, the last 20s ago".
func (a *app) atWork(s *scheduler.Scheduler, h hold) string {
	st, err := runner.Look(s.Store.Dir())
	switch {
	case h.brief != "":
		return "nothing: " + h.brief
	case err != nil:
		return ""
	case st.Running:
		return "a runner"
	case st.TickAtWork:
		return "a tick that is at work"
	}
	return "ticks, the last " + firstOf(a.ago(st.LastTick), "never")
}
