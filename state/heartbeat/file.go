package heartbeat

import (
	"strings"
	"time"
)

// EffectivelyEmpty tells that a HEARTBEAT.md or a scratch asks for nothing: it
// has only blank lines, headings, empty list items and check boxes, fences,
// HTML comments, and tasks: without a task
// (spec/heartbeat-automations.md 1.9). A comment that never ends is content:
// better one turn too many than none.
func EffectivelyEmpty(text string) bool {
	for line := range strings.Lines(uncommented(strings.TrimPrefix(text, "\ufeff"))) {
		line = strings.TrimSpace(line)
		if line != "" && line != tasksLine && !isHeading(line) && !isStub(line) && !isFence(line) {
			return false
		}
	}
	return true
}

// uncommented is text without its HTML comments. What stands on both sides of
// one does not become one word.
func uncommented(text string) string {
	var b strings.Builder
	for {
		head, tail, ok := strings.Cut(text, "<!--")
		if !ok {
			break
		}
		_, after, closed := strings.Cut(tail, "-->")
		if !closed {
			break
		}
		b.WriteString(head + " ")
		text = after
	}
	b.WriteString(text)
	return b.String()
}

// isHeading: # to ######, and further, before white space or the end. #TODO is
// none.
func isHeading(line string) bool {
	title := strings.TrimLeft(line, "#")
	return title != line && (title == "" || title[0] == ' ' || title[0] == '\t')
}

// isStub: an item of a list without text, "-", "* [ ]", "+ [x]".
func isStub(line string) bool {
	switch strings.TrimSpace(strings.TrimLeft(line[:1], "-*+") + line[1:]) {
	case "", "[]", "[ ]", "[x]", "[X]":
		return strings.ContainsRune("-*+", rune(line[0]))
	}
	return false
}

// isFence: three or more backticks or tildes, and at most a language's name.
func isFence(line string) bool {
	for _, mark := range [...]string{"`", "~"} {
		if info := strings.TrimLeft(line, mark); len(line)-len(info) >= 3 {
			return !strings.ContainsAny(strings.TrimSpace(info), " \t`~")
		}
	}
	return false
}

// tasksLine begins the block of periodic tasks.
const tasksLine = "tasks:"

// PeriodicTask is one item of the tasks: block of HEARTBEAT.md.
type PeriodicTask struct {
	Name   string
	Prompt string
	Every  time.Duration // 0: what stands there cannot be read, and it is never due
}

// Line is the task as a prompt lists it: "NAME: PROMPT".
func (t PeriodicTask) Line() string { return t.Name + ": " + t.Prompt }

// ParseTasks reads the first tasks: block of HEARTBEAT.md and returns what
// stands around it (spec/heartbeat-automations.md 1.10):
//
//	tasks:
//	- name: inbox
//	  interval: 30m
//	  prompt: "Look for urgent mail."
//
// The block ends at the first line that is neither blank nor indented and does
// not start an item. Items that lack one of the three are ignored; when all do
// there is no block, and rest is the whole text.
func ParseTasks(text string) (tasks []PeriodicTask, rest string) {
	before, block, after := cutBlock(text)
	var item map[string]string
	for line := range strings.Lines(block + "\n- name:") { // the last one ends what precedes it
		key, value, first := field(line)
		if first {
			if t, ok := taskOf(item); ok {
				tasks = append(tasks, t)
			}
			item = map[string]string{}
		}
		if item != nil && key != "" {
			item[key] = value
		}
	}
	if len(tasks) == 0 {
		return nil, text
	}
	return tasks, strings.TrimSpace(before + after)
}

// cutBlock cuts text around the lines that follow tasks:.
func cutBlock(text string) (before, block, after string) {
	at, start := 0, -1
	for line := range strings.Lines(text) {
		if start >= 0 && endsBlock(line) {
			return before, text[start:at], text[at:]
		}
		if start < 0 && strings.TrimRight(line, " \t\r\n") == tasksLine {
			before, start = text[:at], at+len(line)
		}
		at += len(line)
	}
	if start < 0 {
		return text, "", ""
	}
	return before, text[start:], ""
}

// endsBlock: a line of the block is blank, indented, or the first of an item.
func endsBlock(line string) bool {
	indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
	return strings.TrimSpace(line) != "" && !indented && !strings.HasPrefix(line, "- name:")
}

// field reads "  interval: 30m" or, as the first of an item, "- name: X".
func field(line string) (key, value string, first bool) {
	item, listed := strings.CutPrefix(strings.TrimSpace(line), "- ")
	key, value, _ = strings.Cut(item, ":")
	key = strings.TrimSpace(key)
	return key, unquoted(strings.TrimSpace(value)), listed && key == "name"
}

func unquoted(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return strings.TrimSpace(s[1 : n-1])
	}
	return s
}

func taskOf(item map[string]string) (PeriodicTask, bool) {
	t := PeriodicTask{Name: item["name"], Prompt: item["prompt"], Every: interval(item["interval"])}
	return t, t.Name != "" && t.Prompt != "" && item["interval"] != ""
}

// TaskKey is what the last run of a task is kept under in Monitor.Tasks:
// another session, or another name, has never run it.
func TaskKey(session, name string) string { return session + "\n" + name }

// Due are the tasks that session has never run, or whose interval has passed
// since. One that ran further in the future than its interval, by a clock that
// was put back since, is due: it would stand still otherwise.
func Due(tasks []PeriodicTask, last map[string]time.Time, session string, now time.Time) []PeriodicTask {
	var due []PeriodicTask
	for _, t := range tasks {
		ran, known := last[TaskKey(session, t.Name)]
		passed := now.Sub(ran)
		if t.Every > 0 && (!known || passed >= t.Every || passed < -t.Every) {
			due = append(due, t)
		}
	}
	return due
}

// Stamped is last with the start of a completed run of the named tasks. It is
// a new map; those of tasks that no longer are in the file stay, so that a
// file that is gone for a moment repeats nothing.
func Stamped(last map[string]time.Time, session string, names []string, start time.Time) map[string]time.Time {
	out := make(map[string]time.Time, len(last)+len(names))
	for key, at := range last {
		out[key] = at
	}
	for _, name := range names {
		out[TaskKey(session, name)] = start
	}
	return out
}
