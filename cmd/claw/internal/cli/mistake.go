package cli

import (
	"errors"
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
	return &failure{code: exitUsage, text: plainMistake(node, parse.Error()), remedy: remedy, err: err}
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
