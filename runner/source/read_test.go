package source_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/runner/output"
	"claw/runner/source"
)

// written is an output of pieces, each after ! on stderr.
func written(t testing.TB, limit int64, pieces ...string) string {
	t.Helper()
	dir := t.TempDir()
	now := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	w := output.NewWriter(dir, output.WriterOptions{Cap: limit, Now: func() time.Time {
		now = now.Add(20 * time.Millisecond)
		return now
	}})
	for _, p := range pieces {
		if text, ok := strings.CutPrefix(p, "!"); ok {
			w.Write(output.Stderr, []byte(text))
		} else {
			w.Write(output.Stdout, []byte(p))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func texts(o source.Output) (lines []string) {
	for _, l := range o.Lines {
		s := l.Text
		if l.Cut {
			s += "…"
		}
		lines = append(lines, s)
	}
	return lines
}

func TestRead(t *testing.T) {
	long := strings.Repeat("x", source.MaxLine+10)
	for _, tt := range []struct {
		name   string
		pieces []string
		final  bool
		want   []string
		next   source.Cursor
	}{
		{name: "nothing"},
		{name: "whole lines", pieces: []string{"one\ntwo\n"}, want: []string{"one", "two"}, next: source.Cursor{Out: 8, Err: 8}},
		{name: "the last line waits for its end", pieces: []string{"one\ntw"}, want: []string{"one"}, next: source.Cursor{Out: 4, Err: 6}},
		{name: "unless there is no more", pieces: []string{"one\ntw"}, final: true, want: []string{"one", "tw"}, next: source.Cursor{Out: 6, Err: 6}},
		{name: "a carriage return is no text", pieces: []string{"one\r\n"}, want: []string{"one"}, next: source.Cursor{Out: 5, Err: 5}},
		{name: "a line in several pieces", pieces: []string{"o", "n", "e\n"}, want: []string{"one"}, next: source.Cursor{Out: 4, Err: 4}},
		{name: "two outputs apart, as they began", pieces: []string{"ab", "!x\n", "c\n", "!y"}, want: []string{"abc", "x"}, next: source.Cursor{Out: 7, Err: 6}},
		{name: "escape sequences are no text", pieces: []string{"\x1b[31mred\x1b[0m\n"}, want: []string{"red"}, next: source.Cursor{Out: 13, Err: 13}},
		{name: "longer than is taken in", pieces: []string{long + "\nshort\n"}, want: []string{long[:source.MaxLine] + "…", "short"}, next: source.Cursor{Out: int64(len(long)) + 7, Err: int64(len(long)) + 7}},
		{name: "blank lines are lines", pieces: []string{"\n\n"}, want: []string{"", ""}, next: source.Cursor{Out: 2, Err: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := written(t, 0, tt.pieces...)
			got, err := source.Read(dir, source.Cursor{}, tt.final)
			if err != nil || !slices.Equal(texts(got), tt.want) || got.Next != tt.next || got.Dropped != 0 {
				t.Errorf("got %.80q to %+v, %d dropped, %v; want %.80q to %+v", texts(got), got.Next, got.Dropped, err, tt.want, tt.next)
			}
			again, err := source.Read(dir, got.Next, tt.final)
			if err != nil || len(again.Lines) != 0 || again.Next != got.Next {
				t.Errorf("read again: %.80q to %+v, %v", texts(again), again.Next, err)
			}
		})
	}
}

// Whatever the cap has taken is counted, once.
func TestReadOfWhatWasDropped(t *testing.T) {
	var pieces []string
	total := 0
	for i := range 40_000 {
		line := fmt.Sprintf("line %d\n", i)
		pieces = append(pieces, line)
		total += len(line)
	}
	dir := written(t, output.MinCap, pieces...)
	cur, kept, dropped := source.Cursor{}, 0, int64(0)
	var last string
	for {
		o, err := source.Read(dir, cur, false)
		if err != nil {
			t.Fatal(err)
		}
		if o.Next == cur {
			break
		}
		cur = o.Next
		dropped += o.Dropped
		for _, l := range o.Lines {
			kept += len(l.Text)
			last = l.Text
			if !l.Cut {
				kept++
			}
		}
	}
	if dropped == 0 || int64(kept)+dropped > int64(total) || int64(kept)+dropped < int64(total)-2 || last != "line 39999" {
		t.Errorf("%d kept and %d dropped of %d; the last is %q", kept, dropped, total, last)
	}
}

func TestReadOfNoProcess(t *testing.T) {
	if _, err := source.Read(t.TempDir()+"/none", source.Cursor{}, true); err == nil {
		t.Error("no error")
	}
	if source.Unread(t.TempDir(), source.Cursor{}) {
		t.Error("there is nothing to read")
	}
}

// However the output comes, and wherever it is looked at, each line is read
// once and in the order of its stream.
func FuzzRead(f *testing.F) {
	f.Add("one\ntwo\n!three\nfour", uint64(1))
	f.Add("a\n\n\nb\r\n!x\n", uint64(7))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if len(text) > 4096 {
			return
		}
		random := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		w := output.NewWriter(dir, output.WriterOptions{Now: time.Now})
		var got [2]strings.Builder
		var want [2]strings.Builder
		cur := source.Cursor{}
		look := func(final bool) {
			o, err := source.Read(dir, cur, final)
			if err != nil {
				t.Fatal(err)
			}
			cur = o.Next
			for _, l := range o.Lines {
				text, mine := strings.CutPrefix(l.Text, "E")
				which := 0
				if mine {
					which = 1
				}
				got[which].WriteString(text + "\n")
			}
		}
		for i, line := range strings.Split(text, "\n") {
			which, mark := output.Stdout, "O"
			if i%3 == 1 {
				which, mark = output.Stderr, "E"
			}
			line = output.Sanitize([]byte(strings.Trim(strings.ToValidUTF8(line, ""), "\r")))
			line = strings.Trim(line, "\r")
			want[which-1].WriteString(strings.TrimPrefix(mark+line, "E") + "\n")
			raw := []byte(mark + line + "\n")
			for len(raw) > 0 {
				n := 1 + random.IntN(len(raw))
				w.Write(which, raw[:n])
				raw = raw[n:]
				if random.IntN(3) == 0 {
					look(false)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		look(true)
		for i := range got {
			if got[i].String() != want[i].String() {
				t.Errorf("stream %d: read %q, want %q", i+1, got[i].String(), want[i].String())
			}
		}
	})
}
