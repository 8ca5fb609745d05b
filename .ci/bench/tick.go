package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claw/state"
	"claw/state/event"
	"claw/state/session"
)

// sessions is how many conversations the long history has.
const sessions = 1000

// tick is what a tick costs that finds nothing to do, with a long past and
// with none.
func tick(b *bench) []row {
	h := b.histories()
	if h.err != nil {
		return []row{skipped("tick", h.err.Error())}
	}
	if err := h.long.makeSessions(sessions); err != nil {
		b.fault("%v", err)
		return []row{skipped("tick", err.Error())}
	}
	none := b.instance()
	quiet := func(c instance) func() (float64, error) {
		return func() (float64, error) { return c.run("heartbeat", "tick") }
	}
	m := b.rounds(b.pick(41, 15), []contestant{{name: "claw", once: quiet(h.long)}, {name: "claw, empty", once: quiet(none)}})
	r := newRow("tick: quiet", "ms", m, "claw", "claw, empty")
	r.Note = fmt.Sprintf("%d finished, %d sessions", b.finished, sessions)
	return []row{r.atMost(1.5)}
}

func (c instance) makeSessions(n int) error {
	s, err := c.store()
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Update(context.Background(), func(tx *state.Tx) error {
		for i := range n {
			key := fmt.Sprintf("agent:main:chat%d", i)
			at := time.Now().Add(-time.Duration(i) * time.Hour)
			one := session.Session{Key: key, ID: oldID(at, i), Agent: "main", Status: session.Done, Turns: 3, CreatedAt: at, UpdatedAt: at}
			if _, there, err := state.Sessions.Get(tx, key); there || err != nil {
				return err
			}
			if err := state.Sessions.Put(tx, key, 0, one); err != nil {
				return err
			}
		}
		return nil
	})
}

// backlog is how long a queue of events takes that one session is told twenty
// at a time, and whether each is told once.
func backlog(b *bench) []row {
	const few, many = 200, 1000
	all := []contestant{
		{name: "claw, few", once: func() (float64, error) { return b.workOff(few) }},
		{name: "claw", once: func() (float64, error) { return b.workOff(many) }},
	}
	m := b.rounds(b.pick(3, 1), all)
	r := newRow("backlog", "ms/turn", m, "claw", "claw, few")
	r.Note = fmt.Sprintf("%d events beside %d, 20 a turn", many, few)
	return []row{r.judge("linear: ≤ 1.5 ×", r.Ratio > 0, r.Ratio <= 1.5)}
}

// workOff queues n events, runs turns by hand until none is left, and gives the
// mean time of a turn. The agent keeps what it is told.
func (b *bench) workOff(n int) (float64, error) {
	c := b.instance()
	dir := b.sub("told")
	told, config := filepath.Join(dir, "told"), filepath.Join(dir, "claw.toml")
	text := fmt.Sprintf("[agents.main]\ncommand = [\"/bin/sh\", \"-c\", \"cat >> %s; echo done\"]\n[agents.main.heartbeat]\ntarget = \"none\"\n", told)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return 0, err
	}
	c.env = append(c.env, "CLAW_CONFIG="+config, "CLAW_WAKE_ON_EXIT=off")
	if err := c.queue(n); err != nil {
		return 0, err
	}
	turns := (n + 19) / 20
	from := mono()
	for range turns {
		if _, err := c.run("heartbeat", "run"); err != nil {
			return 0, err
		}
	}
	took := ms(from) / float64(turns)
	seen, err := os.ReadFile(told)
	for i := range n {
		if k := strings.Count(string(seen), fmt.Sprintf("(number-%06d,", i)); k != 1 {
			b.fault("of %d events the agent was told number %d %d times", n, i, k)
			break
		}
	}
	return took, err
}

// queue writes n completions of commands of the main agent.
func (c instance) queue(n int) error {
	s, err := c.store()
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Update(context.Background(), func(tx *state.Tx) error {
		for i := range n {
			e := event.Event{
				ID: oldID(time.Now(), i), State: event.Queued, Kind: event.KindExec, SessionKey: session.Main("main"), Agent: "main",
				ContextKey: fmt.Sprintf("exec:number-%06d", i), Text: fmt.Sprintf("Exec completed (number-%06d, code 3)", i), CreatedAt: time.Now(),
			}
			if err := state.Events.Add(tx, e.ID, e); err != nil {
				return err
			}
		}
		return nil
	})
}
