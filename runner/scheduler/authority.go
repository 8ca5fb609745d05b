package scheduler

import "claw/state/automation"

// allowed is an automation as the actor may make it (old nil) or change it: see
// automation.Actor.Authorise. The error is a *Refused.
func (s *Scheduler) allowed(old *automation.Automation, a automation.Automation) (automation.Automation, error) {
	made, err := s.Actor.Authorise(old, a)
	if err != nil {
		return a, forbidden(err)
	}
	return made, nil
}

func forbidden(err *automation.Error) error {
	return &Refused{Forbidden: true, Text: err.Error(), Hint: err.Remedy()}
}

// mayTouch refuses to start or to switch what is not the actor's.
func (s *Scheduler) mayTouch(a automation.Automation) error {
	if err := s.Actor.Manages(a); err != nil {
		return forbidden(err)
	}
	return nil
}

// mayEdit refuses to change what is not the actor's, and what claw.toml
// declares: its table says what it is.
func (s *Scheduler) mayEdit(a automation.Automation) error {
	if a.Declared != "" {
		return &Refused{
			Text: a.Name + " is declared in claw.toml, and its [[automation]] table there says what it is",
			Hint: "change the table; claw config path says where the file is",
		}
	}
	return s.mayTouch(a)
}

// mayRemove is mayEdit for taking an automation away.
func (s *Scheduler) mayRemove(a automation.Automation) error {
	if a.Declared != "" {
		return &Refused{
			Text: a.Name + " is declared in claw.toml, and would come back",
			Hint: "remove its [[automation]] table there, or: claw cron disable " + a.Name,
		}
	}
	return s.mayTouch(a)
}
