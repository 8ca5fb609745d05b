package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claw/runner/internal/proc"
	"claw/runner/internal/pty"
	"claw/runner/retention"
	"claw/runner/supervisor"
	"claw/state/delivery"
	"claw/state/process"
)

// Exec is one command as it was asked for, by a person or a tool call, with
// every number already clamped and defaulted.
type Exec struct {
	Command string   // for the shell; Argv is empty
	Argv    []string // executed as it is; Command is empty
	Workdir string   // absolute, or relative to Cwd; a leading ~ is Home; empty is Cwd
	Env     []string // NAME=VALUE overrides, checked
	PTY     bool
	Cols    int
	Rows    int
	Stdin   supervisor.StdinMode
	Caller  *os.File // for StdinCaller
	Merged  bool     // stdout and stderr go to the same place: keep their order rather than their names

	Name, Agent, Session     string
	Origin                   delivery.Route // who is told about the end directly; empty: the session is
	TimeoutMs                int64          // 0 none
	NoOutputTimeoutMs        int64          // it is ended when it prints nothing for so long; 0 none
	MaxOutput                int64          // bytes on disk
	TTLMs                    int64
	NotifyOnExit             bool
	NotifyOnExitEmptySuccess bool
	PathPrepend              []string
	OnLoss                   string
	Retain                   retention.Policy
	Wake                     string // supervisor.Request.Wake
	Background               bool

	Environ []string // the caller's environment
	Cwd     string   // the caller's directory
}

// WorkdirError refuses a directory in which nothing can be run; the command
// was not started (spec/exec-process.md 1.1).
type WorkdirError struct {
	Dir string
	Why string
}

func (e *WorkdirError) Error() string {
	return fmt.Sprintf("workdir %q is unavailable: %s; the command was not run", e.Dir, e.Why)
}

// Remedy says what to pass instead.
func (e *WorkdirError) Remedy() string { return "name an existing directory with --workdir" }

// ErrNoCommand: there is nothing to run.
//
//lint:ignore ST1005 the words are those of spec/exec-process.md 1.1
var ErrNoCommand = errors.New("Provide a command to start.")

// Request resolves the shell, the program, the directory and the environment.
// Its errors mean that nothing was started: *process.EnvError, *WorkdirError,
// *proc.StartError (as StartFailure) or ErrNoCommand.
func (e Exec) Request() (supervisor.Request, error) {
	if strings.TrimSpace(e.Command) == "" && (len(e.Argv) == 0 || e.Argv[0] == "") {
		return supervisor.Request{}, ErrNoCommand
	}
	if err := process.CheckEnv(e.Env); err != nil {
		return supervisor.Request{}, err
	}
	dir, err := e.dir()
	if err != nil {
		return supervisor.Request{}, err
	}
	env := e.environment(dir)
	path, argv, err := e.program(env, dir)
	if err != nil {
		return supervisor.Request{}, err
	}
	req := supervisor.Request{
		Row: e.row(argv, dir), Path: path, Env: env,
		Stdin: e.Stdin, Caller: e.Caller, Merged: e.Merged, OnLoss: e.OnLoss, Retain: e.Retain,
		Wake: e.Wake, Undo: e.undo(env),
		InTurn: proc.Getenv(e.Environ, "CLAW_TURN_ID") != "" || proc.Getenv(e.Environ, "CLAW_SESSION") != "",
	}
	return req, nil
}

func (e Exec) row(argv []string, dir string) process.Process {
	p := process.Process{
		Label: e.Name, Agent: e.Agent, Session: e.Session, Origin: e.Origin,
		Command: e.Command, Argv: argv, Shell: len(e.Argv) == 0, Cwd: dir,
		PTY: e.PTY, TimeoutMs: e.TimeoutMs, NoOutputTimeoutMs: e.NoOutputTimeoutMs, MaxOutput: e.MaxOutput, TTLMs: e.TTLMs,
		NotifyOnExit: e.NotifyOnExit, NotifyOnExitEmptySuccess: e.NotifyOnExitEmptySuccess,
		Background: e.Background, StdinOpen: e.PTY || e.Stdin == supervisor.StdinOpen,
	}
	if !p.Shell {
		p.Command = process.QuoteArgv(e.Argv)
	}
	if e.PTY {
		p.Cols, p.Rows = orDefault(e.Cols, pty.DefaultCols), orDefault(e.Rows, pty.DefaultRows)
	}
	return p
}

func orDefault(n, fallback int) int {
	if n > 0 {
		return n
	}
	return fallback
}

// dir is the directory the command runs in.
func (e Exec) dir() (string, error) {
	dir := e.Workdir
	switch {
	case dir == "":
		dir = e.Cwd
	case strings.TrimSpace(dir) == "":
		return "", &WorkdirError{Dir: dir, Why: "it is blank"}
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		dir = filepath.Join(proc.Getenv(e.Environ, "HOME"), dir[1:])
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(e.Cwd, dir)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &WorkdirError{Dir: dir, Why: "there is no such directory"}
	case err != nil:
		return "", &WorkdirError{Dir: dir, Why: err.Error()}
	case !info.IsDir():
		return "", &WorkdirError{Dir: dir, Why: "it is not a directory"}
	}
	return dir, nil
}

// environment is what the command sees: the caller's own, never a runner's
// (pains B38), without what would run somebody else's code, with the
// overrides, and with PWD as the directory it really runs in.
func (e Exec) environment(dir string) []string {
	env := process.MergeEnv(e.Environ, e.Env)
	env = proc.Setenv(env, "OPENCLAW_SHELL", "exec")
	env = proc.Setenv(env, "PWD", dir)
	if e.PTY && proc.Getenv(env, "TERM") == "" {
		env = proc.Setenv(env, "TERM", "xterm-256color")
	}
	path := proc.Getenv(env, "PATH")
	if path == "" {
		path = proc.FallbackPATH
	}
	return proc.Setenv(env, "PATH", prepend(e.PathPrepend, path))
}

// undo is what env, the command's, has otherwise than the caller's: the
// caller's values, by name.
func (e Exec) undo(env []string) []string {
	if e.Wake == "" {
		return nil
	}
	theirs, ours := byName(e.Environ), byName(env)
	var undo []string
	for name := range ours {
		if _, ok := theirs[name]; !ok {
			undo = append(undo, name)
		}
	}
	for name, kv := range theirs {
		if ours[name] != kv {
			undo = append(undo, kv)
		}
	}
	return undo
}

func byName(env []string) map[string]string {
	m := make(map[string]string, len(env))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		m[name] = kv
	}
	return m
}

// prepend puts dirs in front of path and takes their later mentions out.
func prepend(dirs []string, path string) string {
	if len(dirs) == 0 {
		return path
	}
	parts := append([]string(nil), dirs...)
	for p := range strings.SplitSeq(path, ":") {
		if !contains(dirs, p) {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ":")
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// program is what is executed: the argv as it is, or the shell with the text.
func (e Exec) program(env []string, dir string) (path string, argv []string, err error) {
	pathVar := proc.Getenv(env, "PATH")
	if len(e.Argv) > 0 {
		path, err = proc.LookPath(e.Argv[0], dir, pathVar)
		return path, e.Argv, err
	}
	shell, flags := proc.Shell(
		func(name string) string { return proc.Getenv(e.Environ, name) },
		func(name string) (string, error) { return proc.LookPath(name, dir, pathVar) },
	)
	argv = append([]string{filepath.Base(shell)}, flags...)
	return shell, append(argv, e.Command), nil
}

// StartCode is the exit code of a command that could not be started: 127 not
// found, 126 not runnable, 125 when err says something else.
func StartCode(err error) (int, bool) {
	if start, ok := errors.AsType[*proc.StartError](err); ok {
		return start.Code(), true
	}
	return 0, false
}
