package process

import "fmt"

// MoveError is an illegal change of phase; it names both ends.
type MoveError struct {
	From, To Phase
}

func (e *MoveError) Error() string {
	return fmt.Sprintf("a process cannot go from %s to %s", phaseName(e.From), phaseName(e.To))
}

func phaseName(p Phase) string {
	if p == "" {
		return "nothing"
	}
	return string(p)
}

// CanMove is nil when a row may go from one phase to the other, else a
// *MoveError. The empty phase is a row that does not exist yet. Staying is not
// a move: a row that changes within its phase does not ask, and a second end
// of one process is refused here.
func CanMove(from, to Phase) error {
	ok := false
	switch from {
	case "":
		ok = to == Starting
	case Starting:
		// Straight to Exited: the command could not be started.
		ok = to == Running || to == Exited || to == Lost
	case Running:
		ok = to == Exited || to == Lost
	case Exited, Lost:
		// The end. Nothing that is learnt later makes it another end.
	}
	if !ok {
		return &MoveError{From: from, To: to}
	}
	return nil
}
