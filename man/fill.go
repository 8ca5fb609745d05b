package man

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Tables are what pages show and the grammar does not know.
type Tables struct {
	Exit [][2]string // exit code and its meaning
	// ExitOf is the same for one command, by its words without the program's.
	ExitOf func(path string) [][2]string
	Keys   []Key // of claw.toml, in order
	// Decisions is what becomes of a turn that was cut off: what is known of it,
	// and what is done.
	Decisions [][2]string
}

// Key is one key of claw.toml.
type Key struct {
	Name    string // full, with NAME and ID where a person chooses
	Type    string
	Default string // in TOML; empty when the key has no value by itself
	Range   string // may be empty
	Help    string
}

const (
	begin = `.\" generated: `
	end   = `.\" end`
)

// Fill writes the generated parts of a page anew. The error names a part that
// is not known or not closed.
func Fill(page []byte, app *kong.Application, t Tables) ([]byte, error) {
	var out bytes.Buffer
	inside, last := "", ""
	for line := range bytes.Lines(page) {
		text := strings.TrimRight(string(line), "\n")
		part, opens := strings.CutPrefix(text, begin)
		switch {
		case opens && inside != "":
			return nil, fmt.Errorf("%q begins inside %q", part, inside)
		case opens:
			body, err := generate(part, app, t)
			if err != nil {
				return nil, err
			}
			inside = part
			out.Write(line)
			out.WriteString(afterHead(body, last))
		case text == end:
			inside = ""
			out.Write(line)
		case inside == "":
			out.Write(line)
		}
		if !strings.HasPrefix(text, `.\"`) {
			last = text
		}
	}
	if inside != "" {
		return nil, fmt.Errorf("%q has no end", inside)
	}
	return out.Bytes(), nil
}

// afterHead takes out every paragraph that would be the first behind a
// heading, where it is one already.
func afterHead(body, last string) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		if line != ".PP\n" || !strings.HasPrefix(last, ".S") {
			b.WriteString(line)
		}
		last = line
	}
	return b.String()
}

// generate makes one part; its name is a kind and what it is about.
func generate(part string, app *kong.Application, t Tables) (string, error) {
	kind, about, _ := strings.Cut(part, " ")
	switch kind {
	case "keys":
		return keys(t.Keys, about), nil
	case "decisions":
		return plainPairs(t.Decisions), nil
	}
	n := lookup(app.Node, strings.Fields(about))
	if n == nil {
		return "", fmt.Errorf("%q: there is no command %q", part, about)
	}
	switch kind {
	case "exit":
		if about != "" && t.ExitOf != nil {
			return pairs(t.ExitOf(about)), nil
		}
		return pairs(t.Exit), nil
	case "name":
		return name(n), nil
	case "usage":
		return usage(n), nil
	case "about":
		prose, _ := split(n.Detail)
		return paragraph(n.Help) + paragraphs(prose), nil
	case "commands":
		return commands(n), nil
	case "actions":
		return actions(n), nil
	case "options":
		return options(n), nil
	case "examples":
		_, lines := split(n.Detail)
		return example(lines), nil
	}
	return "", fmt.Errorf("%q: there is no such part", part)
}

// lookup finds a command by its words, nil when there is none.
func lookup(n *kong.Node, path []string) *kong.Node {
	for _, word := range path {
		var next *kong.Node
		for _, c := range n.Children {
			if c.Name == word {
				next = c
			}
		}
		if next == nil {
			return nil
		}
		n = next
	}
	return n
}

// split takes the detailed help of a command apart: prose, and examples.
func split(detail string) (prose string, examples []string) {
	prose, rest, _ := strings.Cut(detail, "Examples:\n")
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); line != "" {
			examples = append(examples, line)
		}
	}
	return strings.TrimSpace(prose), examples
}
