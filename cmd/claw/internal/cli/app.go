package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/cmd/claw/internal/output"
	"claw/runner/clock"
	"claw/runner/supervisor"
	"claw/state"
)

// app is what every command's Run gets: the streams, the environment, and
// configuration and state that are opened when first asked for.
type app struct {
	io      *output.Streams
	stdin   *os.File
	getenv  func(string) string
	environ []string
	clock   clock.Clock
	ctx     context.Context
	args    []string // as typed, without the program's name

	global  globals
	command []string          // what exec is to run, as typed
	spare   *supervisor.Spare // started before the command line was read
	cfg     *config.Config
	st      *state.Store
}

// globals are the flags that every command takes.
type globals struct {
	Color    string `help:"Colour: auto (on a terminal), always or never. NO_COLOR is respected." enum:"auto,always,never" default:"auto" placeholder:"WHEN"`
	StateDir string `help:"State directory; default $$CLAW_STATE_DIR, else $$XDG_STATE_HOME/claw, else ~/.local/state/claw." placeholder:"DIR"`
	UnsafeFS bool   `name:"unsafe-fs" help:"Accept a state directory on a network file system, whose locks cannot be trusted."`
}

func (a *app) config() (*config.Config, error) {
	if a.cfg != nil {
		return a.cfg, nil
	}
	cfg, err := config.Load(a.getenv)
	if err != nil {
		return nil, err
	}
	a.cfg = cfg
	return cfg, nil
}

func (a *app) store() (*state.Store, error) {
	if a.st != nil {
		return a.st, nil
	}
	dir, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	unsafe := a.global.UnsafeFS
	if !unsafe {
		cfg, err := a.config()
		if err != nil {
			return nil, err
		}
		unsafe = cfg.State.UnsafeFs
	}
	a.st, err = state.Open(dir, state.Options{Now: a.clock.Now, UnsafeFS: unsafe})
	return a.st, err
}

// opened is both: what nearly every command begins with.
func (a *app) opened() (*config.Config, *state.Store, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, nil, err
	}
	store, err := a.store()
	return cfg, store, err
}

func (a *app) stateDir() (string, error) {
	if a.global.StateDir != "" {
		return filepath.Abs(a.global.StateDir)
	}
	return config.StateDir(a.getenv)
}

// takeSpare is a supervisor that waits for its specification, the one that
// was started early or a new one.
func (a *app) takeSpare() (*supervisor.Spare, error) {
	if s := a.spare; s != nil {
		a.spare = nil
		return s, nil
	}
	dir, _ := a.stateDir()
	return supervisor.Prepare(dir)
}

func (a *app) close() {
	if a.spare != nil {
		a.spare.Discard()
	}
	if a.st != nil {
		a.st.Close()
	}
}

func (a *app) now() time.Time { return a.clock.Now() }

// agent is who is asking: the flag, the turn this runs in, else main.
func (a *app) agent(flag string) string {
	return firstOf(flag, a.env("AGENT"), "main")
}

// session is the conversation that is told: the flag, the turn's, else the
// agent's main session.
func (a *app) session(flag, agent string) string {
	return firstOf(flag, a.env("SESSION"), "agent:"+agent+":main")
}

// env reads CLAW_NAME, or OPENCLAW_NAME when that is not set.
func (a *app) env(name string) string {
	return firstOf(a.getenv("CLAW_"+name), a.getenv("OPENCLAW_"+name))
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// failure is an error that already is what a person should read, with the
// code it ends the program with.
type failure struct {
	code   int
	text   string
	remedy []string
	err    error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

func usagef(text string, remedy ...string) error {
	return &failure{code: exitUsage, text: text, remedy: remedy}
}

// silent ends the program with a code and says nothing more: what there was
// to say has been said, or is the command's own code.
type silent int

func (silent) Error() string { return "" }

func asSilent(err error) (int, bool) {
	s, ok := errors.AsType[silent](err)
	return int(s), ok
}
