package scheduler_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
)

func (w *world) read(name string) string {
	raw, _ := os.ReadFile(filepath.Join(w.dir, name))
	return string(raw)
}

// ran makes the pass of the first slot and waits for its end.
func (w *world) ran() automation.Run {
	w.t.Helper()
	w.clock.Advance(time.Minute)
	w.pass()
	w.settle()
	runs := w.runs()
	if len(runs) == 0 {
		w.t.Fatal("there is no run")
	}
	return runs[0]
}

func TestStdin(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 16<<10) // more than a pipe holds
	for _, tt := range []struct{ name, own, run, want string }{
		{"none", "", "", ""},
		{"its own", "one\ntwo\n", "", "one\ntwo\n"},
		{"of the source", "", "exit 3", "exit 3"},
		{"its own, then that of the source", "one\n", "exit 3\n", "one\n\nexit 3\n"},
		{"long", long, "", long},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.add("job", "1h", func(a *automation.Automation) {
				sh("cat > read")(a)
				a.Payload.Input = tt.own
			})
			w.queue(a, tt.run)
			w.pass()
			w.settle()
			w.tells("by hand succeeded")
			if got := w.read("read"); got != tt.want {
				t.Errorf("it read %d bytes %.40q, want %d %.40q", len(got), got, len(tt.want), tt.want)
			}
		})
	}
}

// queue has a run of no slot wait, as a source would.
func (w *world) queue(a automation.Automation, input string) automation.Run {
	w.t.Helper()
	var r automation.Run
	err := w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
		r = automation.Fire(a, a.ID+"@fired", tx.Now())
		r.Input = input
		row, _, err := state.Agendas.Get(tx, automation.AgendaID)
		if err != nil {
			return err
		}
		row.Rec.Stale = true
		if err := state.Agendas.Put(tx, automation.AgendaID, row.Rev, row.Rec); err != nil {
			return err
		}
		return state.Runs.Add(tx, r.ID, r)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// What a source has set off is told which kind, and has no slot; the values of
// its own variables are in no row but the automation's.
func TestWhatACommandIsTold(t *testing.T) {
	w := newWorld(t)
	a := w.add("job", "1m", func(a *automation.Automation) {
		sh(`echo "$CLAW_TRIGGER,$CLAW_SLOT,$SECRET,$CLAW_TURN_ID,$CLAW_AGENT" > told`)(a)
		a.Schedule = automation.Schedule{Kind: automation.KindBoot}
		a.Payload.Env = map[string]string{"SECRET": "s3cret-value"}
	})
	w.queue(a, "")
	w.pass()
	w.settle()
	if got := w.read("told"); got != "boot,,s3cret-value,,\n" {
		t.Errorf("told %q", got)
	}
	for _, name := range []string{"processes", "tasks", "runs"} {
		raw, err := os.ReadFile(filepath.Join(w.Store.Dir(), "ledgers", name+".jsonl"))
		if err != nil || strings.Contains(string(raw), "s3cret-value") {
			t.Errorf("%s has the value: %v", name, err)
		}
	}
	if _, _, err := w.Run(t.Context(), "job", scheduler.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	w.pass()
	w.settle()
	if got := w.read("told"); got != ",,s3cret-value,,\n" {
		t.Errorf("by hand it was told %q", got)
	}
}

func TestNoOutput(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		status       automation.Status
		error        string
	}{
		{"it falls silent", "echo begun; sleep 60", automation.TimedOut, "it was ended because it printed nothing for 1s"},
		{"it never says anything", "sleep 60", automation.TimedOut, "it was ended because it printed nothing for 1s"},
		{"it goes on talking", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done", automation.Succeeded, ""},
		{"on stderr", "for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.3; done", automation.Succeeded, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add("job", "1m", func(a *automation.Automation) {
				sh(tt.script)(a)
				a.Payload.NoOutputTimeoutSeconds = 1
			})
			r := w.ran()
			if r.Status != tt.status || r.Error != tt.error || tt.error != "" && r.Category != automation.Timeout {
				t.Errorf("run %+v", r)
			}
			if p := w.processes(); len(p) != 1 || tt.error != "" && p[0].Exit.Reason != process.ReasonNoOutputTimeout {
				t.Errorf("process %+v", p)
			}
		})
	}
}

func TestOutputMaxBytes(t *testing.T) {
	w := newWorld(t)
	w.add("job", "1m", func(a *automation.Automation) {
		sh("for i in 1 2 3 4 5 6 7 8 9; do echo 0123456789; done")(a)
		a.Payload.OutputMaxBytes = 22
		a.Delivery = &automation.Delivery{Mode: "announce"}
	})
	w.ran()
	if sent := w.sent(); len(sent) != 1 || sent[0].Body != "0123456789\n0123456789\n[… 77 more bytes]" {
		t.Errorf("sent %+v", sent)
	}
	if p := w.processes()[0]; p.MaxOutput != process.OutputCap.Min {
		t.Errorf("on disk %d", p.MaxOutput)
	}
}

// openclaw 137215, 111387: a run that took too long is dead, with all that it
// started, before it is tried again.
func TestATimeoutIsDeadBeforeItIsTriedAgain(t *testing.T) {
	for name, script := range map[string]string{
		"it ignores TERM":          `trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done`,
		"a child of its own group": `setsid sh -c 'trap "" TERM; echo $$ > pid; while :; do sleep 0.05; done' & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			second := 1
			w.add("job", "24h", func(a *automation.Automation) {
				a.Payload = automation.Payload{Kind: automation.PayloadCommand, TimeoutSeconds: &second, Argv: []string{
					"sh", "-c", `test -f pid && { kill -0 $(cat pid) 2>/dev/null && echo alive > second || echo dead > second; exit 0; }; ` + script,
				}}
			})
			w.clock.Advance(24 * time.Hour)
			w.pass()
			w.until("it runs", func() bool { return w.read("pid") != "" })
			pid, err := strconv.Atoi(strings.TrimSpace(w.read("pid")))
			if err != nil {
				t.Fatal(err)
			}
			for { // whatever the row says, say it of what is
				w.pass()
				r := w.runs()[0]
				alive := running(pid)
				if r.Status != automation.Running {
					if alive {
						t.Errorf("it is %s and %d lives", r.Status, pid)
					}
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			w.clock.Advance(time.Minute)
			w.settle()
			w.settle()
			runs := w.runs()
			if len(runs) != 2 || runs[0].Status != automation.TimedOut || runs[0].Category != automation.Timeout || runs[1].Attempt != 2 || runs[1].Status != automation.Succeeded {
				t.Fatalf("runs %+v", runs)
			}
			if got := w.read("second"); got != "dead\n" {
				t.Errorf("at the second attempt the first was %q", got)
			}
		})
	}
}

// running tells a process that is there and no zombie.
func running(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// What kind of error a command ended with is read from its stderr: what passes
// by itself is tried again.
func TestWhatPassesIsTriedAgain(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		category     automation.Category
		attempts     int
	}{
		{"a network that is down", "echo 'curl: (7) Failed to connect to example.org port 443: Connection refused' >&2; exit 7", automation.Network, 2},
		{"nobody knows what", "echo broken >&2; exit 2", automation.Other, 1},
		{"it says that it may succeed later", "exit 75", automation.Overloaded, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add("job", "24h", sh(tt.script))
			w.clock.Advance(24 * time.Hour)
			w.pass()
			w.settle()
			w.clock.Advance(31 * time.Second)
			w.pass()
			w.settle()
			runs := w.runs()
			if runs[0].Category != tt.category {
				t.Errorf("category %q", runs[0].Category)
			}
			attempts := 0
			for _, r := range runs {
				if !r.StartedAt.IsZero() {
					attempts++
				}
			}
			if attempts != tt.attempts {
				t.Errorf("%d attempts: %+v", attempts, runs)
			}
		})
	}
}

// cron.retry is what counts.
func TestRetryIsConfigured(t *testing.T) {
	w := newWorld(t)
	w.Retry = automation.Retry{MaxAttempts: 1, Backoff: []time.Duration{10 * time.Second}, On: []automation.Category{automation.Other}}
	w.add("job", "24h", sh("exit 3"))
	w.clock.Advance(24 * time.Hour)
	w.pass()
	w.settle()
	for range 3 {
		w.clock.Advance(11 * time.Second)
		w.pass()
		w.settle()
	}
	w.tells("12:00 failed, 12:00 failed")
}
