//go:build linux

package main_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A runner claims commands shortly before they are due. Wherever it dies then,
// the next one starts what had not begun, once; only where the supervisors had
// died with it is nobody sure.
func TestCronKilledAhead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		point   string
		unknown bool // nobody can tell whether they began
	}{
		{"run-claimed", false},
		{"run-starting", false},
		{"exec-claimed", true}, // their rows are there, and no supervisor has them
		{"exec-held", false},   // they have all but the word, and take their claims back
		{"exec-sent", false},   // the first has the word
		{"run-started", false},
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Parallel()
			b := newBeatsOf(t, 1, []beat{
				{"one", "*/2 * * * * *", nil, appends, everyBeat(2)},
				{"two", "*/2 * * * * *", nil, appends, everyBeat(2)},
				{"three", "*/2 * * * * *", nil, appends, everyBeat(2)},
			})
			first := b.with("CLAW_FAILPOINT="+tt.point).command("runner", "run")
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			if code, sig := b.wait(first); sig != unix.SIGKILL {
				t.Fatalf("the first runner ended with %d and not at %s", code, tt.point)
			}
			had := b.lines()
			second := b.runner()
			b.until("all have run again", func() bool { return b.lines() >= had+9 })
			b.kill(second.Process.Pid, unix.SIGTERM)
			b.wait(second)
			b.settle()
			counts := b.audit()
			if counts["unknown"] > 0 != tt.unknown || counts["failed"]+counts["interrupted"]+counts["missed"] > 0 {
				t.Errorf("%v", counts)
			}
		})
	}
}
