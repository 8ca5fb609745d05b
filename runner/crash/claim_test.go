package crash_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claw/runner/clock/clocktest"
	"claw/runner/control"
	"claw/runner/deliver"
	"claw/runner/scheduler"
	"claw/runner/settle"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/statetest"
)

// claims is one automation of every minute, whoever has runner.lock, and a log
// of what was done, by which the slots are judged: nothing in it is read from
// what the scheduler decides.
type claims struct {
	*rapid.T
	dir   string
	clock *clocktest.Fake
	from  time.Time // of the grid
	cron  *scheduler.Scheduler

	claimed []automation.Run  // in the hands of whoever lives, not begun
	going   map[string]func() // by run: lets its life-line go
	begun   map[string]int    // by run
	ended   map[string]automation.Status
}

// live is a program that takes over; the one before it is dead, and with it
// what it had claimed and not begun.
func (c *claims) live() {
	if c.cron != nil {
		c.cron.Store.Close()
	}
	store, err := state.Open(c.dir, state.Options{FS: statetest.Fast(c.dir), Now: c.clock.Now})
	c.ok(err)
	c.claimed = nil
	post := &deliver.Post{Store: store, Clock: c.clock, Default: "inbox", OnEnd: scheduler.Delivered}
	c.cron = &scheduler.Scheduler{
		Store: store, Clock: c.clock, Post: post, Enabled: true, MaxTurns: 8, Agents: []string{"main"}, Zone: scheduler.Zones(), Boot: noon.Add(-24 * time.Hour),
		Cwd: "/", MaxOutput: 1 << 20,
	}
}

func (c *claims) ok(errs ...error) {
	c.Helper()
	if err := errors.Join(errs...); err != nil {
		c.Fatal(err)
	}
}

func (c *claims) update(fn func(tx *state.Tx) error) {
	c.Helper()
	c.ok(c.cron.Store.Update(context.Background(), fn))
}

// pass is one of the living program: what it has claimed is in its hands.
func (c *claims) pass() {
	c.Helper()
	_, err := control.Settle(context.Background(), c.cron.Store, c.clock, "")
	c.ok(err)
	work, err := c.cron.Pass(context.Background(), func(id string) bool {
		for _, r := range c.claimed {
			if r.ID == id {
				return true
			}
		}
		return false
	})
	c.ok(err)
	for _, r := range work.Start {
		if c.begun[r.ID] > 0 {
			c.Fatalf("%s is to be begun again", r.ID)
		}
		c.claimed = append(c.claimed, r)
	}
	if len(c.claimed) > 1 || len(c.claimed)+len(c.going) > 1 {
		c.Fatalf("%d are claimed and %d go on, and they must not overlap", len(c.claimed), len(c.going))
	}
}

// begin starts what is claimed, as its supervisor writes it.
func (c *claims) begin() {
	c.Helper()
	if len(c.claimed) == 0 {
		return
	}
	r := c.claimed[0]
	c.claimed = c.claimed[1:]
	dir, err := c.cron.Store.MakeProcessDir(r.Owner.ProcessID)
	c.ok(err)
	die, _, err := state.TryLock(settle.Lifeline(dir))
	c.ok(err)
	c.update(func(tx *state.Tx) error {
		p := process.Process{
			ID: r.Owner.ProcessID, Slug: "job-" + r.ID, Phase: process.Running, Background: true, RunID: r.ID, Argv: []string{"true"}, Root: gone,
			CreatedAt: tx.Now(), StartedAt: tx.Now(),
		}
		return errors.Join(settle.AddTask(tx, &p), state.Processes.Put(tx, p.ID, 0, p))
	})
	c.begun[r.ID]++
	c.going[r.ID] = die
}

// end is the end of what goes on; how is whether its supervisor could say so.
func (c *claims) end(how string) {
	c.Helper()
	for run, die := range c.going {
		r, _, err := c.cron.RunOf(run)
		c.ok(err)
		code, id := 0, r.Owner.ProcessID
		if how == "fails" {
			code = 3
		}
		if how != "is lost" {
			c.update(func(tx *state.Tx) error {
				_, err := settle.Conclude(tx, id, settle.End{Phase: process.Exited, Exit: process.Exit{Code: &code, Reason: process.ReasonExit}, At: tx.Now()})
				return err
			})
		}
		die()
		delete(c.going, run)
	}
}

// check judges the records: each slot until the last one on record has one, no
// other time has any, and what has ended stays as it ended.
func (c *claims) check() {
	c.Helper()
	records, last := map[time.Time]int{}, time.Time{}
	c.ok(c.cron.Store.View(func(tx *state.Tx) error {
		rows, err := state.Runs.All(tx)
		for _, row := range rows {
			r := row.Rec
			if was, ok := c.ended[r.ID]; ok && was != r.Status {
				c.Fatalf("%s ended as %s, and is %s", r.ID, was, r.Status)
			}
			if !r.Status.Open() {
				c.ended[r.ID] = r.Status
			}
			if r.Attempt > 1 {
				continue
			}
			to := r.Slot
			if r.Through.After(to) {
				to = r.Through
			}
			for at := r.Slot; !at.After(to); at = at.Add(time.Minute) {
				records[at.UTC()]++
			}
			if to.After(last) {
				last = to
			}
		}
		return err
	}))
	for at := c.from.Add(time.Minute); !at.After(last); at = at.Add(time.Minute) {
		if records[at.UTC()] != 1 {
			c.Fatalf("the slot of %s has %d records", at, records[at.UTC()])
		}
		delete(records, at.UTC())
	}
	if len(records) > 0 || last.After(c.clock.Now()) {
		c.Fatalf("at %s there are records of %v", c.clock.Now(), records)
	}
	for id, n := range c.begun {
		if n != 1 {
			c.Fatalf("%s was begun %d times", id, n)
		}
	}
}

// TestClaimAgainstALog: whatever the order in which slots come due, are claimed,
// begun, ended and lost, and whoever dies with a claim in his hands, each slot
// has one record and its command was begun once at most, never two at a time.
func TestClaimAgainstALog(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp(base, "claims")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		c := &claims{
			T: t, dir: filepath.Join(root, "state"), clock: clocktest.New(noon), from: noon,
			going: map[string]func(){}, begun: map[string]int{}, ended: map[string]automation.Status{},
		}
		c.live()
		_, _, err = c.cron.Add(context.Background(), automation.Automation{
			Name: "job", Enabled: true, Schedule: automation.Schedule{Kind: automation.KindEvery, EveryMs: 60_000},
			Payload: automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}}, Delivery: &automation.Delivery{Mode: "none"},
		})
		c.ok(err)
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				c.clock.Advance(time.Duration(rapid.IntRange(1, 200).Draw(t, "seconds")) * time.Second)
			},
			"pass":            func(*rapid.T) { c.pass() },
			"begin":           func(*rapid.T) { c.begin() },
			"it ends":         func(t *rapid.T) { c.end(rapid.SampledFrom([]string{"well", "fails", "is lost"}).Draw(t, "how")) },
			"the holder dies": func(*rapid.T) { c.live() },
			"":                func(*rapid.T) { c.check() },
		})
		c.end("is lost")
		c.cron.Store.Close()
	})
}
