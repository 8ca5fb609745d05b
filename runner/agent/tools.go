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

// inherited are the tools of a turn that nobody has asked for: no more than what
// it follows from might use. Otherwise an agent that may only read would have
// itself woken with all tools by the end of a command.
func inherited(tx *state.Tx, s session.Session, t session.Turn) ([]string, error) {
	list := session.Narrow(t.Tools, s.Tools.List())
	for _, id := range t.EventIDs {
		ev, _, err := state.Events.Find(tx, id)
		if err != nil {
			return nil, err
		}
		list = session.Narrow(list, ev.Rec.Tools.List())
	}
	return list, nil
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
