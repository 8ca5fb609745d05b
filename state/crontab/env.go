package crontab

import (
	"slices"
	"strings"
)

// assign reads a line NAME = VALUE; false when it is none. Name and value may
// stand in quotes, which keep the blanks within; nothing is expanded.
func (r *reader) assign(n int, line string) bool {
	name, rest, ok := setting(line)
	if !ok {
		return false
	}
	value, ok := unquote(strings.Trim(rest, blanks))
	switch {
	case name == "":
		r.problem(n, line, "the variable has no name", "write NAME=value")
	case !ok:
		r.problem(n, line, "its quotes do not match", "close the quote, and let nothing follow it")
	case name == "LOGNAME" || name == "USER": // cron does not let them be set
	default:
		if !r.set(Var{name, value}) {
			r.problem(n, line, "more than 256 variables are set", "take out those that nothing needs")
		}
	}
	return true
}

// setting takes a line apart at its =, if a name alone stands before it.
func setting(line string) (name, rest string, ok bool) {
	end := strings.IndexAny(line, blanks+"=")
	if q := line[0]; q == '"' || q == '\'' {
		close := strings.IndexByte(line[1:], q)
		if close < 0 {
			return "", "", false
		}
		name, end = line[1:close+1], close+2
	} else if end >= 0 {
		name = line[:end]
	}
	if end < 0 {
		return "", "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(line[end:], blanks), "=")
	return name, rest, ok && !strings.Contains(name, "=")
}

// unquote takes matching quotes off; false when they do not match.
func unquote(value string) (string, bool) {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return value, true
	}
	body := value[1:]
	end := strings.IndexByte(body, value[0])
	return strings.TrimSuffix(body, value[:1]), end >= 0 && end == len(body)-1
}

// set has a variable hold for the entries that follow; false when there are
// too many.
func (r *reader) set(v Var) bool {
	if r.shared {
		r.env, r.shared = slices.Clone(r.env), false
	}
	if i := slices.IndexFunc(r.env, func(o Var) bool { return o.Name == v.Name }); i >= 0 {
		r.env[i] = v
		return true
	}
	if len(r.env) == maxVars {
		return false
	}
	r.env = append(r.env, v)
	return true
}
