package recovery

import (
	"context"
	"time"
)

// What the tests of this package read.
var (
	Words   = words
	HeldBy  = heldBy
	Checks  = checks
	Watches = watches
)

// Unit is what is read of a service.
func Unit(text, home string) (exec, env []string, user string) {
	u := parseUnit(text, home)
	return u.exec, u.env, u.user
}

// Plist is what is read of a property list.
func Plist(text string) (argv, env []string, disabled bool) {
	p := parsePlist(text)
	return p.argv, p.env, p.disabled
}

// Invocation is what a command line starts of claw; "" when it makes no ticks.
func Invocation(line string) (program, runs, stateIn string, env []string) {
	t, _ := invocation(words(line))
	return t.program, t.runs, t.stateIn, t.env
}

// Logout is what is said of logging out.
func Logout(kills, lingers bool, units []string) []Finding {
	return logoutFindings(kills, lingers, units)
}

// KillsUserProcesses reads configurations of logind, the later ones winning.
func KillsUserProcesses(confs []string) bool { return logind{confs: confs}.killsUserProcesses() }

// Lingers looks into a folder of lingering users.
func Lingers(folder, user string) bool { return logind{linger: folder, user: user}.lingers() }

// Ask asks one question that never comes back, and one that does.
func Ask(ctx context.Context, patience time.Duration, hang <-chan struct{}) []Finding {
	x := &exam{Doctor: &Doctor{Patience: patience}, ctx: ctx}
	return x.ask(
		question{"a dead disk", func(context.Context) []Finding { <-hang; return nil }},
		question{"", func(context.Context) []Finding { return []Finding{{Code: "answered"}} }},
	).answers()
}
