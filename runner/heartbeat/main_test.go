package heartbeat_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"claw/prompts"
	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/clock/clocktest"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	rules "claw/state/heartbeat"
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

const mainKey = "agent:main:main"

// noon is when every world begins: a Wednesday.
var noon = time.Date(2048, 12, 2, 12, 0, 0, 0, time.UTC)

// world is a state directory, a clock that is moved by hand, and agents made
// of shell scripts; main without a script is the embedded one.
type world struct {
	*heartbeat.Engine
	t        testing.TB
	clock    *clocktest.Fake
	settings map[string]heartbeat.Settings
	agents   map[string]agent.Agent
	heard    string // folder of what agents read on stdin, one file a turn
	ids      int
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.New(noon), settings: map[string]heartbeat.Settings{}, agents: map[string]agent.Agent{}, heard: t.TempDir()}
	dir := filepath.Join(t.TempDir(), "state")
	t.Cleanup(func() { statetest.Remove(t, dir) })
	store := statetest.OpenAt(t, dir, state.Options{Now: w.clock.Now})
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	post := &deliver.Post{Store: store, Clock: w.clock, Default: "inbox", Environ: environ}
	turns := &agent.Turns{
		// Agents are real, and so is the time that is waited for them.
		Store: store, Clock: clock.New(), Agent: func(name string) agent.Agent { return w.agents[name] },
		Environ: environ, Cwd: t.TempDir(), MaxOutput: 1 << 20,
	}
	w.Engine = &heartbeat.Engine{
		Store: store, Clock: w.clock, Turns: turns, Post: post, Prompts: prompts.Default(), Agents: []string{"main"},
		Settings:  func(name string) heartbeat.Settings { return w.settings[name] },
		ConfigDir: t.TempDir(), Environ: environ, CronEnabled: true, Seed: "dev",
	}
	turns.OnEnd = w.End
	w.set("main", func(*heartbeat.Settings) {})
	return w
}

// set changes the settings of an agent, which start as those of an agent that
// says nothing in claw.toml.
func (w *world) set(name string, change func(s *heartbeat.Settings)) *world {
	s, ok := w.settings[name]
	if !ok {
		s = heartbeat.Settings{
			Agent: name, Enrolled: true, Every: 30 * time.Minute, Target: "last", Session: "main", AckMaxChars: 300, UserZone: "UTC", Embedded: true,
			Visible: func(string, string) heartbeat.Visibility { return heartbeat.Visibility{Alerts: true, Indicator: true} },
		}
	}
	change(&s)
	w.settings[name] = s
	return w
}

// sh makes an agent of a script. What it reads on stdin is kept.
func (w *world) sh(name, script string) *world {
	w.set(name, func(s *heartbeat.Settings) { s.Embedded = false })
	w.agents[name] = agent.Agent{
		Name: name, Command: []string{"sh", "-c", `cat > "$HEARD/$CLAW_TURN_ID"; ` + script}, Env: map[string]string{"HEARD": w.heard},
	}
	return w
}

// said is what the agent of turn t read.
func (w *world) said(t session.Turn) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.heard, t.ID))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// write makes a file in the configuration directory.
func (w *world) write(name, text string, mode os.FileMode) {
	w.t.Helper()
	path := filepath.Join(w.ConfigDir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
}

// checkScript is a check of heartbeat.d.
func (w *world) checkScript(name, script string) {
	w.write(filepath.Join("heartbeat.d", name), "#!/bin/sh\n"+script+"\n", 0o755)
}

func (w *world) update(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.Store.Update(w.t.Context(), fn, state.Relaxed()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) view(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.Store.View(fn); err != nil {
		w.t.Fatal(err)
	}
}

// queue adds an event as it is, with the fields that every one has.
func (w *world) queue(ev event.Event) event.Event {
	w.t.Helper()
	w.ids++
	ev.ID = ulid.New(w.clock.Now().Add(time.Duration(w.ids) * time.Millisecond)) // in the order of queueing
	ev.State, ev.CreatedAt = event.Queued, w.clock.Now()
	if ev.SessionKey == "" {
		ev.SessionKey = mainKey
	}
	if ev.Kind == "" {
		ev.Kind = event.KindEvent
	}
	w.update(func(tx *state.Tx) error { return state.Events.Add(tx, ev.ID, ev) })
	return ev
}

// ended queues the completion of a command.
func (w *world) ended(slug string, code int, output string) event.Event {
	verb := "completed"
	text := "Exec " + verb + " (" + slug + ", code " + strconv.Itoa(code) + ")"
	if output != "" {
		text += " :: " + output
	}
	return w.queue(event.Event{Kind: event.KindExec, ContextKey: "exec:" + slug, Text: text, Command: "./" + slug + ".sh", DurationMs: 1000})
}

func (w *world) event(id string) (ev event.Event) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		row, _, err := state.Events.Find(tx, id)
		ev = row.Rec
		return err
	})
	return ev
}

func (w *world) monitor(name string) (m rules.Monitor) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		row, _, err := state.Heartbeats.Get(tx, rules.Key(name))
		m = row.Rec
		return err
	})
	return m
}

// last is what became of the last heartbeat of main: "skipped quiet-hours".
func (w *world) last() string {
	w.t.Helper()
	m := w.monitor("main")
	if m.Last == nil {
		return ""
	}
	if m.Last.Status == "skipped" {
		return m.Last.Status + " " + m.Last.Reason
	}
	return m.Last.Status
}

func (w *world) turns() (all []session.Turn) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		all = all[:0]
		rows, err := state.Turns.All(tx)
		for _, r := range rows {
			all = append(all, r.Rec)
		}
		return err
	})
	return all
}

// sent are the texts of all deliveries, oldest first.
func (w *world) sent() (texts []string) {
	w.t.Helper()
	for _, d := range w.deliveries() {
		texts = append(texts, d.Text)
	}
	return texts
}

func (w *world) deliveries() (all []delivery.Delivery) {
	w.t.Helper()
	w.view(func(tx *state.Tx) error {
		all = all[:0]
		rows, err := state.Deliveries.All(tx)
		for _, r := range rows {
			all = append(all, r.Rec)
		}
		return err
	})
	return all
}

func (w *world) converge() *world {
	w.t.Helper()
	if err := w.Converge(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return w
}

// due moves the clock to the next heartbeat of main.
func (w *world) due() *world {
	w.t.Helper()
	w.converge()
	at := w.monitor("main").NextDue
	if at.IsZero() {
		w.t.Fatal("no heartbeat is due, ever")
	}
	w.clock.Advance(max(0, at.Sub(w.clock.Now())))
	return w
}

func (w *world) plan(extra ...heartbeat.Wake) heartbeat.Plan {
	w.t.Helper()
	p, err := w.Plan(w.clock.Now(), extra...)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// byHand is a wake by a person.
func byHand() heartbeat.Wake {
	return heartbeat.Wake{Agent: "main", Source: rules.SourceManual, Reason: rules.SourceManual, Intent: rules.IntentManual}
}

// tick converges, plans and does what there is to do, until nothing runs any
// more, and returns the turns.
func (w *world) tick(extra ...heartbeat.Wake) (turns []session.Turn) {
	w.t.Helper()
	w.converge()
	for pass := 0; ; pass++ {
		ran := false
		for _, p := range w.plan(extra...).Wakes {
			t, err := w.Do(w.t.Context(), p)
			if err != nil {
				w.t.Fatalf("%s: %v", p.SessionKey, err)
			}
			ran = ran || p.Run
			if t.ID != "" {
				turns = append(turns, t)
			}
		}
		extra = nil
		if !ran {
			return turns
		}
		if pass > 200 {
			w.t.Fatal("it does not come to an end")
		}
	}
}

// one is the only turn of a tick.
func (w *world) one(turns []session.Turn) session.Turn {
	w.t.Helper()
	if len(turns) != 1 {
		w.t.Fatalf("%d turns, not one: %+v", len(turns), turns)
	}
	return turns[0]
}

func (w *world) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s is %q, not %q", what, got, want)
	}
}

// wantSent compares everything that was ever to be sent.
func (w *world) wantSent(want ...string) {
	w.t.Helper()
	if got := strings.Join(w.sent(), "\n---\n"); got != strings.Join(want, "\n---\n") {
		w.t.Errorf("sent:\n%s\nwanted:\n%s", got, strings.Join(want, "\n---\n"))
	}
}
