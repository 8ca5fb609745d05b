package runner

import (
	"context"
	"time"

	"claw/runner/agent"
	"claw/runner/deliver"
	"claw/runner/resume"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/process"
)

// Reconciliation is what in the ledgers is not as it really is, in the order in
// which a pass sees to it. Each part comes from the function that a pass acts
// by, so that what is shown is what will be done.
type Reconciliation struct {
	At         time.Time
	Ledgers    []state.Problem
	Processes  []process.Process   // whose supervisor has died
	Turns      []agent.Left        // that nobody waits for, with the ends they will get
	Runs       []automation.Run    // of automations, that will be written down or begin
	Tasks      []tasks.Change      // that nobody carries out
	Flows      []tasks.FlowChange  // that follow from their tasks
	Cycles     []resume.Item       // turns that were cut off, and sessions that were given up
	Deliveries []delivery.Delivery // of unknown outcome
	Next       time.Time           // when the first attempt that waits is due
}

// Mode says what Reconcile does about what it finds.
type Mode int

// The modes.
const (
	OnlyReport Mode = iota // nothing is written
	Repair                 // what a tick does, by making one
)

// Reconcile compares the ledgers with what is there: ledgers, processes, turns,
// runs, tasks and their flows, sessions, deliveries. What it returns is what there was to do;
// with Repair that has been done, and doing it again changes nothing. Damaged
// ledgers are for doctor to mend, and unknown deliveries for a person to
// decide.
func (r *Runner) Reconcile(ctx context.Context, now time.Time, mode Mode) (Reconciliation, error) {
	found := Reconciliation{At: now}
	for _, look := range [...]func(*Reconciliation) error{r.seeLedgers, r.seeProcesses, r.seeTurns, r.seeRuns, r.seeTasks, r.seeCycles, r.seeDeliveries} {
		if err := look(&found); err != nil {
			return found, err
		}
	}
	if mode == OnlyReport {
		return found, nil
	}
	_, err := r.Tick(ctx)
	return found, err
}

func (r *Runner) seeLedgers(found *Reconciliation) (err error) {
	found.Ledgers, err = r.Store.Check()
	return err
}

func (r *Runner) seeProcesses(found *Reconciliation) error {
	return r.Store.View(func(tx *state.Tx) error {
		p := Preview{}
		err := p.lost(tx, r.Store)
		found.Processes = p.Lost
		return err
	})
}

func (r *Runner) seeTurns(found *Reconciliation) (err error) {
	found.Turns, err = r.Turns.LeftBehind()
	return err
}

func (r *Runner) seeRuns(found *Reconciliation) error {
	if r.Scheduler == nil {
		return nil
	}
	plan, err := r.Scheduler.Plan(found.At)
	found.Runs = plan.Runs
	return err
}

func (r *Runner) seeTasks(found *Reconciliation) error {
	report, err := r.keeper().Maintain(context.Background(), false)
	found.Tasks, found.Flows = report.Changes, report.FlowChanges
	return err
}

func (r *Runner) keeper() *tasks.Keeper {
	return &tasks.Keeper{Store: r.Store, Clock: r.Clock, Keep: r.Retain.Keep, OnLoss: r.OnLoss, Authority: true, Wedged: resume.Wedged}
}

func (r *Runner) seeCycles(found *Reconciliation) (err error) {
	if found.Cycles, err = r.Recoverer().List(found.At, false); err != nil {
		return err
	}
	plan, err := r.Recoverer().Foresee(found.At)
	found.Next = plan.Next
	return err
}

func (r *Runner) seeDeliveries(found *Reconciliation) error {
	all, err := deliver.List(r.Store, found.At, false)
	for _, d := range all {
		if d.State == delivery.Unknown {
			found.Deliveries = append(found.Deliveries, d)
		}
	}
	return err
}
