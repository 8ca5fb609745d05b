package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// Help, in the order a reader needs it: how it is typed, what it does, its
// arguments and flags, examples that can be typed as they stand, exit status.
// Flags that every command takes are named, and explained once by
// `claw --help`.

const description = "Run commands in the background, keep what they print, and know how they ended."

// startExamples are the examples of `claw --help`.
func startExamples() string {
	return examples(
		"claw exec -b -- npm run build     start it and print its id",
		"claw process list                 what runs, and what has finished lately",
		"claw process log --last --follow  watch it",
		"claw process wait --last          wait for it; its exit code is passed on",
	)
}

// exitLine is the last line of a command's help.
func exitLine(path string) string {
	codes := exitsOf(path)
	if len(codes) == 0 {
		return ""
	}
	words := make([]string, len(codes))
	separator := ", "
	for i, c := range codes {
		words[i] = c.Code + " " + c.Meaning
		if strings.ContainsAny(c.Meaning, ",;") {
			separator = "; "
		}
	}
	if codes[0].Code != "0" { // it passes on what it runs
		return "Exit status: the command's own; " + strings.Join(words, "; ") + "."
	}
	return "Exit status: " + strings.Join(words, separator) + "."
}

// printHelp is kong's hook for --help.
func printHelp(opts kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil {
		node = ctx.Model.Node
	}
	h := helpText{width: min(max(opts.WrapUpperBound, 40), 100)}
	h.page(node)
	_, err := io.WriteString(ctx.Stdout, h.String())
	return err
}

// helpText is a page in the making.
type helpText struct {
	strings.Builder
	width int
}

func (h *helpText) page(n *kong.Node) {
	fmt.Fprintf(h, "Usage: %s\n", usageLine(n))
	h.para(n.Help)
	if alias := strings.Join(n.Aliases, ", "); alias != "" {
		h.para("Short for it: " + alias + ".")
	}
	prose, lines := splitHelp(n)
	h.para(prose)
	h.arguments(n)
	h.commands(n)
	if n.Parent == nil {
		h.flags("Flags of every command:", n.Flags)
	} else {
		h.flags("Flags:", n.Flags)
		h.para("Every command also takes " + globalNames(n) + "; claw --help explains them.")
	}
	h.list("Examples:", lines)
	h.para(exitLine(nodePath(n)))
	if n.Parent == nil {
		h.para("claw COMMAND --help shows more. claw(1) is the manual, claw(7) tells the whole story.")
	}
}

// usageLine is how a command is typed.
func usageLine(n *kong.Node) string {
	words := []string{strings.TrimSpace("claw " + nodePath(n))}
	switch {
	case n.Parent == nil:
		return "claw COMMAND [flags]"
	case !n.Leaf() && n.DefaultCmd != nil:
		return words[0] + " [ACTION] [flags]"
	case !n.Leaf():
		return words[0] + " ACTION [flags]"
	}
	words = append(words, "[flags]")
	for _, p := range n.Positional {
		words = append(words, argumentName(p))
	}
	return strings.Join(words, " ")
}

// argumentName is an argument in a usage line. One that takes the rest of the
// line is needed, though the grammar lets it be absent for a better message.
func argumentName(p *kong.Positional) string {
	name := placeholder(p)
	switch {
	case p.PassthroughMode != kong.PassThroughModeNone:
		return "[--] " + name + "..."
	case p.IsCumulative():
		name += "..."
	}
	if !p.Required {
		return "[" + name + "]"
	}
	return name
}

func placeholder(v *kong.Value) string {
	if v.Tag.PlaceHolder != "" {
		return v.Tag.PlaceHolder
	}
	return strings.ToUpper(v.Name)
}

// nodePath is the words of a command, without the program and aliases.
func nodePath(n *kong.Node) string {
	if n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(nodePath(n.Parent) + " " + n.Name)
}

// splitHelp takes the Help() of a command apart: prose, and the lines of its
// examples.
func splitHelp(n *kong.Node) (prose string, lines []string) {
	detail := n.Detail
	if n.Parent == nil {
		detail = startExamples()
	}
	prose, rest, _ := strings.Cut(detail, examplesHead)
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(prose), lines
}

func globalNames(n *kong.Node) string {
	for n.Parent != nil {
		n = n.Parent
	}
	names := make([]string, 0, len(n.Flags))
	for _, f := range n.Flags {
		names = append(names, "--"+f.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// para adds text, wrapped, each of its paragraphs behind an empty line.
func (h *helpText) para(text string) {
	if text == "" {
		return
	}
	for p := range strings.SplitSeq(text, "\n\n") {
		h.WriteString("\n" + fill(strings.Fields(p), h.width, "") + "\n")
	}
}

// list adds lines as they are.
func (h *helpText) list(head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	h.WriteString("\n" + head + "\n")
	for _, line := range lines {
		h.WriteString("  " + line + "\n")
	}
}

func (h *helpText) arguments(n *kong.Node) {
	var rows [][2]string
	for _, p := range n.Positional {
		rows = append(rows, [2]string{placeholder(p), p.Help})
	}
	h.rows("", rows)
}

// commands lists what can follow, by group.
func (h *helpText) commands(n *kong.Node) {
	var rows [][2]string
	group := "Actions:"
	for _, c := range n.Children {
		if c.Hidden {
			continue
		}
		if c.Group != nil && n.Parent == nil && c.Group.Title+":" != group {
			h.rows(group, rows)
			group, rows = c.Group.Title+":", nil
		}
		rows = append(rows, [2]string{c.Name, c.Help})
	}
	h.rows(group, rows)
}

func (h *helpText) flags(head string, flags []*kong.Flag) {
	var rows [][2]string
	for _, f := range flags {
		if !f.Hidden {
			rows = append(rows, [2]string{flagName(f), f.Help})
		}
	}
	h.rows(head, rows)
}

// flagName is a flag as it is typed.
func flagName(f *kong.Flag) string {
	name := "    --"
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", --"
	}
	if f.Tag.Negatable != "" {
		name += "[no-]"
	}
	name += f.Name
	if !f.IsBool() {
		name += "=" + placeholder(f.Value)
	}
	return name
}

// widest is how much the left column may take.
const widest = 24

// rows adds two columns.
func (h *helpText) rows(head string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	h.WriteString("\n")
	if head != "" {
		h.WriteString(head + "\n")
	}
	left := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= widest {
			left = max(left, n)
		}
	}
	margin := strings.Repeat(" ", left+4)
	for _, r := range rows {
		name := fmt.Sprintf("  %-*s  ", left, r[0])
		if utf8.RuneCountInString(r[0]) > left {
			name = "  " + r[0] + "\n" + margin
		}
		h.WriteString(name + fill(strings.Fields(r[1]), h.width-left-4, margin) + "\n")
	}
}

// fill breaks words into lines of at most width runes; margin goes in front
// of every line but the first.
func fill(words []string, width int, margin string) string {
	var b strings.Builder
	used := 0
	for _, w := range words {
		n := utf8.RuneCountInString(w)
		switch {
		case used == 0:
		case used+1+n > width:
			b.WriteString("\n" + margin)
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(w)
		used += n
	}
	return b.String()
}
