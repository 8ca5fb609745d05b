package cli

type automationsEnable struct {
	Name string `arg:"" help:"Its name or id." placeholder:"NAME"`
}

// Help shows examples.
func (automationsEnable) Help() string {
	return "What it was due for while it was off is not made up.\n\n" +
		examples("claw cron enable report", "claw cron list --all")
}

// Run switches it on.
func (c *automationsEnable) Run(a *app) error { return a.switchAutomation("enable", c.Name, true) }

type automationsDisable struct {
	Name string `arg:"" help:"Its name or id." placeholder:"NAME"`
}

// Help shows examples.
func (automationsDisable) Help() string {
	return "A run that goes on ends as it would; one that waits does not begin.\n\n" +
		examples("claw cron disable report", "claw cron run report  by hand it runs all the same")
}

// Run switches it off.
func (c *automationsDisable) Run(a *app) error { return a.switchAutomation("disable", c.Name, false) }

func (a *app) switchAutomation(action, name string, on bool) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	made, changed, err := s.Enable(a.ctx, name, on)
	if err != nil {
		return cronError(action, err)
	}
	word := "off"
	if on {
		word = "on"
	}
	if !changed {
		word += " already"
	}
	a.io.Note(made.Name + " is " + word)
	if on {
		a.nobodyRuns(s)
	}
	return nil
}

type automationsRm struct {
	Name string `arg:"" help:"Its name or id." placeholder:"NAME"`
	JSON bool   `name:"json" help:"Print {\"ok\", \"removed\", \"id\"}."`
}

// Help shows examples.
func (automationsRm) Help() string {
	return "A run that goes on ends as it would. A reminder that has not been told is taken back.\n\n" +
		examples("claw cron rm report", "claw cron runs report  what it has done")
}

// Run takes it away.
func (c *automationsRm) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	gone, err := s.Remove(a.ctx, c.Name)
	if err != nil {
		return cronError("rm", err)
	}
	if c.JSON {
		return a.io.JSON(map[string]any{"ok": true, "removed": true, "id": gone.ID})
	}
	a.io.Note("removed " + gone.Name)
	return nil
}
