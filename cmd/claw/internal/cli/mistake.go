package cli

import (
	"errors"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// usageOf is a mistake of the command line in one line, with where to look.
func usageOf(err error) error {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok {
		return err
	}
	node := parse.Context.Selected()
	if node == nil {
		node = parse.Context.Model.Node
	}
	remedy := []string{strings.TrimSpace("claw "+nodePath(node)) + " --help shows what can be typed"}
	if node.Parent == nil && strings.HasPrefix(parse.Error(), unexpected) && !strings.Contains(parse.Error(), ", did you mean ") {
		remedy = append(remedy, "claw exec -- COMMAND runs a command")
	}
	if words, ok := inWords(parse.Context.Args); ok && nodePath(node) == "automations add" {
		return quoteIt(words, err)
	}
	return &failure{code: exitUsage, text: plainMistake(node, parse.Error()), remedy: remedy, err: err}
}

// inWords finds a cron expression that was not quoted: five words in a row that
// are fields of one, before --.
func inWords(args []string) (words []string, ok bool) {
	for _, arg := range args {
		if arg == "--" {
			break
		}
		if strings.Trim(arg, "0123456789*/,-?") != "" || arg == "" {
			words = nil
			continue
		}
		if words = append(words, arg); len(words) == 5 {
			return words, true
		}
	}
	return nil, false
}

func quoteIt(words []string, err error) error {
	return &failure{
		code: exitUsage, text: "automations add: a cron expression is one word", err: err,
		remedy: []string{`quote it: claw cron add "` + strings.Join(words, " ") + `" -- PROGRAM`},
	}
}

const unexpected = "unexpected argument "

// unknown is what a word that fits nowhere was taken for.
func unknown(n *kong.Node) string {
	switch {
	case n.Leaf():
		return unexpected
	case n.Parent == nil:
		return "there is no command "
	}
	return nodePath(n) + ": there is no action "
}

// plainMistake says in words what kong says in its own.
func plainMistake(n *kong.Node, text string) string {
	if strings.HasPrefix(text, "expected one of ") && !n.Leaf() {
		return nodePath(n) + ": which action? " + strings.Join(childNames(n), ", ")
	}
	if arg, ok := strings.CutPrefix(text, unexpected); ok {
		arg, near, _ := strings.Cut(arg, ", did you mean ")
		if near != "" {
			near = "; did you mean " + strings.TrimSuffix(near, "?") + "?"
		}
		return unknown(n) + `"` + arg + `"` + near
	}
	if flag, _, ok := strings.Cut(text, ": expected "); ok && strings.HasSuffix(text, "<EOL>)") {
		return flag + ": a value is missing"
	}
	if flag, got, ok := strings.Cut(text, ": expected a float but got "); ok {
		return flag + ": " + strings.TrimSuffix(got, " (string)") + " is not a number"
	}
	if missing, ok := strings.CutPrefix(text, `expected "<`); ok {
		return nodePath(n) + ": " + strings.ToUpper(strings.TrimSuffix(missing, `>"`)) + " is missing"
	}
	// The value of a flag that is absent is none that can be typed.
	return strings.Replace(text, ` must be one of "",`, " must be one of ", 1)
}

func childNames(n *kong.Node) []string {
	var names []string
	for _, c := range n.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// emptyValue refuses a value that was typed and is empty, or 0 where that is
// nothing, of commands that make and change automations: a variable of a script
// that is not set would otherwise leave out what somebody meant.
func emptyValue(ctx *kong.Context) error {
	n := ctx.Selected()
	path := nodePath(n)
	if !strings.HasPrefix(path, "automations ") {
		return nil
	}
	zero := path == "automations add" || path == "automations edit"
	for _, p := range ctx.Path {
		var name string
		var v reflect.Value
		switch {
		case p.Resolved:
			continue
		case p.Flag != nil:
			name, v = "--"+p.Flag.Name, p.Flag.Target
		case p.Positional != nil:
			name, v = placeholder(p.Positional), p.Positional.Target
		default:
			continue
		}
		switch kind := v.Kind(); {
		case kind == reflect.String && (v.String() == "" || strings.TrimSpace(v.String()) == "" && !mayBeBlank(name)):
			return usagef(path+": "+name+" is empty", withoutIt(n, p.Flag))
		case zero && kind == reflect.Int64 && v.Int() == 0:
			return usagef(path+": "+name+" 0 says nothing", withoutIt(n, p.Flag))
		}
	}
	return nil
}

// mayBeBlank tells a flag of which blanks are a value.
func mayBeBlank(name string) bool { return name == "--input" || name == "--stream-match" }

// withoutIt is how a flag's value is taken away: by --clear-…, where there is
// one.
func withoutIt(n *kong.Node, flag *kong.Flag) string {
	if flag == nil {
		return "leave it out, or write what is meant"
	}
	for name := flag.Name; name != ""; {
		for _, f := range n.Flags {
			if f.Name == "clear-"+name {
				return "--clear-" + name + " takes it away"
			}
		}
		name = name[:max(0, strings.LastIndexByte(name, '-'))]
	}
	return "leave it out, or write what is meant"
}
