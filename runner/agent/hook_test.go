package agent_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/clock/clocktest"
	"claw/state/session"
)

func (w *world) hooked(hooks ...string) *world {
	ag := agent.Agent{Name: "main", Command: []string{"sh", "-c", "touch " + w.Cwd + "/ran; cat"}}
	for _, script := range hooks {
		ag.Hooks = append(ag.Hooks, []string{"sh", "-c", script})
	}
	w.agents["main"] = ag
	return w
}

func (w *world) agentRan() bool { _, err := os.Stat(w.Cwd + "/ran"); return err == nil }

// A hook gets the whole body the agent would see, and what says whose it is.
func TestHooksSeeEverything(t *testing.T) {
	w := newWorld(t)
	seen := filepath.Join(t.TempDir(), "seen")
	w.hooked("{ echo $CLAW_AGENT $CLAW_SESSION $CLAW_TURN_ID; cat; } > " + seen)
	message := "[OpenClaw exec completion]\n\nAn async command…\n" + strings.Repeat("detail\n", 20000)
	res := w.run(wake(message))
	if res.Reply != message {
		t.Errorf("the agent read %d bytes, not %d", len(res.Reply), len(message))
	}
	if want := "main " + main + " " + res.Turn.ID + "\n" + message; read(t, seen) != want {
		t.Errorf("the hook read %d bytes, not %d", len(read(t, seen)), len(want))
	}
}

func TestHooksBlock(t *testing.T) {
	for name, tt := range map[string]struct {
		hooks []string
		words string
		code  int // -1: none
	}{
		"by their exit code, in their words": {[]string{"echo secrets in it; echo line 40 >&2; exit 3"}, "(exit code 3): secrets in it\nline 40", 3},
		"without words":                      {[]string{"exit 1"}, "(exit code 1)", 1},
		"when they are killed":               {[]string{"kill -KILL $$"}, "SIGKILL", -1},
		"the second as well as the first":    {[]string{"true", "echo no; false"}, "no", 1},
		"however much they print":            {[]string{"yes | head -c 1000000; echo the end; exit 1"}, "the end", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).hooked(tt.hooks...)
			res := w.run(send("hello"))
			if res.Turn.Status != session.TurnBlocked || !strings.Contains(res.Turn.Error, tt.words) || len(res.Turn.Error) > 2000 || w.agentRan() {
				t.Errorf("%s %q, ran: %v", res.Turn.Status, res.Turn.Error, w.agentRan())
			}
			if code := res.Turn.ExitCode; (code == nil) != (tt.code < 0) || code != nil && *code != tt.code {
				t.Errorf("%v, want %d", code, tt.code)
			}
			if s := w.session(main); s.Status != session.Failed {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Fail closed: a guard that cannot be asked has not agreed.
func TestAHookThatCannotBeStartedBlocks(t *testing.T) {
	w := newWorld(t).hooked()
	ag := w.agents["main"]
	ag.Hooks = [][]string{{"claw-no-such-hook"}}
	w.agents["main"] = ag
	res := w.run(send("hello"))
	if res.Turn.Status != session.TurnBlocked || !strings.Contains(res.Turn.Error, "claw-no-such-hook") || w.agentRan() {
		t.Errorf("%s %q", res.Turn.Status, res.Turn.Error)
	}
}

func TestAHookThatDoesNotAnswerBlocks(t *testing.T) {
	w := newWorld(t).hooked("echo thinking; (trap '' TERM; sleep 600) & echo $! > child; wait")
	fake := clocktest.New(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	w.Clock = fake
	go func() {
		until(t, "the hook hangs", func() bool { raw, _ := os.ReadFile(w.Cwd + "/child"); return len(raw) > 0 })
		fake.WaitArmed(1)
		fake.Advance(60 * time.Second)
	}()
	res := w.run(send("hello"))
	if res.Turn.Status != session.TurnBlocked || !strings.Contains(res.Turn.Error, "did not answer within 1m00s: thinking") || w.agentRan() {
		t.Errorf("%s %q", res.Turn.Status, res.Turn.Error)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, w.Cwd+"/child")))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "what it started has ended, TERM or not", func() bool { return syscall.Kill(pid, 0) != nil })
}

func TestWhatAHookLeavesRunningHoldsUpNobody(t *testing.T) {
	w := newWorld(t).hooked("sleep 600 & echo $! > child")
	if res := w.run(send("hello")); res.Reply != "hello" {
		t.Errorf("%+v", res.Turn)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, w.Cwd+"/child")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("it was ended: %v", err)
	}
}
