//go:build linux

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/state/delivery"
)

// hookMail is what comes from outside.
const hookMail = "From: Bob <bob@example.org>\nSubject: mail-1\nMessage-ID: <1@example.org>\n\nhello\n"

// hookAnswer is what claw hook dispatch prints.
type hookAnswer struct {
	OK            bool
	RunID, Reason string
}

// hookTask is the task of a message from outside, as far as the tests look at it.
type hookTask struct{ RunID, TaskKind, Status, Error string }

// A client that hands a mail over dies, alone or with everything of claw that
// runs, before whichever write, with or without another one that races with it
// under the same key. Then the mail system tries again. The agent was asked once:
// or it is recorded, and its main session was told, that nobody knows what it did
// (issue 6, "Done when"). CLAW_DEATHS=all
// kills at every act, instead of at each 45th; =N at the Nth.
func TestHookKilledAtEveryAct(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"waits", "queue", "race"} {
		for _, who := range []string{"one", "all"} {
			t.Run(mode+"/"+who, func(t *testing.T) {
				t.Parallel()
				everyHookAct(t, mode, who)
			})
		}
	}
}

func everyHookAct(t *testing.T, mode, who string) {
	only, step := number64("CLAW_DEATHS", 0), 45
	if os.Getenv("CLAW_DEATHS") == "all" {
		step = 1
	}
	from := 1 + rand.IntN(step)
	if only > 0 {
		from = int(only)
	}
	n, tally := from, map[string]int{}
	for died := true; died && !t.Failed(); n += step {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var status string
			status, died = newWakes(t, "main").dispatched(mode, n, who)
			tally[status]++
			died = died && only == 0
		})
	}
	t.Logf("from act %d in steps of %d to %d: %v", from, step, n, tally)
}

// dispatched hands a mail over three times, with a death at act n of the first.
// It says what became of it, and whether there is such an act.
func (w *wakes) dispatched(mode string, n int, who string) (status string, died bool) {
	w.t.Helper()
	at := fmt.Sprintf("%s, act %d %s", mode, n, who)
	args := []string{"hook", "dispatch", "--agent", "main", "--session-key", "hook:mail", "--source", "email", "--deliver", "--idempotency-key", "message-id"}
	if mode == "queue" {
		args = append(args, "--queue")
	}
	var said strings.Builder
	rival := w.command(args...)
	rival.Stdin, rival.Stdout = strings.NewReader(hookMail), &said
	over, raced := make(chan struct{}), make(chan error, 1)
	if mode == "race" {
		go func() { raced <- w.afterAccept(rival, over) }()
	}
	r := w.finish(w.program("mortal", append([]string{fmt.Sprint(n), who, w.bin}, args...)...), hookMail)
	close(over)
	if r.code != 0 && r.code != 9 {
		w.t.Fatalf("mortal: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if mode == "race" {
		if err := <-raced; err != nil {
			w.t.Fatal(err)
		}
		w.wait(rival)
	}
	promised := w.promised(said.String(), w.promised(r.out, ""))
	again := w.finish(w.command(args...), hookMail)
	if again.code != 0 {
		w.t.Errorf("%s: the next try: exit %d\n%s%s", at, again.code, again.out, again.err)
	}
	promised = w.promised(again.out, promised)
	w.quiet()
	w.sound(at)
	return w.hookEnd(at, promised), r.code == 9
}

// afterAccept starts the other client as soon as the first one has written
// something down, or is over. (It would win otherwise: the first one is traced.)
func (w *wakes) afterAccept(rival *exec.Cmd, over <-chan struct{}) error {
	for {
		raw, _ := os.ReadFile(filepath.Join(w.state, "journal.jsonl"))
		if bytes.Contains(raw, []byte("hook:mail")) {
			return rival.Start()
		}
		select {
		case <-over:
			return rival.Start()
		case <-time.After(time.Millisecond):
		}
	}
}

// promised is the id that an answer gives, which must be known if it is the
// second.
func (w *wakes) promised(out, known string) string {
	w.t.Helper()
	var a hookAnswer
	if out == "" {
		return known
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		w.t.Errorf("%q: %v", out, err)
	}
	switch {
	case !a.OK:
		return known
	case known != "" && known != a.RunID:
		w.t.Errorf("it was accepted as %s and as %s", known, a.RunID)
	}
	return a.RunID
}

// hookEnd looks at what has become of the mail.
func (w *wakes) hookEnd(at, promised string) (status string) {
	w.t.Helper()
	var list struct{ Tasks []hookTask }
	w.json(&list, "tasks", "list", "--json")
	for _, task := range list.Tasks {
		if task.TaskKind != "hook" || task.RunID != promised {
			if task.TaskKind == "hook" && task.Status != "cancelled" {
				w.t.Errorf("%s: besides %s there is %+v", at, promised, task)
			}
			continue
		}
		status = task.Status
	}
	asked, sent := 0, len(w.sentLines())
	r := w.rows()
	for _, t := range r.turns {
		if t.Kind == "hook" {
			asked += len(w.told(t.ID))
		}
	}
	unknown := slices.ContainsFunc(r.deliveries, func(d delivery.Delivery) bool { return d.State == delivery.Unknown })
	var events struct{ Events []struct{ Text string } }
	w.json(&events, "event", "list", "--all", "--json")
	warned := strings.Contains(fmt.Sprint(events), "Hook Email (error)")
	switch {
	case asked > 1:
		w.t.Errorf("%s: the agent was asked %d times", at, asked)
	case sent > 1, status == "succeeded" && (asked != 1 || sent == 0 && !unknown):
		w.t.Errorf("%s: it is %s; the agent was asked %d times, %d messages were sent", at, status, asked, sent)
	case status == "failed" && !warned, status != "succeeded" && status != "failed":
		w.t.Errorf("%s: it is %q, and somebody was told: %t", at, status, warned)
	}
	return status
}
