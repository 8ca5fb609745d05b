package runner

import (
	"time"

	"claw/runner/heartbeat"
	"claw/runner/hook"
	"claw/runner/poke"
	"claw/runner/resume"
	"claw/runner/settle"
	"claw/runner/subagents"
	"claw/state"
	"claw/state/automation"
	"claw/state/boot"
	"claw/state/delivery"
	"claw/state/process"
)

// Preview is what a pass at one instant would do. Nothing is written to find
// out.
type Preview struct {
	At     time.Time
	AtWork bool      // somebody holds runner.lock: it is he who would do it
	Mode   boot.Mode // safe: what wants to begin by itself waits
	Lost   []process.Process
	Cycles []resume.Item // turns that were cut off, and what would be done about them
	Wakes  []heartbeat.Planned
	Runs   automation.Plan     // of automations
	Hooks  []hook.Foreseen     // what was asked for from outside
	Send   []delivery.Delivery // due, oldest first
	// Subagents is the work that was given to agents.
	Subagents []subagents.Foreseen
	Next      time.Time // when there will be something to do; zero: nothing is foreseen
}

// Preview tells what a pass at now would do; claw heartbeat tick --dry-run. It
// takes no lock and writes nothing.
func (r *Runner) Preview(now time.Time) (Preview, error) {
	p := Preview{At: now}
	var err error
	if p.AtWork, err = state.Held(poke.Lock(r.Store.Dir())); err != nil {
		return p, err
	}
	if !r.NoSafeMode {
		// Boots that cannot be read hold nothing back.
		seen, _ := Assess(r.Store, now)
		p.Mode = seen.Mode
	}
	plan, err := r.work(boot.Normal).plan(now)
	if err != nil {
		return p, err
	}
	p.Wakes, p.Next = plan.Wakes, plan.Next
	cut, err := r.cutOff(now)
	if err != nil {
		return p, err
	}
	p.Cycles, p.Next = cut.Items, earlier(p.Next, cut.Next)
	if r.Scheduler != nil {
		if p.Runs, err = r.Scheduler.Plan(now); err != nil {
			return p, err
		}
		p.Next = earlier(p.Next, p.Runs.Next)
	}
	if r.Hooks != nil {
		var at time.Time
		if p.Hooks, at, err = r.Hooks.Foresee(); err != nil {
			return p, err
		}
		p.Next = earlier(p.Next, at)
	}
	if r.Subagents != nil {
		var at time.Time
		if p.Subagents, at, err = r.Subagents.Foresee(); err != nil {
			return p, err
		}
		p.Next = earlier(p.Next, at)
	}
	err = r.Store.View(func(tx *state.Tx) error {
		p.Lost, p.Send = nil, nil
		if err := p.lost(tx, r.Store); err != nil {
			return err
		}
		rows, err := state.Deliveries.All(tx)
		for _, row := range rows {
			switch at, waits := r.Post.When(row.Rec); {
			case !waits:
			case at.After(now):
				p.Next = earlier(p.Next, at)
			case row.Rec.State == delivery.Pending: // an unknown one is asked about, not sent
				p.Send = append(p.Send, row.Rec)
			}
		}
		return err
	})
	return p, err
}

func (p *Preview) lost(tx *state.Tx, store *state.Store) error {
	rows, err := state.Processes.All(tx)
	for _, row := range rows {
		if row.Rec.Live() && settle.Abandoned(store, row.Rec) {
			p.Lost = append(p.Lost, row.Rec)
		}
	}
	return err
}
