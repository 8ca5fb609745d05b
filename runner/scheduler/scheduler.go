package scheduler

import (
	"slices"
	"sync"
	"time"

	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/runner/retention"
	"claw/runner/source"
	"claw/state"
	"claw/state/automation"
)

// Scheduler carries out the automations of one state directory.
type Scheduler struct {
	Store *state.Store
	Clock clock.Clock
	Turns *agent.Turns
	Post  *deliver.Post
	// Enabled is cron.enabled: false starts nothing by the clock. What a person
	// starts runs all the same, and what goes on is followed to its end.
	Enabled bool
	// NoSlots: slots that come due are left to the next tick or runner, see
	// automation.Input.NoSlots.
	NoSlots  bool
	MaxTurns int // cron.maxConcurrentRuns: turns of agents at once; 0: no limit
	// KeepHTTP: of MaxTurns one is kept for webhooks, because they are listened to.
	KeepHTTP    bool
	MaxCommands int                     // cron.maxConcurrentCommands: commands at once; 0: no limit
	SkipMissed  bool                    // cron.skipMissedJobs: recurring slots are never made up
	Retry       automation.Retry        // cron.retry
	Alerts      *automation.AlertRule   // cron.failureAlert; nil: nothing is configured
	Declared    []automation.Automation // the tables of claw.toml, valid, each with its DeclarationKey
	Actor       automation.Actor        // who makes and changes automations
	// SessionRetention is cron.sessionRetention: how long the session of an
	// automation that is gone is kept; 0: for ever.
	SessionRetention time.Duration
	Session          string   // key of the session of whoever asks, inside a turn; what "current" means
	Agents           []string // configured; the first is asked where none is named and there is no main
	Zone             automation.Zones
	Boot             time.Time // when the machine came up; zero: the system is asked
	// Eyes is what is known of files and of the output of streams while the
	// program lives; nil: it looks anew.
	Eyes *source.Set

	// Of commands:
	Environ     []string // what they inherit
	Cwd         string   // where they run when an automation does not say
	PathPrepend []string
	MaxOutput   int64 // bytes kept on disk
	Retain      retention.Policy
	OnLoss      string // tools.exec.onSupervisorLoss
	WakeOnExit  string // see supervisor.Request.Wake

	// Spares wait for what is due next; nil: there are none, see Prepare.
	Spares *Spares

	gate     chan struct{} // commands being started
	makeGate sync.Once
	sum      string // of Declared
	sumOnce  sync.Once
	reaped   time.Time // when reap last looked
}

// starters is how many groups of commands are started at once: forking is the
// machine's work, and more only wait for one another.
const starters = 4

// enter waits for a place among those who start commands.
func (s *Scheduler) enter() (leave func()) {
	s.makeGate.Do(func() { s.gate = make(chan struct{}, starters) })
	s.gate <- struct{}{}
	return func() { <-s.gate }
}

// Work is what a Pass has decided and the caller must do, and what it has done.
type Work struct {
	Start []automation.Run // claimed: each is for Start
	Stop  []automation.Run // running, to give way: each is for Stop
	Ended []automation.Run // that ended, or that were recorded without being run
	Next  time.Time        // when there is something to do by the clock; zero: never

	Begin []automation.Source // claimed: each is for StartSource
	Quit  []automation.Source // not wanted any more: each is for StopSource

	sources int      // how many there are
	spares  []string // the ULIDs of Spares that stand in claims
}

// wakeAt notes when there will be something to do; zero: never.
func (w *Work) wakeAt(at time.Time) {
	if !at.IsZero() && (w.Next.IsZero() || at.Before(w.Next)) {
		w.Next = at
	}
}

// agent is whose session an automation talks to.
func (s *Scheduler) agent(a automation.Automation) string {
	switch {
	case a.AgentID != "":
		return a.AgentID
	case len(s.Agents) > 0 && !slices.Contains(s.Agents, "main"):
		return s.Agents[0]
	}
	return "main"
}

// Zones finds time zones and remembers them: thousands of automations share a
// few. The empty name is the host's zone.
func Zones() automation.Zones {
	var mu sync.Mutex
	known := map[string]*time.Location{"": time.Local}
	return func(name string) (*time.Location, error) {
		mu.Lock()
		defer mu.Unlock()
		if loc, ok := known[name]; ok {
			return loc, nil
		}
		loc, err := time.LoadLocation(name)
		if err == nil {
			known[name] = loc
		}
		return loc, err
	}
}
