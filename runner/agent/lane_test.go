package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/state"
	"claw/state/session"
)

// gate is an agent that runs until it is let go.
type gate struct {
	dir string
	t   testing.TB
}

func (w *world) gate() gate {
	g := gate{w.t.(*testing.T).TempDir(), w.t}
	w.sh(`n=$(ls "` + g.dir + `" | grep -c begun); echo > "` + g.dir + `/begun.$n"; while ! [ -e "` + g.dir + `/go" ]; do sleep 0.01; done; cat`)
	w.t.Cleanup(g.open)
	return g
}

func (g gate) open() { os.WriteFile(filepath.Join(g.dir, "go"), nil, 0o600) }

func (g gate) begun() int {
	found, _ := filepath.Glob(filepath.Join(g.dir, "begun.*"))
	return len(found)
}

func (g gate) await(n int) {
	g.t.Helper()
	until(g.t, "the agent runs", func() bool { return g.begun() == n })
}

func lane(t *testing.T, w *world, key string) (held, queued bool) {
	t.Helper()
	held, queued, err := agent.Lane(w.Store, key)
	if err != nil {
		t.Fatal(err)
	}
	return held, queued
}

// Two turns of one session run one after the other; the second is told who
// holds the lane, and is seen to wait.
func TestOneTurnAtATime(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	if held, queued := lane(t, w, main); held || queued {
		t.Error("a lane that nobody has used is taken")
	}
	var wg sync.WaitGroup
	var told string
	first, second := send("first"), send("second")
	second.Waiting = func(holder string) { told = holder }
	var results [2]agent.Result
	wg.Go(func() { results[0] = w.run(first) })
	g.await(1)
	wg.Go(func() { results[1] = w.run(second) })
	until(t, "the second waits", func() bool { _, queued := lane(t, w, main); return queued })
	if held, _ := lane(t, w, main); !held || g.begun() != 1 {
		t.Errorf("held %v, %d agents run", held, g.begun())
	}
	g.open()
	wg.Wait()
	if results[0].Reply != "first" || results[1].Reply != "second" {
		t.Errorf("%q %q", results[0].Reply, results[1].Reply)
	}
	if a, b := results[0].Turn, results[1].Turn; b.CreatedAt.Before(a.EndedAt) {
		t.Errorf("the second was admitted at %v, the first ended at %v", b.CreatedAt, a.EndedAt)
	}
	if want := "turn " + results[0].Turn.ID + " of agent main since "; !strings.HasPrefix(told, want) || !strings.Contains(told, "(pid ") {
		t.Errorf("told %q", told)
	}
	if held, queued := lane(t, w, main); held || queued {
		t.Error("the lane stays taken")
	}
}

func TestOtherSessionsAreNotHeldUp(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	done := make(chan agent.Result, 1)
	go func() { done <- w.run(send("first")) }()
	g.await(1)
	answer := "at once"
	for _, key := range []string{"agent:other:main", "session:notes"} {
		req := send("second")
		req.SessionKey, req.Answer = key, &answer
		if res := w.run(req); res.Reply != answer {
			t.Errorf("%+v", res)
		}
	}
	g.open()
	<-done
}

func TestBusy(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	done := make(chan agent.Result, 1)
	go func() { done <- w.run(send("first")) }()
	g.await(1)
	for name, wait := range map[string]time.Duration{"not waiting": 0, "waiting in vain": 10 * time.Millisecond} {
		req := send("second")
		req.Wait = wait
		_, err := w.Run(t.Context(), req)
		var busy *agent.BusyError
		if !errors.As(err, &busy) || busy.SessionKey != main || !strings.Contains(busy.Holder, "turn ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(w.turns()); n != 1 {
		t.Errorf("%d turns, want 1: one that is refused leaves nothing", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := w.Run(ctx, send("third")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	g.open()
	<-done
}

// An agent whose claw died still has the lane: the next turn waits for it, ends
// it and then runs (one run per session at a time, spec/tasks-recovery.md 6.6).
func TestWhatWasLeftInTheLaneComesFirst(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan agent.Result, 1)
	go func() {
		res, err := w.Run(ctx, send("first"))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		left <- res
	}()
	g.await(1)
	cancel()
	first := <-left
	req := send("second")
	req.Wait = 0
	var busy *agent.BusyError
	if _, err := w.Run(t.Context(), req); !errors.As(err, &busy) || !strings.Contains(busy.Holder, first.Turn.ID) {
		t.Errorf("%v", err)
	}
	req.Wait = -1
	req.Waiting = func(string) { g.open() }
	res := w.run(req)
	if before := w.turn(first.Turn.ID); before.Status != session.TurnSucceeded || before.Reply != "first" {
		t.Errorf("%+v", before)
	}
	if res.Reply != "second" || w.session(main).Turns != 2 {
		t.Errorf("%+v %+v", res, w.session(main))
	}
}

// Pains B12: what an agent leaves running has no part in the lane.
func TestNoChildHoldsTheLane(t *testing.T) {
	w := newWorld(t).sh("sleep 3 >/dev/null 2>&1 & echo done")
	w.run(send("hello"))
	if held, queued := lane(t, w, main); held || queued {
		t.Errorf("%v %v", held, queued)
	}
}

func TestALaneIsLookedAtWithoutWriting(t *testing.T) {
	w := newWorld(t)
	if held, queued := lane(t, w, "session:none"); held || queued {
		t.Error("taken")
	}
	if _, err := os.Stat(w.Store.Dir()); err == nil {
		t.Error("looking has made the state directory")
	}
}

// isolated turns have a lane and a transcript of their own.
func TestIsolated(t *testing.T) {
	w := newWorld(t).sh("cat")
	req := wake("[OpenClaw heartbeat poll]")
	req.Isolated = true
	a, b := w.run(req), w.run(req)
	if a.Turn.SessionKey != main+":heartbeat" || a.Turn.SessionID == b.Turn.SessionID {
		t.Errorf("%+v %+v", a.Turn, b.Turn)
	}
	w.view(func(tx *state.Tx) error {
		rows, err := state.Sessions.All(tx)
		if len(rows) != 1 || rows[0].Rec.Turns != 1 {
			t.Errorf("%+v", rows)
		}
		return err
	})
	if got := lines(w, main+":heartbeat"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if files, _ := filepath.Glob(filepath.Join(w.Store.Dir(), "sessions", "*.jsonl")); len(files) != 1 {
		t.Errorf("heartbeats pile up: %v", files)
	}
}

// However many come at once: each has its turn, and no two overlap.
func TestACrowd(t *testing.T) {
	w := newWorld(t).sh("mkdir inside || exit 3; cat; rmdir inside")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			message := strings.Repeat("x", i+1)
			if res := w.run(send(message)); res.Turn.Status != session.TurnSucceeded || res.Reply != message {
				t.Errorf("%+v", res.Turn)
			}
		})
	}
	wg.Wait()
	if s := w.session(main); s.Turns != 6 || len(lines(w, main)) != 12 {
		t.Errorf("%+v", s)
	}
}

// Whoever reads the reply slowly holds up the next turn of nobody.
func TestASlowReaderDoesNotHoldTheLane(t *testing.T) {
	w := newWorld(t).sh("cat")
	slow := make(slowReader)
	req := send("hello")
	req.Stdout = slow
	done := make(chan agent.Result, 1)
	go func() { done <- w.run(req) }()
	until(t, "the turn has ended", func() bool { all := w.turns(); return len(all) == 1 && all[0].Status.Ended() })
	if res := w.run(send("next")); res.Reply != "next" {
		t.Errorf("%+v", res)
	}
	if got := <-slow; got != "hello" {
		t.Errorf("%q", got)
	}
	<-done
}

type slowReader chan string

func (s slowReader) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}
