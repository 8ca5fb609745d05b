package cli

type automationsEnable struct {
	Names []string `arg:"" name:"name" help:"Their names or ids." placeholder:"NAME"`
}

// Help shows examples.
func (automationsEnable) Help() string {
	return "What it was due for while it was off is not made up.\n\n" +
		examples("claw cron enable report", "claw cron list --all")
}

// Run switches it on.
func (c *automationsEnable) Run(a *app) error { return a.switchAutomation("enable", c.Names, true) }

type automationsDisable struct {
	Names []string `arg:"" name:"name" help:"Their names or ids." placeholder:"NAME"`
}

// Help shows examples.
func (automationsDisable) Help() string {
	return "A run that goes on ends as it would; one that waits does not begin.\n\n" +
		examples("claw cron disable report", "claw cron run report  by hand it runs all the same")
}

// Run switches it off.
func (c *automationsDisable) Run(a *app) error { return a.switchAutomation("disable", c.Names, false) }

// switchAutomation switches each of them. One that cannot be stops none of the
// others.
func (a *app) switchAutomation(action string, names []string, on bool) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	word := "off"
	if on {
		word = "on"
	}
	err = a.each(action, names, func(name string) error {
		made, changed, err := s.Enable(a.ctx, name, on)
		switch {
		case err != nil:
			return err
		case changed:
			a.io.Note(made.Name + " is " + word)
		default:
			a.io.Note(made.Name + " is " + word + " already")
		}
		return nil
	})
	if on && err == nil {
		a.nobodyRuns(s)
	}
	return err
}

// each does something to each of several automations. The last mistake is
// returned, the others are told.
func (a *app) each(action string, names []string, do func(name string) error) (failed error) {
	for _, name := range names {
		err := do(name)
		if err == nil {
			continue
		}
		if failed != nil {
			a.io.Error(failed.Error(), remedyOfFailure(failed)...)
		}
		failed = cronError(action, err)
	}
	return failed
}

type automationsRm struct {
	Names []string `arg:"" name:"name" help:"Their names or ids." placeholder:"NAME"`
	JSON  bool     `name:"json" help:"Print {\"ok\", \"removed\", \"id\"}; of several, a line for each."`
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
	return a.each("rm", c.Names, func(name string) error {
		gone, err := s.Remove(a.ctx, name)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return a.io.JSON(map[string]any{"ok": true, "removed": true, "id": gone.ID})
		}
		a.io.Note("removed " + gone.Name)
		return nil
	})
}
