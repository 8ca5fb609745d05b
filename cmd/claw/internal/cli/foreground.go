package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"claw/runner/control"
	"claw/runner/supervisor"
	"claw/state/process"
)

// foreground is the wrapper: output and signals pass through until the
// command ends or yields.
func (c *execCmd) foreground(a *app, x *execution, h *supervisor.Handle) error {
	stop := forwardSignals(h, x.signals)
	defer stop()
	if c.PTY {
		defer c.feedTerminal(a, h)()
	}
	out, errOut := io.Writer(a.io.Out), io.Writer(a.io.Err)
	if c.JSON {
		out, errOut = io.Discard, io.Discard
	}
	outcome, err := pump(a, h, x.yield, out, errOut)
	switch {
	case outcome == supervisor.OutcomeDetached:
		return c.yielded(a, x, h)
	case outcome == supervisor.OutcomeBroken:
		return &failure{code: exitClaw, text: "exec: " + err.Error(), err: err, remedy: []string{
			"claw process list --all says what became of " + h.Row.Slug,
		}}
	}
	return c.ended(a, x, h, err)
}

// stuckPatience is how long after a yield a caller whose own reader does not
// read is waited for.
const stuckPatience = 3 * time.Second

type pumped struct {
	outcome supervisor.Outcome
	err     error
}

// pump runs Handle.Pump with the yield. A stdout that nobody reads blocks
// Pump; the yield happens all the same.
func pump(a *app, h *supervisor.Handle, yield time.Duration, out, errOut io.Writer) (supervisor.Outcome, error) {
	done := make(chan pumped, 1)
	go func() {
		o, err := h.Pump(out, errOut)
		done <- pumped{o, err}
	}()
	var yieldNow, giveUp <-chan time.Time
	if yield > 0 {
		yieldNow = a.after(yield)
	}
	for {
		select {
		case p := <-done:
			return p.outcome, p.err
		case <-yieldNow:
			h.Detach()
			yieldNow, giveUp = nil, a.after(stuckPatience)
		case <-giveUp:
			return supervisor.OutcomeDetached, nil
		}
	}
}

// after rings once, however long d is.
func (a *app) after(d time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	until := a.clock.Elapsed() + d
	go func() {
		for left := d; left > 0; left = until - a.clock.Elapsed() {
			<-a.clock.NewTimer(left).C()
		}
		c <- a.now()
	}()
	return c
}

// catchSignals begins to collect signals before the command runs, so that one
// that comes in between reaches it. What claw was started to ignore (nohup, a
// script's &) it goes on ignoring.
func catchSignals() chan os.Signal {
	c := make(chan os.Signal, 8)
	for _, sig := range []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP,
	} {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that has gone is the command's affair, see Handle.Pump
	return c
}

// forwardSignals is the child-process bridge of seed 002: what would end or
// stop claw reaches the command instead, and claw lives to tell how it ended.
func forwardSignals(h *supervisor.Handle, c chan os.Signal) (stop func()) {
	go func() {
		for sig := range c {
			if sig == syscall.SIGTSTP {
				suspend(h)
				continue
			}
			h.Signal(sig.(unix.Signal))
		}
	}()
	return func() {
		signal.Stop(c)
		close(c)
	}
}

// suspend is Ctrl-Z: the command stops, then claw itself, and both go on
// together. STOP, because the command's group has no terminal whose TSTP it
// would heed.
func suspend(h *supervisor.Handle) {
	h.Signal(unix.SIGSTOP)
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	h.Signal(unix.SIGCONT)
}

// yielded says that the command goes on, and what can be done about it. This
// is not success: exit 75.
func (c *execCmd) yielded(a *app, x *execution, h *supervisor.Handle) error {
	h.Row.Root.PID = h.PID
	if c.JSON {
		a.io.JSON(control.Backgrounded(h.Row, control.TailOf(x.store, h.Row.ID)).Details)
		return silent(exitRunning)
	}
	slug := h.Row.Slug
	a.io.Say(
		fmt.Sprintf("still running as %s after %s", slug, process.HumanDuration(x.yield)),
		"follow:  claw process log "+slug+" --follow",
		"wait:    claw process wait "+slug,
	)
	return silent(exitRunning)
}

// ended passes the command's own code on.
func (c *execCmd) ended(a *app, x *execution, h *supervisor.Handle, err error) error {
	for _, w := range h.Row.Warnings {
		if !slices.Contains(h.Warnings, w) { // those of the start have been told
			a.io.Note(w)
		}
	}
	if c.JSON {
		text, discarded := control.Aggregate(x.store, h.Row.ID, x.cfg.Tools.Exec.MaxOutputChars)
		if jsonErr := a.io.JSON(control.Ended(h.Row, text, discarded).Details); jsonErr != nil {
			return jsonErr
		}
		return silent(process.ExitCode(h.Row))
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		return &failure{code: exitClaw, text: "exec: write the command's output: " + err.Error(), err: err}
	}
	if e := h.Row.Exit; e != nil && (e.TimedOut || e.Reason == process.ReasonManualCancel || e.Reason == process.ReasonLost) {
		a.io.Note(shortReason(h.Row))
	}
	return silent(process.ExitCode(h.Row))
}

// shortReason is the first paragraph of why a command failed.
func shortReason(p process.Process) string {
	reason, _, _ := strings.Cut(process.ReasonText(p), "\n")
	return reason
}

// feedTerminal passes what is typed or piped into claw on to the command's
// terminal. A terminal of our own is put into raw mode meanwhile, so that
// every key reaches the command.
func (c *execCmd) feedTerminal(a *app, h *supervisor.Handle) (restore func()) {
	if a.stdin == nil || c.Stdin == "null" {
		return func() {}
	}
	restore = func() {}
	fd := int(a.stdin.Fd())
	if term.IsTerminal(fd) {
		old, err := term.MakeRaw(fd)
		if err != nil {
			return restore
		}
		restore = func() { term.Restore(fd, old) }
	} else if info, err := a.stdin.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return restore // /dev/null and the like: nothing to type
	}
	h.ExpectInput()
	go h.Feed(a.stdin)
	if !c.onOurTerminal(a) {
		return restore
	}
	unraw, stop := restore, a.followSize(h)
	return func() {
		stop()
		unraw()
	}
}

// onOurTerminal: somebody sits in front of the command and sees it through
// claw, so that its terminal has to be as large as theirs.
func (c *execCmd) onOurTerminal(a *app) bool {
	return c.PTY && c.Size == "" && !c.Background && !c.inTool && a.stdin != nil && a.io.OutTTY && term.IsTerminal(int(a.stdin.Fd()))
}

// terminalSize is 0, 0 where the terminal does not know.
func (a *app) terminalSize() (cols, rows int) {
	cols, rows, err := term.GetSize(int(a.stdin.Fd()))
	if err != nil {
		return 0, 0
	}
	return cols, rows
}

// followSize passes every change of our terminal's size on.
func (a *app) followSize(h *supervisor.Handle) (stop func()) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for range changed {
			if cols, rows := a.terminalSize(); cols > 0 && rows > 0 {
				h.Resize(cols, rows)
			}
		}
	}()
	return func() {
		signal.Stop(changed)
		close(changed)
	}
}
