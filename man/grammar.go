package man

import (
	"strings"

	"github.com/alecthomas/kong"
)

// path is the words of a command, the program's name first.
func path(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return path(n.Parent) + " " + n.Name
}

// name is the NAME section: the page's name and the first sentence.
func name(n *kong.Node) string {
	help, _, _ := strings.Cut(n.Help, ". ")
	help = strings.TrimSuffix(help, ".")
	return sentencesBehind(code(strings.ReplaceAll(path(n), " ", "-"))+` \- `, strings.ToLower(help[:1])+help[1:])
}

// usage is how a command and each of its actions is typed.
func usage(n *kong.Node) string {
	if n.Leaf() {
		return ".HP\n" + call(n) + "\n"
	}
	var b strings.Builder
	for _, c := range n.Children {
		if !c.Hidden {
			b.WriteString(usage(c))
		}
	}
	return b.String()
}

// call is one command with its flags and arguments.
func call(n *kong.Node) string {
	words := []string{bold(path(n))}
	if len(n.Flags) > 0 {
		words = append(words, `[\fIflags\fR]`)
	}
	for _, p := range n.Positional {
		words = append(words, argument(p))
	}
	return strings.Join(words, " ")
}

func argument(p *kong.Positional) string {
	s := italic(placeholder(p))
	switch {
	case p.PassthroughMode != kong.PassThroughModeNone:
		return `[\fB\-\-\fR] ` + s + `\fI...\fR`
	case p.IsCumulative():
		s += `\fI...\fR`
	}
	if !p.Required {
		return "[" + s + "]"
	}
	return s
}

func placeholder(v *kong.Value) string {
	if v.Tag.PlaceHolder != "" {
		return v.Tag.PlaceHolder
	}
	return strings.ToUpper(v.Name)
}

// commands is a list of what can follow, with one line each.
func commands(n *kong.Node) string {
	var b strings.Builder
	for _, c := range n.Children {
		if c.Hidden {
			continue
		}
		tag := bold(path(c))
		if len(c.Aliases) > 0 {
			tag += " (" + bold(strings.Join(c.Aliases, ", ")) + ")"
		}
		b.WriteString(tagged(tag, c.Help))
	}
	return b.String()
}

// actions describes every action below a command in full, and in turn those
// below an action.
func actions(n *kong.Node) string { return actionsBelow(n, "") }

// actionsBelow is actions with the words that go before each heading.
func actionsBelow(n *kong.Node, before string) string {
	var b strings.Builder
	for _, c := range n.Children {
		if c.Hidden {
			continue
		}
		b.WriteString(".SS " + code(before+c.Name) + "\n")
		if c.Leaf() {
			b.WriteString(".PP\n" + call(c) + "\n")
		}
		b.WriteString(paragraph(c.Help))
		if len(c.Aliases) > 0 {
			b.WriteString(".PP\nShort for it: " + bold(strings.Join(c.Aliases, ", ")) + ".\n")
		}
		text, lines := split(c.Detail)
		b.WriteString(paragraphs(text) + options(c) + example(lines))
		b.WriteString(actionsBelow(c, before+c.Name+" "))
	}
	return b.String()
}

// options is the list of a command's arguments and flags.
func options(n *kong.Node) string {
	var b strings.Builder
	for _, p := range n.Positional {
		b.WriteString(tagged(italic(placeholder(p)), p.Help))
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			b.WriteString(tagged(flag(f), f.Help))
		}
	}
	return b.String()
}

func flag(f *kong.Flag) string {
	s := bold("--" + f.Name)
	if f.Tag.Negatable != "" {
		s += ", " + bold("--no-"+f.Name)
	}
	if !f.IsBool() {
		s += "=" + italic(placeholder(f.Value))
	}
	if f.Short != 0 {
		s = bold("-"+string(f.Short)) + ", " + s
	}
	return s
}

// keys is the part of claw.toml whose keys begin with one of the words of
// about; words with a dash in front are left out again.
func keys(all []Key, about string) string {
	var b strings.Builder
	for _, k := range all {
		if matches(k.Name, strings.Fields(about)) {
			b.WriteString(key(k))
		}
	}
	return b.String()
}

func matches(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if not, ok := strings.CutPrefix(p, "-"); ok && strings.HasPrefix(name, not) {
			return false
		}
	}
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func key(k Key) string {
	tag := bold(k.Name)
	if k.Default != "" {
		tag += " = " + code(k.Default)
	}
	kind := strings.ToUpper(k.Type[:1]) + k.Type[1:]
	if k.Range != "" {
		kind += " (" + k.Range + ")"
	}
	return ".TP\n" + tag + "\n" + sentences(kind+". "+k.Help)
}
