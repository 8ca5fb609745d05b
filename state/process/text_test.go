package process_test

import (
	"strconv"
	"strings"
	"testing"

	"claw/state/process"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestReasonText has the first paragraph as spec/exec-process.md 1.4 gives it.
func TestReasonText(t *testing.T) {
	timeout := func(ms int64) process.Process {
		p := exited(process.Observed{Signal: "SIGTERM", Forced: process.ReasonOverallTimeout})
		p.TimeoutMs = ms
		return p
	}
	tests := []struct {
		name   string
		p      process.Process
		first  string
		safety bool
	}{
		{"running", process.Process{Phase: process.Running}, "", false},
		{"success", exited(process.Observed{Exited: true}), "", false},
		{"code", exited(process.Observed{Exited: true, Code: 2}), "Command exited with code 2", false},
		{"126", exited(process.Observed{Exited: true, Code: 126}), "Command not executable (permission denied)", false},
		{"127", exited(process.Observed{Exited: true, Code: 127}), "Command not found", false},
		{"timeout", timeout(30_000), "Command timed out after 30 seconds.", true},
		{"timeout with a fraction", timeout(1_500), "Command timed out after 1.5 seconds.", true},
		{"timeout of unknown length", timeout(0), "Command timed out.", true},
		{"silence", exited(process.Observed{Forced: process.ReasonNoOutputTimeout}), "Command timed out waiting for output: it printed nothing for too long.", true},
		{"signal", exited(process.Observed{Signal: "SIGKILL"}), "Command aborted by signal SIGKILL", false},
		{"core", exited(process.Observed{Signal: "SIGABRT", Core: true}), "Command aborted by signal SIGABRT (core dumped)", false},
		{"cancel", exited(process.Observed{Signal: "SIGTERM", Forced: process.ReasonManualCancel}), "Command aborted by signal SIGTERM", false},
		{"cancel with a code", exited(process.Observed{Exited: true, Forced: process.ReasonManualCancel}), "Command was cancelled and exited with code 0", false},
		{"no code", exited(process.Observed{}), "Command aborted before exit code was captured", false},
		{"spawn, not found", exited(process.Observed{SpawnError: "nope", SpawnCode: 127}), "Command not found: nope", false},
		{"spawn, not executable", exited(process.Observed{SpawnError: "nope", SpawnCode: 126}), "Command not executable: nope", false},
		{"spawn", exited(process.Observed{SpawnError: "no such directory"}), "Command could not be started: no such directory", false},
		{"lost", lost(""), "The supervisor of this command died before the end; its exit code is unknown", false},
		{"lost, why", lost("killed"), "The supervisor of this command died before the end; its exit code is unknown: killed", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first, rest, _ := strings.Cut(process.ReasonText(tt.p), "\n\n")
			if first != tt.first {
				t.Errorf("got %q, want %q", first, tt.first)
			}
			if got := strings.HasPrefix(rest, process.RetrySafety); got != tt.safety {
				t.Errorf("retry safety: %v", got)
			}
			if got := strings.Contains(rest, "trailing &"); got != tt.safety {
				t.Errorf("hint: %v", got)
			}
		})
	}
}

func TestResultText(t *testing.T) {
	warned := exited(process.Observed{Exited: true})
	warned.Warnings = []string{"Warning: one", "Warning: two"}
	const note = "[earlier output was discarded at the retention cap and cannot be recovered]\n\n"
	tests := []struct {
		name      string
		p         process.Process
		output    string
		discarded bool
		want      string
	}{
		{"output", exited(process.Observed{Exited: true}), "\n hi \n", false, "hi"},
		{"nothing", exited(process.Observed{Exited: true}), " \n", false, "(no output)"},
		{"code", exited(process.Observed{Exited: true, Code: 1}), "oops\n", false, "oops\n\n(Command exited with code 1)"},
		{"code, nothing", exited(process.Observed{Exited: true, Code: 1}), "", false, "(no output)\n\n(Command exited with code 1)"},
		{"failed", exited(process.Observed{Signal: "SIGKILL"}), "half", false, "half\n\nCommand aborted by signal SIGKILL"},
		{"failed, nothing", exited(process.Observed{Exited: true, Code: 127}), "", false, "Command not found"},
		{"warnings", warned, "hi", false, "Warning: one\nWarning: two\n\nhi"},
		{"all of it", warned, "hi", true, note + "Warning: one\nWarning: two\n\nhi"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := process.ResultText(tt.p, tt.output, tt.discarded); got != tt.want {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestEndSentence(t *testing.T) {
	tests := []struct {
		p    process.Process
		want string
	}{
		{process.Process{Phase: process.Running}, "Process still running."},
		{exited(process.Observed{Exited: true}), "Process exited with code 0."},
		{exited(process.Observed{Signal: "SIGKILL"}), "Process exited with signal SIGKILL."},
		{lost(""), "Process exited with unknown exit code."},
		{exited(process.Observed{Signal: "SIGTERM", Forced: process.ReasonOverallTimeout}), "Process exited with signal SIGTERM.\n\n" + process.RetrySafety},
	}
	for _, tt := range tests {
		if got := process.EndSentence(tt.p); got != tt.want {
			t.Errorf("got %q\nwant %q", got, tt.want)
		}
	}
}

func TestFollowUp(t *testing.T) {
	tests := []struct {
		name          string
		notify, quiet bool
		says, saysNot string
	}{
		{"a", true, true, "woken when it ends, so stop polling", "silent"},
		{"b", true, false, "success without output is silent", "before you end this turn"},
		{"c", false, true, "poll with a timeout before you end this turn", "stop polling"},
	}
	for _, tt := range tests {
		got := process.FollowUp(tt.notify, tt.quiet)
		if !strings.Contains(got, tt.says) || strings.Contains(got, tt.saysNot) {
			t.Errorf("%s: %q", tt.name, got)
		}
		for action := range strings.SplitSeq("list poll log write send-keys submit paste kill clear remove", " ") {
			if !strings.Contains(got, action) {
				t.Errorf("%s does not name %s", tt.name, action)
			}
		}
	}
}

func TestRunningText(t *testing.T) {
	p := process.Process{Slug: "tide-orbit", Phase: process.Running}
	if got, want := process.RunningText(p), "Command still running (session tide-orbit, pid n/a). "+process.FollowUp(false, false); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Root.PID, p.NotifyOnExit, p.Warnings = 42, true, []string{"Warning: x"}
	if got, want := process.RunningText(p), "Warning: x\n\nCommand still running (session tide-orbit, pid 42). "+process.FollowUp(true, false); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
