package runner

import (
	"context"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/retention"
	"claw/state"
)

// Runner is everything one pass needs, made anew from the configuration each
// time that changes.
type Runner struct {
	Store     *state.Store
	Clock     clock.Clock
	Turns     *agent.Turns
	Heartbeat *heartbeat.Engine
	Post      *deliver.Post
	Retain    retention.Policy
	OnLoss    string // tools.exec.onSupervisorLoss
}

// Report is what a Tick did.
type Report struct {
	Poked     bool // another one holds runner.lock and was told
	Settled   int  // processes whose supervisor was gone
	Turns     int
	Delivered int
	Next      time.Time
}

// Tick makes passes until nothing is left to do now, and returns. With another
// tick or a runner at work it pokes that one and returns at once.
func (r *Runner) Tick(ctx context.Context) (Report, error) { return Report{}, nil }
