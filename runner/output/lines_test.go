package output_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claw/runner/output"
)

// What Lines must say, by the letter of spec 2.3.
func linesOf(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestLinesAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := must(os.MkdirTemp("", "claw-output-"))
		defer os.RemoveAll(dir)
		clk := newClock()
		w := output.NewWriter(dir, output.WriterOptions{Now: clk.now})
		var text strings.Builder
		for range rapid.IntRange(0, 20).Draw(t, "writes") {
			p := rapid.SampledFrom([]string{"a", "bc", "\n", "\r\n", "\r", "line\n", "é", "x\ny", "\n\n"}).Draw(t, "piece")
			w.Write(output.Stream(rapid.IntRange(1, 2).Draw(t, "stream")), []byte(p))
			text.WriteString(p)
		}
		want := linesOf(text.String())
		l := must(must(output.Open(dir)).Lines(output.Selection{}))
		if l.Total != len(want) || l.Chars != int64(len([]rune(text.String()))) {
			t.Fatalf("%q: %d lines and %d characters, want %d", text.String(), l.Total, l.Chars, len(want))
		}
		from := rapid.IntRange(-1, len(want)+1).Draw(t, "from")
		to := rapid.IntRange(-1, len(want)+1).Draw(t, "to")
		got := must(l.Text(from, to))
		if from, to := max(from, 0), min(to, len(want)); from < to {
			if w := strings.Join(want[from:to], "\n"); got != w {
				t.Fatalf("%q lines %d to %d: %q, want %q", text.String(), from, to, got, w)
			}
		} else if got != "" {
			t.Fatalf("lines %d to %d: %q", from, to, got)
		}
	})
}

// What somebody appends to a segment by hand hides nothing that comes after,
// and a cursor beyond the end (a power cut has taken what it had read) loses
// nothing that is written later.
func TestForeignBytesAndLostEnd(t *testing.T) {
	dir := t.TempDir()
	_, m := written(t, dir, smallCap, strings.Repeat("a line\n", 4000))
	f := must(os.OpenFile(filepath.Join(dir, "output"), os.O_APPEND|os.O_WRONLY, 0))
	f.WriteString("not from the command\n")
	f.Close()
	verify(t, dir, m, true)

	w := must(output.OpenWriter(dir, output.WriterOptions{Cap: smallCap, Now: newClock().now}))
	r := must(output.Open(dir))
	d := must(r.Drain(output.Cursor{Offset: 1 << 40, Stdout: output.State{Mode: 4}}, 0, false))
	w.Write(output.Stdout, []byte("new"))
	if d = must(r.Drain(d.Next, 0, false)); d.Text != "new" {
		t.Errorf("after a cursor beyond the end: %q", d.Text)
	}
}

// Many megabytes: a slice is read from a mark near it, and is the right one.
func TestLinesOfALongLog(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	w := output.NewWriter(dir, output.WriterOptions{Now: clk.now})
	var want []string
	var block []byte
	for i := range 120_000 {
		want = append(want, fmt.Sprintf("%d %s", i, strings.Repeat("é", i%40)))
		if block = fmt.Appendf(block, "\x1b[32m%s\x1b[0m\r\n", want[i]); len(block) > 5000 || i == 119_999 {
			w.Write(output.Stdout, block)
			block = block[:0]
		}
	}
	l := must(must(output.Open(dir)).Lines(output.Selection{}))
	if l.Total != len(want) {
		t.Fatalf("%d lines, want %d", l.Total, len(want))
	}
	for _, v := range [][2]int{{0, 3}, {1, 2}, {59_999, 60_001}, {119_800, 120_000}, {119_999, 130_000}, {20_000, 90_000}} {
		if got := must(l.Text(v[0], v[1])); got != strings.Join(want[v[0]:min(v[1], len(want))], "\n") {
			t.Errorf("lines %v differ (%d bytes)", v, len(got))
		}
	}
}

func TestLinesSelectedAndStamped(t *testing.T) {
	dir := t.TempDir()
	start := newClock().t
	written(t, dir, 0, "out1\nou", "err1\n", "t2\n", "err2")
	r := must(output.Open(dir))
	show := func(sel output.Selection, stamp bool) string {
		l := must(r.Lines(sel))
		if stamp {
			l.Stamp = func(dst []byte, at time.Time) []byte { return fmt.Appendf(dst, "%d ", at.Sub(start).Milliseconds()) }
		}
		return must(l.Text(0, l.Total))
	}
	for _, v := range []struct{ got, want string }{
		{show(output.Selection{}, false), "out1\nouerr1\nt2\nerr2"},
		{show(output.Selection{}, true), "0 out1\n0 ouerr1\n40 t2\n60 err2"},
		{show(output.Selection{Stream: output.Stdout}, true), "0 out1\n0 out2"},
		{show(output.Selection{Stream: output.Stderr}, false), "err1\nerr2"},
		{show(output.Selection{Since: start.Add(40 * time.Millisecond)}, false), "t2\nerr2"},
	} {
		if v.got != v.want {
			t.Errorf("%q, want %q", v.got, v.want)
		}
	}
}

func TestAggregate(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 0, "äöü", "\x1b[1m", "\r\nend", "\xe2")
	r := must(output.Open(dir))
	for _, v := range []struct {
		n    int
		want string
		cut  bool
	}{
		{200000, "äöü\r\nend\ufffd", false},
		{9, "äöü\r\nend\ufffd", false},
		{8, "öü\r\nend\ufffd", true},
		{1, "\ufffd", true},
	} {
		if got, cut, err := r.Aggregate(v.n); got != v.want || cut != v.cut || err != nil {
			t.Errorf("Aggregate(%d) = %q, %v, %v; want %q, %v", v.n, got, cut, err, v.want, v.cut)
		}
	}
}

// The tail begins at a line when it begins in the middle, also within a
// sequence or a rune; a log without line ends still has a tail.
func TestTail(t *testing.T) {
	long := strings.Repeat("é\x1b[31m", 30_000)
	for _, v := range []struct{ name, in, want string }{
		{"short", "a\nb\n", "a\nb\n"},
		{"long", strings.Repeat("x", 200_000) + "\nthe end\n", strings.Repeat("x", 91) + "\nthe end\n"},
		{"no line ends", long, strings.Repeat("é", 100)},
		{"progress bar", strings.Repeat("\r\x1b[K 10%", 30_000), strings.Repeat("\r 10%", 20)},
	} {
		dir := t.TempDir()
		w, _ := written(t, dir, 0, v.in)
		if got := must(output.Open(dir)).Tail(100); got != v.want {
			t.Errorf("%s: Reader.Tail %q", v.name, got)
		}
		if got := w.Tail(100); got != v.want {
			t.Errorf("%s: Writer.Tail %q", v.name, got)
		}
	}
}
