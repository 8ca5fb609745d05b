package crontab

import (
	"strconv"
	"strings"
)

// name is a short one for an entry, from what it runs.
func (r *reader) name(e Entry) string {
	base := nameOf(e.Command)
	for n := r.names[base]; ; n++ {
		name := base
		if n > 0 {
			name += "-" + strconv.Itoa(n+1)
		}
		if n == 0 || r.names[name] == 0 {
			r.names[base] = n + 1
			if n > 0 {
				r.names[name] = 1
			}
			return name
		}
	}
}

// nameOf is the program that a command runs, with its first word if that is
// plain: "backup", "restic-backup".
func nameOf(command string) string {
	words := strings.Fields(program(command))
	if len(words) == 0 {
		return "entry"
	}
	name := slug(base(words[0]))
	if len(words) > 1 && plain(words[1]) {
		name += "-" + words[1]
	}
	if name = strings.Trim(name[:min(len(name), 40)], "-"); name == "" {
		return "entry"
	}
	return name
}

// program leaves out what only prepares: cd DIR &&, tests, variables, and
// programs that run another one.
func program(command string) string {
	parts := strings.FieldsFunc(command, func(r rune) bool { return r == '&' || r == ';' || r == '|' || r == '{' || r == '(' })
	for _, part := range parts {
		words := strings.Fields(part)
		for len(words) > 1 && prepares(words[0]) {
			words = words[1:]
		}
		if len(words) > 0 && !isStep(words[0]) {
			return strings.Join(words, " ")
		}
	}
	return command
}

// prepares tells a word behind which the program still comes.
func prepares(word string) bool {
	switch base(word) {
	case "env", "exec", "nice", "ionice", "nohup", "sudo", "time", "chronic":
		return true
	}
	return strings.Contains(word, "=") || strings.HasPrefix(word, "-")
}

// isStep tells a command that is not what the line is for.
func isStep(word string) bool {
	switch base(word) {
	case "cd", "test", "[", "[[", "umask", "export", "set", "sleep", ".", "source", ":", "true":
		return true
	}
	return false
}

func base(path string) string {
	path = strings.Trim(path, `"'`)
	path = path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		path = path[:i]
	}
	return path
}

func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

// plain tells a word such as "backup" in restic backup.
func plain(word string) bool {
	for _, c := range []byte(word) {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return len(word) > 1 && len(word) < 16
}

// remark is the comment above an entry, for people: without the heading that
// crontab -e puts at the top, and without entries that are switched off.
func remark(above []string) string {
	var kept []string
	for _, line := range above {
		text := strings.Trim(strings.TrimLeft(line, "#"), blanks)
		switch {
		case isHeading(text):
			kept = nil
		case strings.Trim(text, "-=*#~_ \t.") == "" || isEntry(text):
		default:
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n")
}

// isHeading tells "m h  dom mon dow   command", below which the entries begin.
func isHeading(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	return len(words) >= 5 && words[0] == "m" && words[1] == "h" && words[2] == "dom"
}

func isEntry(text string) bool {
	if text == "" {
		return false
	}
	_, why, _ := split(text, User)
	return why == ""
}
