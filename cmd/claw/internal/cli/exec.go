package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/runner/control"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/process"
)

// execCmd is `claw exec`; seed 002, spec/exec-process.md section 1.
type execCmd struct {
	Background bool     `short:"b" help:"Return as soon as the command has started; print its id and nothing else."`
	YieldMs    *float64 `name:"yield-ms" help:"Wait so many milliseconds (10 to 120000), then let the command go on in the background and exit 75." placeholder:"N"`
	Wait       bool     `help:"Wait for the end, however long it takes, also where a yield is the default."`
	Timeout    *float64 `help:"End the command after so many seconds, counted from its start; 0 never does." placeholder:"SEC"`
	NoOutput   *float64 `name:"no-output-timeout" help:"End the command when it has printed nothing for so many seconds; 0 never does." placeholder:"SEC"`
	PTY        bool     `name:"pty" help:"Run it in a terminal of its own, 120 columns by 30 rows; in the foreground of a terminal, of that one's size."`
	Size       string   `help:"Size of that terminal, as in 80x24." placeholder:"COLSxROWS"`
	Workdir    string   `help:"Run it in this directory." placeholder:"DIR"`
	Env        []string `help:"Add a variable to its environment; repeatable." placeholder:"K=V" sep:"none"`
	Stdin      string   `help:"What it reads: null (nothing) or open (what process write sends). By default a piped stdin of a foreground command is passed on, and anything else is null." placeholder:"null|open"`
	Name       string   `help:"A name for it in lists." placeholder:"TEXT"`
	Agent      string   `help:"The agent it belongs to; default $$CLAW_AGENT, else main." placeholder:"NAME"`
	Session    string   `help:"The session that is told about its end; default $$CLAW_SESSION, else the agent's main session." placeholder:"KEY"`
	MaxOutput  string   `name:"max-output" help:"Keep so much of its output on disk, head and tail (default 64MiB)." placeholder:"SIZE"`
	Notify     *string  `help:"Tell a person on this channel when it ends in the background, and the session only if that fails." placeholder:"CHANNEL[:TO]"`
	IDFile     string   `name:"id-file" help:"Write its id to this file before waiting." placeholder:"FILE"`
	JSON       bool     `name:"json" help:"Print the result as one JSON object; the output is inside."`

	Host     string `hidden:""`
	Node     string `hidden:""`
	Elevated bool   `hidden:""`
	Cwd      string `hidden:""`

	inTool bool // a tool call: the seeds' defaults hold

	Command []string `arg:"" optional:"" passthrough:"partial" help:"One argument is a command line for the shell; several, or anything behind --, is a program with its arguments." placeholder:"COMMAND"`
}

// Help shows examples.
func (execCmd) Help() string {
	return "One argument is given to the shell; several are a program and its arguments, and are never joined.\n" +
		"In the foreground claw exec is a wrapper: bytes, signals and the exit code pass through.\n\n" +
		examples(
			"claw exec -b -- npm run build          start it, print its id, return",
			"claw exec --timeout 60 ./flaky.sh      end it after a minute; exit 124",
			"claw exec --yield-ms 2000 'make check | tee log'",
			"claw exec -b --pty -- python3          then claw process write ID TEXT",
			"claw exec -b --notify desktop ./train.sh",
		)
}

// Run carries it out.
func (c *execCmd) Run(a *app) error {
	if len(a.command) > 0 {
		c.Command = a.command
	}
	if err := c.check(); err != nil {
		return err
	}
	spare, err := a.takeSpare()
	if err != nil {
		return &failure{code: exitClaw, text: "start a supervisor: " + err.Error(), err: err}
	}
	x, err := c.plan(a)
	if err != nil {
		spare.Discard()
		return c.notStarted(a, err)
	}
	if !x.req.Row.Background {
		x.signals = catchSignals()
	}
	handle, err := spare.Launch(a.ctx, x.store, x.req)
	if err != nil {
		return launchFailure(err)
	}
	defer handle.Close()
	return c.started(a, x, handle)
}

// execution is everything decided before the command starts.
type execution struct {
	cfg   *config.Config
	store *state.Store
	req   supervisor.Request
	yield time.Duration // 0: wait for the end
	notes []string      // for stderr

	signals chan os.Signal // caught for the command; nil in the background
}

// check refuses what makes no sense before anything is started.
func (c *execCmd) check() error {
	switch {
	case c.Host != "" && c.Host != "auto" && c.Host != "gateway", c.Node != "", c.Elevated:
		return usagef("exec: --host, --node and --elevated are not supported yet: claw runs commands on this machine, as you", "leave the flag out, or use --host gateway")
	case c.Cwd != "":
		return usagef("exec: --cwd is called --workdir", "claw exec --workdir "+c.Cwd+" …")
	case c.Background && c.Wait:
		return usagef("exec: --background and --wait exclude each other")
	case slices.ContainsFunc(c.Env, func(kv string) bool { return !strings.Contains(kv, "=") }):
		return usagef("exec: --env takes NAME=VALUE; a name without a value is not passed on by itself", `claw exec --env "NAME=$NAME" …`)
	case c.Stdin != "" && c.Stdin != "null" && c.Stdin != "open":
		return usagef(fmt.Sprintf("exec: --stdin %q: it is null or open", c.Stdin))
	case len(c.words()) == 0 || (len(c.words()) == 1 && strings.TrimSpace(c.words()[0]) == ""):
		return usagef("exec: "+control.ErrNoCommand.Error(), "claw exec -b -- sleep 60", "claw exec 'ls | wc -l'")
	}
	return nil
}

// words is the command without the -- in front of it.
func (c *execCmd) words() []string {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		return c.Command[1:]
	}
	return c.Command
}

// isShell tells a command line from an argv: one argument, and no -- before.
func (c *execCmd) isShell() bool { return len(c.Command) == 1 && c.Command[0] != "--" }

// plan applies configuration, environment and defaults.
func (c *execCmd) plan(a *app) (*execution, error) {
	x := &execution{}
	var err error
	if x.cfg, err = a.config(); err != nil {
		return nil, err
	}
	if x.store, err = a.store(); err != nil {
		return nil, err
	}
	if err := a.admittedInTurn("exec"); err != nil {
		return nil, err
	}
	ex, err := c.request(a, x.cfg)
	if err != nil {
		return nil, err
	}
	if ex.Origin, err = c.origin(a, x.cfg, x.store); err != nil {
		return nil, err
	}
	c.timing(a, x, &ex)
	x.req, err = ex.Request()
	return x, err
}

// request turns flags into a control.Exec.
func (c *execCmd) request(a *app, cfg *config.Config) (control.Exec, error) {
	agent := a.agent(c.Agent)
	ex := baseExec(a, cfg, agent, a.session(c.Session, agent))
	ex.Workdir, ex.Env, ex.PTY, ex.Name = c.Workdir, c.Env, c.PTY, c.Name
	ex.Background = c.Background
	if c.isShell() {
		ex.Command = c.Command[0]
	} else {
		ex.Argv = c.words()
	}
	if c.MaxOutput != "" {
		n, err := process.ParseSize(c.MaxOutput)
		if err != nil {
			return ex, usagef(fmt.Sprintf("exec: --max-output %q: %v", c.MaxOutput, err), "a size is a number with a unit, as in 512KiB or 64MiB")
		}
		ex.MaxOutput = process.OutputCap.Clamp(n)
	}
	var err error
	if ex.Cols, ex.Rows, err = c.size(); err != nil {
		return ex, err
	}
	if c.onOurTerminal(a) {
		ex.Cols, ex.Rows = a.terminalSize()
	}
	ex.Stdin, ex.Caller = c.stdin(a)
	ex.Merged = !c.Background && !c.inTool && !c.JSON && a.io.Joined()
	return ex, nil
}

// baseExec is what every exec has, whoever asks for it.
func baseExec(a *app, cfg *config.Config, agent, session string) control.Exec {
	t := cfg.Tools.Exec
	cwd, _ := os.Getwd()
	return control.Exec{
		Agent: agent, Session: session, MaxOutput: t.MaxOutput, TTLMs: t.CleanupMs,
		NotifyOnExit: t.NotifyOnExit, NotifyOnExitEmptySuccess: t.NotifyOnExitEmptySuccess,
		PathPrepend: t.PathPrepend, OnLoss: t.OnSupervisorLoss, Stdin: supervisor.StdinNull,
		Retain: retainOf(cfg), Wake: cfg.Wake.OnExit,
		Environ: a.environ, Cwd: cwd,
	}
}

func (c *execCmd) size() (cols, rows int, err error) {
	if c.Size == "" {
		return 0, 0, nil
	}
	w, h, ok := strings.Cut(c.Size, "x")
	cols, err1 := strconv.Atoi(w)
	rows, err2 := strconv.Atoi(h)
	if !ok || err1 != nil || err2 != nil || cols < 1 || rows < 1 || cols > 65535 || rows > 65535 {
		return 0, 0, usagef(fmt.Sprintf("exec: --size %q: it is columns, x, rows, each 1 to 65535", c.Size), "claw exec --pty --size 80x24 …")
	}
	return cols, rows, nil
}

// stdin decides what the command reads. A piped stdin of a foreground command
// is its own: claw does not touch it, so nothing of it is read ahead.
func (c *execCmd) stdin(a *app) (supervisor.StdinMode, *os.File) {
	switch {
	case c.Stdin == "open":
		return supervisor.StdinOpen, nil
	case c.Stdin == "null" || c.Background || c.PTY || a.stdin == nil:
		return supervisor.StdinNull, nil
	}
	info, err := a.stdin.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return supervisor.StdinNull, nil
	}
	return supervisor.StdinCaller, a.stdin
}

// timing sets yield and timeout. The seeds' defaults (10 s, 1800 s) hold
// inside an agent's turn and where somebody has set them; a plain exec in a
// script waits as any wrapper does, and an overnight job is not ended at half
// an hour (design.md 7).
func (c *execCmd) timing(a *app, x *execution, ex *control.Exec) {
	turn := c.inTool || a.env("TURN_ID") != ""
	t := x.cfg.Tools.Exec
	switch {
	case c.Timeout != nil:
		ex.TimeoutMs = process.TimeoutMs(*c.Timeout)
	case turn || x.cfg.IsSet("tools.exec.timeoutSeconds"):
		ex.TimeoutMs = process.TimeoutMs(float64(t.TimeoutSeconds))
	}
	if c.NoOutput != nil {
		ex.NoOutputTimeoutMs = process.TimeoutMs(*c.NoOutput)
	}
	asked := c.Background || c.YieldMs != nil
	if x.cfg.Tools.Denies("process") {
		ex.Background = false
		if asked {
			x.notes = append(x.notes, control.Synchronous)
		}
		return
	}
	switch {
	case c.Background || c.Wait:
	case c.YieldMs != nil:
		x.yield = ms(process.Yield.Of(c.YieldMs))
	case turn || x.cfg.IsSet("tools.exec.backgroundMs"):
		x.yield = ms(t.BackgroundMs)
	}
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// notStarted explains why nothing was started.
func (c *execCmd) notStarted(a *app, err error) error {
	if code, ok := control.StartCode(err); ok {
		return c.refusal(a, err, code)
	}
	if f, ok := err.(*failure); ok {
		return f
	}
	return c.refusal(a, err, 0)
}

// refusal is an error of starting as JSON or as words.
func (c *execCmd) refusal(a *app, err error, code int) error {
	if c.JSON {
		a.io.JSON(control.NotStarted(err).Details)
		return silent(a.codeOf(err, code))
	}
	remedy := remedyOfFailure(err)
	if words := c.words(); code == 127 && len(words) > 1 && strings.ContainsAny(words[0], " |;&") {
		remedy = []string{"several arguments are a program and its arguments: a command line for the shell stands alone", "flags of claw exec go before it"}
	}
	return &failure{code: a.codeOf(err, code), text: "exec: " + err.Error(), remedy: remedy, err: err}
}

func launchFailure(err error) error {
	if _, ok := asStateError(err); ok {
		return err
	}
	return &failure{code: exitClaw, text: "exec: " + err.Error(), remedy: []string{"claw process list shows what became of it"}, err: err}
}

// started goes on once the command runs, or has turned out not to.
func (c *execCmd) started(a *app, x *execution, h *supervisor.Handle) error {
	if c.IDFile != "" {
		if err := writeIDFile(c.IDFile, h.Row.Slug); err != nil {
			return c.afterIDFile(h, err)
		}
	}
	for _, note := range slices.Concat(x.notes, h.Warnings) {
		a.io.Note(note)
	}
	if h.Ended {
		return c.couldNotStart(a, h)
	}
	if x.req.Row.Background {
		return c.backgrounded(a, h)
	}
	return c.foreground(a, x, h)
}

// couldNotStart is a command whose start failed only when it was tried.
func (c *execCmd) couldNotStart(a *app, h *supervisor.Handle) error {
	if c.JSON {
		a.io.JSON(control.Ended(h.Row, "", false).Details)
		return silent(process.ExitCode(h.Row))
	}
	return &failure{code: process.ExitCode(h.Row), text: "exec: " + process.ReasonText(h.Row)}
}

func (c *execCmd) backgrounded(a *app, h *supervisor.Handle) error {
	h.Row.Root.PID = h.PID
	if c.JSON {
		return a.io.JSON(control.Backgrounded(h.Row, "").Details)
	}
	_, err := fmt.Fprintln(a.io.Out, h.Row.Slug)
	return err
}

// writeIDFile replaces path, so that a reader sees an id or nothing.
func writeIDFile(path, slug string) error {
	temp := path + ".claw-tmp"
	if err := os.WriteFile(temp, []byte(slug+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// afterIDFile: the command runs already, so it goes on in the background and
// its id is said instead of written.
func (c *execCmd) afterIDFile(h *supervisor.Handle, err error) error {
	return &failure{code: exitClaw, text: fmt.Sprintf("exec: --id-file %q: %v", c.IDFile, err), remedy: []string{
		"the command was started and goes on in the background as " + h.Row.Slug,
		"claw process kill " + h.Row.Slug + " stops it",
	}, err: err}
}
