package proc_test

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/proc"
)

// reaped is what the helper saw of one script.
type reapedScript struct {
	Status      proc.Status
	Done        bool // no child was left within the time
	ChildrenNow bool // and yet the kernel knows one
	Zombies     int
	Second      bool // a second status was delivered
}

// reapHelper is a supervisor in small: it runs one script as its root and
// waits until nothing is left.
func reapHelper() int {
	if err := proc.Subreaper(); err != nil {
		return 3
	}
	child, err := proc.Start(proc.StartSpec{
		Path: "/bin/sh", Argv: []string{"sh", "-c", os.Args[1]},
		Env: os.Environ(), NewSession: true, Files: [3]*os.File{nil, os.Stderr, os.Stderr},
	})
	if err != nil {
		return 4
	}
	r := proc.Reap(child.Identity)
	got := reapedScript{Status: <-r.Exit()}
	select {
	case <-r.Done():
		got.Done = true
	case <-time.After(20 * time.Second):
	}
	_, err = unix.Wait4(-1, nil, unix.WNOHANG, nil)
	got.ChildrenNow = !errors.Is(err, unix.ECHILD)
	table, _ := proc.Scan()
	for _, row := range table {
		if row.Parent == os.Getpid() && row.Zombie {
			got.Zombies++
		}
	}
	select {
	case <-r.Exit():
		got.Second = true
	default:
	}
	return emit(got)
}

// TestB13Reaper: the root's status is its own whatever orphans end around it,
// and no zombie stays.
func TestB13Reaper(t *testing.T) {
	tests := []struct {
		name, script string
		code         int
		signal       unix.Signal
	}{
		{"exit 0", "exit 0", 0, 0},
		{"exit code", "exit 7", 7, 0},
		{"signal", "kill -TERM $$", 0, unix.SIGTERM},
		{"kill", "kill -KILL $$", 0, unix.SIGKILL},
		{"orphans end first", "for i in 1 2 3 4 5 6 7 8 9; do ( (exit $i) & ); done; sleep 0.05; exit 42", 42, 0},
		{"orphans end with it", "for i in 1 2 3 4 5 6 7 8 9; do (exit $i) & done; exit 43", 43, 0},
		{"orphans end later", "for i in 1 2 3 4 5; do (sleep 0.0$i; exit $i) & done; exit 44", 44, 0},
		{"orphan leaves the session", "setsid sh -c 'sleep 0.05; exit 9' & exit 45", 45, 0},
		{"orphan is killed", "(sleep 1000 & kill -KILL $!) & wait; exit 46", 46, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && tt.code > 41 {
				t.Skip("no orphans are adopted here")
			}
			t.Parallel()
			var got reapedScript
			report(t, helper(t, "reap", tt.script), &got)
			if got.Status.Code != tt.code || got.Status.Signal != tt.signal || got.Status.Lost {
				t.Errorf("status %+v", got.Status)
			}
			if !got.Done || got.ChildrenNow || got.Zombies > 0 || got.Second {
				t.Errorf("afterwards %+v", got)
			}
		})
	}
}
