package cli

import (
	"errors"

	"claw/runner/scheduler"
)

type automationsEnable struct {
	Names []string `arg:"" name:"name" help:"Their names or ids." placeholder:"NAME"`
	JSON  bool     `name:"json" help:"Print {\"ok\", \"id\", \"name\", \"enabled\", \"changed\"}; of several, a line for each."`
}

// Help shows examples.
func (automationsEnable) Help() string {
	return "What it was due for while it was off is not made up.\n\n" +
		examples("claw cron enable report", "claw cron list --all")
}

// Run switches it on.
func (c *automationsEnable) Run(a *app) error {
	return a.switchAutomation("enable", c.Names, true, c.JSON)
}

type automationsDisable struct {
	Names []string `arg:"" name:"name" help:"Their names or ids." placeholder:"NAME"`
	JSON  bool     `name:"json" help:"Print {\"ok\", \"id\", \"name\", \"enabled\", \"changed\"}; of several, a line for each."`
}

// Help shows examples.
func (automationsDisable) Help() string {
	return "A run that goes on ends as it would; one that waits does not begin.\n\n" +
		examples("claw cron disable report", "claw cron run report  by hand it runs all the same")
}

// Run switches it off.
func (c *automationsDisable) Run(a *app) error {
	return a.switchAutomation("disable", c.Names, false, c.JSON)
}

// switchAutomation switches each of them. One that cannot be stops none of the
// others.
func (a *app) switchAutomation(action string, names []string, on, asJSON bool) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	word := "off"
	if on {
		word = "on"
	}
	sources := false
	err = a.each(action, names, func(name string) error {
		made, changed, err := s.Enable(a.ctx, name, on)
		sources = sources || changed && !made.Schedule.Kind.Timed()
		switch {
		case err != nil:
			return err
		case asJSON:
			return a.io.JSON(map[string]any{"ok": true, "id": made.ID, "name": made.Name, "enabled": on, "changed": changed})
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
	return a.atOnce(err, sources)
}

// atOnce has what concerns the sources of automations done now, after an error
// too: their commands are to begin and to end when a person says so, not at the
// next tick.
func (a *app) atOnce(err error, sources bool) error {
	if !sources {
		return err
	}
	woken := a.wake()
	if err != nil {
		return err
	}
	return woken
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
	sources := false
	err = a.each("rm", c.Names, func(name string) error {
		gone, err := s.Remove(a.ctx, name)
		sources = sources || err == nil && !gone.Schedule.Kind.Timed()
		refused, _ := errors.AsType[*scheduler.Refused](err)
		switch {
		case refused != nil && refused.Missing && c.JSON:
			return errors.Join(err, a.io.JSON(map[string]any{"ok": true, "removed": false, "id": name}))
		case err != nil:
			return err
		case c.JSON:
			return a.io.JSON(map[string]any{"ok": true, "removed": true, "id": gone.ID})
		}
		a.io.Note("removed " + gone.Name)
		return nil
	})
	return a.atOnce(err, sources)
}
