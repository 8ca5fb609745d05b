package agent_test

import (
	"os"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/session"
	"claw/state/statetest"
)

// The test binary is also the supervisor of the agents, and some of the
// agents.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervisor.Command {
		os.Exit(supervisor.Main())
	}
	if part := os.Getenv("CLAW_TEST_PART"); part != "" {
		play(part)
		return
	}
	os.Exit(m.Run())
}

const main = "agent:main:main"

// world is a state directory with agents made of shell scripts.
type world struct {
	*agent.Turns
	t      testing.TB
	agents map[string]agent.Agent
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return at(t, statetest.Open(t))
}

func at(t testing.TB, store *state.Store) *world {
	w := &world{t: t, agents: map[string]agent.Agent{}}
	w.Turns = &agent.Turns{
		Store: store, Clock: clock.New(), Agent: func(name string) agent.Agent { return w.agents[name] },
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, Cwd: t.TempDir(), MaxOutput: 64 << 20,
	}
	return w
}

// sh makes the agent main of a script.
func (w *world) sh(script string) *world {
	w.agents["main"] = agent.Agent{Name: "main", Command: []string{"sh", "-c", script}}
	return w
}

// send is what a person writes to main.
func send(message string) agent.Request {
	return agent.Request{Agent: "main", SessionKey: main, Kind: session.KindUser, Reason: "user", Message: message, ReplyMode: session.ReplyCaller, Wait: -1}
}

func wake(message string) agent.Request {
	req := send(message)
	req.Kind, req.Reason, req.Quiet, req.ReplyMode = session.KindExec, "exec-event", true, session.ReplyDeliver
	return req
}

// run carries a request out; it must be admitted.
func (w *world) run(req agent.Request) agent.Result {
	w.t.Helper()
	res, err := w.Run(w.t.Context(), req)
	if err != nil {
		w.t.Fatal(err)
	}
	if stored := w.turn(res.Turn.ID); stored.Status != res.Turn.Status {
		w.t.Errorf("the row says %s, the result %s", stored.Status, res.Turn.Status)
	}
	return res
}

func (w *world) turn(id string) (t session.Turn) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		row, _, err := state.Turns.Find(tx, id)
		t = row.Rec
		return err
	})
	return t
}

func (w *world) turns() (all []session.Turn) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		all = all[:0]
		rows, err := state.Turns.All(tx)
		for _, row := range rows {
			all = append(all, row.Rec)
		}
		return err
	})
	return all
}

func (w *world) session(key string) (s session.Session) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		row, _, err := state.Sessions.Get(tx, key)
		s = row.Rec
		return err
	})
	return s
}

func (w *world) view(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.Store.View(fn); err != nil {
		w.t.Fatal(err)
	}
}

// until waits for a condition.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
