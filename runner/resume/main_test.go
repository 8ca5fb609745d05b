package resume_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"claw/prompts"
	"claw/runner/agent"
	"claw/runner/clock/clocktest"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/resume"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/ulid"
)

// The test binary is also the supervisor of the agents.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervisor.Command {
		os.Exit(supervisor.Main())
	}
	os.Exit(m.Run())
}

const key = "agent:main:main"

var noon = time.Date(2048, 12, 1, 12, 0, 0, 0, time.UTC)

// The agents of a world. Each notes that it ran: "ordinary" and "recover".
const (
	dies    = `kill -KILL $$`
	answers = `cat > /dev/null; echo "it is done"`
)

// world is a state directory with one agent made of two shell scripts.
type world struct {
	*resume.Recoverer
	t     *testing.T
	clock *clocktest.Fake
	agent agent.Agent
	dir   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.New(noon), dir: t.TempDir()}
	store := statetest.OpenAt(t, t.TempDir()+"/state", state.Options{Now: w.clock.Now})
	w.Recoverer = on(store, w.clock, func() agent.Agent { return w.agent })
	w.Turns.Environ, w.Turns.Cwd, w.Turns.MaxOutput = []string{"PATH=" + os.Getenv("PATH")}, w.dir, 1<<20
	return w
}

// on is what recovers in a store.
func on(store *state.Store, c *clocktest.Fake, ag func() agent.Agent) *resume.Recoverer {
	turns := &agent.Turns{Store: store, Clock: c, Agent: func(string) agent.Agent { return ag() }}
	engine := &heartbeat.Engine{
		Store: store, Clock: c, Turns: turns, Post: &deliver.Post{Store: store, Clock: c, Default: "inbox"}, Prompts: prompts.Default(),
		Agents: []string{"main"}, CronEnabled: true,
		Settings: func(string) heartbeat.Settings {
			return heartbeat.Settings{Agent: "main", Enrolled: true, Target: "last", UserZone: "UTC", Embedded: len(ag().Command) == 0}
		},
	}
	turns.OnEnd, turns.OnOver = engine.End, engine.Over
	return &resume.Recoverer{Store: store, Clock: c, Turns: turns, Heartbeat: engine}
}

// does sets what the two argvs do; an empty one is not configured.
func (w *world) does(ordinary, readOnly string) {
	w.agent = agent.Agent{Name: "main", Command: []string{"sh", "-c", "echo ordinary >> runs; " + ordinary}}
	if readOnly != "" {
		w.agent.Recover = []string{"sh", "-c", "echo recover >> runs; " + readOnly}
	}
}

// runs are the argvs that ran, oldest first.
func (w *world) runs() string {
	raw, _ := os.ReadFile(w.dir + "/runs")
	return strings.Join(strings.Fields(string(raw)), " ")
}

// typed is what a person writes, who is not there any more when it ends.
func typed(message string) agent.Request {
	return agent.Request{Agent: "main", SessionKey: key, Kind: session.KindUser, Reason: "user", Message: message, ReplyMode: session.ReplyCaller, Drain: true, Wait: -1}
}

func (w *world) run(req agent.Request) session.Turn {
	w.t.Helper()
	res, err := w.Turns.Run(w.t.Context(), req)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.Turn
}

// event queues one, and wake is the turn that shows it.
func (w *world) event(text string) string {
	w.t.Helper()
	id := ulid.New(w.clock.Now())
	w.update(func(tx *state.Tx) error {
		return state.Events.Add(tx, id, event.Event{ID: id, State: event.Queued, Kind: event.KindEvent, SessionKey: key, Text: text, CreatedAt: tx.Now()})
	})
	return id
}

func wake(id string) agent.Request {
	req := typed(session.Compose(session.KindEvent, "something happened"))
	req.Kind, req.Quiet, req.ReplyMode, req.EventIDs, req.Drain = session.KindEvent, true, session.ReplyDeliver, []string{id}, false
	req.Route = delivery.Route{Channel: "inbox"}
	return req
}

// tick does what is due, once, and returns the plan it was done by.
func (w *world) tick() resume.Plan {
	w.t.Helper()
	if _, _, err := w.Turns.Settle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	p := w.plan()
	for _, it := range p.Items {
		if it.Due {
			if _, err := w.Do(w.t.Context(), it); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return p
}

func (w *world) plan() resume.Plan {
	w.t.Helper()
	p, err := w.Plan(w.clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) update(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.Store.Update(w.t.Context(), fn, state.Relaxed()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) session() (s session.Session) {
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

func (w *world) turns() (all []session.Turn) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		all = nil
		rows, err := state.Turns.All(tx)
		for _, row := range rows {
			all = append(all, row.Rec)
		}
		return err
	})
	return all
}

// attempts are the turns that went on with others; many begin within one
// millisecond, so that they have no order.
func (w *world) attempts() (all []session.Turn) {
	for _, t := range w.turns() {
		if t.Kind == session.KindRecovery {
			all = append(all, t)
		}
	}
	return all
}

func (w *world) eventState(id string) (s event.State) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		row, _, err := state.Events.Find(tx, id)
		s = row.Rec.State
		return err
	})
	return s
}

// sent are all messages, oldest first.
func (w *world) sent() (all []delivery.Delivery) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		all = nil
		rows, err := state.Deliveries.All(tx)
		for _, row := range rows {
			all = append(all, row.Rec)
		}
		return err
	})
	return all
}

// told holds that there is one message, with all of these in it; none: no
// message.
func (w *world) told(parts ...string) {
	w.t.Helper()
	all := w.sent()
	if want := min(len(parts), 1); len(all) != want {
		w.t.Fatalf("%d messages, not %d: %+v", len(all), want, all)
	}
	for _, part := range parts {
		if !strings.Contains(all[0].Text, part) {
			w.t.Errorf("the message does not say %q:\n%s", part, all[0].Text)
		}
	}
}

func (w *world) cycle(phase session.Phase, ending session.Ending, charged int) session.Cycle {
	w.t.Helper()
	c := w.session().Recovery
	if c.Phase != phase || c.Ending != ending || c.Charged != charged {
		w.t.Errorf("the cycle is %s %s with %d charges (%s), not %s %s with %d", c.Phase, c.Ending, c.Charged, c.Reason, phase, ending, charged)
	}
	if err := c.Check(); err != nil {
		w.t.Error(err)
	}
	return c
}

func (w *world) ran(want string) {
	w.t.Helper()
	if got := w.runs(); got != want {
		w.t.Errorf("ran %q, want %q", got, want)
	}
}
