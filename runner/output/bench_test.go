package output_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/runner/output"
)

// The two writers see the same blocks in the same run: the ratio of their
// MB/s is what the bar of the issue is about.
func BenchmarkWrite(b *testing.B) {
	block := make([]byte, 64<<10)
	lines := bytes.Repeat([]byte("line-of-output-0123456789\n"), 64<<10/26)
	for name, p := range map[string][]byte{"zero": block, "lines": lines} {
		b.Run("file/"+name, func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "out"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			b.SetBytes(int64(len(p)))
			for i := 0; b.Loop(); i++ {
				if i%(256<<20/len(p)) == 0 { // do not measure the disk
					f.Truncate(0)
					f.Seek(0, io.SeekStart)
				}
				f.Write(p)
			}
		})
		b.Run("claw/"+name, func(b *testing.B) {
			w := output.NewWriter(b.TempDir(), output.WriterOptions{Now: time.Now})
			defer w.Close()
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				w.Write(output.Stdout, p)
			}
		})
	}
}

func BenchmarkWriteLine(b *testing.B) {
	p := []byte("line-of-output-0123456789\n")
	b.Run("file", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "out"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			f.Write(p)
		}
	})
	b.Run("claw", func(b *testing.B) {
		w := output.NewWriter(b.TempDir(), output.WriterOptions{Now: time.Now})
		defer w.Close()
		b.ReportAllocs()
		for b.Loop() {
			w.Write(output.Stdout, p)
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	for name, line := range map[string]string{
		"ascii":   "[ 42%] Building CXX object src/CMakeFiles/claw.dir/main.cc.o\n",
		"colour":  "\x1b[32m[ 42%] \x1b[1mBuilding\x1b[0m CXX object \x1b[35msrc/main.cc.o\x1b[0m\n",
		"unicode": "läuft 🌊 готово 完了しました\n",
	} {
		b.Run(name, func(b *testing.B) {
			p := bytes.Repeat([]byte(line), 64<<10/len(line))
			dst := make([]byte, 0, 2*len(p))
			var d output.Decoder
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				dst = d.Append(dst[:0], p)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	w := output.NewWriter(dir, output.WriterOptions{Now: time.Now})
	p := bytes.Repeat([]byte("line-of-output-0123456789\n"), 2520)
	for range 1000 {
		w.Write(output.Stdout, p)
	}
	w.Close()
	r, err := output.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	bytesKept := w.Totals().Bytes - w.Totals().DroppedBytes
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(bytesKept)
		for b.Loop() {
			r.Copy(io.Discard, output.Selection{})
		}
	})
	b.Run("lines", func(b *testing.B) {
		b.SetBytes(bytesKept)
		for b.Loop() {
			l, err := r.Lines(output.Selection{})
			if err != nil {
				b.Fatal(err)
			}
			l.Copy(io.Discard, l.Total-200, l.Total)
		}
	})
	b.Run("tail", func(b *testing.B) {
		for b.Loop() {
			r.Tail(2000)
		}
	})
	b.Run("totals", func(b *testing.B) {
		for b.Loop() {
			r.Totals()
		}
	})
	b.Run("drain", func(b *testing.B) {
		b.SetBytes(bytesKept)
		for b.Loop() {
			r.Drain(output.Cursor{}, 0, true)
		}
	})
}
