// Package cli is what a person types: the grammar, one file a command, and
// the one place where errors become words and exit codes.
package cli

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"claw/cmd/claw/internal/output"
	"claw/runner/clock"
	"claw/runner/supervisor"
)

// Main runs the program and returns its exit status.
func Main() int {
	if len(os.Args) > 1 && os.Args[1] == supervisor.Command {
		return supervisor.Main()
	}
	a := &app{
		io: output.Standard(os.Getenv), stdin: os.Stdin, getenv: os.Getenv, environ: os.Environ(),
		clock: clockOf(os.Getenv), ctx: context.Background(), args: os.Args[1:],
	}
	if len(a.args) == 1 && (a.args[0] == "version" || a.args[0] == "--version") {
		return a.report((&versionCmd{}).Run(a)) // asked for by every script; it needs no grammar
	}
	if len(a.args) > 0 && a.args[0] == "exec" {
		// The supervisor boots while the command line is read.
		a.spare, _ = a.takeSpare()
	}
	return a.run()
}

// clockOf is the clock of the system. CLAW_TEST_SHIFT=+10m moves its wall for
// the tests of the whole program, which cannot wait for a second try; it is
// offered to nobody (testdata/script/README.md).
func clockOf(getenv func(string) string) clock.Clock {
	c := clock.New()
	if by, err := time.ParseDuration(getenv("CLAW_TEST_SHIFT")); err == nil {
		return shifted{Clock: c, by: by}
	}
	return c
}

// shifted is a clock whose wall is wrong on purpose.
type shifted struct {
	clock.Clock
	by time.Duration
}

func (s shifted) Now() time.Time { return s.Clock.Now().Add(s.by) }

// run parses, runs and reports.
func (a *app) run() (code int) {
	defer a.close()
	defer func() {
		if cause := recover(); cause != nil {
			code = a.crashed(cause)
		}
	}()
	err := a.dispatch()
	if flushErr := a.io.Flush(); err == nil {
		err = flushErr
	}
	return a.report(err)
}

// crashed says what happened without a stack, which is for whoever asks.
func (a *app) crashed(cause any) int {
	a.io.Error(fmt.Sprintf("a bug of claw: %v", cause),
		"what was started goes on: claw process list", "CLAW_TRACE=1 shows where it is, for a report")
	if a.getenv("CLAW_TRACE") != "" {
		a.io.Err.Write(debug.Stack())
	}
	return exitClaw
}

func (a *app) dispatch() error {
	var root struct {
		globals
	}
	exited, bare := -1, a.rewrite()
	parser, err := a.parser(&root, func(code int) { exited = code })
	if err != nil {
		return err
	}
	args := a.args
	if len(args) > 0 && args[0] == "exec" {
		args, a.command = splitCommand(execFlags(parser), args[1:])
		args = append([]string{"exec"}, args...)
	}
	ctx, err := parser.Parse(args)
	switch {
	case exited >= 0 && bare:
		return silent(exitUsage)
	case exited >= 0:
		return silent(exited)
	case err != nil:
		return usageOf(err)
	}
	a.global = root.globals
	a.io.SetColor(root.Color)
	if err := emptyValue(ctx); err != nil {
		return err
	}
	return ctx.Run(a)
}

// parser builds the grammar of the command that is asked for, or of all of
// them for help and for names that are not known.
func (a *app) parser(root any, exit func(int)) (*kong.Kong, error) {
	opts := []kong.Option{
		kong.Name("claw"),
		kong.Description(description),
		exactStrings(),
		kong.Help(printHelp),
		kong.Exit(exit),
		kong.Writers(a.io.Out, a.io.Err),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: a.io.HelpWidth()}),
	}
	all := commands()
	if c, ok := named(firstWord(a.args)); ok {
		all = []command{c}
	}
	for _, c := range all {
		opts = append(opts, kong.DynamicCommand(c.name, c.help, c.group, c.make(), c.tags()...))
	}
	return kong.New(root, opts...)
}

func (c command) tags() []string {
	var tags []string
	if len(c.aliases) > 0 {
		tags = append(tags, `aliases:"`+strings.Join(c.aliases, ",")+`"`)
	}
	if c.hidden {
		tags = append(tags, `hidden:""`)
	}
	return tags
}

// rewrite turns what people also type into what the grammar has: claw help
// COMMAND, claw --version, and claw alone, which is a mistake that is answered
// with the whole help on stderr.
func (a *app) rewrite() (bare bool) {
	if len(a.args) == 0 {
		a.io.Out = a.io.Err
		a.args = []string{"--help"}
		return true
	}
	switch a.args[0] {
	case "help":
		a.args = append(slices.DeleteFunc(slices.Clone(a.args[1:]), isHelpFlag), "--help")
	case "--version", "-V":
		a.args = append([]string{"version"}, a.args[1:]...)
	}
	return false
}

func isHelpFlag(arg string) bool { return arg == "--help" || arg == "-h" || arg == "help" }

// firstWord is the command, behind global flags that carry their value with
// an equals sign.
func firstWord(args []string) string {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--state-dir" || arg == "--color":
			i++
		case !strings.HasPrefix(arg, "-"):
			return arg
		case arg == "--help" || arg == "-h":
			return ""
		}
	}
	return ""
}
