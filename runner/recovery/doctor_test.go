package recovery_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/recovery"
	"claw/runner/resume"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/automation"
	"claw/state/boot"
	"claw/state/session"
	"claw/state/statetest"
)

// world is a state directory and whoever examines it.
type world struct {
	t      *testing.T
	store  *state.Store
	doctor *recovery.Doctor
	clock  clock.Clock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := clock.New()
	root := t.TempDir()
	store := statetest.Open(t)
	w := &world{t: t, store: store, clock: c}
	w.doctor = &recovery.Doctor{
		Dir: store.Dir(), Open: func() (*state.Store, error) { return store, nil }, Clock: c, Root: root,
		Environ: []string{"PATH=" + root, "HOME=" + root},
		Tasks:   func(s *state.Store) *tasks.Keeper { return &tasks.Keeper{Store: s, Clock: c} },
		Ticks:   func() recovery.Ticks { return recovery.Ticks{Running: true} },
		Cut: func() ([]resume.Item, error) {
			turns := &agent.Turns{Store: store, Clock: c, Agent: func(name string) agent.Agent { return agent.Agent{Name: name} }}
			return (&resume.Recoverer{Store: store, Clock: c, Turns: turns}).List(c.Now(), false)
		},
	}
	return w
}

func (w *world) put(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.store.Update(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

// found are the findings with a code; those about the disk that the test
// happens to run on are left out.
func (w *world) found(fix bool, code string) []recovery.Finding {
	w.t.Helper()
	e := w.doctor.Examine(w.t.Context(), fix)
	return slices.DeleteFunc(e.Findings, func(f recovery.Finding) bool {
		return f.Code != code
	})
}

func (w *world) session(key string) session.Session {
	w.t.Helper()
	var s session.Session
	if err := w.store.View(func(tx *state.Tx) error {
		row, _, err := state.Sessions.Get(tx, key)
		s = row.Rec
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return s
}

const key = "agent:main:main"

// tombstoned is a conversation that was given up; contradictory: it says at the
// same time that it waits to be continued.
func tombstoned(contradictory bool) session.Session {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := session.Session{Key: key, ID: "S1", Agent: "main", Status: session.Failed, CreatedAt: at, StartedAt: at, UpdatedAt: at}
	s.Recovery = session.Cycle{
		ID: "T1", Revision: 5, SessionID: "S1", Phase: session.CycleTombstoned, SourceTurnID: "T1", DispatchID: "D1", Charged: 3, Begun: true,
		Reason: "three attempts were made", InterruptedAt: at, UpdatedAt: at, EndedAt: at,
	}
	if contradictory {
		s.Status = session.Interrupted
	}
	return s
}

func TestTombstones(t *testing.T) {
	t.Run("one is told, with the way out, and fix does not touch it", func(t *testing.T) {
		w := newWorld(t)
		w.put(func(tx *state.Tx) error { return state.Sessions.Put(tx, key, 0, tombstoned(false)) })
		for _, fix := range []bool{false, true} {
			found := w.found(fix, "session_tombstoned")
			if len(found) != 1 || found[0].Fixed || !strings.Contains(found[0].Fix, "claw sessions new "+key) {
				t.Errorf("fix %v: %+v", fix, found)
			}
		}
		if got := w.session(key); got != tombstoned(false) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("flags that contradict each other: the flag goes, the tombstone stays", func(t *testing.T) {
		w := newWorld(t)
		w.put(func(tx *state.Tx) error { return state.Sessions.Put(tx, key, 0, tombstoned(true)) })
		if found := w.found(false, "session_contradiction"); len(found) != 1 || found[0].Severity != recovery.SeverityError || found[0].Fixed {
			t.Fatalf("%+v", found)
		}
		if got := w.session(key); got != tombstoned(true) {
			t.Fatalf("looking has changed it: %+v", got)
		}
		if found := w.found(true, "session_contradiction"); len(found) != 1 || !found[0].Fixed {
			t.Fatalf("%+v", found)
		}
		got := w.session(key)
		if got.Status != session.Failed || got.Recovery != tombstoned(true).Recovery {
			t.Errorf("%+v", got)
		}
		var kept struct {
			ID  string          `json:"id"`
			Was session.Session `json:"was"`
		}
		text, err := os.ReadFile(filepath.Join(w.store.Dir(), "quarantine", "doctor.jsonl"))
		if err != nil || json.Unmarshal(text, &kept) != nil || kept.ID != key || kept.Was != tombstoned(true) {
			t.Errorf("the row as it was is not kept: %s %v", text, err)
		}
		if found := w.found(true, "session_contradiction"); len(found) != 0 {
			t.Errorf("a second time: %+v", found)
		}
		if again := w.session(key); again != got {
			t.Errorf("a second time: %+v", again)
		}
	})
}

func TestWaitingTurn(t *testing.T) {
	w := newWorld(t)
	s := tombstoned(false)
	s.Status, s.Recovery.Phase, s.Recovery.EndedAt, s.Recovery.Charged, s.Recovery.DispatchID = session.Interrupted, session.CycleInterrupted, time.Time{}, 0, ""
	w.put(func(tx *state.Tx) error { return state.Sessions.Put(tx, key, 0, s) })
	found := w.found(true, "recovery_waiting")
	if len(found) != 1 || found[0].Severity != recovery.SeverityInfo || !strings.Contains(found[0].Fix, "claw heartbeat tick") {
		t.Errorf("%+v", found)
	}
	if got := w.session(key); got != s {
		t.Errorf("it was touched: %+v", got)
	}
}

// TestSafeMode: it repeats what whoever makes the ticks says, and judges nothing
// by itself: the configuration may have switched it off, and a runner that is at
// work is none of those that died.
func TestSafeMode(t *testing.T) {
	until := time.Date(2048, 12, 2, 12, 0, 0, 0, time.Local)
	for _, tt := range []struct {
		name string
		b    boot.Breaker
		want string
	}{
		{"off", boot.Breaker{Mode: boot.Normal, Unclean: []string{"B1", "B2", "B3"}}, ""},
		{"three", boot.Breaker{Mode: boot.Safe, Unclean: []string{"B1", "B2", "B3"}, Until: until}, "3 starts of the runner ended badly; turns, automations and channels wait until 12:00:00"},
		{"asked", boot.Breaker{Mode: boot.Safe}, "it is in safe mode, as was asked; turns, automations and channels wait"},
	} {
		w := newWorld(t)
		w.put(func(tx *state.Tx) error {
			return state.Boots.Put(tx, "B1", 0, boot.Boot{ID: "B1", StartedAt: tx.Now(), Outcome: boot.StartupFailed, CompletedAt: tx.Now()})
		})
		w.doctor.Ticks = func() recovery.Ticks { return recovery.Ticks{Running: true, Breaker: tt.b} }
		found := w.found(false, "safe_mode")
		if tt.want == "" && len(found) != 0 || tt.want != "" && (len(found) != 1 || found[0].What != tt.want) {
			t.Errorf("%s: %+v", tt.name, found)
		}
	}
}

// TestAutomations: spec/tasks-recovery.md 4.12, and what claw switched off by
// itself.
func TestAutomations(t *testing.T) {
	for _, tt := range []struct {
		name, code, what string
		a                automation.Automation
	}{
		{"in order", "", "", automation.Automation{Enabled: true}},
		{"switched off by hand", "", "", automation.Automation{}},
		{"failed", "automation_failing", "it failed last time: boom", automation.Automation{Enabled: true, State: automation.State{ConsecutiveErrors: 1, LastError: "boom\nmore"}}},
		{"failed again", "automation_failing", "4 failures in a row: boom", automation.Automation{Enabled: true, State: automation.State{ConsecutiveErrors: 4, LastError: "boom"}}},
		{"switched off after failures", "automation_disabled", "10 failures in a row", automation.Automation{State: automation.State{AutoDisabled: &automation.AutoDisabled{Reason: automation.ReasonFailures, Errors: 10}}}},
		{"switched off for a loop", "automation_disabled", "set it off", automation.Automation{State: automation.State{AutoDisabled: &automation.AutoDisabled{Reason: automation.ReasonLoop}}}},
		{"a schedule that cannot be used", "automation_failing", "its schedule cannot be used: odd", automation.Automation{Enabled: true, State: automation.State{ScheduleErrors: 2, ScheduleError: "odd"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.a.ID, tt.a.Name = "A1", "job"
			w.put(func(tx *state.Tx) error { return state.Automations.Put(tx, "A1", 0, tt.a) })
			found := slices.DeleteFunc(w.doctor.Examine(t.Context(), false).Findings, func(f recovery.Finding) bool { return !strings.HasPrefix(f.Code, "automation") })
			switch {
			case tt.code == "" && len(found) > 0:
				t.Errorf("%+v", found)
			case tt.code != "" && (len(found) != 1 || found[0].Code != tt.code || found[0].Where != "job" || !strings.Contains(found[0].What, tt.what) || !strings.HasPrefix(found[0].Fix, "claw cron ")):
				t.Errorf("%+v, want %s", found, tt.code)
			}
		})
	}
}

// TestDeadDisk: who does not answer is given up, and what has answered counts.
func TestDeadDisk(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	found := recovery.Ask(t.Context(), 20*time.Millisecond, hang)
	if len(found) != 2 || found[0].Code != "no_answer" || found[0].Where != "a dead disk" || found[1].Code != "answered" {
		t.Errorf("%+v", found)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found := recovery.Ask(ctx, time.Hour, hang); len(found) == 0 || found[0].Code != "no_answer" {
		t.Errorf("interrupted: %+v", found)
	}
}

// TestCodes: each stands once, with a severity, and in the manual.
func TestCodes(t *testing.T) {
	page, err := os.ReadFile("../../man/claw-doctor.1")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range recovery.Codes() {
		if seen[c.Code] || c.Means == "" || c.Severity == "" {
			t.Errorf("%+v", c)
		}
		seen[c.Code] = true
		if !strings.HasPrefix(c.Code, "task_") && !strings.Contains(string(page), "\n.B "+c.Code+"\n") {
			t.Errorf("claw-doctor(1) lacks %s", c.Code)
		}
	}
	for _, line := range strings.Split(string(page), "\n") {
		if code, ok := strings.CutPrefix(line, ".B "); ok && strings.Contains(code, "_") && !seen[code] && !strings.HasPrefix(code, "task_") {
			t.Errorf("claw-doctor(1) has %s, which is no code", code)
		}
	}
}
