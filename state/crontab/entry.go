package crontab

import (
	"errors"
	"strconv"
	"strings"

	"claw/state/cron"
)

// entry reads a line that runs something.
func (r *reader) entry(n int, line string, above []string) {
	e, why, hint := split(line, r.form)
	if why != "" {
		r.problem(n, line, why, hint)
		return
	}
	e.Line, e.Text, e.Env = n, strings.Trim(line, blanks), r.env
	r.shared = true
	e.Comment = remark(above)
	e.Name = r.name(e)
	e.Hash = r.hash(e)
	r.file.Entries = append(r.file.Entries, e)
}

// split takes a line apart: when, who and what. why is empty when it could.
func split(line string, form Form) (e Entry, why, hint string) {
	e.Expr, line, why, hint = when(line)
	if why != "" {
		return e, why, hint
	}
	if e.Reboot = e.Expr == "@reboot"; e.Reboot {
		e.Expr = ""
	}
	if form == System {
		if e.User, line = word(line); e.User == "" {
			return e, "there is no user in it", "a system crontab has one between the times and the command"
		}
	}
	e.Command, e.Stdin = input(line)
	if strings.Trim(e.Command, blanks) == "" {
		return e, "there is no command in it", commandHint(form)
	}
	return e, "", ""
}

func commandHint(form Form) string {
	if form == System {
		return "write one behind the times and the user"
	}
	return "write one behind the times"
}

// when is the expression at the beginning of a line.
func when(line string) (expr, rest, why, hint string) {
	if line[0] == '@' {
		return nickname(line)
	}
	line = unlogged(line)
	fields := make([]string, 0, 5)
	rest = line
	for len(fields) < 5 && rest != "" {
		var f string
		f, rest = word(rest)
		fields = append(fields, f)
	}
	expr = strings.Join(fields, " ")
	if len(fields) < 5 {
		return expr, rest, "it has " + strconv.Itoa(len(fields)) + " of the five fields and no command", "write minute, hour, day of month, month and day of week, then the command"
	}
	why, hint = check(expr)
	return expr, rest, why, hint
}

// unlogged takes off the - by which cronie is told not to log a line.
func unlogged(line string) string {
	if len(line) > 1 && line[0] == '-' && (line[1] == '*' || line[1] >= '0' && line[1] <= '9') {
		return line[1:]
	}
	return line
}

func nickname(line string) (expr, rest, why, hint string) {
	expr, rest = word(line)
	switch expr {
	case "@reboot":
		return expr, rest, "", ""
	case "@every_minute": // of FreeBSD
		return "* * * * *", rest, "", ""
	}
	if expr == "@every" { // of other schedulers
		interval, _ := word(rest)
		return expr, rest, "a crontab has no @every", `claw cron add "every ` + interval + `" makes one by hand`
	}
	why, hint = check(expr)
	return expr, rest, why, hint
}

// check says what is wrong with an expression.
func check(expr string) (why, hint string) {
	_, err := cron.Parse(expr)
	if err == nil {
		return "", ""
	}
	if strings.Contains(expr, "~") {
		return "claw has no random times (~)", "write a fixed time in its place"
	}
	if e, ok := errors.AsType[*cron.Error](err); ok {
		return e.Error(), e.Hint
	}
	return err.Error(), ""
}

// word is the first word of a line, and what follows the blanks behind it.
func word(line string) (first, rest string) {
	end := strings.IndexAny(line, blanks)
	if end < 0 {
		return line, ""
	}
	return line[:end], strings.TrimLeft(line[end:], blanks)
}

// input cuts what follows the times at its first %. A backslash keeps a %
// from counting, and is taken out then; before anything else it stays, and so
// does what it stands before.
func input(text string) (command, stdin string) {
	out := make([]byte, 0, len(text))
	escaped := false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped && c == '%':
			out[len(out)-1] = c
			escaped = false
			continue
		case c == '%':
			return string(out), lines(text[i+1:])
		}
		escaped = c == '\\' && !escaped
		out = append(out, c)
	}
	return string(out), ""
}

// lines is what the command finds on its stdin: each % ends a line, \% is a %.
func lines(text string) string {
	var b strings.Builder
	escaped := false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped && c != '%':
			b.WriteByte('\\')
		case !escaped && c == '%':
			c = '\n'
		}
		if escaped = c == '\\'; !escaped {
			b.WriteByte(c)
		}
	}
	if escaped {
		b.WriteByte('\\')
	}
	if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return b.String()
}
