package scheduler

import (
	"claw/state/automation"
	"claw/state/process"
)

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
