package external

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Render fills {{a.b[0].c}} in a text from data, as package json decodes it with
// UseNumber. What is not there is nothing, and so is null; objects and lists are
// JSON. What is filled in is not looked at again: nobody writes a template from
// outside. Braces that hold no path stay as they are.
func Render(template string, data any) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}}")
		path, ok := parsePath(strings.TrimSpace(name))
		if !closed || !ok {
			b.WriteString("{{")
			template = rest
			continue
		}
		v, _ := at(data, path)
		b.WriteString(textOf(v))
		template = after
	}
}

// Lookup is the value at a path; false where there is none.
func Lookup(data any, path string) (any, bool) {
	steps, ok := parsePath(path)
	if !ok {
		return nil, false
	}
	return at(data, steps)
}

// CheckTemplate says what is wrong with a template; nil: nothing.
func CheckTemplate(template string) error {
	for {
		_, rest, found := strings.Cut(template, "{{")
		if !found {
			return nil
		}
		name, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return fmt.Errorf("{{ without }}")
		}
		if _, ok := parsePath(strings.TrimSpace(name)); !ok {
			return fmt.Errorf("{{%s}} is no path such as {{a.b[0].c}}", Line(name, 60))
		}
		template = after
	}
}

// step is one part of a path: a name, or (name empty) a place in a list.
type step struct {
	name  string
	index int
}

// maxSteps is how deep a path may go, maxPath how many bytes it may have.
const (
	maxSteps = 32
	maxPath  = 256
)

// parsePath reads a.b[0].c.
func parsePath(s string) ([]step, bool) {
	if s == "" || len(s) > maxPath {
		return nil, false
	}
	var steps []step
	for part := range strings.SplitSeq(s, ".") {
		name, rest := part, ""
		if i := strings.IndexByte(part, '['); i >= 0 {
			name, rest = part[:i], part[i:]
		}
		if name == "" && (rest == "" || len(steps) > 0) || strings.ContainsAny(name, "]{}\" \t\r\n") {
			return nil, false
		}
		if name != "" {
			steps = append(steps, step{name: name})
		}
		for rest != "" {
			digits, more, ok := strings.Cut(rest[1:], "]")
			n, err := strconv.ParseUint(digits, 10, 31)
			if rest[0] != '[' || !ok || err != nil || digits[0] == '+' {
				return nil, false
			}
			steps, rest = append(steps, step{index: int(n)}), more
		}
		if len(steps) > maxSteps {
			return nil, false
		}
	}
	return steps, true
}

func at(v any, path []step) (any, bool) {
	for _, s := range path {
		switch m := v.(type) {
		case map[string]any:
			next, ok := m[s.name]
			if !ok || s.name == "" {
				return nil, false
			}
			v = next
		case []any:
			if s.name != "" || s.index >= len(m) {
				return nil, false
			}
			v = m[s.index]
		default:
			return nil, false
		}
	}
	return v, true
}

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return asJSON(v, "")
}

// asJSON is a value as a person reads it: < is not \u003c.
func asJSON(v any, indent string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if e.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
