package output_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/runner/output"
)

// faulty puts a decision before each change to a file: how many of n bytes
// are done before err. For what is not a write, n is 0.
type faulty struct {
	output.FS
	decide func(op, name string, n int) (int, error)
	stored int64 // bytes that went into segments
}

func (f *faulty) OpenFile(name string, flag int, perm fs.FileMode) (output.File, error) {
	if flag&os.O_CREATE != 0 {
		if _, err := f.decide("create", name, 0); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: file, fs: f, name: name}, nil
}

func (f *faulty) Remove(name string) error {
	if _, err := f.decide("remove", name, 0); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return f.FS.Remove(name)
}

type faultyFile struct {
	output.File
	fs   *faulty
	name string
}

func (f *faultyFile) Write(p []byte) (int, error) {
	n, err := f.fs.decide("write", f.name, len(p))
	if err == nil {
		n = len(p)
	}
	n, werr := f.File.Write(p[:n])
	f.fs.stored += int64(n)
	return n, errors.Join(err, werr)
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.fs.decide("write", f.name, len(p))
	if err == nil {
		n = len(p)
	}
	n, werr := f.File.WriteAt(p[:n], off)
	return n, errors.Join(err, werr)
}

func (f *faultyFile) Truncate(size int64) error {
	if _, err := f.fs.decide("truncate", f.name, 0); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// A writer that is killed at any file operation, also in the middle of a
// write, leaves every byte it had written, with its stream, and the next writer
// goes on from there.
func TestKilledAtEveryOperation(t *testing.T) {
	died := errors.New("killed")
	scenario := func(dir string, at int, torn bool) (m *model, f *faulty, ops int) {
		dead := false
		f = &faulty{FS: output.Disk, decide: func(_, _ string, n int) (int, error) {
			if ops++; dead || ops != at {
				if dead {
					return 0, died
				}
				return n, nil
			}
			dead = true
			if torn {
				return n / 2, died
			}
			return 0, died
		}}
		clk := newClock()
		o := output.WriterOptions{Cap: smallCap, Now: clk.now, FS: f}
		w := must(output.OpenWriter(dir, o))
		m = &model{}
		for i := 0; i < 20 && !dead; i++ {
			clk.step(3 * time.Millisecond)
			m.write(w, output.Stream(1+i/3%2), piece(1+i%2, 5000+i*37, i))
			if i == 12 && !dead {
				w.Close()
				w = must(output.OpenWriter(dir, o))
			}
		}
		if !dead {
			w.Close()
		}
		return m, f, ops
	}
	_, _, total := scenario(t.TempDir(), 0, false)
	if total < 80 {
		t.Fatalf("the scenario has only %d operations", total)
	}
	for at := 1; at <= total; at++ {
		for _, torn := range []bool{false, true} {
			dir := t.TempDir()
			m, f, _ := scenario(dir, at, torn)
			name := fmt.Sprintf("operation %d torn=%v", at, torn)
			if f.stored > int64(len(m.data)) {
				t.Fatalf("%s: %d bytes stored of %d", name, f.stored, len(m.data))
			}
			m.data, m.streams = m.data[:f.stored], m.streams[:f.stored]
			verify(t, dir, m, true)
			clk := newClock()
			w := must(output.OpenWriter(dir, output.WriterOptions{Cap: smallCap, Now: clk.now}))
			for i := range 4 {
				m.write(w, output.Stream(1+i%2), piece(i, 5000, i))
			}
			if err := w.Close(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			f2 := verify(t, dir, m, true)
			if d := cmp.Diff(f2.totals, w.Totals()); d != "" {
				t.Fatalf("%s: totals (-want +got):\n%s", name, d)
			}
			if data, index := usage(t, dir); data > smallCap || index > smallIndexes {
				t.Fatalf("%s: %d bytes of data and %d of index", name, data, index)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// What a power cut may leave of the last segment and its index: any prefix,
// or zeros where bytes should be.
func TestTornFiles(t *testing.T) {
	write := func(dir string) *model {
		clk := newClock()
		w := output.NewWriter(dir, output.WriterOptions{Cap: smallCap, Now: clk.now})
		m := &model{}
		for i := range 5 {
			clk.step(12 * time.Millisecond)
			m.write(w, output.Stream(1+i%2), fmt.Appendf(nil, "line %d\nand ", i))
		}
		return m // killed: no seal
	}
	damage := func(t *testing.T, file string, hurt func(path string, size int64), check func(dir string, m *model)) {
		dir := t.TempDir()
		m := write(dir)
		path := filepath.Join(dir, file)
		hurt(path, must(os.Stat(path)).Size())
		check(dir, m)
	}
	goOn := func(t *testing.T, dir string, m *model, streams bool) {
		t.Helper()
		verify(t, dir, m, streams)
		w := must(output.OpenWriter(dir, output.WriterOptions{Cap: smallCap, Now: newClock().now}))
		m.write(w, output.Stderr, []byte("more\n"))
		m.write(w, output.Stdout, []byte("and more\n"))
		w.Close()
		f := verify(t, dir, m, streams)
		if f.gaps > 0 {
			t.Errorf("a gap after damage to the end")
		}
	}
	dir := t.TempDir()
	m := write(dir)
	indexSize := must(os.Stat(filepath.Join(dir, "output.index"))).Size()
	for n := int64(0); n <= int64(len(m.data)); n++ {
		damage(t, "output", func(path string, _ int64) { os.Truncate(path, n) }, func(dir string, m *model) {
			m.data, m.streams = m.data[:n], m.streams[:n]
			goOn(t, dir, m, true)
		})
	}
	for n := int64(0); n <= indexSize; n++ {
		damage(t, "output.index", func(path string, _ int64) { os.Truncate(path, n) }, func(dir string, m *model) {
			goOn(t, dir, m, n == indexSize)
		})
		damage(t, "output.index", func(path string, size int64) {
			os.Truncate(path, n)
			os.Truncate(path, size) // a hole
		}, func(dir string, m *model) { goOn(t, dir, m, n == indexSize) })
	}
	damage(t, "output.index", func(path string, _ int64) { os.Remove(path) }, func(dir string, m *model) { goOn(t, dir, m, false) })
}

// A full disk costs the bytes that did not fit, and says so; what comes after
// is kept again. The files and the writer count the same.
func TestDiskFullNowAndThen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := must(os.MkdirTemp("", "claw-output-"))
		defer os.RemoveAll(dir)
		left, full := 0, false
		f := &faulty{FS: output.Disk, decide: func(op, name string, n int) (int, error) {
			if !full || op == "remove" || op == "truncate" {
				return n, nil
			}
			if n <= left && op == "write" {
				left -= n
				return n, nil
			}
			n, left = min(n, left), 0
			return n, syscall.ENOSPC
		}}
		clk := newClock()
		o := output.WriterOptions{Cap: 1 << 20, Now: clk.now, FS: f}
		w := output.NewWriter(dir, o)
		var m model
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				full, left = true, rapid.IntRange(0, 3000).Draw(t, "left")
			case 1:
				full = false
			default:
				s := rapid.SampledFrom([]output.Stream{output.Stdout, output.Stderr}).Draw(t, "stream")
				m.write(w, s, piece(rapid.IntRange(0, 3).Draw(t, "kind"), rapid.IntRange(1, 2000).Draw(t, "size"), len(m.data)))
				clk.step(time.Duration(rapid.IntRange(0, 300).Draw(t, "ms")) * time.Millisecond)
			}
		}
		full = false
		clk.step(time.Minute)
		if err := w.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		got := verify(t, dir, &m, false)
		if d := cmp.Diff(got.totals, w.Totals()); d != "" {
			t.Fatalf("Writer.Totals (-files +writer):\n%s", d)
		}
		var charged int64
		for _, p := range w.Problems() {
			charged += p.Bytes
			if !errors.Is(p, syscall.ENOSPC) || !strings.Contains(p.Hint(), "space") {
				t.Fatalf("problem %v with hint %q", p, p.Hint())
			}
		}
		if charged != got.totals.DroppedBytes {
			t.Fatalf("problems name %d bytes, %d are missing", charged, got.totals.DroppedBytes)
		}
		if int64(len(m.data))-got.totals.DroppedBytes != f.stored {
			t.Fatalf("%d bytes kept, %d were stored", int64(len(m.data))-got.totals.DroppedBytes, f.stored)
		}
	})
}

// B05: what somebody does to the files of a running command is noticed and
// reported, costs at most the bytes in that file, and never stops the capture.
func TestB05FilesTampered(t *testing.T) {
	for _, v := range []struct {
		name   string
		tamper func(dir string) error
		op     string
		lost   bool // the bytes written before
	}{
		{"deleted", func(d string) error { return os.Remove(d + "/output") }, "removed", true},
		{"deleted with its index", func(d string) error { return errors.Join(os.Remove(d+"/output"), os.Remove(d+"/output.index")) }, "removed", true},
		{"index deleted", func(d string) error { return os.Remove(d + "/output.index") }, "removed", false},
		{"renamed by logrotate", func(d string) error { return os.Rename(d+"/output", d+"/old") }, "removed", true},
		{"replaced by a folder", func(d string) error { return errors.Join(os.Remove(d+"/output"), os.Mkdir(d+"/output", 0o700)) }, "replaced", true},
		{"replaced by a link", func(d string) error { return errors.Join(os.Remove(d+"/output"), os.Symlink("/dev/null", d+"/output")) }, "replaced", true},
		{"replaced by a FIFO", func(d string) error { return errors.Join(os.Remove(d+"/output"), syscall.Mkfifo(d+"/output", 0o600)) }, "replaced", true},
		{"replaced by another file", func(d string) error {
			return errors.Join(os.Remove(d+"/output"), os.WriteFile(d+"/output", nil, 0o600))
		}, "replaced", true},
		{"truncated", func(d string) error { return os.Truncate(d+"/output", 0) }, "truncated", true},
	} {
		t.Run(v.name, func(t *testing.T) {
			dir, clk := t.TempDir(), newClock()
			w := output.NewWriter(dir, output.WriterOptions{Cap: smallCap, Now: clk.now})
			var m model
			m.write(w, output.Stdout, []byte("before\n"))
			if err := v.tamper(dir); err != nil {
				t.Fatal(err)
			}
			clk.step(time.Second)
			m.write(w, output.Stdout, []byte("after\n"))
			m.write(w, output.Stderr, []byte("the end"))
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f := verify(t, dir, &m, !strings.Contains(v.name, "index"))
			want := int64(0)
			if v.lost {
				want = 7
			}
			if f.totals.DroppedBytes != want {
				t.Errorf("%d bytes dropped, want %d", f.totals.DroppedBytes, want)
			}
			if d := cmp.Diff(f.totals, w.Totals()); d != "" {
				t.Errorf("Writer.Totals (-files +writer):\n%s", d)
			}
			if p := w.Problems(); len(p) != 1 || p[0].Op != v.op || p[0].Bytes != want || p[0].Hint() == "" {
				t.Errorf("problems: %+v", p)
			}
			if got := w.Tail(100); got != "before\nafter\nthe end" {
				t.Errorf("the tail in memory is %q", got)
			}
		})
	}
}

// A folder that is gone, or in which nothing can be created, drops
// everything, is reported once, and is used again when it is back.
func TestB05FolderGone(t *testing.T) {
	dir, clk := filepath.Join(t.TempDir(), "01ID"), newClock()
	os.Mkdir(dir, 0o700)
	w := output.NewWriter(dir, output.WriterOptions{Cap: smallCap, Now: clk.now})
	var m model
	m.write(w, output.Stdout, []byte("one\n"))
	os.RemoveAll(dir)
	for range 100 {
		clk.step(50 * time.Millisecond)
		m.write(w, output.Stdout, []byte("two\n"))
	}
	if p := w.Problems(); len(p) != 2 || p[0].Op != "removed" || p[1].Op != "create" || p[0].Bytes+p[1].Bytes != int64(len(m.data)) {
		t.Errorf("problems: %+v", p)
	}
	os.Mkdir(dir, 0o700)
	clk.step(time.Second)
	m.write(w, output.Stdout, []byte("three\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if f := verify(t, dir, &m, true); f.totals.DroppedBytes != int64(len(m.data))-6 {
		t.Errorf("%d bytes dropped of %d", f.totals.DroppedBytes, len(m.data))
	}
	if d := cmp.Diff(w.Totals(), must(output.Open(dir)).Totals()); d != "" {
		t.Errorf("totals (-writer +files):\n%s", d)
	}
}

// A segment that nobody may delete must not make the output grow.
func TestEvictionRefused(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	refuse := true
	f := &faulty{FS: output.Disk, decide: func(op, name string, n int) (int, error) {
		if op == "remove" && refuse {
			return 0, syscall.EACCES
		}
		return n, nil
	}}
	w := output.NewWriter(dir, output.WriterOptions{Cap: smallCap, Now: clk.now, FS: f})
	var m model
	for range 100 {
		clk.step(10 * time.Millisecond)
		m.write(w, output.Stdout, bytes.Repeat([]byte("y"), 1000))
	}
	if data, _ := usage(t, dir); data > smallCap {
		t.Errorf("%d bytes under a cap of %d", data, smallCap)
	}
	if p := w.Problems(); len(p) != 1 || p[0].Op != "remove" || p[0].Bytes == 0 {
		t.Errorf("problems: %+v", p)
	}
	refuse = false
	clk.step(time.Minute)
	m.write(w, output.Stdout, []byte("end\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f2 := verify(t, dir, &m, true)
	if d := cmp.Diff(f2.totals, w.Totals()); d != "" {
		t.Errorf("Writer.Totals (-files +writer):\n%s", d)
	}
}

// The end of the output is known even when its last bytes could not be kept.
func TestLostEndIsAccountedFor(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	full := false
	f := &faulty{FS: output.Disk, decide: func(op, name string, n int) (int, error) {
		if full && op == "write" {
			return 0, syscall.EIO
		}
		return n, nil
	}}
	w := output.NewWriter(dir, output.WriterOptions{Cap: smallCap, Now: clk.now, FS: f})
	var m model
	m.write(w, output.Stdout, []byte("kept\n"))
	full = true
	m.write(w, output.Stdout, []byte("lost\nlost"))
	full = false
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f2 := verify(t, dir, &m, true)
	if f2.totals.DroppedBytes != 9 || f2.totals.DroppedLines != 1 || f2.totals.Lines != 3 {
		t.Errorf("totals %+v", f2.totals)
	}
	if got := must(output.Open(dir)).Tail(20); got != "kept\n" {
		t.Errorf("tail %q", got)
	}

	dir = t.TempDir()
	w = output.NewWriter(dir, output.WriterOptions{Now: clk.now, FS: f})
	full = true
	w.Write(output.Stdout, []byte("all lost"))
	if err := w.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Close says %v about bytes that are nowhere on disk", err)
	}
	if got := w.Totals(); got.Bytes != 8 || got.DroppedBytes != 8 {
		t.Errorf("totals %+v", got)
	}
}

// TestFullDiskIsWaitedFor: what was written while the disk was full is there when
// it has room again, in order; of more than the writer keeps, the end.
func TestFullDiskIsWaitedFor(t *testing.T) {
	const keeps = 256 << 10
	for _, size := range []int{1, 4000, keeps, keeps + 1, 3 * keeps} {
		dir, clk := t.TempDir(), newClock()
		full := false
		f := &faulty{FS: output.Disk, decide: func(op, _ string, n int) (int, error) {
			if full && op != "remove" {
				return 0, syscall.ENOSPC
			}
			return n, nil
		}}
		w := output.NewWriter(dir, output.WriterOptions{Now: clk.now, FS: f})
		var m model
		m.write(w, output.Stdout, []byte("before\n"))
		full = true
		for i := 0; i < size; i += 1000 {
			clk.step(time.Second)
			m.write(w, output.Stream(1+i/1000%2), piece(1, min(1000, size-i), i))
		}
		if err := w.Flush(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%d bytes: on a full disk, Flush says %v", size, err)
		}
		if got := w.Totals(); got.Bytes != int64(7+size) || got.DroppedBytes != int64(size) {
			t.Errorf("%d bytes: meanwhile, totals %+v", size, got)
		}
		full = false
		if err := errors.Join(w.Flush(), w.Close()); err != nil {
			t.Error(err)
		}
		got := verify(t, dir, &m, true)
		if d := cmp.Diff(got.totals, w.Totals()); d != "" {
			t.Errorf("%d bytes: Writer.Totals (-files +writer):\n%s", size, d)
		}
		if lost := got.totals.DroppedBytes; (lost == 0) != (size <= keeps) || lost >= int64(size) {
			t.Errorf("%d bytes: %d are lost", size, lost)
		}
	}
}
