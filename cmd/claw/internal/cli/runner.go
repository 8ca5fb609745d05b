package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/cmd/claw/internal/output"
	"claw/runner"
	"claw/state/process"
)

// runnerCmd is `claw runner`; design.md section 4.
type runnerCmd struct {
	Run    runnerRun    `cmd:"" help:"Work in the foreground until told to end: for systemd, launchd, or a terminal."`
	Status runnerStatus `cmd:"" help:"Show whether a runner is at work, and what does the work otherwise."`
	Stop   runnerStop   `cmd:"" help:"Tell the runner to end, and wait until it has."`
}

// Help shows examples.
func (runnerCmd) Help() string {
	return "The runner is optional. It waits, and does what claw heartbeat tick does: at once when something happens, when something is due, and in any case once a minute.\n\n" +
		examples("claw runner run", "claw runner status")
}

type runnerRun struct{}

// Help shows examples.
func (runnerRun) Help() string {
	return "TERM and INT end it: turns get ten seconds, and agents that need longer go on under their supervisors. HUP reads the configuration anew; a changed claw.toml is noticed within a minute. It says on stderr what it does. It ends with 5 when a newer claw has taken over the state directory: systemd then starts that one.\n\n" +
		examples("claw runner run", "claw runner run --state-dir ~/claw-try  another one, to try things")
}

// Run works until it is told to end.
func (runnerRun) Run(a *app) error {
	ready := runner.TakeReadiness()
	a.environ = slices.DeleteFunc(slices.Clone(a.environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(runner.NotifyVariables(), name)
	})
	places, err := config.Paths(a.getenv)
	if err != nil {
		return err
	}
	dir, err := a.stateDir()
	if err != nil {
		return err
	}
	debug.SetGCPercent(50) // it idles: memory is dearer than time
	runtime.GOMAXPROCS(2)
	ctx, stop := signal.NotifyContext(a.ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	hup := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGHUP) { // nohup claw runner run &
		signal.Notify(hup, syscall.SIGHUP)
		defer signal.Stop(hup)
	}
	err = runner.Run(ctx, runner.Options{
		Dir: dir, Clock: a.clock, Load: loader(a), Config: []string{places.Config}, Reload: hup, Log: a.logger(), Ready: ready,
	})
	if up, ok := errors.AsType[*runner.UpError](err); ok {
		return &failure{code: exitRefused, text: "runner run: " + up.Error(), remedy: nonEmpty(up.Remedy()), err: err}
	}
	return err
}

// loader makes a Runner by the configuration as it is at the time, or, where
// that cannot be used, by the last one that could.
func loader(a *app) func() (*runner.Runner, error) {
	var good *config.Config
	return func() (*runner.Runner, error) {
		b := *a
		cfg, err := config.Load(b.getenv)
		if err != nil {
			cfg = good
		}
		if cfg == nil {
			return nil, err
		}
		b.cfg, b.st = cfg, nil
		r, runnerErr := b.runner(nil)
		if runnerErr != nil {
			return nil, runnerErr
		}
		good = cfg
		return r, err
	}
}

// logger writes lines on stderr, with the time unless the journal adds it.
func (a *app) logger() func(string) {
	stamped := a.getenv("JOURNAL_STREAM") == ""
	return func(line string) {
		if stamped {
			line = a.now().Local().Format(time.RFC3339) + " " + line
		}
		fmt.Fprintln(a.io.Err, logLine(line))
	}
}

type runnerStatus struct {
	JSON bool `name:"json" help:"Print {\"running\", \"pid\", \"since\", \"mode\", \"watch\", \"lastPassAt\", \"next\", \"error\"}, or {\"running\": false, \"tickAtWork\", \"lastTickAt\"}."`
}

// Help shows examples.
func (runnerStatus) Help() string {
	return "The last pass is when it last had something to look at: an idle runner does not write.\n\n" +
		examples("claw runner status", "claw runner status --json | jq -r .pid")
}

// Run prints the status.
func (c *runnerStatus) Run(a *app) error {
	dir, err := a.stateDir()
	if err != nil {
		return err
	}
	s, err := runner.Look(dir)
	if err != nil {
		return err
	}
	if err := c.print(a, s); err != nil || s.Running {
		return err
	}
	return silent(exitNotFound)
}

func (c *runnerStatus) print(a *app, s runner.State) error {
	switch {
	case c.JSON:
		return a.io.JSON(s)
	case s.Running:
		return a.io.Pairs(runningPairs(a, s))
	}
	if _, err := fmt.Fprintln(a.io.Out, "not running; "+insteadOf(s, a.now())); err != nil {
		return err
	}
	if s.LastTick.IsZero() && a.io.ErrTTY {
		a.io.Say("the end of a command wakes its agent all the same; for heartbeats start a runner, or have cron call claw heartbeat tick",
			"claw runner run", "crontab -e:  * * * * * claw heartbeat tick")
	}
	return nil
}

func runningPairs(a *app, s runner.State) [][2]string {
	who := "at work"
	if s.Mode == "waiting" {
		who = "waits for a tick that is at work"
	}
	if s.PID > 0 {
		who += ", pid " + itoa(s.PID) + ", since " + exact(s.Since)
	}
	next := "nothing is foreseen"
	if !s.Next.IsZero() {
		next = moment(s.Next, a.now())
	}
	pairs := [][2]string{{"runner", who}, {"watch", firstOf(s.Watch, "n/a")}, {"last pass", firstOf(a.ago(s.Last), "n/a")}, {"next", next}}
	if s.Error != "" {
		pairs = append(pairs, [2]string{"error", logLine(s.Error)})
	}
	return pairs
}

// insteadOf is what does the work without a runner.
func insteadOf(s runner.State, now time.Time) string {
	switch {
	case s.TickAtWork:
		return "a tick is at work now"
	case s.LastTick.IsZero():
		return "no tick has been called yet"
	}
	return "last tick " + output.Ago(s.LastTick, now)
}

type runnerStop struct {
	Timeout float64 `help:"Wait at most so many seconds (default 15)." default:"15" placeholder:"SEC"`
}

// Help shows examples.
func (runnerStop) Help() string {
	return "Turns get ten seconds; agents that need longer go on under their supervisors.\n\n" +
		examples("claw runner stop", "claw runner stop --timeout 60")
}

// Run tells it to end and waits.
func (c *runnerStop) Run(a *app) error {
	dir, err := a.stateDir()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, time.Duration(c.Timeout*float64(time.Second)))
	defer cancel()
	s, err := runner.Stop(ctx, dir)
	switch {
	case errors.Is(err, runner.ErrNotUp):
		return &failure{code: exitNotFound, text: "runner stop: " + err.Error(), err: err}
	case errors.Is(err, runner.ErrStillUp):
		return &failure{code: exitRefused, text: "runner stop: " + err.Error(), err: err, remedy: []string{"it waits for turns; claw runner status says when it has ended"}}
	case err != nil:
		return err
	}
	a.io.Note("the runner has ended; it had been at work for " + process.HumanDuration(a.now().Sub(s.Since)))
	return nil
}
