package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner"
)

// inhibitors puts a program in the place of systemd-inhibit.
func inhibitors(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text := "#!/bin/sh\necho \"$@\" >> " + dir + "/called\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "systemd-inhibit"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

func goneSoon(t *testing.T, pid int) {
	t.Helper()
	until(t, "the inhibitor has ended", func() bool { return unix.Kill(pid, 0) != nil })
}

const asSystemd = `while test "${1#--}" != "$1"; do shift; done; exec "$@"`

func TestTheMachineStaysAwakeWhileSomethingRuns(t *testing.T) {
	dir := inhibitors(t, asSystemd)
	a := runner.NewAwake(func(line string) { t.Errorf("said %q", line) })
	a.Keep(false, 0)
	if a.Held() != 0 {
		t.Error("it is kept awake though nothing runs")
	}
	for round := range 2 {
		at := time.Duration(round) * time.Minute
		a.Keep(true, at)
		pid := a.Held()
		until(t, "the program was called", func() bool {
			raw, _ := os.ReadFile(filepath.Join(dir, "called"))
			return strings.Count(string(raw), "--what=sleep") == round+1
		})
		for range 3 {
			a.Keep(true, at+time.Second)
		}
		if pid == 0 || a.Held() != pid {
			t.Errorf("one inhibitor: pid %d, then %d", pid, a.Held())
		}
		a.Keep(false, at+2*time.Second)
		if a.Held() != 0 {
			t.Error("it is not let go")
		}
		goneSoon(t, pid)
	}
}

// A system that does not let us is told of once, and never tried again.
func TestWhereTheMachineCannotBeKeptAwake(t *testing.T) {
	dir := inhibitors(t, "exit 1")
	said := 0
	a := runner.NewAwake(func(string) { said++ })
	a.Keep(true, 0)
	goneSoon(t, a.Held())
	until(t, "it is noticed", func() bool { a.Keep(true, time.Second); return said > 0 })
	for range 5 {
		a.Keep(false, 2*time.Second)
		a.Keep(true, 3*time.Second)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "called"))
	if err != nil || strings.Count(string(raw), "\n") != 1 || said != 1 {
		t.Errorf("called %q, %v; said %d times", raw, err, said)
	}
	t.Setenv("PATH", t.TempDir()) // nothing of the kind is there
	none := runner.NewAwake(func(line string) { t.Errorf("said %q", line) })
	none.Keep(true, 0)
	if none.Held() != 0 {
		t.Error("there is an inhibitor where there is none")
	}
}

// One that somebody else ends is replaced, when it had lasted.
func TestAnInhibitorThatIsEndedIsReplaced(t *testing.T) {
	inhibitors(t, asSystemd)
	a := runner.NewAwake(func(line string) { t.Errorf("said %q", line) })
	a.Keep(true, 0)
	first := a.Held()
	if err := unix.Kill(first, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	goneSoon(t, first)
	until(t, "there is another one", func() bool { a.Keep(true, time.Hour); return a.Held() != 0 && a.Held() != first })
	second := a.Held()
	a.Keep(false, time.Hour)
	goneSoon(t, second)
}

func TestInhibitors(t *testing.T) {
	for goos, want := range map[string]string{"linux": "systemd-inhibit --what=sleep", "darwin": "caffeinate -i -w 77", "plan9": ""} {
		if got := strings.Join(runner.Inhibitor(goos, 77), " "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", goos, got, want)
		}
	}
}
