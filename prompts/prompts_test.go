package prompts_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/prompts"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/process"
	"claw/state/session"
)

// TestSeed: the message that seed 000 shows as its evidence, line for line.
// Only the name of the process differs: claw prints it whole.
func TestSeed(t *testing.T) {
	zero := 0
	p := process.Process{
		Slug: "tide-orb", Session: "agent:main:main", Phase: process.Exited, Tail: "first done\n",
		Exit: &process.Exit{Code: &zero, Reason: process.ReasonExit},
	}
	shown, _ := event.Show([]event.Event{event.Completion("01E", p, time.Time{})}, session.KindExec, event.MaxShown)
	text, err := prompts.Default().Exec(prompts.Exec{Details: event.ExecDetails(shown)})
	if err != nil {
		t.Fatal(err)
	}
	want := `[OpenClaw exec completion]

An async command you ran earlier has completed. The completion details are:

Exec completed (tide-orb, code 0) :: first done

User delivery is disabled for this run. Handle the result internally. Continue the task based on the result if needed.`
	if diff := cmp.Diff(want, session.Compose(session.KindExec, text)); diff != "" {
		t.Error(diff)
	}
}

// TestExec: the variants of spec/exec-process.md 5.2.
func TestExec(t *testing.T) {
	two := []string{"Exec completed (a, code 0) :: x\nx\ny", " \n", "Exec failed (b, code 1) :: {ack} {details}"}
	tests := []struct {
		rule    string
		exec    prompts.Exec
		has     []string
		hasNone []string
	}{
		{
			"deliver",
			prompts.Exec{Details: two, Deliver: true},
			[]string{"An async command you ran earlier has completed. The completion details are:\n\n" + two[0] + "\n" + two[2] + "\n\n", "relay the output", "failed explain", "reply NO_REPLY and nothing else"},
			[]string{"delivery is disabled", "HEARTBEAT_OK", "Waiting"},
		},
		{
			"internal shows the details and asks for no acknowledgement",
			prompts.Exec{Details: two},
			[]string{two[0] + "\n" + two[2], "Handle the result internally. Continue the task based on the result if needed."},
			[]string{"NO_REPLY", "HEARTBEAT_OK", "relay"},
		},
		{
			"nothing usable",
			prompts.Exec{Details: []string{"", " \n"}, Deliver: true},
			[]string{"no output of it was found", "reply NO_REPLY and nothing else", "Do not reuse the output of an earlier run"},
			[]string{"relay", "details are", "{ack}"},
		},
		{"nothing usable, internal", prompts.Exec{}, []string{"no output of it was found", "reply NO_REPLY and nothing else"}, nil},
		{
			"a structured answer replaces the token",
			prompts.Exec{Details: two, Deliver: true, Structured: true},
			[]string{"claw heartbeat respond --notify=false"},
			[]string{"NO_REPLY"},
		},
		{"structured, nothing usable", prompts.Exec{Structured: true}, []string{"claw heartbeat respond --notify=false"}, []string{"NO_REPLY"}},
		{"some wait", prompts.Exec{Details: two, Waiting: 7}, []string{"if needed.\n\nWaiting for the next turn: 7 more."}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := prompts.Default().Exec(tt.exec)
			if err != nil {
				t.Fatal(err)
			}
			contains(t, got, tt.has, tt.hasNone)
		})
	}
}

func contains(t *testing.T, got string, has, hasNone []string) {
	t.Helper()
	for _, want := range has {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	for _, no := range hasNone {
		if strings.Contains(got, no) {
			t.Errorf("%q is in\n%s", no, got)
		}
	}
}

func TestCronAndEvent(t *testing.T) {
	text := func(s string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	set := prompts.Default()
	const opener = "A scheduled reminder has been triggered. The reminder is:\n\nstretch\n\ndrink\n\n"
	contains(t, text(set.Cron(prompts.Cron{Texts: []string{"stretch\n", "", "drink"}, Deliver: true, Waiting: 1})),
		[]string{opener + "Relay it to the user", "Waiting for the next turn: 1 more."}, []string{"internally"})
	contains(t, text(set.Cron(prompts.Cron{Texts: []string{"stretch", "drink"}})), []string{opener, "internally"}, []string{"Relay", "NO_REPLY"})
	contains(t, text(set.Cron(prompts.Cron{Deliver: true})), []string{"reply NO_REPLY and nothing else"}, []string{"Relay", "{"})
	lines := []string{"System: [2026-11-30 22:10 UTC] build is red", "System: more"}
	contains(t, text(set.Event(prompts.Event{Lines: lines, Deliver: true})), []string{strings.Join(lines, "\n"), "NO_REPLY"}, []string{"{", "internally"})
	contains(t, text(set.Event(prompts.Event{Lines: lines})), []string{strings.Join(lines, "\n"), "internally"}, []string{"NO_REPLY"})
}

// TestHeartbeat: spec/heartbeat-automations.md 1.1, 1.9, 1.10.
func TestHeartbeat(t *testing.T) {
	const b = "Follow the heartbeat monitor scratch context when provided. Do not infer or repeat old tasks from prior chats. If nothing needs attention, reply HEARTBEAT_OK."
	tests := []struct {
		rule string
		h    prompts.Heartbeat
		want string
	}{
		{"the default is generation B", prompts.Heartbeat{Now: "Current time: 12:00\n"}, b + "\n\nCurrent time: 12:00"},
		{"a blank prompt is the default", prompts.Heartbeat{Prompt: " \n"}, b},
		{"a configured prompt as it is", prompts.Heartbeat{Prompt: "Look {details}."}, "Look {details}."},
		{"the file is named where it is meant", prompts.Heartbeat{Prompt: "Read HEARTBEAT.md.", FilePath: "/w/HEARTBEAT.md"}, "Read HEARTBEAT.md.\nHEARTBEAT.md is /w/HEARTBEAT.md"},
		{"not without a file", prompts.Heartbeat{Prompt: "Read HEARTBEAT.md."}, "Read HEARTBEAT.md."},
		{"and nowhere else", prompts.Heartbeat{FilePath: "/w/HEARTBEAT.md"}, b},
		{
			"all there is, the time at the end",
			prompts.Heartbeat{File: "# Watch\ndisk\n", Scratch: "seen: 3", Checks: []string{"disk: 91 %\n", "", "mail: 2"}, Lines: []string{"System: a", "System: b"}, Now: "Now: 12:00", Waiting: 2},
			b + "\n\nHEARTBEAT.md:\n# Watch\ndisk\n\nHeartbeat monitor scratch:\nseen: 3\n\nChecks that report something:\ndisk: 91 %\n\nmail: 2\n\nSystem: a\nSystem: b\n\nNow: 12:00\n\nWaiting for the next turn: 2 more.",
		},
		{
			"due tasks are the prompt",
			prompts.Heartbeat{Prompt: "unused", Tasks: []string{"mail: look at mail", "disk: df"}, File: "prose"},
			"Run the following periodic tasks (only those due based on their intervals):\n\n- mail: look at mail\n- disk: df\n\nTell what needs attention. After completing all due tasks, reply HEARTBEAT_OK.\n\nHEARTBEAT.md:\nprose",
		},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := prompts.Default().Heartbeat(tt.h)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	got, err := prompts.Default().Heartbeat(prompts.Heartbeat{Structured: true})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, got, []string{"claw heartbeat respond --notify=BOOL"}, nil)
}

// TestTheFilterKnowsThePrompts: what is told in a wake is taken for one later,
// with its marker and, as older programs stored it, without.
func TestTheFilterKnowsThePrompts(t *testing.T) {
	set := prompts.Default()
	b, _, _ := set.Text("heartbeat")
	f := session.Filter{IsAck: heartbeat.IsAck, PureAck: heartbeat.PureAck, AckMaxChars: 300, Prompts: []string{b}}
	tasks, _ := set.Heartbeat(prompts.Heartbeat{Tasks: []string{"a: b"}, Now: "12:00"})
	plain, _ := set.Heartbeat(prompts.Heartbeat{Now: "12:00"})
	exec, _ := set.Exec(prompts.Exec{Details: []string{"x"}})
	for _, message := range []string{
		tasks, plain, session.Compose(session.KindHeartbeat, tasks), session.Compose(session.KindHeartbeat, plain),
		session.Compose(session.KindExec, exec), session.Compose(session.KindCron, "x"), session.Compose(session.KindEvent, "x"), session.Compose(session.KindRecovery, "x"),
	} {
		told := session.UserEntry(session.Turn{Message: message}).Message
		if !f.IsHeartbeat(told) || session.IsExecCompletion(told) != strings.HasPrefix(message, session.MarkerExec) {
			t.Errorf("%q is not recognised", message)
		}
	}
	if f.IsHeartbeat(session.UserEntry(session.Turn{Message: session.Compose(session.KindUser, "hello")}).Message) {
		t.Error("a person's message is taken for a wake")
	}
}

func TestRecoveryHookNotice(t *testing.T) {
	set := prompts.Default()
	for name, got := range map[string]func() (string, error){
		"recovery": func() (string, error) { return set.Recovery(prompts.Recovery{Message: "the {agent} matter"}) },
		"recovery-reply": func() (string, error) {
			return set.Recovery(prompts.Recovery{Message: "no", Reply: "the {agent} matter"})
		},
		"hook":        func() (string, error) { return set.Hook("the {agent} matter") },
		"notice-lost": func() (string, error) { return set.Notice(prompts.NoticeLost, "ops", []string{"the {agent} matter"}) },
		"notice-relayed": func() (string, error) {
			return set.Notice(prompts.NoticeRelayed, "ops", []string{"the {agent} matter"})
		},
		"notice-resend": func() (string, error) { return set.Notice(prompts.NoticeResend, "ops", []string{"the {agent} matter"}) },
	} {
		text, err := got()
		raw, _, _ := set.Text(name)
		opening, _, _ := strings.Cut(raw, "{")
		if err != nil || !strings.HasPrefix(text, opening) || strings.Count(text, "the {agent} matter") != 1 || strings.Contains(text, "{details}") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if strings.HasPrefix(name, "notice") && !strings.Contains(text, "agent ops") {
			t.Errorf("%s does not name the agent: %q", name, text)
		}
	}
}

// TestNames: each has a file, is described, and carries its content.
func TestNames(t *testing.T) {
	files, err := filepath.Glob("*.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := prompts.Names()
	if len(files) != len(names) {
		t.Errorf("%d files, %d names", len(files), len(names))
	}
	for _, name := range names {
		b, err := os.ReadFile(name + ".txt")
		if err != nil {
			t.Error(err)
		}
		text, from, err := prompts.Default().Text(name)
		if err != nil || from != prompts.Embedded || text != strings.TrimRight(string(b), "\n") || text == "" {
			t.Errorf("%s: %q from %q, %v", name, text, from, err)
		}
		if prompts.About(name) == "" {
			t.Errorf("%s is not described", name)
		}
		if n := strings.Count(string(b), "\n"); strings.Contains(string(b), "\r") || n == 0 {
			t.Errorf("%s has %d lines", name, n)
		}
	}
	if prompts.About("nonesuch") != "" {
		t.Error("nonesuch is described")
	}
}

func folder(t *testing.T, files map[string]string) (*prompts.Set, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return prompts.Load(dir), dir
}

func TestAFileReplacesItsText(t *testing.T) {
	set, dir := folder(t, map[string]string{"exec-internal.txt": "\ufeffDone:\r\n{details}\r\n{details} {other}\n\n", "waiting.txt": "({count})"})
	got, err := set.Exec(prompts.Exec{Details: []string{"a {count}"}, Waiting: 3})
	if want := "Done:\na {count}\na {count} {other}\n\n(3)"; got != want || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, from, _ := set.Text("waiting"); from != filepath.Join(dir, "waiting.txt") {
		t.Errorf("from %s", from)
	}
	if _, from, _ := set.Text("exec"); from != prompts.Embedded {
		t.Errorf("from %s", from)
	}
	if wrong := set.Check(); wrong != nil {
		t.Error(wrong)
	}
	for _, s := range []*prompts.Set{prompts.Load(filepath.Join(dir, "none")), prompts.Default()} {
		if got, err := s.Exec(prompts.Exec{}); err != nil || got == "" || s.Check() != nil {
			t.Errorf("without a folder: %q, %v", got, err)
		}
	}
}

// TestAFileThatIsNotFit: never silently the default, and the way out is named.
func TestAFileThatIsNotFit(t *testing.T) {
	tests := []struct{ rule, text, why string }{
		{"the content is missing", "Something ended: {detials}", "lacks {details}"},
		{"blank", " \n\t", "is blank"},
		{"blank after the mark of an editor", "\ufeff \n", "is blank"},
		{"not UTF-8", "\xff{details}", "is not UTF-8"},
		{"NUL", "{details}\x00", "NUL"},
		{"too large", "{details}" + strings.Repeat("x", prompts.MaxFile), "more than 65536 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			set, dir := folder(t, map[string]string{"exec.txt": tt.text})
			_, err := set.Exec(prompts.Exec{Details: []string{"x"}, Deliver: true})
			refused(t, err, filepath.Join(dir, "exec.txt"), tt.why)
			if _, err := set.Exec(prompts.Exec{Details: []string{"x"}}); err != nil {
				t.Errorf("another text fails too: %v", err)
			}
			wrong := set.Check()
			if len(wrong) != 1 {
				t.Fatal(wrong)
			}
			refused(t, wrong[0], filepath.Join(dir, "exec.txt"), tt.why)
		})
	}
}

func refused(t *testing.T, err error, file, why string) {
	t.Helper()
	e, ok := errors.AsType[*prompts.Error](err)
	if !ok || e.Remedy() == "" || !strings.Contains(e.Error(), file) || !strings.Contains(e.Error(), why) {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNoFile(t *testing.T) {
	set, dir := folder(t, nil)
	exec, cron := filepath.Join(dir, "exec.txt"), filepath.Join(dir, "cron.txt")
	if err := os.Mkdir(exec, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", cron); err != nil {
		t.Fatal(err)
	}
	_, _, err := set.Text("exec")
	refused(t, err, exec, "not a regular file")
	_, _, err = set.Text("cron")
	refused(t, err, cron, "link to nothing")
	_, _, err = set.Text("nonesuch")
	refused(t, err, "nonesuch", "does not exist")
	_, _, err = prompts.Load("/dev/null").Text("exec")
	refused(t, err, "/dev/null/exec.txt", "not a directory")
	if os.Getuid() == 0 {
		return // root can read everything
	}
	shut, dir := folder(t, map[string]string{"exec.txt": "{details}"})
	if err := os.Chmod(filepath.Join(dir, "exec.txt"), 0); err != nil {
		t.Fatal(err)
	}
	_, _, err = shut.Text("exec")
	refused(t, err, dir, "permission denied")
}

func TestCheckNamesStrays(t *testing.T) {
	set, dir := folder(t, map[string]string{"exce.txt": "{details}", "notes.md": "mine", "exec.txt": "{details}"})
	wrong := set.Check()
	if len(wrong) != 1 {
		t.Fatal(wrong)
	}
	refused(t, wrong[0], filepath.Join(dir, "exce.txt"), "replaces nothing")
}

// FuzzFill: whatever the content is, it is in the prompt once, whole, and what
// it looks like changes nothing around it.
func FuzzFill(f *testing.F) {
	f.Add("Exec completed (a, code 0) :: x", 1)
	f.Add("{details}{ack}{count}", 0)
	f.Add("$1 \\1 %s {{.}}", -3)
	f.Fuzz(func(t *testing.T, content string, waiting int) {
		if strings.TrimSpace(content) == "" || strings.Trim(content, "\r\n") != content {
			return
		}
		got, err := prompts.Default().Exec(prompts.Exec{Details: []string{content}, Deliver: true, Waiting: waiting})
		if err != nil {
			t.Fatal(err)
		}
		other, _ := prompts.Default().Exec(prompts.Exec{Details: []string{"\x01"}, Deliver: true, Waiting: waiting})
		if got != strings.Replace(other, "\x01", content, 1) {
			t.Fatalf("%q became %q", content, got)
		}
	})
}
