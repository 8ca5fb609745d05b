package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner"
	"claw/runner/clock"
)

// heartbeatTick is `claw heartbeat tick`; design.md section 4.
type heartbeatTick struct {
	DryRun   bool   `name:"dry-run" help:"Say what would be done and why, and write nothing."`
	Now      string `help:"With --dry-run, as if it were this time: RFC 3339, or from now, as in +20m or --now=-10m." placeholder:"TIME"`
	JSON     bool   `name:"json" help:"Print {\"poked\", \"turns\", \"failed\", \"delivered\", \"settled\", \"next\"}; with --dry-run {\"wakes\": […], \"lost\", \"deliveries\", \"next\"}."`
	Verbose  bool   `short:"v" help:"Say on stderr what was done, also where that is no terminal."`
	Quiet    bool   `short:"q" help:"Say nothing, also on a terminal."`
	Detached bool   `hidden:"" help:"Nobody looks: started by the end of a command."`
}

// Help shows examples.
func (heartbeatTick) Help() string {
	return "It writes down what died, wakes sessions that have events, runs the heartbeats that are due, sends the messages that wait, and tidies up. When another tick or a runner is at work, it tells that one and exits. Off a terminal it prints nothing, so that cron sends no mail; what fails is recorded, and a person is told through the channels.\n\n" +
		examples("claw heartbeat tick --dry-run", "claw heartbeat tick --dry-run --now +30m", "* * * * * claw heartbeat tick  in crontab -e")
}

// Run does one tick.
func (c *heartbeatTick) Run(a *app) error {
	a.brief()
	if err := c.setTime(a); err != nil {
		return err
	}
	stdout := io.Writer(a.io.Out)
	if c.Detached || c.JSON {
		stdout = nil // a message on the channel stdout waits for somebody who looks
	}
	r, err := a.runner(stdout)
	if err != nil {
		return err
	}
	if c.DryRun {
		p, err := r.Preview(a.now())
		if err != nil {
			return err
		}
		return c.preview(a, p)
	}
	if c.Detached {
		file, _ := a.cfg.File()
		r.Linger, r.Config = true, []string{file}
	}
	ctx, stop := signal.NotifyContext(a.ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return c.tick(ctx, a, r)
}

func (c *heartbeatTick) tick(ctx context.Context, a *app, r *runner.Runner) error {
	report, err := r.Tick(ctx)
	if report.Stale { // by the configuration as it is now
		if self, pathErr := os.Executable(); pathErr == nil {
			err = errors.Join(err, syscall.Exec(self, os.Args, os.Environ()))
		}
	}
	if c.JSON {
		if jsonErr := a.io.JSON(report); jsonErr != nil {
			return jsonErr
		}
		return err
	}
	if c.Verbose || a.io.ErrTTY && !c.Quiet {
		for _, line := range report.Done {
			a.io.Note(logLine(line))
		}
		if report.Poked {
			a.io.Note("another one is at work on this state directory; it has been told")
		}
	}
	return err
}

// setTime gives a dry run a clock that stands still, at the time that was asked
// for. What is written down is written at the time it is: a retention that ran
// next year would remove what is a second old.
func (c *heartbeatTick) setTime(a *app) error {
	at := a.now()
	if c.Now != "" {
		if !c.DryRun {
			return usagef("heartbeat tick: --now only shows what another time would bring", "claw heartbeat tick --dry-run --now="+c.Now)
		}
		var ok bool
		if at, ok = parseMoment(c.Now, at); !ok {
			return usagef("heartbeat tick: --now: \""+c.Now+"\" is no time", "2026-11-30T22:10:00Z, or +20m for twenty minutes from now")
		}
	}
	if c.DryRun {
		a.clock = fixed{Clock: a.clock, at: at}
	}
	return nil
}

// parseMoment reads RFC 3339, or a duration with its sign from now.
func parseMoment(s string, now time.Time) (time.Time, bool) {
	if strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		d, err := time.ParseDuration(s)
		return now.Add(d), err == nil
	}
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}

// fixed is a clock whose wall stands still.
type fixed struct {
	clock.Clock
	at time.Time
}

func (f fixed) Now() time.Time { return f.at }

// logLine is text on one line, whatever an agent or a command has put into it.
func logLine(s string) string { return strings.Join(strings.Fields(output.Safe(s)), " ") }
