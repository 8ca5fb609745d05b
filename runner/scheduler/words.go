package scheduler

import (
	"time"

	"claw/state/automation"
	"claw/state/process"
)

// Words says what makes an automation run: "every weekday at 09:00
// Europe/Berlin", "when /srv/in changes".
func (s *Scheduler) Words(a automation.Automation) string {
	if !a.Schedule.Kind.Timed() {
		return sourceWords(a.Schedule)
	}
	slots, err := a.Slots(s.Zone)
	if err != nil {
		return "its schedule cannot be computed"
	}
	return slots.Words(time.Local)
}

// sourceWords say what runs an automation that has no times.
func sourceWords(s automation.Schedule) string {
	switch s.Kind {
	case automation.KindOnExit:
		return "when it ends: " + s.Command
	case automation.KindStream:
		argv := s.Argv
		if len(argv) == 3 && argv[0] == "sh" && argv[1] == "-lc" {
			argv = argv[2:]
		}
		what := "for what it prints: "
		if s.Match != "" {
			what = "for lines like " + s.Match + " of: "
		}
		if len(argv) == 1 {
			return what + argv[0]
		}
		return what + process.QuoteArgv(argv)
	case automation.KindWatch:
		words := "when " + s.Dir + " changes"
		if s.Recursive {
			words = "when something below " + s.Dir + " changes"
		}
		if s.Glob != "" {
			words += " (" + s.Glob + ")"
		}
		return words
	case automation.KindBoot:
		return "at each boot"
	}
	return "its schedule cannot be computed"
}
