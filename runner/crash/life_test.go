// Package crash_test has whole scenarios die at every operation on the file
// system, go on, die again while they go on, and looks at what has become of
// all that was promised (issue 5, section 3; spec/tasks-recovery.md 9).
package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"claw/prompts"
	"claw/runner"
	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/output"
	"claw/runner/scheduler"
	"claw/runner/settle"
	"claw/state"
	"claw/state/delivery"
	"claw/state/process"
	"claw/state/session"
	"claw/state/ulid"
)

const mainKey = "agent:main:main"

var here = delivery.Route{Channel: "stdout", To: "me"}

// gone is a process of an earlier boot of the machine.
var gone = process.Identity{PID: 4711, Boot: "before", Start: 1}

// world is what lies outside of the state directory: it survives every crash,
// and knows what was promised.
type world struct {
	mu    sync.Mutex
	said  []string        // messages that have reached the person
	began map[string]int  // by turn: how often its agent was started
	owed  map[string]bool // by marker: the person is told of it once; false: at most once
	deaf  int             // messages that are refused first
	at    time.Duration   // how late it is
	slots bool            // there are automations, which go on

	format   []byte // FORMAT before a newer claw took over
	upgraded bool   // that is on disk
}

func newWorld() *world {
	return &world{began: map[string]int{}, owed: map[string]bool{}}
}

// Write is the person reading: each call is one message.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.deaf > 0 {
		w.deaf--
		return 0, errors.New("nobody listens")
	}
	w.said = append(w.said, string(p))
	return len(p), nil
}

// heard is how many messages with a marker have reached the person.
func (w *world) heard(marker string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.said {
		if strings.Contains(text, marker) {
			n++
		}
	}
	return n
}

// may notes that the person may be told of something, and promise that he is.
func (w *world) may(marker string)     { w.owed[marker] = false }
func (w *world) promise(marker string) { w.owed[marker] = true }

// shifted is the clock of the machine, whose wall is set to another time.
type shifted struct {
	clock.Clock
	by time.Duration
}

func (s *shifted) Now() time.Time { return s.Clock.Now().Add(s.by) }

// life is one program over a state directory, from its begin to its death.
type life struct {
	*runner.Runner
	w     *world
	clock *shifted
	fs    *muted
	cut   bool // whoever is about to write the end of a turn dies before
	early bool // and before the transcript is written
}

// muted is the file system of a life, for deaths between two writes.
type muted struct {
	state.FS
	l *life
}

// OpenFile is where a transcript is not written any more.
func (m *muted) OpenFile(name string, flag int, perm fs.FileMode) (state.File, error) {
	if m.l.early && flag&os.O_APPEND != 0 && strings.Contains(name, "/sessions/") {
		return nil, errCut
	}
	return m.FS.OpenFile(name, flag, perm)
}

// errCut is the death of whoever waits for a turn.
var errCut = errors.New("it died before it could write the end of the turn")

// begin is a program that is started, so much later than the one before.
func (w *world) begin(fs state.FS, dir, boot string, later time.Duration) (*life, error) {
	w.at += later
	l := &life{w: w, clock: &shifted{clock.New(), w.at}}
	if fs == nil {
		fs = state.OS()
	}
	l.fs = &muted{fs, l}
	store, err := state.Open(dir, state.Options{FS: l.fs, Boot: boot, Now: l.clock.Now})
	if err != nil {
		return nil, err
	}
	l.Runner = l.runner(store)
	// What the life before this one remembered has died with it.
	err = store.View(func(tx *state.Tx) error {
		rows, err := state.Deliveries.All(tx)
		for _, row := range rows {
			deliver.Forget(row.ID)
		}
		return err
	})
	return l, err
}

// runner is wired as the command line does it, with the embedded agent.
func (l *life) runner(store *state.Store) *runner.Runner {
	post := &deliver.Post{Store: store, Clock: l.clock, Default: "stdout", Stdout: l.w, OnEnd: scheduler.Delivered}
	turns := &agent.Turns{Store: store, Clock: l.clock, Agent: func(name string) agent.Agent { return agent.Agent{Name: name} }}
	engine := &heartbeat.Engine{
		Store: store, Clock: l.clock, Turns: turns, Post: post, Prompts: prompts.Default(), Agents: []string{"main"}, ConfigDir: "/nonexistent",
		Seed: "crash", Settings: func(name string) heartbeat.Settings {
			return heartbeat.Settings{
				Agent: name, Enrolled: true, Target: "last", Session: "main", AckMaxChars: 300, UserZone: "UTC", Embedded: true,
				Visible: func(string, string) heartbeat.Visibility { return heartbeat.Visibility{Alerts: true, Indicator: true} },
			}
		},
	}
	turns.OnEnd = func(tx *state.Tx, t *session.Turn, reply string) error {
		if l.cut {
			return errCut
		}
		return engine.End(tx, t, reply)
	}
	turns.OnOver = engine.Over
	return &runner.Runner{Store: store, Clock: l.clock, Turns: turns, Heartbeat: engine, Post: post}
}

// tick is claw heartbeat tick. That somebody died is no error.
func (l *life) tick() error {
	_, err := l.Tick(context.Background())
	if errors.Is(err, errCut) {
		return nil
	}
	return err
}

// wait lets time pass.
func (l *life) wait(d time.Duration) {
	l.clock.by += d
	l.w.at += d
}

// dead tells that the machine has stopped.
func (l *life) dead() bool {
	under, ok := l.fs.FS.(interface{ Crashed() bool })
	return ok && under.Crashed()
}

func (l *life) update(fn func(tx *state.Tx) error) error {
	return l.Store.Update(context.Background(), fn)
}

// process is a command that exec has started, in front of its caller or not.
// marker is what the person is told of its end.
func (l *life) process(marker string, background bool) (string, error) {
	id := ulid.New(l.clock.Now())
	l.w.may(marker)
	err := l.update(func(tx *state.Tx) error {
		p := process.Process{
			ID: id, Slug: marker, Agent: "main", Session: mainKey, Command: "make " + marker, Argv: []string{"make", marker}, Phase: process.Running,
			Background: background, NotifyOnExit: true, CreatedAt: tx.Now(), StartedAt: tx.Now(), TTLMs: 1_800_000, Root: gone,
		}
		if background {
			if err := settle.AddTask(tx, &p); err != nil {
				return err
			}
		}
		return state.Processes.Put(tx, p.ID, 0, p)
	})
	if err == nil && background {
		l.w.promise(marker)
	}
	return id, err
}

// ended is its end, as its supervisor writes it.
func (l *life) ended(id string, code int) error {
	return l.update(func(tx *state.Tx) error {
		_, err := settle.Conclude(tx, id, settle.End{
			Phase: process.Exited, Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, At: tx.Now(), Tail: "out\n",
		})
		return err
	})
}

// ask is a person's turn; its answer is a message.
func (l *life) ask(marker string) error {
	answer := "answer to " + marker
	l.w.may(marker)
	res, err := l.Turns.Run(context.Background(), agent.Request{
		Agent: "main", SessionKey: mainKey, Kind: session.KindUser, Reason: "user", Message: "please do " + marker, Route: here,
		ReplyMode: session.ReplyDeliver, Answer: &answer,
	})
	if err == nil && res.Turn.Status == session.TurnSucceeded {
		l.w.promise(marker)
	}
	return err
}

// open are the turns that have not ended.
func (l *life) open() (open []state.Row[session.Turn], err error) {
	err = l.Store.View(func(tx *state.Tx) error {
		rows, err := state.Turns.All(tx)
		for _, row := range rows {
			if !row.Rec.Status.Ended() {
				open = append(open, row)
			}
		}
		return err
	})
	return open, err
}

// launch starts the agent of the turn that is open, whose supervisor then dies
// with it (answer is ""), or writes its end.
func (l *life) launch(answer string) error {
	rows, err := l.open()
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return fmt.Errorf("%d turns are open", len(rows))
	}
	row, id := rows[0], ulid.New(l.clock.Now())
	if err := l.print(id, answer); err != nil {
		return err
	}
	err = l.update(func(tx *state.Tx) error {
		t := row.Rec
		t.Status, t.ProcessID, t.StartedAt = session.TurnRunning, id, tx.Now()
		p := process.Process{ID: id, Slug: "agent-" + id, TurnID: t.ID, Phase: process.Running, Root: gone, CreatedAt: tx.Now(), StartedAt: tx.Now()}
		if code := 0; answer != "" {
			p.Phase, p.EndedAt, p.Exit = process.Exited, tx.Now(), &process.Exit{Code: &code, Reason: process.ReasonExit}
		}
		return errors.Join(state.Turns.Put(tx, t.ID, row.Rev, t), state.Processes.Put(tx, p.ID, 0, p))
	})
	if err == nil {
		l.w.began[row.ID]++
	}
	return err
}

// print is what an agent has written before it ended.
func (l *life) print(id, answer string) error {
	if answer == "" {
		return nil
	}
	dir, err := l.Store.MakeProcessDir(id)
	if err != nil {
		return err
	}
	w := output.NewWriter(dir, output.WriterOptions{})
	w.Write(output.Stdout, []byte(answer))
	return w.Close()
}

// cutOff has something that begins a turn die before anything of its end is
// written.
func (l *life) cutOff(begin func() error) error {
	l.early = true
	defer func() { l.early = false }()
	return l.cutLate(begin)
}

// cutLate has it die when the answer stands in the transcript, and nowhere else.
func (l *life) cutLate(begin func() error) error {
	l.cut = true
	defer func() { l.cut = false }()
	if err := begin(); err != nil && !errors.Is(err, errCut) {
		return err
	}
	return nil
}

// lose has the agent of the turn that is open die together with its supervisor.
// From then on it is owed what becomes of it.
func (l *life) lose(marker string) error {
	err := l.launch("")
	if err == nil && marker != "" {
		l.w.promise(marker)
	}
	return err
}
