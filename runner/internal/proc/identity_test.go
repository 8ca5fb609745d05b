package proc_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/runner/internal/proc"
	"claw/state/process"
)

func TestSelf(t *testing.T) {
	self := proc.Self()
	if self.PID != os.Getpid() || self.Boot == "" || self.Boot != proc.Boot() || self.Start == 0 {
		t.Fatalf("self is %+v", self)
	}
	if !proc.Alive(self) {
		t.Error("we are not alive")
	}
	row, ok := proc.Present(self)
	if !ok || row.Parent != os.Getppid() || row.Group != syscall.Getpgrp() {
		t.Errorf("row %+v, parent %d, group %d", row, os.Getppid(), syscall.Getpgrp())
	}
}

// TestB10Identity: a pid alone is nobody.
func TestB10Identity(t *testing.T) {
	id, _ := sleeper(t)
	otherBoot := id
	otherBoot.Boot = "00000000-0000-0000-0000-000000000000"
	tests := []struct {
		name           string
		id             process.Identity
		alive, present bool
	}{
		{"running", id, true, true},
		{"recycled pid", recycled(id), false, false},
		{"another boot", otherBoot, false, false},
		{"zombie", zombie(t), false, true},
		{"reaped", reaped(t), false, false},
		{"nobody", process.Identity{}, false, false},
		{"pid 0 of this boot", process.Identity{Boot: proc.Boot()}, false, false},
		{"negative pid", process.Identity{Boot: proc.Boot(), PID: -1}, false, false},
	}
	for _, tt := range tests {
		if got := proc.Alive(tt.id); got != tt.alive {
			t.Errorf("%s: alive %v", tt.name, got)
		}
		if _, got := proc.Present(tt.id); got != tt.present {
			t.Errorf("%s: present %v", tt.name, got)
		}
	}
}

func TestCommandLine(t *testing.T) {
	id, cmd := sleeper(t)
	if got := proc.CommandLine(id.PID); got != "sleep 1000" {
		t.Errorf("command line %q", got)
	}
	if diff := cmp.Diff([]string{"sleep", "1000"}, proc.Argv(id.PID)); diff != "" {
		t.Errorf("argv (-want +got):\n%s", diff)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if got := proc.CommandLine(id.PID); got != "" {
		t.Errorf("command line of nobody: %q", got)
	}
}
