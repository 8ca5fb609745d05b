package supervisor

import (
	"slices"
	"strings"

	"claw/runner/poke"
	"claw/runner/settle"
	"claw/state/process"
)

// wake has somebody act on the end, if there is anything to act on: an event,
// a message to whoever asked, or a turn that waits for its reply. It comes
// after the life-line was let go, so that whoever looks finds the end settled.
func (s *supervisor) wake(row process.Process) {
	if !settle.Actionable(row) {
		return
	}
	mode := s.spec.Wake
	if mode == poke.Auto && len(s.spec.Env) == 0 {
		mode = poke.Runner // after a panic: without the caller's environment a tick would be another person's
	}
	if err := poke.Act(s.store.Dir(), mode, callerEnv(s.spec.Env, s.spec.Undo)); err != nil {
		s.note("have the end acted upon: " + err.Error())
	}
}

// callerEnv is the environment of whoever started the command: the command's
// own without what was changed for it.
func callerEnv(env, undo []string) []string {
	own := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(undo, func(u string) bool { n, _, _ := strings.Cut(u, "="); return n == name })
	})
	for _, u := range undo {
		if strings.Contains(u, "=") {
			own = append(own, u)
		}
	}
	return own
}
