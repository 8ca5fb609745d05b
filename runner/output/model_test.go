package output_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/runner/output"
	"claw/state/process"
)

// tb is what both testing.TB and *rapid.T are.
type tb interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

// model is what a command has written: every byte, and whose it is.
type model struct {
	data    []byte
	streams []byte // of each byte
}

func (m *model) write(w *output.Writer, s output.Stream, p []byte) {
	w.Write(s, p)
	m.add(s, p)
}

func (m *model) add(s output.Stream, p []byte) {
	m.data = append(m.data, p...)
	m.streams = append(m.streams, bytes.Repeat([]byte{byte(s)}, len(p))...)
}

// clock is a wall clock that tests move.
type clock struct{ t time.Time }

func newClock() *clock                { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }
func (c *clock) now() time.Time       { return c.t }
func (c *clock) step(d time.Duration) { c.t = c.t.Add(d) }
func lineEnds(p []byte) int64         { return int64(bytes.Count(p, []byte("\n"))) }
func must[T any](v T, err error) T { // for set-up only
	if err != nil {
		panic(err)
	}
	return v
}

// found is what a reader sees of a model.
type found struct {
	gaps   int
	totals process.Totals
}

// verify reads everything and compares each byte, its stream and all counts
// with the model. Streams are not compared when some were not recorded.
func verify(t tb, dir string, m *model, streams bool) found {
	t.Helper()
	r, err := output.Open(dir)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer r.Close()
	var f found
	f.totals = process.Totals{Bytes: int64(len(m.data)), Lines: lineEnds(m.data)}
	if n := len(m.data); n > 0 && m.data[n-1] != '\n' {
		f.totals.Lines++
	}
	pos := int64(0)
	end, err := r.Scan(0, r.Size(), output.Selection{}, func(c output.Chunk) error {
		if c.Gap > 0 {
			f.gaps++
			f.totals.DroppedBytes += c.Gap
			f.totals.DroppedLines += lineEnds(m.data[pos : pos+c.Gap])
			pos += c.Gap
		}
		if c.Offset != pos {
			t.Fatalf("chunk at %d, want %d", c.Offset, pos)
		}
		n := int64(len(c.Data))
		if pos+n > int64(len(m.data)) || !bytes.Equal(c.Data, m.data[pos:pos+n]) {
			t.Fatalf("bytes %d to %d differ from what was written", pos, pos+n)
		}
		if streams && bytes.Count(m.streams[pos:pos+n], []byte{byte(c.Stream)}) != int(n) {
			t.Fatalf("bytes %d to %d are not all of %v", pos, pos+n, c.Stream)
		}
		pos += n
		return nil
	})
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	if end != int64(len(m.data)) {
		t.Fatalf("output ends at %d, want %d", end, len(m.data))
	}
	if d := cmp.Diff(f.totals, r.Totals()); d != "" {
		t.Fatalf("Reader.Totals (-want +got):\n%s", d)
	}
	return f
}

// usage adds up the sizes of segments and of indexes.
func usage(t tb, dir string) (data, index int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || e.IsDir() {
			continue
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", e.Name(), info.Mode())
		}
		if strings.HasSuffix(e.Name(), ".index") {
			index += info.Size()
		} else {
			data += info.Size()
		}
	}
	return data, index
}

// The plan for a cap of 64 KiB, by the rules in doc.go: a head of 16 KiB and
// up to six tail segments of 8 KiB, each of which may end an eighth early, at a
// line end. So 48 KiB are kept whatever is written.
const (
	smallCap     = 64 << 10
	smallIndexes = 7 * 64 << 10 // at most 64 KiB of index for each
)

// Random writes of both streams, pauses, clean ends and deaths of the writer:
// the files always say what the model says.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := must(os.MkdirTemp("", "claw-output-"))
		defer os.RemoveAll(dir)
		clk := newClock()
		o := output.WriterOptions{Cap: smallCap, Now: clk.now}
		w := must(output.OpenWriter(dir, o))
		var m model
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				clk.step(time.Duration(rapid.IntRange(-50, 500).Draw(t, "ms")) * time.Millisecond)
			case 1: // killed: nothing is closed
				w = must(output.OpenWriter(dir, o))
			case 2: // executed itself again
				if err := w.Close(); err != nil {
					t.Fatalf("close: %v", err)
				}
				w = must(output.OpenWriter(dir, o))
			default:
				s := rapid.SampledFrom([]output.Stream{output.Stdout, output.Stdout, output.Stderr}).Draw(t, "stream")
				m.write(w, s, piece(rapid.IntRange(0, 3).Draw(t, "kind"), rapid.IntRange(1, 30000).Draw(t, "size"), len(m.data)))
			}
			if data, index := usage(t, dir); data > smallCap || index > smallIndexes {
				t.Fatalf("%d bytes of data and %d of index under a cap of %d", data, index, smallCap)
			}
		}
		f := verify(t, dir, &m, true)
		if f.gaps > 1 {
			t.Fatalf("%d gaps: only the middle may be missing", f.gaps)
		}
		if int64(len(m.data)) <= 48<<10 && f.gaps > 0 {
			t.Fatalf("%d bytes were written and some dropped, under a cap of %d", len(m.data), smallCap)
		}
		if d := cmp.Diff(f.totals, w.Totals()); d != "" {
			t.Fatalf("Writer.Totals (-want +got):\n%s", d)
		}
		if p := w.Problems(); len(p) > 0 {
			t.Fatalf("problems: %v", p)
		}
		if len(m.data) < 8<<10 {
			if got, want := w.Tail(300), must(output.Open(dir)).Tail(300); got != want {
				t.Fatalf("Writer.Tail %q, Reader.Tail %q", got, want)
			}
		}
	})
}

// piece is n bytes of one kind: one line, many lines, no line end, noise.
func piece(kind, n, seed int) []byte {
	switch kind {
	case 0:
		return append(bytes.Repeat([]byte("w"), n%60), '\n')
	case 1:
		return bytes.Repeat([]byte("0123456789abcdef\n"), n/17+1)[:n]
	case 2:
		return bytes.Repeat([]byte("x"), n)
	}
	p := make([]byte, n%500+1)
	for i := range p {
		seed = seed*1103515245 + 12345
		p[i] = byte(seed >> 16)
	}
	return p
}

// B01: a command that prints without end costs the cap and no more; the first
// and the last bytes are there, and the count of what is not.
func TestB01Cap(t *testing.T) {
	for _, size := range []int64{1, 100_000, 512 << 10} {
		dir, clk := t.TempDir(), newClock()
		w := output.NewWriter(dir, output.WriterOptions{Cap: size, Now: clk.now})
		limit := max(size, smallCap)
		var m model
		for i := int64(0); i < 4*limit; i += 26 * 40 {
			clk.step(time.Millisecond)
			m.write(w, output.Stdout, bytes.Repeat([]byte("line-of-output-0123456789\n"), 40))
			if data, _ := usage(t, dir); data > limit {
				t.Fatalf("cap %d: %d bytes on disk", limit, data)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f := verify(t, dir, &m, true)
		if f.gaps != 1 {
			t.Errorf("cap %d: %d gaps, want the middle missing", limit, f.gaps)
		}
		kept := f.totals.Bytes - f.totals.DroppedBytes
		if kept < limit*3/4 {
			t.Errorf("cap %d: only %d bytes kept", limit, kept)
		}
		head := must(os.ReadFile(filepath.Join(dir, "output")))
		if !bytes.HasPrefix(m.data, head) || int64(len(head)) < limit/4-26 || int64(len(head)) > limit/4 {
			t.Errorf("cap %d: the head has %d bytes", limit, len(head))
		}
		if f.totals.DroppedBytes != f.totals.DroppedLines*26 {
			t.Errorf("cap %d: %d bytes and %d lines of 26 dropped: not whole lines", limit, f.totals.DroppedBytes, f.totals.DroppedLines)
		}
	}
}

// Below the cap nothing is lost, whatever the pattern.
func TestNothingDroppedBelowTheCap(t *testing.T) {
	for name, piece := range map[string]string{"alternating bytes": "x", "short lines": "out 123\n", "no line ends": strings.Repeat("y", 999)} {
		dir, clk := t.TempDir(), newClock()
		w := output.NewWriter(dir, output.WriterOptions{Cap: smallCap, Now: clk.now})
		var m model
		for i := 0; len(m.data) < 48<<10; i++ {
			clk.step(time.Duration(i%3) * 11 * time.Millisecond)
			m.write(w, output.Stream(1+i%2), []byte(piece))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if name == "alternating bytes" {
			verify(t, dir, &m, true)
			continue
		}
		if f := verify(t, dir, &m, true); f.gaps > 0 {
			t.Errorf("%s: %d of %d bytes dropped", name, f.totals.DroppedBytes, len(m.data))
		}
		var raw bytes.Buffer
		_, dropped, err := must(output.Open(dir)).Copy(&raw, output.Selection{})
		if err != nil || dropped > 0 || !bytes.Equal(raw.Bytes(), m.data) {
			t.Errorf("%s: Copy is not what was written (%v)", name, err)
		}
	}
}

func TestSelection(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	w := output.NewWriter(dir, output.WriterOptions{Now: clk.now})
	start := clk.t
	w.Write(output.Stdout, []byte("one "))
	w.Write(output.Stderr, []byte("two "))
	clk.step(time.Second)
	w.Write(output.Stdout, []byte("three "))
	clk.step(5 * time.Millisecond)
	w.Write(output.Stdout, []byte("four "))
	w.Write(output.Stderr, []byte("five "))
	clk.step(20 * time.Millisecond)
	w.Write(output.Stderr, []byte("six"))
	r := must(output.Open(dir))
	for _, v := range []struct {
		sel  output.Selection
		want string
	}{
		{output.Selection{}, "one two three four five six"},
		{output.Selection{Stream: output.Stdout}, "one three four "},
		{output.Selection{Stream: output.Stderr}, "two five six"},
		{output.Selection{Since: start.Add(time.Second)}, "three four five six"},
		{output.Selection{Since: start.Add(1010 * time.Millisecond), Stream: output.Stderr}, "six"},
		{output.Selection{Since: start.Add(time.Hour)}, ""},
		{output.Selection{From: 10}, "ree four five six"},
		{output.Selection{From: 10, Stream: output.Stderr}, "five six"},
		{output.Selection{From: 1000}, ""},
		{output.Selection{From: -5}, "one two three four five six"},
	} {
		var b bytes.Buffer
		if _, _, err := r.Copy(&b, v.sel); err != nil || b.String() != v.want {
			t.Errorf("%+v: %q (%v), want %q", v.sel, b.String(), err, v.want)
		}
	}
	if got := r.LastAt(); !got.Equal(clk.t) {
		t.Errorf("LastAt %v, want %v", got, clk.t)
	}
	if got := w.LastAt(); !got.Equal(clk.t) {
		t.Errorf("Writer.LastAt %v, want %v", got, clk.t)
	}
}

func TestNothingWritten(t *testing.T) {
	dir := t.TempDir()
	w := output.NewWriter(dir, output.WriterOptions{Now: newClock().now})
	w.Write(output.Stdout, nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Write(output.Stdout, []byte("late output is ignored"))
	verify(t, dir, &model{}, true)
	r := must(output.Open(dir))
	if r.Size() != 0 || !r.LastAt().IsZero() || r.Tail(10) != "" || w.Tail(10) != "" {
		t.Error("an empty output is not empty")
	}
	if _, err := output.Open(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening a folder that is not there: %v", err)
	}
}

func TestWriteDoesNotAllocate(t *testing.T) {
	w := output.NewWriter(t.TempDir(), output.WriterOptions{Cap: 1 << 30, Now: newClock().now})
	defer w.Close()
	p := bytes.Repeat([]byte("line-of-output-0123456789\n"), 100)
	w.Write(output.Stdout, p)
	if n := testing.AllocsPerRun(500, func() {
		w.Write(output.Stdout, p)
		w.Write(output.Stderr, p)
	}); n > 0 {
		t.Errorf("%v allocations for two writes", n)
	}
}
