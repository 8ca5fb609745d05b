package heartbeat_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"claw/runner/heartbeat"
	"claw/state/session"
)

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Exit 0 and no output is quiet, anything else is an alert with its output
// (design.md section 5).
func TestWhatACheckSays(t *testing.T) {
	for _, tt := range []struct{ name, script, alert string }{
		{"exit 0 and nothing is quiet", "exit 0", ""},
		{"blank lines are nothing", "echo; echo '  '", ""},
		{"output", "echo '/ is 91 % full'", "disk check: / is 91 % full"},
		{"stderr is output", "echo oops >&2", "disk check: oops"},
		{"output and a code", "echo oops; exit 2", "disk check (exit 2): oops"},
		{"a code alone", "exit 3", "disk check failed without output (exit 3)"},
		{"several lines", "echo a; echo b", "disk check:\na\nb"},
		{"a signal", "kill -KILL $$", "disk check failed without output (exit 137)"},
		{"control sequences are taken out", `printf '\033[31mred\033[0m'`, "disk check: red"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := heartbeat.RunCheck(t.Context(), script(t, tt.script), os.Environ(), time.Minute)
			if c.Quiet() != (tt.alert == "") {
				t.Errorf("quiet: %t", c.Quiet())
			}
			if !c.Quiet() && c.Alert() != tt.alert {
				t.Errorf("alert %q, not %q", c.Alert(), tt.alert)
			}
		})
	}
}

func TestACheckThatCannotBeStarted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(path, []byte("#!/no/such/program\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := heartbeat.RunCheck(t.Context(), path, os.Environ(), time.Minute)
	if c.Quiet() || c.Code != 126 || !strings.Contains(c.Alert(), "could not be started: no such file or directory") {
		t.Errorf("%+v: %s", c, c.Alert())
	}
}

// At most 4000 characters of both ends, whatever it printed.
func TestACheckThatPrintsMuch(t *testing.T) {
	c := heartbeat.RunCheck(t.Context(), script(t, "echo begin; yes | head -c 3000000; echo the end"), os.Environ(), time.Minute)
	if n := utf8.RuneCountInString(c.Output); n > 4000 || n < 3900 {
		t.Errorf("%d characters", n)
	}
	if !strings.HasPrefix(c.Output, "begin\ny\n") || !strings.HasSuffix(c.Output, "y\nthe end") {
		t.Errorf("%.20q … %.20q", c.Output, c.Output[len(c.Output)-20:])
	}
}

// A check that hangs is ended with all that it has started.
func TestACheckThatHangs(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "pid")
	c := heartbeat.RunCheck(t.Context(), script(t, "echo waiting; sleep 600 & echo $! > "+mark+"; wait"), os.Environ(), time.Second)
	if !c.TimedOut || c.Quiet() || !strings.HasPrefix(c.Alert(), "disk check did not end within 1m00s and was ended: waiting") {
		t.Errorf("%+v: %s", c, c.Alert())
	}
	pid := pidIn(t, mark)
	for end := time.Now().Add(30 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what it started runs on")
		}
	}
}

// One that leaves something behind is not waited for, and what it left goes on.
func TestACheckThatLeavesSomethingBehind(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "pid")
	c := heartbeat.RunCheck(t.Context(), script(t, "sleep 600 & echo $! > "+mark+"; exit 0"), os.Environ(), time.Minute)
	if c.TimedOut || !c.Quiet() {
		t.Errorf("%+v", c)
	}
	if err := syscall.Kill(pidIn(t, mark), syscall.SIGKILL); err != nil {
		t.Errorf("it was ended: %v", err)
	}
}

func pidIn(t *testing.T, path string) int {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// run-parts: by name, only certain names, only what may be executed.
func TestWhichFilesAreChecks(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"20-b", "10-a", "Z_9.sh", "note~", ".hidden", "with space", "ä"} {
		w.checkScript(name, `echo "$0 for $CLAW_AGENT" >&2`)
	}
	w.write("heartbeat.d/README", "text", 0o644)
	w.write("heartbeat.d/folder/x", "#!/bin/sh\necho x", 0o755)
	turn := w.one(w.due().tick())
	var names []string
	for _, line := range strings.Split(turn.Reply, "\n\n") {
		name, _, _ := strings.Cut(line, " check: ")
		names = append(names, name)
		if !strings.HasSuffix(line, "/"+name+" for main") {
			t.Errorf("%q", line)
		}
	}
	w.want("ran", strings.Join(names, " "), "10-a 20-b Z_9.sh")
	if turn.Checks != 3 {
		t.Errorf("%d checks", turn.Checks)
	}
	w.want("kind", string(turn.Kind), string(session.KindHeartbeat))
	w.want("source", w.deliveries()[0].Source.Name, "heartbeat.d")
}

func FuzzCheckName(f *testing.F) {
	for _, s := range []string{"", "disk", ".x", "a/b", "a b", "..", "ä", "A_9-.z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		ok := name != "" && name[0] != '.' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
		if inner := strings.IndexFunc(name, func(r rune) bool { return r > 127 || strings.ContainsRune("/ \n\x00~", r) }); inner >= 0 {
			ok = false
		}
		if got := heartbeat.CheckName(name); got && !ok {
			t.Errorf("%q was taken for a check", name)
		}
	})
}
