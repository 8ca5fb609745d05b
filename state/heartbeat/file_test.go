package heartbeat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/heartbeat"
)

// spec/heartbeat-automations.md 1.9.
func TestEffectivelyEmpty(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		want       bool
	}{
		{"nothing", "", true},
		{"blank lines", " \n\t\r\n\n", true},
		{"a byte order mark", "\ufeff\n", true},
		{"headings", "# HEARTBEAT.md\n\n## Checks\n###\n####### deeper\n#\ttab", true},
		{"a heading without its space is content", "#TODO", false},
		{"list stubs", "-\n*\n+ \n- [ ]\n* [x]\n+ [X]\n- []\n  - [ ]\n-[ ]", true},
		{"an item with a text", "- [ ] look at the mail", false},
		{"a dash and a word", "-x", false},
		{"a rule is content", "---", false},
		{"a box without a list is content", "[ ]", false},
		{"fences", "```\n```\n~~~\n~~~~\n```markdown\n```", true},
		{"a fence with words behind it", "``` run this", false},
		{"inline code", "```x```", false},
		{"two backticks", "``", false},
		{"a comment", "<!-- fill in -->", true},
		{"a comment of several lines", "# A\n<!-- one\ntwo\n\n- do this -->\n-\n", true},
		{"two comments and a text between", "<!-- a --> now <!-- b -->", false},
		{"a comment that never ends is content", "<!-- one\ntwo", false},
		{"a text behind a comment", "<!-- a -->\nCheck the disk.", false},
		{"an empty list of tasks", "# A\ntasks:\n", true},
		{"a list of tasks", "tasks:\n- name: a\n  interval: 30m\n  prompt: b\n", false},
		{"one line", "Check the disk.", false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := heartbeat.EffectivelyEmpty(c.text); got != c.want {
				t.Errorf("%q: %t", c.text, got)
			}
		})
	}
}

// spec/heartbeat-automations.md 1.10.
func TestParseTasks(t *testing.T) {
	type task = heartbeat.PeriodicTask
	mail := task{Name: "mail", Prompt: "Look for urgent mail: now", Every: 30 * time.Minute}
	for _, c := range []struct {
		rule, text string
		want       []task
		rest       string
	}{
		{
			"a block between prose", "# Heartbeat\nBe brief.\n\ntasks:\n\n- name: mail\n  interval: 30m\n  prompt: \"Look for urgent mail: now\"\n- name: 'disk'\n\tinterval: 1h30m\n\tprompt: 'df'\n\nAlways be kind.\n  indented too\n",
			[]task{mail, {Name: "disk", Prompt: "df", Every: 90 * time.Minute}},
			"# Heartbeat\nBe brief.\n\nAlways be kind.\n  indented too",
		},
		{"carriage returns", "tasks:\r\n- name: mail\r\n  interval: 30m\r\n  prompt: Look for urgent mail: now\r\n", []task{mail}, ""},
		{"no newline at the end", "tasks:\n- name: mail\n  interval: 30m\n  prompt: Look for urgent mail: now", []task{mail}, ""},
		{"indented items", "tasks:\n  - name: mail\n    interval: 30m\n    prompt: Look for urgent mail: now\n", []task{mail}, ""},
		{"the order of an item is free", "tasks:\n- name: mail\n  prompt: Look for urgent mail: now\n  interval: 30m\n", []task{mail}, ""},
		{"items that lack something are ignored", "tasks:\n- name: a\n  interval: 1m\n- name: b\n  prompt: p\n- name:\n  interval: 1m\n  prompt: p\n- name: mail\n  interval: 30m\n  prompt: Look for urgent mail: now\n", []task{mail}, ""},
		{"an interval that cannot be read is kept, never due", "tasks:\n- name: a\n  interval: soon\n  prompt: p\n", []task{{Name: "a", Prompt: "p"}}, ""},
		{"another list in an item does not end it", "tasks:\n- name: mail\n  - note: x\n  interval: 30m\n  prompt: Look for urgent mail: now\n", []task{mail}, ""},
		{"an item of another list ends the block", "tasks:\n- name: mail\n  interval: 30m\n  prompt: Look for urgent mail: now\n- buy milk\n", []task{mail}, "- buy milk"},
		{"without a task there is no block", "tasks:\n- buy milk\n", nil, "tasks:\n- buy milk\n"},
		{"in a sentence it is none", "my tasks:\n- name: a\n  interval: 1m\n  prompt: p\n", nil, "my tasks:\n- name: a\n  interval: 1m\n  prompt: p\n"},
		{"indented it is none", "  tasks:\n- name: a\n  interval: 1m\n  prompt: p\n", nil, "  tasks:\n- name: a\n  interval: 1m\n  prompt: p\n"},
		{"nothing", "", nil, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, rest := heartbeat.ParseTasks(c.text)
			if diff := cmp.Diff(c.want, got); diff != "" || rest != c.rest {
				t.Errorf("rest %q\n%s", rest, diff)
			}
		})
	}
	if got := mail.Line(); got != "mail: Look for urgent mail: now" {
		t.Error(got)
	}
}

// spec/heartbeat-automations.md 1.1, "every".
func TestParseEvery(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "1h": time.Hour, "90s": 90 * time.Second, "1500ms": 1500 * time.Millisecond, "2d": 48 * time.Hour,
		"1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, " 30 M ": 30 * time.Minute, "1h 30m": 90 * time.Minute,
		"30": 30 * time.Minute, "0.5": 30 * time.Second,
		"0": 0, "0m": 0, "": 0, "  ": 0, "-5m": 0, "-1": 0, "soon": 0, "5x": 0, "m": 0, "1h30": 0, "1.2.3m": 0, ".": 0,
		"inf": 0, "nan": 0, "1e3": 0, "999999999999d": 0, "0.4ms": 0,
	} {
		if got, _ := heartbeat.ParseEvery(in); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

func TestDue(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	tasks := []heartbeat.PeriodicTask{{Name: "a", Prompt: "p", Every: 30 * time.Minute}}
	for _, c := range []struct {
		rule string
		ran  time.Duration // before now
		want bool
	}{
		{"just now", 0, false},
		{"a moment too early", 30*time.Minute - time.Millisecond, false},
		{"after the interval exactly", 30 * time.Minute, true},
		{"long ago", 24 * time.Hour, true},
		{"in the future, by a clock put back a little", -30 * time.Minute, false},
		{"far in the future", -31 * time.Minute, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			last := map[string]time.Time{heartbeat.TaskKey("s", "a"): now.Add(-c.ran)}
			if got := heartbeat.Due(tasks, last, "s", now); (len(got) == 1) != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
	last := heartbeat.Stamped(nil, "s", []string{"a", "b"}, now)
	if len(heartbeat.Due(tasks, nil, "s", now)) != 1 || len(heartbeat.Due(tasks, last, "other", now)) != 1 {
		t.Error("what a session has never run is due")
	}
	if renamed := []heartbeat.PeriodicTask{{Name: "A", Prompt: "p", Every: time.Hour}}; len(heartbeat.Due(renamed, last, "s", now)) != 1 {
		t.Error("a task that was renamed has never run")
	}
	if never := []heartbeat.PeriodicTask{{Name: "c", Prompt: "p"}}; len(heartbeat.Due(never, last, "s", now)) != 0 {
		t.Error("a task without an interval that can be read is never due")
	}
}

func TestStampedChangesNothingElse(t *testing.T) {
	t0 := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	old := map[string]time.Time{"s\na": t0, "s\nb": t0}
	got := heartbeat.Stamped(old, "s", []string{"b", "c"}, t0.Add(time.Hour))
	want := map[string]time.Time{"s\na": t0, "s\nb": t0.Add(time.Hour), "s\nc": t0.Add(time.Hour)}
	if diff := cmp.Diff(want, got); diff != "" || !old["s\nb"].Equal(t0) {
		t.Error(diff)
	}
}

// Every task that is read has its three parts, and every line that is shown
// beside them was in the file.
func FuzzFile(f *testing.F) {
	f.Add("# A\ntasks:\n- name: a\n  interval: 30m\n  prompt: \"b\"\nrest\n")
	f.Add("<!-- a\n-->\n- [ ]\n```go\n")
	f.Add("tasks:\n- name: '\n  prompt: \"\n  interval: 1e9\n")
	f.Fuzz(func(t *testing.T, text string) {
		tasks, rest := heartbeat.ParseTasks(text)
		for _, task := range tasks {
			if task.Name == "" || task.Prompt == "" || task.Every < 0 || !strings.Contains(text, task.Name) || !strings.Contains(text, task.Prompt) {
				t.Fatalf("%q: %+v", text, task)
			}
		}
		for line := range strings.Lines(rest) {
			if !strings.Contains(text, line) {
				t.Fatalf("%q: rest %q is made up", text, rest)
			}
		}
		if len(tasks) > 0 && heartbeat.EffectivelyEmpty(text) && !strings.Contains(text, "<!--") {
			t.Fatalf("%q has tasks and is empty", text)
		}
		if empty := heartbeat.EffectivelyEmpty(text); heartbeat.EffectivelyEmpty(text+"\n\n# x\n") != empty && !strings.Contains(text, "<!--") {
			t.Fatalf("%q: a heading is content", text)
		}
	})
}
