package scheduler

import "claw/state/automation"

// allowed is an automation as the actor may make it (old nil) or change it: see
// automation.Actor.Authorise. The error is a *Refused.
func (s *Scheduler) allowed(old *automation.Automation, a automation.Automation) (automation.Automation, error) {
	if old == nil {
		a.Owner = s.owner()
	}
	return a, nil
}

// owner is who the actor is in an automation's Owner.
func (s *Scheduler) owner() string {
	if s.Actor.Agent == "" {
		return automation.Operator
	}
	return "agent:" + s.Actor.Agent
}

// mayTouch refuses to start or to switch what is not the actor's.
func (s *Scheduler) mayTouch(a automation.Automation) error {
	if s.Actor.Agent == "" || a.Owner == s.owner() {
		return nil
	}
	return &Refused{
		Forbidden: true, Text: a.Name + " is not an automation of agent " + s.Actor.Agent + ": an agent may change what it has made itself",
		Hint: "ask a person to do it",
	}
}

// mayEdit refuses to change what is not the actor's, and what claw.toml
// declares: the next pass would undo it.
func (s *Scheduler) mayEdit(a automation.Automation) error {
	if a.Declared != "" {
		return &Refused{
			Text: a.Name + " is declared in claw.toml, which says what it is",
			Hint: "change its [[automation]] table there (claw config path says where that file is); claw cron disable " + a.Name + " switches it off",
		}
	}
	return s.mayTouch(a)
}

// mayRemove is mayEdit for taking an automation away.
func (s *Scheduler) mayRemove(a automation.Automation) error {
	if a.Declared != "" {
		return &Refused{
			Text: a.Name + " is declared in claw.toml, and would come back",
			Hint: "remove its [[automation]] table there (claw config path says where that file is), or: claw cron disable " + a.Name,
		}
	}
	return s.mayTouch(a)
}
