package agent

import (
	"slices"
	"strings"

	"claw/state"
	"claw/state/session"
)

// every is the name that stands for all tools.
const every = "*"

// tools are those of a turn as an agent's argv and CLAW_TOOLS have them: "all",
// "none", "read-only" or names with commas between them.
func tools(t session.Turn) string {
	switch {
	case t.Kind == session.KindRecovery:
		return "read-only"
	case t.Tools == nil || slices.Contains(t.Tools, every):
		return "all"
	case len(t.Tools) == 0:
		return "none"
	}
	return strings.Join(t.Tools, ",")
}

// ToolsOf is what a turn may use, as far as an automation that is made from
// within it is concerned: ["*"] everything, empty nothing. A turn that was
// recovered may do so little that it may pass nothing on, and neither may one
// that nobody knows.
func ToolsOf(store *state.Store, turnID string) (list []string, err error) {
	err = store.View(func(tx *state.Tx) error {
		list = []string{}
		row, ok, err := state.Turns.Find(tx, turnID)
		switch t := row.Rec; {
		case err != nil || !ok || t.Kind == session.KindRecovery:
		case t.Tools == nil:
			list = []string{every}
		default:
			list = append(list, t.Tools...)
		}
		return err
	})
	return list, err
}
