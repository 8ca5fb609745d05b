package cli

import "claw/runner/scheduler"

type automationsStatus struct {
	JSON bool `name:"json" help:"Print {\"enabled\", \"storePath\", \"jobs\", \"nextWakeAtMs\", \"on\", \"off\", \"autoDisabled\", \"running\", \"refused\", \"held\": why nothing begins by the clock, or null}."`
}

// Help shows examples.
func (automationsStatus) Help() string {
	return examples("claw cron status", "claw cron status --json | jq .nextWakeAtMs")
}

// Run prints the status.
func (c *automationsStatus) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	st, err := s.Status()
	if err != nil {
		return err
	}
	refused, err := a.refusedTables(s)
	if err != nil {
		return err
	}
	held := a.heldBack(s)
	if c.JSON {
		out := statusJSON(st)
		out["refused"], out["held"] = len(refused), nil
		if held.why != "" {
			out["held"] = held.why
		}
		return a.io.JSON(out)
	}
	state, next := "on", "nothing will come"
	if !st.Enabled {
		state, next = "off: cron.enabled is false, nothing runs by the clock", "-"
	}
	if !st.Next.IsZero() {
		next = moment(st.Next, a.now())
	}
	pairs := [][2]string{{"state", state}, {"automations", jobWords(st)}, {"next", next}, {"started by", a.atWork(s, held)}, {"kept in", st.StorePath}}
	if n := len(refused); n > 0 {
		pairs = append(pairs, [2]string{"refused", counted(n, "table") + " of claw.toml"})
	}
	if err := a.io.Pairs(pairs); err != nil {
		return err
	}
	a.brokenTables(refused)
	if st.On > 0 {
		a.sayHeld(held)
	}
	return nil
}

// statusJSON is spec/heartbeat-automations.md 2.16, and some more.
func statusJSON(st scheduler.Status) map[string]any {
	var next any
	if !st.Next.IsZero() {
		next = st.Next.UnixMilli()
	}
	return map[string]any{
		"enabled": st.Enabled, "storePath": st.StorePath, "jobs": st.Jobs, "nextWakeAtMs": next,
		"on": st.On, "off": st.Off, "autoDisabled": st.AutoDisabled, "running": st.Running,
	}
}

// jobWords counts automations: "3 on · 1 off · 1 disabled after failures".
func jobWords(st scheduler.Status) string {
	if st.Jobs == 0 {
		return "none"
	}
	words := itoa(st.On) + " on"
	if off := st.Off - st.AutoDisabled; off > 0 {
		words = joinDots(words, itoa(off)+" off")
	}
	if st.AutoDisabled > 0 {
		words = joinDots(words, itoa(st.AutoDisabled)+" disabled by claw")
	}
	if st.Running > 0 {
		words = joinDots(words, itoa(st.Running)+" running")
	}
	return words
}
