package output_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"claw/runner/output"
)

// A segment's name is its offset, 20 digits, so that `cat output output.0*`
// is the output; other files in the folder are nobody's business.
func TestNamesOnDisk(t *testing.T) {
	dir := t.TempDir()
	for _, other := range []string{"lock", "control", "output.1", "output.0000000000000001234x", "output.-0000000000000000001", "output.99999999999999999999", "outputs"} {
		os.WriteFile(filepath.Join(dir, other), []byte("not output"), 0o600)
	}
	_, m := written(t, dir, smallCap, strings.Repeat("0123456789abcde\n", 40<<10/16))
	var cat []byte
	for _, name := range []string{"output", "output.00000000000000016384", "output.00000000000000024576", "output.00000000000000032768"} {
		cat = append(cat, must(os.ReadFile(filepath.Join(dir, name)))...)
		if _, err := os.Stat(filepath.Join(dir, name+".index")); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(cat, m.data) {
		t.Errorf("the segments hold %d bytes, want %d", len(cat), len(m.data))
	}
	verify(t, dir, m, true)
}

func TestSegmentsEndAtLines(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	w := output.NewWriter(dir, output.WriterOptions{Cap: smallCap, Now: clk.now})
	var m model
	for i := 0; len(m.data) < 60<<10; i++ {
		m.write(w, output.Stdout, fmt.Appendf(nil, "line %d %s\n", i, strings.Repeat("-", i%190)))
	}
	for _, e := range must(os.ReadDir(dir)) {
		b := must(os.ReadFile(filepath.Join(dir, e.Name())))
		if !strings.HasSuffix(e.Name(), ".index") && b[len(b)-1] != '\n' {
			t.Errorf("%s ends within a line", e.Name())
		}
	}
}

// The index written for a known sequence of writes, byte by byte: the format
// that claw-state(5) documents.
func TestIndexFormat(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	w := output.NewWriter(dir, output.WriterOptions{Now: clk.now})
	t0 := clk.t.UnixNano()
	w.Write(output.Stdout, []byte("abc"))
	clk.step(9 * time.Millisecond)
	w.Write(output.Stdout, []byte("de\n")) // within 10 ms: no record
	w.Write(output.Stderr, []byte("x"))
	clk.step(10 * time.Millisecond)
	w.Write(output.Stderr, []byte("y"))
	clk.step(-time.Hour) // the clock is set back
	w.Write(output.Stderr, []byte("z"))
	w.Close()
	le := func(n ...int64) (b []byte) {
		for _, n := range n {
			for i := range 8 {
				b = append(b, byte(n>>(8*i)))
			}
		}
		return b
	}
	ms := int64(time.Millisecond)
	want := append([]byte("clawidx1"), le(0, 1, 0)...)
	want = append(want, le(
		0<<2|1, t0,
		6<<2|2, t0+9*ms,
		7<<2|2, t0+19*ms,
		8<<2|2, t0+19*ms-int64(time.Hour),
		9<<2|3, 1,
	)...)
	if got := must(os.ReadFile(filepath.Join(dir, "output.index"))); !bytes.Equal(got, want) {
		t.Errorf("index\n%x, want\n%x", got, want)
	}
}

// Reading what may not be read is an error that names the file; listing and
// counting give what they can.
func TestB05Unreadable(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, smallCap, "some output\n")
	f := &refusing{FS: output.Disk, name: "output"}
	r := must(output.OpenFS(dir, f))
	for name, read := range map[string]func() error{
		"Copy":      func() error { _, _, err := r.Copy(io.Discard, output.Selection{}); return err },
		"Scan":      func() error { _, err := r.Scan(0, 9, output.Selection{}, nil); return err },
		"Drain":     func() error { _, err := r.Drain(output.Cursor{}, 0, true); return err },
		"Lines":     func() error { _, err := r.Lines(output.Selection{}); return err },
		"Aggregate": func() error { _, _, err := r.Aggregate(10); return err },
	} {
		if err := read(); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r.Size() != 0 || r.Totals().Bytes != 0 || r.Tail(10) != "" {
		t.Error("something is known of a file that cannot be read")
	}
}

// refusing refuses to open one file.
type refusing struct {
	output.FS
	name string
}

func (f *refusing) OpenFile(name string, flag int, perm fs.FileMode) (output.File, error) {
	if filepath.Base(name) == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EACCES}
	}
	return f.FS.OpenFile(name, flag, perm)
}

// Attempts to create a segment where none can be created are spaced: at
// once, then from 10 ms on up to a second.
func TestAttemptsAreSpaced(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	var at []time.Duration
	start := clk.t
	f := &faulty{FS: output.Disk, decide: func(op, name string, n int) (int, error) {
		if op == "create" {
			at = append(at, clk.t.Sub(start))
		}
		return 0, syscall.ENOSPC
	}}
	w := output.NewWriter(dir, output.WriterOptions{Now: clk.now, FS: f})
	for range 4000 {
		w.Write(output.Stdout, []byte("x"))
		clk.step(time.Millisecond)
	}
	ms := time.Millisecond
	want := []time.Duration{0, ms, 11 * ms, 31 * ms, 71 * ms, 151 * ms, 311 * ms, 631 * ms, 1271 * ms, 2271 * ms, 3271 * ms}
	if fmt.Sprint(at) != fmt.Sprint(want) {
		t.Errorf("attempts at %v, want %v", at, want)
	}
	if p := w.Problems(); len(p) != 1 || p[0].Count != len(want) || p[0].Bytes != 0 {
		t.Errorf("problems %+v: nothing is lost yet", p)
	}
	w.Close()
	if p := w.Problems(); len(p) != 1 || p[0].Bytes != 4000 {
		t.Errorf("in the end, problems %+v", p)
	}
}

func TestProblemHints(t *testing.T) {
	for _, v := range []struct {
		p    output.Problem
		hint string
	}{
		{output.Problem{Op: "write", Err: syscall.ENOSPC}, "free some space"},
		{output.Problem{Op: "write", Err: syscall.EDQUOT}, "free some space"},
		{output.Problem{Op: "write", Err: syscall.EIO}, "kernel log"},
		{output.Problem{Op: "create", Err: syscall.EROFS}, "read-only"},
		{output.Problem{Op: "create", Err: &fs.PathError{Err: syscall.EACCES}}, "chmod"},
		{output.Problem{Op: "removed"}, "--max-output"},
		{output.Problem{Op: "check", Err: errors.New("odd")}, ""},
	} {
		if got := v.p.Hint(); v.hint == "" && got != "" || !strings.Contains(got, v.hint) {
			t.Errorf("%v: hint %q, want %q", v.p, got, v.hint)
		}
	}
	p := output.Problem{Op: "write", Path: "/x/output", Err: syscall.ENOSPC, Bytes: 7}
	if got := p.Error(); got != "output: write /x/output: no space left on device (7 bytes dropped)" {
		t.Errorf("%q", got)
	}
}

// The tail in memory holds through many changes of stream, and forgets the
// oldest first.
func TestTailOfManyRuns(t *testing.T) {
	clk := newClock()
	w := output.NewWriter(t.TempDir(), output.WriterOptions{Now: clk.now})
	var all strings.Builder
	for i := range 3000 {
		line := fmt.Sprintf("%d\n", i)
		w.Write(output.Stream(1+i%2), []byte(line))
		all.WriteString(line)
	}
	if got, want := w.Tail(900), all.String()[all.Len()-900:]; got != want {
		t.Errorf("tail\n%.40q, want\n%.40q", got, want)
	}
}

func TestStreamNames(t *testing.T) {
	for s, want := range map[output.Stream]string{output.Both: "all", output.Stdout: "stdout", output.Stderr: "stderr", 3: "unknown"} {
		if s.String() != want {
			t.Errorf("%d: %q, want %q", s, s.String(), want)
		}
	}
}

// A cursor that cannot be saved says why, and the one before stays.
func TestCursorNotSaved(t *testing.T) {
	dir := t.TempDir()
	full := false
	f := &faulty{FS: output.Disk, decide: func(op, name string, n int) (int, error) {
		if full && op == "write" {
			return n / 2, syscall.ENOSPC
		}
		return n, nil
	}}
	c := output.Cursors{Dir: dir, FS: f}
	if err := c.Save("main", output.Cursor{Offset: 5}); err != nil {
		t.Fatal(err)
	}
	full = true
	if err := c.Save("main", output.Cursor{Offset: 9}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("save on a full disk: %v", err)
	}
	if cur := must(c.Load("main")); cur.Offset != 5 {
		t.Errorf("the cursor is at %d, want 5", cur.Offset)
	}
	if n := len(must(os.ReadDir(filepath.Join(dir, "cursors")))); n != 1 {
		t.Errorf("%d files in cursors", n)
	}
	os.Remove(filepath.Join(dir, "cursors", "main.json"))
	os.Symlink("/etc/passwd", filepath.Join(dir, "cursors", "main.json"))
	if _, err := c.Load("main"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link in the place of a cursor: %v", err)
	}
}
