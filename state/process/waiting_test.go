package process_test

import (
	"strings"
	"testing"
	"time"

	"claw/state/process"
)

// TestWaitingForInput: spec/exec-process.md 2.4.
func TestWaitingForInput(t *testing.T) {
	start := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	after := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	running := process.Process{Phase: process.Running, StdinOpen: true, StartedAt: start}
	closed, over := running, running
	closed.StdinOpen = false
	over.Phase = process.Exited
	tests := []struct {
		name      string
		p         process.Process
		last, now time.Time
		idle      time.Duration
		want      bool
	}{
		{"just started", running, time.Time{}, after(0), 0, false},
		{"silent since the start", running, time.Time{}, after(15), 15 * time.Second, true},
		{"not for long enough", running, after(1), after(15), 14 * time.Second, false},
		{"exactly", running, after(1), after(16), 15 * time.Second, true},
		{"stdin closed", closed, after(1), after(99), 98 * time.Second, false},
		{"ended", over, after(1), after(99), 98 * time.Second, false},
		{"the clock went back", running, after(50), after(20), 0, false},
		{"output stamped before the start", running, after(-5), after(3), 3 * time.Second, false},
		{"never started", process.Process{Phase: process.Starting, StdinOpen: true}, time.Time{}, after(99), 0, false},
	}
	for _, tt := range tests {
		idle := process.Idle(tt.p, tt.last, tt.now)
		if idle != tt.idle {
			t.Errorf("%s: idle %v, want %v", tt.name, idle, tt.idle)
		}
		if got := process.WaitingForInput(tt.p, idle, 15*time.Second); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestWaitingHint(t *testing.T) {
	got := process.WaitingHint(75 * time.Second)
	for _, want := range []string{"no new output for 1m15s", "may be waiting for input", "write", "send-keys", "submit", "paste"} {
		if !strings.Contains(strings.ToLower(got), want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}
