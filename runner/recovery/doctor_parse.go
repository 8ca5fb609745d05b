package recovery

import (
	"path/filepath"
	"strings"
)

// unit is what of a systemd service counts here; systemd.service(5).
type unit struct {
	exec []string // the words of the last ExecStart
	env  []string
	user string
}

// parseUnit reads the text of a service and of what is dropped in.
func parseUnit(text, home string) (u unit) {
	section := ""
	for _, line := range logicalLines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section != "[Service]" || line[0] == '#' || line[0] == ';' {
			continue
		}
		value = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(value), "%h", home), "%%", "%")
		switch strings.TrimSpace(key) {
		case "ExecStart":
			u.exec = words(strings.TrimLeft(value, "-@:+!|"))
		case "User":
			u.user = value
		case "Environment":
			if value == "" {
				u.env = nil
			}
			u.env = append(u.env, words(value)...)
		}
	}
	return u
}

// logicalLines joins lines that end in a backslash.
func logicalLines(text string) (lines []string) {
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		body, more := strings.CutSuffix(line, "\\")
		if open {
			lines[len(lines)-1] += " " + body
		} else {
			lines = append(lines, body)
		}
		open = more
	}
	return lines
}

// words splits as a shell does that expands nothing, which is close enough for
// systemd too: quotes join, a backslash takes the next character as it is.
func words(s string) (all []string) {
	var w strings.Builder
	begun, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(s):
			i++
			w.WriteByte(s[i])
			begun = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote == 0 && strings.IndexByte(" \t\r\n;&|<>()", c) >= 0:
			if begun {
				all = append(all, w.String())
			}
			w.Reset()
			begun = false
		default:
			w.WriteByte(c)
			begun = true
		}
	}
	if begun {
		all = append(all, w.String())
	}
	return all
}

// plist is what of a property list of launchd counts here; launchd.plist(5).
type plist struct {
	argv     []string
	env      []string
	disabled bool
}

// parsePlist reads the XML form, as far as it is needed: a key, and the strings
// of its value.
func parsePlist(text string) (p plist) {
	key, depth, inner := "", 0, ""
	for tag, body := range plistTags(text) {
		switch tag {
		case "dict", "array":
			depth++
		case "/dict", "/array":
			depth--
		case "key":
			if depth == 1 {
				key = body
			}
			inner = body
		case "string":
			switch {
			case key == "ProgramArguments" && depth == 2:
				p.argv = append(p.argv, body)
			case key == "Program" && depth == 1 && len(p.argv) == 0:
				p.argv = []string{filepath.Clean(body)}
			case key == "EnvironmentVariables" && depth == 2:
				p.env = append(p.env, inner+"="+body)
			}
		case "true/", "true":
			p.disabled = p.disabled || key == "Disabled" && depth == 1
		}
	}
	return p
}

// plistTags yields each tag with the text behind it. Comments are left out.
func plistTags(text string) func(yield func(tag, body string) bool) {
	entities := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")
	return func(yield func(tag, body string) bool) {
		for {
			_, rest, ok := strings.Cut(text, "<")
			if !ok {
				return
			}
			if comment, is := strings.CutPrefix(rest, "!--"); is {
				_, text, _ = strings.Cut(comment, "-->")
				continue
			}
			tag, rest, ok := strings.Cut(rest, ">")
			if !ok {
				return
			}
			body, _, _ := strings.Cut(rest, "<")
			if !yield(strings.TrimSpace(tag), entities.Replace(body)) {
				return
			}
			text = rest
		}
	}
}
