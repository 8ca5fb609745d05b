package config

import "strings"

// tableLine finds the line of a key in the n-th table, from 0, of an array of
// tables, or of the table's own head when the key is not written there by
// itself. The decoder knows one place for all tables of an array. It is 0 when
// nothing is found: the list may be written in one line.
func tableLine(text, section string, n int, key []string) int {
	head, found, within := -1, 0, []string(nil)
	for _, s := range statements(text) {
		switch {
		case s.array && len(s.path) == 1 && s.path[0] == section:
			if head++; head == n {
				found = s.line
			}
			within = nil
		case s.table && len(s.path) > 1 && s.path[0] == section:
			within = s.path[1:]
			if head == n && begins(key, within) {
				found = s.line
			}
		case s.table:
			if head >= n {
				return found
			}
			within = nil
		case head == n && len(key) > 0 && begins(key, append(append([]string(nil), within...), s.path...)):
			return s.line
		}
	}
	return found
}

// begins tells that one path begins with another.
func begins(path, with []string) bool {
	if len(with) > len(path) || len(with) == 0 {
		return false
	}
	for i := range with {
		if path[i] != with[i] {
			return false
		}
	}
	return true
}

// statement is a head of a table or a key, where a line of TOML begins with one.
type statement struct {
	line         int
	path         []string
	table, array bool // [path], [[path]], which is a table too
}

// statements goes over a text that is valid TOML. Values are passed over by
// their brackets and quotes.
func statements(text string) (all []statement) {
	line := 1
	for text != "" {
		n := lineLen(text)
		trimmed := strings.TrimLeft(text[:n], " \t")
		if trimmed != "" && trimmed[0] != '#' {
			s, value := read(trimmed)
			s.line = line
			all = append(all, s)
			if value >= 0 {
				n = n - len(trimmed) + value
				n += valueLen(text[n:])
			}
		}
		n = min(n+1, len(text))
		line += strings.Count(text[:n], "\n")
		text = text[n:]
	}
	return all
}

// read reads the head of a table, or a key; value is where its value begins,
// -1 for a head.
func read(line string) (s statement, value int) {
	if line[0] != '[' {
		var used int
		s.path, used = dotted(line)
		return s, min(used+1, len(line)) // behind the =
	}
	s.table = true
	line = line[1:]
	if s.array = strings.HasPrefix(line, "["); s.array {
		line = line[1:]
	}
	s.path, _ = dotted(line)
	return s, -1
}

// dotted reads a dotted key up to what ends it.
func dotted(text string) (path []string, used int) {
	for used < len(text) {
		switch c := text[used]; c {
		case ' ', '\t', '.':
			used++
		case '=', ']':
			return path, used
		case '"', '\'':
			n := stringLen(text[used:])
			path = append(path, strings.Trim(text[used:used+n], text[used:used+1]))
			used += n
		default:
			n := strings.IndexAny(text[used:], " \t.=]")
			if n < 0 {
				n = len(text) - used
			}
			path = append(path, text[used:used+n])
			used += n
		}
	}
	return path, used
}

// valueLen is how far a value goes, up to the end of its last line.
func valueLen(text string) int {
	open := 0
	for i := 0; i < len(text); {
		n := 1
		switch text[i] {
		case '\n':
			if open == 0 {
				return i
			}
		case '[', '{':
			open++
		case ']', '}':
			open--
		case '#':
			n = lineLen(text[i:])
		case '"', '\'':
			n = stringLen(text[i:])
		}
		i += n
	}
	return len(text)
}
