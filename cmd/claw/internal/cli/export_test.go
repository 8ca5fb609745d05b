package cli

import (
	"errors"
	"io"

	"github.com/alecthomas/kong"

	"claw/cmd/claw/internal/output"
)

// Model is the whole grammar.
func Model() (*kong.Application, error) { return model() }

// ExitCodes is the table of codes.go as pairs of code and meaning.
func ExitCodes() (table [][2]string) {
	for _, c := range exitCodes() {
		table = append(table, [2]string{c.Code, c.Meaning})
	}
	return table
}

// ExitsOf is the table of one command, by its words without the program.
func ExitsOf(path string) (table [][2]string) {
	for _, c := range exitsOf(path) {
		table = append(table, [2]string{c.Code, c.Meaning})
	}
	return table
}

// ExitLine is the last line of a command's help.
func ExitLine(path string) string { return exitLine(path) }

// SplitHelp takes a command's Help apart.
func SplitHelp(n *kong.Node) (prose string, examples []string) { return splitHelp(n) }

// NodePath is the words of a command.
func NodePath(n *kong.Node) string { return nodePath(n) }

// Parse reads a command line without running it.
func Parse(args []string) error {
	a := &app{io: &output.Streams{Out: io.Discard, Err: io.Discard}, args: args}
	if a.rewrite() {
		return errors.New("no command")
	}
	var root struct{ globals }
	k, err := a.parser(&root, func(int) {})
	if err != nil {
		return err
	}
	_, err = k.Parse(a.args)
	return err
}

// Passwd reads a file of users: the name of a uid, and which names are its.
func Passwd(text string, uid int) (name string, is func(string) bool) {
	u := passwd(text, uid)
	return u.name, u.is
}
