package process

import (
	"strings"
	"time"
)

// The widths of spec/exec-process.md 2.1, in characters.
const (
	TargetWidth  = 48  // the target in a derived name
	NameWidth    = 80  // a name in a list line
	CommandWidth = 120 // a command in a list line
)

// Words splits a command into its words the way a person reads them: at white
// space outside quotes, the quotes taken off. A backslash keeps the next
// character as it is, except between single quotes. An open quote runs to the
// end. Empty words are left out. Nothing is expanded.
func Words(command string) []string {
	var words []string
	for command != "" {
		var w string
		w, command = nextWord(strings.TrimLeft(command, " \t\r\n"))
		if w != "" {
			words = append(words, w)
		}
	}
	return words
}

// nextWord reads one word and returns what follows it. s has no leading space.
func nextWord(s string) (word, rest string) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && isSpace(c):
			return b.String(), s[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Name derives a name from a command: its verb, and the first word after it
// that is not an option, else the second word (spec/exec-process.md 2.1).
// "python3 -u script.py" is "python3 script.py". Empty for an empty command.
func Name(command string) string {
	words := Words(command)
	if len(words) == 0 {
		return ""
	}
	if len(words) == 1 {
		return words[0]
	}
	target := words[1]
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			target = w
			break
		}
	}
	return words[0] + " " + Elide(target, TargetWidth)
}

// NameOf is the name of a process: the one it was given, else the derived one.
func NameOf(p Process) string {
	if p.Label != "" {
		return p.Label
	}
	return Name(p.Command)
}

// ListLabel is the label of a list line: the name, else the command, on one
// line and elided.
func ListLabel(p Process) string {
	if name := Collapse(NameOf(p)); name != "" {
		return Elide(name, NameWidth)
	}
	return Elide(Collapse(p.Command), CommandWidth)
}

// ListLine is one line of the seeds' list text (spec/exec-process.md 2.1):
//
//	<id> <status padded to 9> <runtime>[ [overall-timeout]][ [input-wait]] :: <label>
func ListLine(p Process, runtime time.Duration, inputWait bool) string {
	status := Status(p)
	var b strings.Builder
	b.WriteString(p.Slug + " " + status + strings.Repeat(" ", 9-len(status)) + " " + Runtime(runtime))
	if p.Exit != nil && p.Exit.TimedOut {
		b.WriteString(" [" + string(p.Exit.Reason) + "]")
	}
	if inputWait {
		b.WriteString(" [input-wait]")
	}
	b.WriteString(" :: " + ListLabel(p))
	return b.String()
}

// QuoteArgv writes an argv as a POSIX shell would have to be given it, for
// reading; Words takes it apart again. Nothing ever executes this text.
func QuoteArgv(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = quoteWord(a)
	}
	return strings.Join(quoted, " ")
}

func quoteWord(s string) string {
	if s != "" && strings.IndexFunc(s, needsQuote) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func needsQuote(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r > 0x9f && r != 0xfffd:
		return false
	}
	return !strings.ContainsRune("_-+./:,=@%", r)
}
