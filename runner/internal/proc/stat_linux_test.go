package proc_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/runner/internal/proc"
	"claw/state/process"
)

// deadLeader ends its first thread and lives on in others: /proc shows Z.
func deadLeader() int {
	runtime.LockOSThread()
	go func() {
		time.Sleep(time.Hour)
	}()
	go func() {
		fmt.Println("ready")
		var b [1]byte
		os.Stdin.Read(b[:])
		os.Exit(0)
	}()
	syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0) // this thread alone
	return 0
}

func TestLivingProcessWithDeadFirstThread(t *testing.T) {
	cmd := helper(t, "dead-leader")
	stdin, _ := cmd.StdinPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stdin.Close(); cmd.Wait() }()
	path := "/proc/" + strconv.Itoa(cmd.Process.Pid) + "/stat"
	if !eventually(func() bool {
		b, _ := os.ReadFile(path)
		return strings.Contains(string(b), ") Z ")
	}) {
		t.Fatal("the first thread did not end")
	}
	id, ok := proc.Identify(cmd.Process.Pid)
	if !ok || !proc.Alive(id) {
		t.Errorf("%+v counts as dead", id)
	}
}

func TestParseStat(t *testing.T) {
	// The fields from 3 on, of a real line; the expected values are read off
	// by the numbers of proc_pid_stat(5).
	const rest = " S 11 22 33 34816 44 4194304 55 0 0 0 1 2 3 4 20 0 7 0 987654321 1000 200 18446744073709551615\n"
	want := proc.Row{Identity: process.Identity{Start: 987654321}, Parent: 11, Group: 22, Session: 33}
	zombie := want
	zombie.Zombie = true
	tests := []struct {
		name, line string
		want       proc.Row
		ok         bool
	}{
		{"plain", "99 (sleep)" + rest, want, true},
		{"blanks and parentheses", "99 (a) S 1 2 (b c)" + rest, want, true},
		{"newline", "99 (a\n) b)" + rest, want, true},
		{"empty name", "99 ()" + rest, want, true},
		{"zombie", "99 (x)" + strings.Replace(strings.Replace(rest, "S", "Z", 1), " 7 0 9", " 1 0 9", 1), zombie, true},
		{"first thread ended", "99 (x)" + strings.Replace(rest, "S", "Z", 1), want, true},
		{"cut", "99 (sleep) S 11 22 33 34816", proc.Row{}, false},
		{"no name", "99 sleep S 11", proc.Row{}, false},
		{"empty", "", proc.Row{}, false},
		{"not a number", "99 (sleep)" + strings.Replace(rest, " 22 ", " x ", 1), proc.Row{}, false},
	}
	for _, tt := range tests {
		got, ok := proc.ParseStat([]byte(tt.line))
		if ok != tt.ok {
			t.Errorf("%s: ok %v", tt.name, ok)
		}
		if diff := cmp.Diff(tt.want, got); ok && diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("sleep", 1, 2, 3, uint64(5))
	f.Add(") S 1 1 1 (", -1, 0, 7, uint64(1)<<63)
	f.Fuzz(func(t *testing.T, name string, parent, group, session int, start uint64) {
		line := fmt.Sprintf("7 (%s) S %d %d %d 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 %d 0 0", name, parent, group, session, start)
		got, ok := proc.ParseStat([]byte(line))
		want := proc.Row{Identity: process.Identity{Start: start}, Parent: parent, Group: group, Session: session}
		if !ok || got != want {
			t.Fatalf("%q: %+v", line, got)
		}
		proc.ParseStat([]byte(name)) // must not panic on anything
	})
}
