package process_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/state/process"
)

func code(n int) *int { return &n }

// exited is a process that ended as seen.
func exited(o process.Observed) process.Process {
	return process.Process{Phase: process.Exited, Slug: "tide-orbit", Exit: process.Classify(o)}
}

func lost(why string) process.Process {
	return process.Process{Phase: process.Lost, Slug: "tide-orbit", Exit: process.LostExit(why)}
}

// TestClassify is the table of spec/exec-process.md 1.6 and the rules under it.
func TestClassify(t *testing.T) {
	type end struct {
		exit                  process.Exit
		status, task, failure string
		shell                 int
		label                 string
	}
	tests := []struct {
		name string
		saw  process.Observed
		want end
	}{
		{
			"exit 0",
			process.Observed{Exited: true},
			end{process.Exit{Code: code(0), Reason: "exit"}, "completed", "succeeded", "", 0, "code 0"},
		},
		{
			"exit N",
			process.Observed{Exited: true, Code: 3},
			end{process.Exit{Code: code(3), Reason: "exit"}, "completed", "failed", "", 3, "code 3"},
		},
		{
			"exit 126",
			process.Observed{Exited: true, Code: 126},
			end{process.Exit{Code: code(126), Reason: "exit"}, "failed", "failed", "shell-not-executable", 126, "code 126"},
		},
		{
			"exit 127",
			process.Observed{Exited: true, Code: 127},
			end{process.Exit{Code: code(127), Reason: "exit"}, "failed", "failed", "shell-command-not-found", 127, "code 127"},
		},
		{
			"killed from outside",
			process.Observed{Signal: "SIGSEGV", Core: true},
			end{process.Exit{Signal: "SIGSEGV", Core: true, Reason: "signal"}, "failed", "failed", "signal", 139, "signal SIGSEGV"},
		},
		{
			"a terminal gives the number",
			process.Observed{Signal: "15"},
			end{process.Exit{Signal: "SIGTERM", Reason: "signal"}, "failed", "failed", "signal", 143, "signal SIGTERM"},
		},
		{
			"a signal without a name",
			process.Observed{Signal: "34"},
			end{process.Exit{Signal: "34", Reason: "signal"}, "failed", "failed", "signal", 162, "signal 34"},
		},
		{
			"our timeout, TERM",
			process.Observed{Signal: "SIGTERM", Forced: "overall-timeout"},
			end{process.Exit{Signal: "SIGTERM", Reason: "overall-timeout", TimedOut: true}, "failed", "timed_out", "overall-timeout", 124, "signal SIGTERM"},
		},
		{
			"our timeout, KILL",
			process.Observed{Signal: "SIGKILL", Forced: "overall-timeout"},
			end{process.Exit{Signal: "SIGKILL", Reason: "overall-timeout", TimedOut: true}, "failed", "timed_out", "overall-timeout", 124, "signal SIGKILL"},
		},
		{
			"traps TERM and exits 0 after our timeout",
			process.Observed{Exited: true, Forced: "overall-timeout"},
			end{process.Exit{Code: code(0), Reason: "overall-timeout", TimedOut: true}, "failed", "timed_out", "overall-timeout", 124, "code 0"},
		},
		{
			"silence",
			process.Observed{Signal: "SIGTERM", Forced: "no-output-timeout"},
			end{process.Exit{Signal: "SIGTERM", Reason: "no-output-timeout", TimedOut: true}, "failed", "timed_out", "no-output-timeout", 124, "signal SIGTERM"},
		},
		{
			"deadline passed, timer has not fired",
			process.Observed{Exited: true, OverallDue: true},
			end{process.Exit{Code: code(0), Reason: "overall-timeout", TimedOut: true}, "failed", "timed_out", "overall-timeout", 124, "code 0"},
		},
		{
			"both deadlines passed: overall wins",
			process.Observed{Signal: "SIGKILL", OverallDue: true, SilenceDue: true},
			end{process.Exit{Signal: "SIGKILL", Reason: "overall-timeout", TimedOut: true}, "failed", "timed_out", "overall-timeout", 124, "signal SIGKILL"},
		},
		{
			"only the silence deadline passed",
			process.Observed{Exited: true, SilenceDue: true},
			end{process.Exit{Code: code(0), Reason: "no-output-timeout", TimedOut: true}, "failed", "timed_out", "no-output-timeout", 124, "code 0"},
		},
		{
			"a timeout cannot overwrite a cancel",
			process.Observed{Signal: "SIGTERM", Forced: "manual-cancel", OverallDue: true},
			end{process.Exit{Signal: "SIGTERM", Reason: "manual-cancel"}, "failed", "cancelled", "aborted", 143, "signal SIGTERM"},
		},
		{
			"cancelled, killed",
			process.Observed{Signal: "SIGKILL", Forced: "manual-cancel"},
			end{process.Exit{Signal: "SIGKILL", Reason: "manual-cancel"}, "failed", "cancelled", "aborted", 137, "signal SIGKILL"},
		},
		{
			"cancelled, cleans up and exits 7",
			process.Observed{Exited: true, Code: 7, Forced: "manual-cancel"},
			end{process.Exit{Code: code(7), Reason: "manual-cancel"}, "failed", "cancelled", "aborted", 7, "code 7"},
		},
		{
			"B07: cancelled, exits 0: no success",
			process.Observed{Exited: true, Forced: "manual-cancel"},
			end{process.Exit{Code: code(0), Reason: "manual-cancel"}, "failed", "cancelled", "aborted", 143, "code 0"},
		},
		{
			"not found",
			process.Observed{SpawnError: "no such file", SpawnCode: 127},
			end{process.Exit{Reason: "spawn-error", Error: "no such file", SpawnCode: 127}, "failed", "failed", "shell-command-not-found", 127, "unknown exit code"},
		},
		{
			"not executable",
			process.Observed{SpawnError: "permission denied", SpawnCode: 126},
			end{process.Exit{Reason: "spawn-error", Error: "permission denied", SpawnCode: 126}, "failed", "failed", "shell-not-executable", 126, "unknown exit code"},
		},
		{
			"could not start otherwise",
			process.Observed{SpawnError: "workdir is gone", Forced: "manual-cancel"},
			end{process.Exit{Reason: "spawn-error", Error: "workdir is gone"}, "failed", "failed", "runtime-error", 126, "unknown exit code"},
		},
		{
			"B07, #146426: no code and no signal",
			process.Observed{},
			end{process.Exit{Reason: "exit"}, "failed", "failed", "aborted", 125, "unknown exit code"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := exited(tt.saw)
			got := end{
				*p.Exit, process.Status(p), process.TaskStatus(p), process.FailureKind(p),
				process.ExitCode(p), process.Label(p.Exit),
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(end{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOutcomeWithoutAnEnd(t *testing.T) {
	tests := []struct {
		name                  string
		p                     process.Process
		status, task, failure string
		shell                 int
	}{
		{"starting", process.Process{Phase: process.Starting}, "running", "running", "", 75},
		{"running", process.Process{Phase: process.Running}, "running", "running", "", 75},
		{"lost", lost("killed"), "failed", "lost", "runtime-error", 125},
		{"B07: exited, but the exit record is damaged", process.Process{Phase: process.Exited}, "failed", "lost", "runtime-error", 125},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := []any{process.Status(tt.p), process.TaskStatus(tt.p), process.FailureKind(tt.p), process.ExitCode(tt.p)}
			if diff := cmp.Diff([]any{tt.status, tt.task, tt.failure, tt.shell}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForceKeepsTheFirst(t *testing.T) {
	r := process.Force("", process.ReasonManualCancel)
	if r = process.Force(r, process.ReasonOverallTimeout); r != process.ReasonManualCancel {
		t.Errorf("got %s", r)
	}
}

// TestSignalsAsTheShellHasThem takes its expectations from kill -l.
func TestSignalsAsTheShellHasThem(t *testing.T) {
	for _, name := range []string{"HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "SYS"} {
		n := process.SignalNumber(name)
		out, err := exec.Command("/bin/sh", "-c", "kill -l "+itoa(n)).Output()
		if err != nil {
			t.Skipf("kill -l: %v", err)
		}
		if got := strings.TrimSpace(string(out)); got != name {
			t.Errorf("signal %d is %s for the shell, %s here", n, got, name)
		}
		if got := process.SignalName(n); got != "SIG"+name {
			t.Errorf("SignalName(%d) = %s", n, got)
		}
	}
	for in, want := range map[string]int{"SIGTERM": 15, "term": 15, "15": 15, "": 0, "SIGNOPE": 0, "0": 0, "128": 0, "-9": 0} {
		if got := process.SignalNumber(in); got != want {
			t.Errorf("SignalNumber(%q) = %d, want %d", in, got, want)
		}
	}
}
