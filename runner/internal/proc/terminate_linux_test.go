package proc_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"claw/runner/internal/proc"
	"claw/state/process"
)

const markKey = "PROC_TEST_ID"

// family script: one of everything that is hard to end. Each sleep has a
// length of its own, by which the survivors are told apart.
const everything = `
trap '' TERM
sleep 1001 &                                             # same group
setsid sleep 1002 &                                      # left the session
( setsid sh -c 'trap "" TERM; sleep 1003 & sleep 1004' & ) # a daemon, forked twice, that ignores TERM
( sleep 1005 & )                                         # orphan of the group
sleep 1006 & kill -STOP $!                               # stopped
` + markKey + `=another setsid sleep 1999 &              # another command of claw
sleep 0.2
echo ready
while :; do sleep 1007; done
`

// startMarked starts a shell script in a session of its own, marked, and
// waits for its "ready".
func startMarked(script string) (proc.Child, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return proc.Child{}, err
	}
	defer out.Close()
	child, err := proc.Start(proc.StartSpec{
		Path: "/bin/sh", Argv: []string{"sh", "-c", script},
		Env:        append(os.Environ(), markKey+"=mine"),
		NewSession: true, Files: [3]*os.File{nil, in, nil}, // sh reports killed jobs on stderr
	})
	in.Close()
	if err != nil {
		return child, err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	return child, err
}

// terminated is what the helper saw.
type terminated struct {
	Survivors []string // command lines that Terminate returned
	Left      []string // command lines below the helper afterwards
	Signal    unix.Signal
	Before    int // how many Find had listed
}

// terminateHelper is a supervisor that ends its command.
func terminateHelper() int {
	if err := proc.Subreaper(); err != nil {
		return 3
	}
	child, err := startMarked(everything)
	if err != nil {
		return 4
	}
	r := proc.Reap(child.Identity)
	target := proc.Target{Root: child.Identity, Under: proc.Self(), Mark: proc.Mark{Key: markKey, Value: "mine"}}
	got := terminated{Before: len(target.Find())}
	limit := proc.Timing{Grace: tick, Settle: 20 * time.Second}
	for range 2 { // twice, as an impatient user does
		left := proc.Terminate(context.Background(), quick, target, limit, r.Changed())
		for _, l := range proc.Describe(left) {
			got.Survivors = append(got.Survivors, l.Command)
		}
	}
	got.Signal = (<-r.Exit()).Signal
	table, _ := proc.Scan()
	for _, row := range table.Descendants(os.Getpid(), nil) {
		got.Left = append(got.Left, proc.CommandLine(row.PID))
		_ = proc.Signal(row.Identity, unix.SIGKILL)
	}
	<-r.Done()
	return emit(got)
}

// TestB09NothingSurvives: the whole tree ends, setsid escapees and daemons
// included, and another command of claw that was started from it does not.
func TestB09NothingSurvives(t *testing.T) {
	var got terminated
	report(t, helper(t, "terminate"), &got)
	want := terminated{Left: []string{"sleep 1999"}, Signal: unix.SIGKILL}
	if got.Before < 8 { // the root, sh of the daemon, six sleeps and the loop's own
		t.Errorf("found only %d processes before", got.Before)
	}
	got.Before = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// spawnShellHelper is a supervisor that dies and leaves its command alone.
func spawnShellHelper() int {
	child, err := startMarked(everything)
	if err != nil {
		return 4
	}
	return emit(child.Identity)
}

// markedBy lists the command lines of whatever carries the mark.
func markedBy(value string) []string {
	var found []string
	table, _ := proc.Scan()
	for _, row := range table {
		if owner, ok := (proc.Mark{Key: markKey, Value: value}).Owner(row.PID); ok && owner == value && !row.Zombie {
			found = append(found, proc.CommandLine(row.PID))
		}
	}
	slices.Sort(found)
	return found
}

func killMarked(value string) {
	table, _ := proc.Scan()
	for _, row := range table {
		if owner, ok := (proc.Mark{Key: markKey, Value: value}).Owner(row.PID); ok && owner == value {
			_ = proc.Signal(row.Identity, unix.SIGKILL)
		}
	}
}

// After the supervisor was killed the command can still be ended as a whole:
// by its root and by its mark.
func TestTerminateWithoutSupervisor(t *testing.T) {
	for _, rootFirst := range []bool{false, true} {
		var root process.Identity
		report(t, helper(t, "spawn-shell"), &root)
		t.Cleanup(func() { killMarked("mine"); killMarked("another") })
		if rootFirst {
			if err := proc.Signal(root, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if !eventually(func() bool { return !proc.Alive(root) }) {
				t.Fatal("the root lives on")
			}
		}
		target := proc.Target{Root: root, Mark: proc.Mark{Key: markKey, Value: "mine"}}
		limit := proc.Timing{Grace: tick, Settle: 20 * time.Second}
		if left := proc.Terminate(t.Context(), quick, target, limit, nil); len(left) > 0 {
			t.Errorf("root first %v: survivors %v", rootFirst, proc.Describe(left))
		}
		if left := markedBy("mine"); len(left) > 0 {
			t.Errorf("root first %v: left %q", rootFirst, left)
		}
		if diff := cmp.Diff([]string{"sleep 1999"}, markedBy("another")); diff != "" {
			t.Errorf("root first %v: another command (-want +got):\n%s", rootFirst, diff)
		}
		killMarked("another")
	}
}

// TestGraceIsGiven is #18619: who acts on TERM has the time to clean up.
func TestGraceIsGiven(t *testing.T) {
	note := filepath.Join(t.TempDir(), "note")
	child, err := startMarked("trap 'sleep 0.2; echo clean > " + note + "; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan syscall.WaitStatus, 1)
	go func() {
		var ws syscall.WaitStatus
		syscall.Wait4(child.PID, &ws, 0, nil)
		done <- ws
	}()
	left := proc.Terminate(t.Context(), quick, proc.Target{Root: child.Identity}, proc.Timing{Grace: 20 * time.Second, Settle: tick}, nil)
	if ws := <-done; len(left) > 0 || !ws.Exited() || ws.ExitStatus() != 0 {
		t.Errorf("survivors %v, status %v", left, ws)
	}
	if b, err := os.ReadFile(note); strings.TrimSpace(string(b)) != "clean" {
		t.Errorf("note %q, %v", b, err)
	}
}

// When the context ends, nothing more is signalled.
func TestTerminateStopsWithItsContext(t *testing.T) {
	child, err := startMarked("trap '' TERM; echo ready; while :; do sleep 1000; done")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		syscall.Kill(-child.PID, syscall.SIGKILL)
		syscall.Wait4(child.PID, nil, 0, nil)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	left := proc.Terminate(ctx, quick, proc.Target{Root: child.Identity}, proc.Timing{Grace: time.Hour, Settle: time.Hour}, nil)
	if !slices.Contains(left, child.Identity) || !proc.Alive(child.Identity) {
		t.Errorf("survivors %v", left)
	}
}

// Who never ends makes Terminate give up after its limits.
func TestTerminateIsBounded(t *testing.T) {
	id, _ := sleeper(t)
	var sent []unix.Signal
	deaf := proc.Faults{
		Send: func(_ process.Identity, sig unix.Signal) error { sent = append(sent, sig); return nil },
		Kill: func(_ int, sig unix.Signal) error { sent = append(sent, sig); return nil },
	}
	left := deaf.Terminate(t.Context(), quick, proc.Target{Root: id}, proc.Timing{Grace: tick, Settle: tick})
	if len(left) != 1 || left[0] != id {
		t.Errorf("survivors %v", left)
	}
	if len(sent) < 3 || sent[0] != unix.SIGTERM || sent[1] != unix.SIGCONT || sent[len(sent)-1] != unix.SIGKILL || slices.Contains(sent[2:], unix.SIGTERM) {
		t.Errorf("sent %v", sent)
	}
}
