//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	ledgers "claw/state"
	"claw/state/delivery"
	"claw/state/event"
	conversation "claw/state/session"
	"claw/state/task"
)

// wakes is a world with agents that keep what they are told, and a channel
// that keeps what it sends.
type wakes struct {
	*world
	agents []string
	toml   string // claw.toml
}

// wakeAgent keeps all of its stdin under the turn and its pid, so that nothing
// that it was told is overlooked, and answers with one line. It can be told to
// be slow, to fail or to die after it has read.
const wakeAgent = `cd "$1" || exit 1
cat > "told/new.$$" || exit 1
mv "told/new.$$" "told/$CLAW_TURN_ID.$$" || exit 1
[ -e slow ] && sleep 0.02
[ -e "fail-$CLAW_AGENT" ] && exit 3
[ -e "die-$CLAW_AGENT" ] && [ "$2" != recover ] && kill -KILL $$
echo "seen by $CLAW_AGENT"
`

// wakeChannel keeps the key of what it sends.
const wakeChannel = `text=$(tr '\n' ' ')
printf '%s\t%s\n' "$CLAW_IDEMPOTENCY_KEY" "$text" >> "$1/sent"
echo sent
`

func newWakes(t testing.TB, agents ...string) *wakes {
	w := &wakes{world: newWorld(t), agents: agents}
	if err := os.Mkdir(filepath.Join(w.dir, "told"), 0o700); err != nil {
		t.Fatal(err)
	}
	agent, channel := w.file("agent.sh", wakeAgent), w.file("channel.sh", wakeChannel)
	var b strings.Builder
	fmt.Fprintf(&b, "[agents.defaults.heartbeat]\nevery = '0m'\ntarget = 'note'\n[channels.note]\ncommand = ['sh', '%s', '%s']\nto = 'me'\n", channel, w.dir)
	fmt.Fprintf(&b, "[channels.defaults]\nchannel = 'note'\n")
	for _, name := range agents {
		fmt.Fprintf(&b, "[agents.%s]\ncommand = ['sh', '%s', '%s']\nrecover = ['sh', '%s', '%s', 'recover']\n", name, agent, w.dir, agent, w.dir)
	}
	w.toml = b.String()
	w.config(w.toml)
	if err := os.Mkdir(filepath.Join(w.dir, "home/config/claw/heartbeat.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

// program is a run of another program in this world.
func (w *world) program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = w.env, w.dir
	return cmd
}

// runner starts one and waits until it is at work.
func (w *world) runner() *exec.Cmd {
	w.t.Helper()
	cmd := w.command("runner", "run")
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.until("the runner is at work", func() bool { return w.claw("runner", "status").code == 0 })
	return cmd
}

// sent are the keys that reached the channel, each with how often.
func (w *wakes) sent() map[string]int {
	keys := map[string]int{}
	for _, line := range w.sentLines() {
		key, _, _ := strings.Cut(line, "\t")
		keys[key]++
	}
	return keys
}

func (w *wakes) sentLines() []string {
	raw, _ := os.ReadFile(filepath.Join(w.dir, "sent"))
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")[:strings.Count(string(raw), "\n")]
}

// told is what the agent read in the turn, one text for each time it was
// started.
func (w *wakes) told(turn string) []string {
	w.t.Helper()
	paths, _ := filepath.Glob(filepath.Join(w.dir, "told", turn+".*"))
	var texts []string
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		texts = append(texts, string(raw))
	}
	return texts
}

// quiet has ticks run until there is nothing left to do, each as if eleven
// minutes later than the one before: longer than any wait for a second try.
func (w *wakes) quiet() {
	w.t.Helper()
	for i := range 30 {
		w.until("all that runs has ended", w.ended)
		w.later(fmt.Sprintf("%dm", 11*i)).must("heartbeat", "tick")
		if len(w.running()) == 0 && w.rows().open() == "" {
			return
		}
	}
	w.t.Errorf("it does not become quiet: %s", w.rows().open())
}

// ended tells that nothing runs. A tick that only waits for the time of a
// second try is killed: it would stay for minutes.
func (w *wakes) ended() bool {
	running := w.running()
	waits := func(pid int) bool { argv := argvOf(pid); return len(argv) > 2 && argv[2] == "tick" }
	if len(running) == 0 || slices.ContainsFunc(running, func(pid int) bool { return !waits(pid) }) {
		return len(running) == 0
	}
	r := w.rows()
	for i := range r.events {
		if r.events[i].State == event.Queued && r.events[i].NotBefore.IsZero() {
			return false // it is about to tell it
		}
	}
	r.events, r.tasks = nil, nil
	for i := range r.sessions {
		if c := &r.sessions[i].Recovery; c.Phase == conversation.CycleInterrupted && !c.NotBefore.IsZero() {
			*c = conversation.Cycle{} // so does this
		}
	}
	if r.open() == "" {
		for _, pid := range running {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	return false
}

// rows is what claw has written down.
type rows struct {
	events     []event.Event
	turns      []conversation.Turn
	deliveries []delivery.Delivery
	sessions   []conversation.Session
	tasks      []task.Task
}

func (w *wakes) rows() (r rows) {
	w.t.Helper()
	if _, err := os.Stat(w.state); err != nil {
		return r
	}
	s, err := ledgers.Open(w.state, ledgers.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	err = s.View(func(tx *ledgers.Tx) error {
		all(w.t, tx, ledgers.Events, &r.events)
		all(w.t, tx, ledgers.Turns, &r.turns)
		all(w.t, tx, ledgers.Deliveries, &r.deliveries)
		all(w.t, tx, ledgers.Sessions, &r.sessions)
		all(w.t, tx, ledgers.Tasks, &r.tasks)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func all[T any](t testing.TB, tx *ledgers.Tx, l ledgers.Ledger[T], into *[]T) {
	t.Helper()
	live, err := l.All(tx)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range live {
		*into = append(*into, row.Rec)
	}
	for row, err := range l.Archived(tx) {
		if err != nil {
			t.Fatal(err)
		}
		*into = append(*into, row.Rec)
	}
}

// open names something that has not come to its end; empty: all has.
func (r rows) open() string {
	for _, e := range r.events {
		if e.State == event.Queued {
			return fmt.Sprintf("event %+v", e)
		}
	}
	for _, t := range r.turns {
		if !t.Status.Ended() {
			return fmt.Sprintf("turn %+v", t)
		}
	}
	for _, d := range r.deliveries {
		if d.State == delivery.Pending || d.State == delivery.Sending {
			return fmt.Sprintf("delivery %+v", d)
		}
	}
	for _, t := range r.tasks {
		if !t.Status.Terminal() {
			return fmt.Sprintf("task %+v", t)
		}
	}
	for _, s := range r.sessions {
		if s.Status == conversation.Running || s.Recovery.Phase == conversation.CycleInterrupted || s.Recovery.Phase == conversation.CycleReserved {
			return fmt.Sprintf("session %+v", s)
		}
	}
	return ""
}
