package crontab

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// Form is whose crontab a text is.
type Form int

// A user's has times and a command, the system's a user's name between them.
const (
	User   Form = iota // what crontab -l prints
	System             // /etc/crontab, and what lies in /etc/cron.d
)

// FormOf tells by a path which form a crontab has.
func FormOf(path string) Form {
	if path == "/etc/crontab" || strings.HasPrefix(path, "/etc/cron.d/") {
		return System
	}
	return User
}

// Var is a variable that a crontab sets.
type Var struct{ Name, Value string }

// Entry is one line that runs something.
type Entry struct {
	Line    int    // 1-based
	Text    string // as it stands, without blanks around it
	Comment string // the lines of comment directly above, without their #
	Expr    string // five fields one blank apart, or a nickname; empty with Reboot
	Reboot  bool   // @reboot
	User    string // who runs it, form System only
	Command string // for the shell: what stands before the first %
	Stdin   string // what stands behind it, with line ends for %; ends in one
	Env     []Var  // set above it, each name once, in the order of the file

	Name string // a short one for people, each in the file once
	// Hash tells commands of a file apart, whenever they run: 16 hexadecimal
	// digits, and a number behind a dash when the same command comes again.
	Hash string
}

// Var is the value of a variable that is set for the entry.
func (e Entry) Var(name string) (string, bool) {
	for _, v := range e.Env {
		if v.Name == name {
			return v.Value, true
		}
	}
	return "", false
}

// Problem is a line that could not be read.
type Problem struct {
	Line int // 1-based
	Text string
	Why  string
	Hint string // what to do about it
}

// File is a crontab.
type File struct {
	Entries  []Entry
	Problems []Problem
}

// maxVars is how many variables a crontab may set.
const maxVars = 256

// reader goes through a text line by line.
type reader struct {
	form    Form
	file    File
	comment []string // above the line that is looked at
	env     []Var
	shared  bool // an entry holds env
	names   map[string]int
	hashes  map[string]int
}

// Parse reads a crontab. It never fails: what is wrong is among the problems.
func Parse(text string, form Form) File {
	r := &reader{form: form, names: map[string]int{}, hashes: map[string]int{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		r.line(n, strings.TrimRight(line, "\r\n"))
	}
	return r.file
}

// blanks are what separates the words of a line: isspace is more, but cron
// skips these alone.
const blanks = " \t"

func (r *reader) line(n int, raw string) {
	line := strings.TrimLeft(raw, blanks)
	above := r.comment
	switch {
	case strings.Trim(line, blanks) == "":
		r.comment = nil
		return
	case line[0] == '#':
		r.comment = append(r.comment, line)
		return
	case strings.ContainsRune(line, 0):
		r.problem(n, line, "there is a NUL in it", "write the line anew")
	case r.assign(n, line):
	default:
		r.entry(n, line, above)
	}
	r.comment = nil
}

func (r *reader) problem(n int, line, why, hint string) {
	r.file.Problems = append(r.file.Problems, Problem{Line: n, Text: strings.Trim(line, blanks), Why: why, Hint: hint})
}

// hash names a command; the second one that is the same gets another name.
func (r *reader) hash(e Entry) string {
	h := fnv.New64a()
	h.Write([]byte(e.Command + "\x00" + e.Stdin + "\x00" + e.User))
	sum := strconv.FormatUint(h.Sum64(), 16)
	sum = strings.Repeat("0", 16-len(sum)) + sum
	r.hashes[sum]++
	if k := r.hashes[sum]; k > 1 {
		sum += "-" + strconv.Itoa(k)
	}
	return sum
}
