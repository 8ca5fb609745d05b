package output_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"claw/cmd/claw/internal/output"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// terminal is a Streams over buffers that behaves as on a terminal.
func terminal(width int) (s *output.Streams, out, errOut *bytes.Buffer) {
	out, errOut = &bytes.Buffer{}, &bytes.Buffer{}
	return &output.Streams{Out: out, Err: errOut, OutTTY: true, ErrTTY: true, Width: width, Color: output.Never}, out, errOut
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func devFull(t *testing.T) *os.File {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	t.Cleanup(func() { full.Close() })
	return full
}

// The block of tour.md: message, and the next steps indented under it.
func TestSay(t *testing.T) {
	s, out, errOut := terminal(80)
	s.Say("still running as amber-reef after 2s", "follow:  claw process log amber-reef --follow", "wait:    claw process wait amber-reef")
	want := `claw: still running as amber-reef after 2s
      follow:  claw process log amber-reef --follow
      wait:    claw process wait amber-reef
`
	if diff := cmp.Diff(want, errOut.String()); diff != "" || out.Len() > 0 {
		t.Error(diff, out)
	}
}

func TestErrorAndNote(t *testing.T) {
	s, out, errOut := terminal(80)
	s.Error("process poll: no process is called \"tid\x1b[31me\"", "claw process list --all\nshows every name")
	s.Error("claw.toml:1: a\nclaw.toml:2: b")
	s.Note("No tasks.\n")
	s.Note("one\ntwo\r\n\rthree")
	want := `claw: process poll: no process is called "tide"
      claw process list --all
      shows every name
claw: claw.toml:1: a
claw: claw.toml:2: b
claw: No tasks.
claw: one
      two
      \x0dthree
`
	if diff := cmp.Diff(want, errOut.String()); diff != "" || out.Len() > 0 {
		t.Error(diff, out)
	}
}

func TestColoursOfMessages(t *testing.T) {
	s, _, errOut := terminal(80)
	s.Color = output.Auto
	s.Error("x", "y")
	if want := "\x1b[1;31mclaw:\x1b[0m x\n      y\n"; errOut.String() != want {
		t.Errorf("%q", errOut)
	}
	errOut.Reset()
	s.ErrTTY = false // stderr in a file, stdout still a terminal
	s.Error("x")
	if errOut.String() != "claw: x\n" {
		t.Errorf("%q", errOut)
	}
}

func TestJSON(t *testing.T) {
	v := map[string]any{"sessions": []any{map[string]any{"command": "a && b <c> \u009b31m\x7f \x1b"}}}
	s, out, _ := terminal(80)
	s.OutTTY = false
	must(t, s.JSON(v))
	if want := `{"sessions":[{"command":"a && b <c> \u009b31m\u007f \u001b"}]}` + "\n"; out.String() != want {
		t.Errorf("%s", out)
	}
	out.Reset()
	s.OutTTY = true
	must(t, s.JSON(v))
	if !strings.HasPrefix(out.String(), "{\n  \"sessions\": [\n") {
		t.Errorf("%s", out)
	}
	var back map[string]any
	must(t, json.Unmarshal(out.Bytes(), &back))
	if diff := cmp.Diff(v, back); diff != "" {
		t.Error(diff)
	}
	if s.JSON(make(chan int)) == nil {
		t.Error("a channel is no JSON")
	}
}

// What decides about colour, strongest first.
func TestColorMode(t *testing.T) {
	for _, row := range []struct {
		env  []string
		flag string
		want output.ColorMode
	}{
		{nil, "", output.Auto},
		{nil, "auto", output.Auto},
		{nil, "always", output.Always},
		{nil, "never", output.Never},
		{[]string{"NO_COLOR", "1"}, "auto", output.Never},
		{[]string{"NO_COLOR", ""}, "auto", output.Auto},
		{[]string{"NO_COLOR", "1"}, "always", output.Always},
		{[]string{"TERM", "dumb"}, "", output.Never},
		{[]string{"TERM", "dumb"}, "always", output.Always},
		{[]string{"CLAW_COLOR", "always", "NO_COLOR", "1"}, "", output.Always},
		{[]string{"CLAW_COLOR", "never"}, "", output.Never},
		{[]string{"CLAW_COLOR", "rainbow"}, "", output.Auto},
		{[]string{"CLAW_COLOR", "always"}, "never", output.Never},
	} {
		null, err := os.Open(os.DevNull)
		must(t, err)
		s := output.New(null, null, env(row.env...))
		s.SetColor(row.flag)
		if s.Color != row.want || s.OutTTY || s.ErrTTY {
			t.Errorf("%v --color=%q: %+v, want %s", row.env, row.flag, s, row.want)
		}
		null.Close()
	}
}

// A real terminal says how wide it is; one without a size asks COLUMNS.
func TestTerminalWidth(t *testing.T) {
	master, slave, err := pty.Open()
	must(t, err)
	defer master.Close()
	defer slave.Close()
	for _, row := range []struct {
		cols    uint16
		columns string
		want    int
		help    int
	}{{40, "99", 40, 40}, {0, "99", 99, 99}, {0, "x", 80, 80}, {0, "-1", 80, 80}, {300, "", 300, 100}} {
		must(t, pty.Setsize(slave, &pty.Winsize{Cols: row.cols, Rows: 24}))
		s := output.New(slave, slave, env("COLUMNS", row.columns))
		if !s.OutTTY || !s.ErrTTY || s.Width != row.want || s.HelpWidth() != row.help {
			t.Errorf("%+v: %+v, help %d", row, s, s.HelpWidth())
		}
	}
}

// A full disk never ends as success, whatever wrote last.
func TestFullDisk(t *testing.T) {
	table := output.Table{Columns: []output.Column{{Name: "A"}}, Rows: [][]string{{"a"}}}
	for name, write := range map[string]func(*output.Streams) error{
		"JSON":  func(s *output.Streams) error { return s.JSON(1) },
		"table": func(s *output.Streams) error { return s.Table(table) },
		"pairs": func(s *output.Streams) error { return s.Pairs([][2]string{{"a", "b"}}) },
		"text":  func(s *output.Streams) error { _, err := io.WriteString(s.Out, "x"); return err },
	} {
		s := output.New(devFull(t), os.Stderr, env())
		err := write(s)
		flushed := s.Flush()
		if err == nil || flushed == nil {
			t.Fatalf("%s: write %v, flush %v", name, err, flushed)
		}
		if want := "standard output: no space left on device"; flushed.Error() != want || !errors.Is(flushed, syscall.ENOSPC) || output.Gone(flushed) {
			t.Errorf("%s: %v", name, flushed)
		}
	}
}

// A reader that left is told apart: exit without a word.
func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	defer w.Close()
	r.Close()
	s := output.New(w, os.Stderr, env())
	if err := s.JSON(1); !output.Gone(err) || !output.Gone(s.Flush()) {
		t.Errorf("%v, %v", err, s.Flush())
	}
	if output.Gone(nil) || output.Gone(io.ErrShortWrite) {
		t.Error("nobody left")
	}
}

func TestFlushWithoutErrors(t *testing.T) {
	out, err := os.CreateTemp(t.TempDir(), "")
	must(t, err)
	defer out.Close()
	s := output.New(out, os.Stderr, env())
	must(t, s.JSON(1))
	must(t, s.Flush())
	text, err := os.ReadFile(out.Name())
	if err != nil || string(text) != "1\n" { // there at once: nothing is held back
		t.Errorf("%q %v", text, err)
	}
	must(t, (&output.Streams{Out: io.Discard}).Flush())
}
