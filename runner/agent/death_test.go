package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/state"
	"claw/state/process"
	"claw/state/session"
)

// sendFromOutside is what the test binary does as a claw of its own: one turn,
// during which it may die.
func sendFromOutside() {
	store, err := state.Open(os.Getenv("CLAW_STATE_DIR"), state.Options{})
	if err != nil {
		panic(err)
	}
	turns := &agent.Turns{
		Store: store, Clock: clock.New(), Environ: os.Environ(), Cwd: os.Getenv("TMPDIR"), MaxOutput: 1 << 20,
		Agent: func(string) agent.Agent {
			return agent.Agent{Name: "main", Command: []string{"sh", "-c", os.Getenv("TEST_SCRIPT")}}
		},
	}
	req := send("hello")
	if answer, ok := os.LookupEnv("TEST_ANSWER"); ok {
		req.Answer = &answer
	}
	res, err := turns.Run(context.Background(), req)
	fmt.Println(res.Turn.Status, err)
}

// dies runs such a claw, which must be killed at a failpoint.
func (w *world) dies(failpoint, script string, more ...string) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(w.Environ, "CLAW_TEST_PART=send", "CLAW_STATE_DIR="+w.Store.Dir(), "TMPDIR="+w.Cwd, "TEST_SCRIPT="+script)
	cmd.Env = append(append(cmd.Env, "CLAW_FAILPOINT="+failpoint), more...)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		w.t.Fatalf("it did not die at %s: %v\n%s", failpoint, err, out)
	}
}

// settled settles until nothing is live, and returns what was ended.
func (w *world) settled() (all []agent.Result) {
	w.t.Helper()
	until(w.t, "nothing goes on", func() bool {
		ended, going, err := w.Settle(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, ended...)
		return len(going) == 0
	})
	return all
}

// kill -9 of the claw that waits, at every point of a turn: it ends exactly
// once, with the reply that was written, and the agent runs at most once.
func TestDeathOfTheOneWhoWaits(t *testing.T) {
	const script = `echo x >> "$PWD/runs"; sleep 0.1; echo "reply to $(cat)"`
	for _, tt := range []struct {
		failpoint string
		more      string
		ended     bool // before it died
		status    session.TurnStatus
		reply     string
		runs      string
	}{
		{failpoint: "turn-admitted", status: session.TurnNotAccepted},
		{failpoint: "turn-admitted", more: "TEST_ANSWER=known", status: session.TurnNotAccepted},
		{failpoint: "turn-launched", status: session.TurnSucceeded, reply: "reply to hello\n", runs: "x\n"},
		{failpoint: "turn-ending", status: session.TurnSucceeded, reply: "reply to hello\n", runs: "x\n"},
		{failpoint: "turn-ended", ended: true, status: session.TurnSucceeded, reply: "reply to hello\n", runs: "x\n"},
	} {
		t.Run(tt.failpoint+tt.more, func(t *testing.T) {
			w := newWorld(t)
			calls := 0
			w.OnEnd = func(*state.Tx, *session.Turn, string) error { calls++; return nil }
			w.dies(tt.failpoint, script, tt.more)
			ended := w.settled()
			if (len(ended) == 0) != tt.ended || len(ended) > 1 || len(ended) != calls {
				t.Fatalf("settled %+v, OnEnd %d times", ended, calls)
			}
			all := w.turns()
			if len(all) != 1 || all[0].Status != tt.status || all[0].Reply != tt.reply {
				t.Errorf("%+v", all)
			}
			if runs, _ := os.ReadFile(w.Cwd + "/runs"); string(runs) != tt.runs {
				t.Errorf("the agent ran %q, want %q", runs, tt.runs)
			}
			said := lines(w, main)
			if want := map[bool][]string{true: nil, false: {"user hello", "assistant " + tt.reply}}[tt.reply == ""]; !equal(said, want) {
				t.Errorf("the transcript says %q, want %q", said, want)
			}
			if s := w.session(main); s.Status == session.Running {
				t.Errorf("%+v", s)
			}
			if again := w.settled(); len(again) != 0 {
				t.Errorf("settled again: %+v", again)
			}
		})
	}
}

// Two that settle at once end a turn once.
func TestTwoSettlers(t *testing.T) {
	w := newWorld(t)
	w.dies("turn-launched", "echo done")
	var mu sync.Mutex
	ends := 0
	w.OnEnd = func(*state.Tx, *session.Turn, string) error { mu.Lock(); defer mu.Unlock(); ends++; return nil }
	other := at(t, w.Store)
	other.OnEnd = w.OnEnd
	var wg sync.WaitGroup
	var ended [2][]agent.Result
	for i, who := range []*world{w, other} {
		wg.Go(func() { ended[i] = who.settled() })
	}
	wg.Wait()
	if n := len(ended[0]) + len(ended[1]); n != 1 || ends != 1 {
		t.Errorf("ended by %d, OnEnd %d times", n, ends)
	}
}

// Nobody knows what an agent did whose supervisor was killed: it is lost, what
// it wrote is kept, and it is not run again.
func TestDeathOfTheSupervisor(t *testing.T) {
	w := newWorld(t)
	w.sh(`echo half; echo x >> runs; kill -KILL $PPID; sleep 0.2`)
	res := w.run(wake("[OpenClaw exec completion]"))
	if res.Turn.Status != session.TurnLost || res.Turn.Error == "" || res.Turn.ExitCode != nil {
		t.Errorf("%+v", res.Turn)
	}
	if s := w.session(main); s.Status != session.Interrupted {
		t.Errorf("%+v", s)
	}
	if got := read(t, w.Cwd+"/runs"); got != "x\n" {
		t.Errorf("%q", got)
	}
}

// A reply that is not there to be read is not an empty one: nobody knows what
// the agent has said (design.md 3, promise 5). How it ended is still known.
func TestOutputThatIsGone(t *testing.T) {
	folder := func(t *testing.T, dir string) error { return os.RemoveAll(dir) }
	files := func(t *testing.T, dir string) error {
		names, err := filepath.Glob(filepath.Join(dir, "output*"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%q, %v", names, err)
		}
		for _, name := range names {
			err = errors.Join(err, os.Remove(name))
		}
		return err
	}
	nothing := func(*testing.T, string) error { return nil }
	for _, tt := range []struct {
		name   string
		script string
		gone   func(t *testing.T, dir string) error
		status session.TurnStatus
	}{
		{"the folder", "echo ALERT", folder, session.TurnLost},
		{"the files in it", "echo ALERT", files, session.TurnLost},
		{"the folder of an agent that may have said nothing", "true", folder, session.TurnLost},
		{"the folder of an agent that failed", "echo half; exit 3", folder, session.TurnFailed},
		{"the folder of an agent that refused", "exit 75", folder, session.TurnNotAccepted},
		{"nothing of an agent that said nothing", "true", nothing, session.TurnFailed},
		{"nothing", "echo ALERT", nothing, session.TurnSucceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.dies("turn-launched", tt.script)
			turn := w.turns()[0]
			until(t, "the agent has ended", func() bool { return w.process(turn.ProcessID).Phase == process.Exited })
			if err := tt.gone(t, w.Store.ProcessDir(turn.ProcessID)); err != nil {
				t.Fatal(err)
			}
			w.settled()
			turn = w.turn(turn.ID)
			if turn.Status != tt.status {
				t.Errorf("%s: %s, want %s", turn.Status, turn.Error, tt.status)
			}
			if tt.status == session.TurnLost && (turn.Outcome != "" || turn.Reply != "" || !strings.Contains(turn.Error, "is not known")) {
				t.Errorf("%+v", turn)
			}
		})
	}
}

// The row of a process that is gone says nothing about an agent that is known
// to have run.
func TestRowThatIsGone(t *testing.T) {
	w := newWorld(t)
	w.dies("turn-launched", "echo ALERT")
	turn := w.turns()[0]
	until(t, "the agent has ended", func() bool { return w.process(turn.ProcessID).Phase == process.Exited })
	err := w.Store.Update(t.Context(), func(tx *state.Tx) error {
		row, _, err := state.Processes.Get(tx, turn.ProcessID)
		if err != nil {
			return err
		}
		return state.Processes.Delete(tx, row.ID, row.Rev)
	})
	if err != nil {
		t.Fatal(err)
	}
	w.settled()
	if turn = w.turn(turn.ID); turn.Status != session.TurnLost {
		t.Errorf("%s: %s, want lost", turn.Status, turn.Error)
	}
}

func (w *world) process(id string) (p process.Process) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		row, _, err := state.Processes.Find(tx, id)
		p = row.Rec
		return err
	})
	return p
}
