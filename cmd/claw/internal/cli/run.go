// Package cli is what a person types: the grammar, one file a command, and
// the one place where errors become words and exit codes.
package cli

import (
	"context"
	"errors"
	"os"
	"strings"

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
		clock: clock.New(), ctx: context.Background(), args: os.Args[1:],
	}
	return a.run()
}

// run parses, runs and reports.
func (a *app) run() int {
	defer a.close()
	err := a.dispatch()
	if flushErr := a.io.Flush(); err == nil {
		err = flushErr
	}
	return a.report(err)
}

func (a *app) dispatch() error {
	var root struct {
		globals
	}
	exited := -1
	parser, err := a.parser(&root, func(code int) { exited = code })
	if err != nil {
		return err
	}
	ctx, err := parser.Parse(a.args)
	switch {
	case exited >= 0:
		return silent(exited)
	case err != nil:
		return usageOf(err)
	}
	a.global = root.globals
	a.io.SetColor(root.Color)
	return ctx.Run(a)
}

// parser builds the grammar of the command that is asked for, or of all of
// them for help and for names that are not known.
func (a *app) parser(root any, exit func(int)) (*kong.Kong, error) {
	opts := []kong.Option{
		kong.Name("claw"),
		kong.Description(description),
		kong.UsageOnError(),
		kong.Exit(exit),
		kong.Writers(a.io.Out, a.io.Err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: a.io.HelpWidth()}),
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

const description = "Run commands in the background, keep what they print, and know how they ended. " +
	"claw COMMAND --help shows the flags and examples of a command; claw(7) tells the whole story."

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

// usageOf is a mistake of the command line, with where to look.
func usageOf(err error) error {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok {
		return err
	}
	name := "claw"
	if node := parse.Context.Selected(); node != nil {
		name = "claw " + node.Path()
	}
	return &failure{code: exitUsage, text: parse.Error(), remedy: []string{name + " --help shows what can be typed"}, err: err}
}
