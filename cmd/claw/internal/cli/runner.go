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
	"claw/state/boot"
	"claw/state/process"
)

// runnerCmd is `claw runner`; design.md section 4.
type runnerCmd struct {
	Run     runnerRun     `cmd:"" help:"Work in the foreground until told to end: for systemd, launchd, or a terminal."`
	Status  runnerStatus  `cmd:"" help:"Show whether a runner is at work, and what does the work otherwise."`
	Stop    runnerStop    `cmd:"" help:"Tell the runner to end, and wait until it has."`
	Drain   runnerDrain   `cmd:"" help:"Have the runner begin nothing more, and end when what goes on has ended."`
	Restart runnerRestart `cmd:"" help:"Drain the runner and have it begin anew, and a session go on with something then."`
}

// Help shows examples.
func (runnerCmd) Help() string {
	return "The runner is optional. It waits, and does what claw heartbeat tick does: at once when something happens, when something is due, and in any case once a minute.\n\n" +
		examples("claw runner run", "claw runner status")
}

type runnerRun struct {
	Safe bool `help:"Begin in safe mode, and stay in it: no turn, run or message begins by itself; by hand each can be started."`
}

// Help shows examples.
func (runnerRun) Help() string {
	return "TERM and INT end it: turns get ten seconds, and agents that need longer go on under their supervisors; a second one does not wait. HUP reads the configuration anew; a changed claw.toml is noticed within a minute. It says on stderr what it does. It ends with 5 when a newer claw has taken over the state directory: systemd then starts that one. When runners have died three times within five minutes the next one begins in safe mode, until five minutes have passed without another death.\n\n" +
		examples("claw runner run", "claw runner run --safe  look first", "claw runner run --state-dir ~/claw-try  another one, to try things")
}

// Run works until it is told to end.
func (c *runnerRun) Run(a *app) error {
	ready, again := runner.TakeReadiness(), runner.TakeAgain()
	a.environ = slices.DeleteFunc(slices.Clone(a.environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == runner.AgainVariable() || slices.Contains(runner.NotifyVariables(), name)
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
	ctx, hurry := a.toldToEnd()
	hup := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGHUP) { // nohup claw runner run &
		signal.Notify(hup, syscall.SIGHUP)
		defer signal.Stop(hup)
	}
	deaf := a.serveHooks(ctx, a.logger())
	err = runner.Run(ctx, runner.Options{
		Dir: dir, Clock: a.clock, Load: loader(a), Config: []string{places.Config}, Reload: hup, Log: a.logger(), Ready: ready,
		Hurry: hurry, Safe: c.Safe, Restarted: again, Version: version,
	})
	deaf()
	if runner.IsRestart(err) {
		if ctx.Err() != nil {
			return nil // told to end meanwhile
		}
		err = ready.Again(a.environ)
		return &failure{code: exitFailed, text: "runner run: it cannot begin anew: " + err.Error(), err: err, remedy: []string{"claw runner run"}}
	}
	if up, ok := errors.AsType[*runner.UpError](err); ok {
		return &failure{code: exitRefused, text: "runner run: " + up.Error(), remedy: nonEmpty(up.Remedy()), err: err}
	}
	return err
}

// toldToEnd ends its context with the first TERM or INT, and passes on those
// that follow.
func (a *app) toldToEnd() (context.Context, <-chan os.Signal) {
	ctx, cancel := context.WithCancel(a.ctx)
	signals, hurry := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		for sig := range signals {
			select {
			case hurry <- sig:
			default:
			}
		}
	}()
	return ctx, hurry
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
	JSON bool `name:"json" help:"Print {\"running\", \"pid\", \"since\", \"mode\", \"why\", \"until\", \"waitsFor\", \"watch\", \"lastPassAt\", \"next\", \"error\"}, or {\"running\": false, \"mode\", \"tickAtWork\", \"lastTickAt\"}. mode is normal, safe, draining, or waiting: for a tick."`
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
	if !s.Running {
		seen := a.breaker()
		s.Mode, s.Why, s.Until = string(seen.Mode), seen.Mode.Why(), seen.Until
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
	words := "not running; " + insteadOf(s, a.now())
	if s.Mode == string(boot.Safe) {
		words += "; safe mode until " + exact(s.Until)
	}
	if _, err := fmt.Fprintln(a.io.Out, words); err != nil {
		return err
	}
	if s.Mode == string(boot.Safe) {
		a.io.Say(s.Why, boot.Safe.Remedy())
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
	pairs := [][2]string{{"runner", who}, {"mode", modeWords(a, s)}, {"watch", firstOf(s.Watch, "n/a")}, {"last pass", firstOf(a.ago(s.Last), "n/a")}, {"next", next}}
	if s.Error != "" {
		pairs = append(pairs, [2]string{"error", logLine(s.Error)})
	}
	return pairs
}

// modeWords is how much begins by itself: "safe until …; why", "draining until
// …; waits for turn …".
func modeWords(a *app, s runner.State) string {
	words := s.Mode
	if !s.Until.IsZero() {
		words += " until " + exact(s.Until) + " at the latest"
	}
	switch {
	case len(s.WaitsFor) > 0:
		words += "; waits for " + logLine(strings.Join(s.WaitsFor, "; "))
	case s.Why != "":
		words += "; " + s.Why
	}
	return words
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
