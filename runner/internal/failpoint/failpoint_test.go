package failpoint_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"claw/runner/internal/failpoint"
)

// TestMain: the test binary is also the program that passes the points "one"
// and "one-more", and says how far it came.
func TestMain(m *testing.M) {
	if os.Getenv("FAILPOINT_TEST") == "" {
		os.Exit(m.Run())
	}
	pass("one")
	pass("one-more")
	pass("one")
	os.Stdout.WriteString("end")
}

func pass(name string) {
	defer func() {
		if p := recover(); p != nil {
			os.Stdout.WriteString(p.(string) + ";")
		}
	}()
	failpoint.Hit(name)
	os.Stdout.WriteString(name + ";")
}

func TestWhereItDies(t *testing.T) {
	for _, tt := range []struct {
		point, said string
		killed      bool
	}{
		{"", "one;one-more;one;end", false},
		{"two", "one;one-more;one;end", false},
		{"on", "one;one-more;one;end", false},
		{"one", "", true},
		{"one-more", "one;", true},
		{"one:panic", "failpoint one;one-more;one;end", false},
		{"one-more:panic", "one;failpoint one-more;one;end", false},
		{"one:dance", "one;one-more;one;end", false},
	} {
		t.Run(tt.point, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "FAILPOINT_TEST=1", "CLAW_FAILPOINT="+tt.point)
			out, err := cmd.Output()
			exit, ended := errors.AsType[*exec.ExitError](err)
			killed := ended && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
			if killed != tt.killed || !killed && err != nil || strings.TrimSpace(string(out)) != tt.said {
				t.Errorf("%q, %v, want %q and killed %t", out, err, tt.said, tt.killed)
			}
		})
	}
}
