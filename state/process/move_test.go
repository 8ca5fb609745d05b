package process_test

import (
	"strings"
	"testing"

	"claw/state/process"
)

func TestCanMove(t *testing.T) {
	const none = process.Phase("")
	phases := []process.Phase{none, process.Starting, process.Running, process.Exited, process.Lost, "sleeping"}
	legal := map[[2]process.Phase]bool{
		{none, process.Starting}:            true,
		{process.Starting, process.Running}: true,
		{process.Starting, process.Exited}:  true, // could not be started
		{process.Starting, process.Lost}:    true,
		{process.Running, process.Exited}:   true,
		{process.Running, process.Lost}:     true,
	}
	for _, from := range phases {
		for _, to := range phases {
			err := process.CanMove(from, to)
			if got := err == nil; got != legal[[2]process.Phase{from, to}] {
				t.Errorf("CanMove(%q, %q) = %v", from, to, err)
			}
			if err != nil && from != "" && (!strings.Contains(err.Error(), string(from)) || !strings.Contains(err.Error(), string(to))) {
				t.Errorf("%q does not name both ends", err)
			}
		}
	}
}
