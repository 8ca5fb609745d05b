package crash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"claw/runner"
	"claw/runner/agent"
	"claw/runner/retention"
	"claw/runner/scheduler"
	"claw/runner/settle"
	"claw/state"
	"claw/state/automation"
	"claw/state/boot"
	"claw/state/process"
	"claw/state/session"
)

// story is a whole scenario, in one life that ends with it.
type story struct {
	name string
	tell func(l *life) error
}

var stories = []story{
	{"exec", execStory},
	{"yield", yieldStory},
	{"turn that is answered", answeredStory},
	{"turn whose answer is known from the transcript", knownStory},
	{"turn that is cut off", cutOffStory},
	{"turn that was never begun", neverBegunStory},
	{"turns about events that are cut off", eventsStory},
	{"until the tombstone and out of it", tombstoneStory},
	{"a person dismisses and retries", byHandStory},
	{"delivery that has to be repeated", deliveryStory},
	{"automation", automationStory},
	{"restart with a continuation", restartStory},
	{"compaction and archive", archiveStory},
	{"upgrade of FORMAT", upgradeStory},
}

// tries carries out one step after the other until one fails.
func tries(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// execStory: a command in the background ends, its end wakes the session, what
// the session says of it is sent.
func execStory(l *life) error {
	for _, marker := range []string{"amber-reef", "coral-inlet"} {
		id, err := l.process(marker, true)
		if err != nil {
			return err
		}
		if err := tries(func() error { return l.ended(id, len(marker)%2) }, l.tick); err != nil {
			return err
		}
	}
	return nil
}

// yieldStory: a command in the foreground is let go of, and ends afterwards.
func yieldStory(l *life) error {
	id, err := l.process("tide-orbit", false)
	if err != nil {
		return err
	}
	err = l.update(func(tx *state.Tx) error { return settle.Promote(tx, id) })
	if err != nil {
		return err
	}
	l.w.promise("tide-orbit") // the caller has said "still running" and is gone
	return tries(func() error { return l.ended(id, 3) }, l.tick, l.tick)
}

// answeredStory: the agent has answered, and whoever waited for it is dead. Its
// answer is carried forward, it is not asked again.
func answeredStory(l *life) error {
	return tries(
		func() error { return l.cutOff(func() error { return l.ask("errand-one") }) },
		func() error { return l.launch("answer to errand-one") },
		func() error { l.w.promise("errand-one"); return l.tick() },
		func() error { return l.ask("errand-two") },
		l.tick,
	)
}

// knownStory: all that is left of the answer is the transcript. It is carried
// forward too.
func knownStory(l *life) error {
	return tries(
		func() error { return l.cutLate(func() error { return l.ask("errand-one") }) },
		func() error { return l.lose("errand-one") },
		l.tick,
		func() error { return l.ask("errand-two") },
		l.tick,
	)
}

// cutOffStory: agent and supervisor die together; the session goes on.
func cutOffStory(l *life) error {
	return tries(
		func() error { return l.cutOff(func() error { return l.ask("errand-one") }) },
		func() error { return l.lose("errand-one") },
		l.tick,
		func() error { l.wait(time.Minute); return l.tick() },
		func() error { return l.ask("errand-two") },
		l.tick,
	)
}

// neverBegunStory: claw dies after the admission and before the agent begins.
func neverBegunStory(l *life) error {
	return tries(
		func() error { return l.cutOff(func() error { return l.ask("errand-one") }) },
		l.tick,
		func() error { l.w.promise("errand-one"); l.wait(time.Minute); return l.tick() },
	)
}

// eventsStory: the turns that show the ends of commands are cut off, one after
// the other; each end is told once, or said to be of unknown effect once.
func eventsStory(l *life) error {
	for _, marker := range []string{"amber-reef", "coral-inlet"} {
		id, err := l.process(marker, true)
		if err != nil {
			return err
		}
		err = tries(
			func() error { return l.ended(id, 1) },
			func() error { return l.cutOff(l.tick) },
			func() error { return l.lose("") },
			l.tick,
			func() error { l.wait(time.Minute); return l.tick() },
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// tombstoneStory: three attempts are cut off, the fourth look gives up, and
// only a new conversation leads on.
func tombstoneStory(l *life) error {
	err := l.cutOff(func() error { return l.ask("errand-one") })
	if err != nil {
		return err
	}
	if err := l.lose("errand-one"); err != nil {
		return err
	}
	for range session.Budget {
		err := tries(
			l.settle,
			func() error { l.wait(time.Minute); return l.cutOff(l.tick) },
			func() error { return l.lose("") },
		)
		if err != nil {
			return err
		}
	}
	l.wait(time.Minute)
	if err := l.tick(); err != nil {
		return err
	}
	if err := l.refused(); err != nil {
		return err
	}
	if _, _, err := l.Turns.Renew(context.Background(), mainKey, "main"); err != nil {
		return err
	}
	return tries(func() error { return l.ask("errand-two") }, l.tick)
}

// settle writes the ends of turns, and does nothing else.
func (l *life) settle() error {
	_, _, err := l.Turns.Settle(context.Background())
	return err
}

// refused: a tombstone fences all new work.
func (l *life) refused() error {
	err := l.ask("errand-never")
	if _, ok := errors.AsType[*agent.FencedError](err); !ok {
		return fmt.Errorf("a session that was given up takes a turn: %w", err)
	}
	return nil
}

// byHandStory: a person retries one cut-off turn before its time, and dismisses
// another.
func byHandStory(l *life) error {
	ctx, r := context.Background(), l.Recoverer()
	err := tries(
		func() error { return l.cutOff(func() error { return l.ask("errand-one") }) },
		func() error { return l.lose("errand-one") },
		l.settle,
		func() error { _, err := r.Retry(ctx, mainKey); return err },
		func() error { l.wait(time.Minute); return l.tick() },
		func() error { return l.cutOff(func() error { return l.ask("errand-two") }) },
		func() error { return l.lose("") },
		l.settle,
		func() error { return r.Dismiss(ctx, mainKey) },
	)
	if err != nil {
		return err
	}
	return tries(l.tick, func() error { return l.ask("errand-three") }, l.tick)
}

// deliveryStory: the first two sends are refused and repeated.
func deliveryStory(l *life) error {
	l.w.deaf = 2
	return tries(
		func() error { return l.ask("errand-one") }, l.tick,
		func() error { l.wait(time.Minute); return l.tick() },
		func() error { l.wait(5 * time.Minute); return l.tick() },
		func() error { return l.ask("errand-two") }, l.tick,
	)
}

// automationStory: a command and a reminder, each for one slot. The command is
// begun as its supervisor does it.
func automationStory(l *life) error {
	l.w.slots = true
	ctx, cron, at := context.Background(), l.cron(), l.clock.Now().Add(time.Minute)
	for name, p := range map[string]automation.Payload{
		"job":  {Kind: automation.PayloadCommand, Argv: []string{"true"}},
		"oven": {Kind: automation.PayloadEvent, Text: "look at the oven"},
	} {
		a := automation.Automation{Name: name, Enabled: true, Schedule: automation.Schedule{Kind: automation.KindAt, At: at}, Payload: p}
		if name == "oven" {
			l.w.may("look at the oven")
		}
		if _, _, err := cron.Add(ctx, a); err != nil {
			return err
		}
		if name == "oven" {
			l.w.promise("look at the oven")
		}
	}
	l.wait(time.Minute)
	return tries(func() error { return l.slots(cron) }, l.tick, func() error { return l.slots(cron) })
}

func (l *life) cron() *scheduler.Scheduler {
	return &scheduler.Scheduler{
		Store: l.Store, Clock: l.clock, Turns: l.Turns, Post: l.Post, Enabled: true, MaxTurns: 8, Agents: []string{"main"}, Zone: scheduler.Zones(),
		Boot: time.Now().Add(-24 * time.Hour), Cwd: "/", MaxOutput: 1 << 20,
	}
}

// slots is a pass over the automations, with commands that take no time.
func (l *life) slots(cron *scheduler.Scheduler) error {
	work, err := cron.Pass(context.Background(), func(string) bool { return false })
	if err != nil {
		return err
	}
	for _, r := range work.Start {
		if err := l.beginRun(r); err != nil {
			return err
		}
		if err := l.ended(r.Owner.ProcessID, 0); err != nil {
			return err
		}
	}
	return nil
}

// beginRun is what the supervisor of a run's command writes when that begins.
func (l *life) beginRun(r automation.Run) error {
	err := l.update(func(tx *state.Tx) error {
		p := process.Process{
			ID: r.Owner.ProcessID, Slug: "job-" + r.ID, Phase: process.Running, Background: true, RunID: r.ID, Argv: []string{"true"},
			CreatedAt: tx.Now(), StartedAt: tx.Now(), Root: gone,
		}
		return errors.Join(settle.AddTask(tx, &p), state.Processes.Put(tx, p.ID, 0, p))
	})
	if err == nil {
		l.w.began["run "+r.ID]++
	}
	return err
}

// restartStory: a runner is told to restart and to go on with something then.
func restartStory(l *life) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- runner.Run(ctx, runner.Options{Dir: l.Store.Dir(), Clock: l.clock, Load: l.reopened, Log: func(string) {}})
	}()
	over := func(done func() bool) (err error, ok bool) {
		for {
			select {
			case err := <-ended:
				return err, true
			case <-time.After(time.Millisecond):
			}
			switch {
			case l.dead():
				cancel()
			case done():
				return nil, false
			}
		}
	}
	err, gone := over(func() bool { at, err := runner.Look(l.Store.Dir()); return err == nil && at.Running })
	if gone {
		return fmt.Errorf("the runner ended: %w", err)
	}
	for _, marker := range []string{"carry on with the roof", "carry on with the cellar"} {
		l.w.may(marker)
		_, err := runner.Restart(ctx, l.Store, l.clock, 0, &boot.Continuation{SessionKey: mainKey, Agent: "main", Text: marker, Route: here})
		if err == nil {
			l.w.promise(marker)
		}
	}
	if err, _ = over(func() bool { return false }); !runner.IsRestart(err) {
		return fmt.Errorf("the runner did not restart: %w", err)
	}
	return tries(l.tick, l.tick)
}

// reopened is a runner with a store of its own, which it closes.
func (l *life) reopened() (*runner.Runner, error) {
	store, err := state.Open(l.Store.Dir(), state.Options{FS: l.Store.FS(), Boot: "before", Now: l.clock.Now})
	if err != nil {
		return nil, err
	}
	return l.runner(store), nil
}

// archiveStory: what is finished moves from the journal to its ledger, and from
// there to the archive, while more is done.
func archiveStory(l *life) error {
	for i := range 3 {
		id, err := l.process(fmt.Sprint("amber-reef-", i), true)
		if err != nil {
			return err
		}
		err = tries(
			func() error { return l.ended(id, 1) }, l.tick,
			func() error { return l.Store.Checkpoint(context.Background()) },
			func() error { l.wait(90 * time.Minute); return nil },
		)
		if err != nil {
			return err
		}
	}
	retention.Once(context.Background(), l.Store, retention.Policy{Keep: time.Hour}, l.clock.Now())
	return tries(func() error { return l.ask("errand-one") }, l.tick, func() error { return l.Store.Checkpoint(context.Background()) })
}

// upgradeStory: a newer claw takes over the directory under one that works
// there. From then on this one writes nothing.
func upgradeStory(l *life) error {
	if err := tries(func() error { return l.ask("errand-one") }, l.tick); err != nil {
		return err
	}
	format, err := os.ReadFile(filepath.Join(l.Store.Dir(), "FORMAT"))
	if err != nil {
		return err
	}
	l.w.format = format
	if err := upgrade(l.Store.FS(), l.Store.Dir()); err != nil {
		return err
	}
	l.w.upgraded = true
	before, err := digest(l.Store.Dir())
	if err != nil {
		return err
	}
	later, err := l.w.begin(l.Store.FS(), l.Store.Dir(), "before", time.Minute)
	if err != nil {
		return err
	}
	defer later.Store.Close()
	if err := later.ask("errand-never"); !errors.Is(err, state.ErrNewerFormat) {
		return fmt.Errorf("it works in the directory of a newer claw: %w", err)
	}
	after, err := digest(l.Store.Dir())
	if err == nil && after != before {
		err = errors.New("it changed the directory of a newer claw")
	}
	return err
}

// upgrade writes FORMAT anew as claw does, with a version that is to come.
func upgrade(fs state.FS, dir string) error {
	name := filepath.Join(dir, "FORMAT")
	f, err := fs.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("999\n"))
	if err == nil {
		err = f.Sync()
	}
	return tries(
		func() error { return errors.Join(err, f.Close()) },
		func() error { return fs.Rename(name+".tmp", name) },
		func() error { return fs.SyncDir(dir) },
	)
}
