package output_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/runner/output"
)

// written captures alternating stdout and stderr pieces, 20 ms apart.
func written(t tb, dir string, limit int64, pieces ...string) (*output.Writer, *model) {
	t.Helper()
	clk := newClock()
	w := output.NewWriter(dir, output.WriterOptions{Cap: limit, Now: clk.now})
	m := &model{}
	for i, p := range pieces {
		m.write(w, output.Stream(1+i%2), []byte(p))
		clk.step(20 * time.Millisecond)
	}
	return w, m
}

// B06: a poll between any two bytes of the output shows the same text in the
// end; a rune or a sequence that is not whole waits for the next poll.
func TestB06PollBetweenAnyTwoBytes(t *testing.T) {
	in := "läuft 🌊\x1b[31m rot\x1b]0;title\x07 é\x00\xff\xe2\x82"
	want := "läuft 🌊 rot é" + `\x00` + "\ufffd\ufffd"
	for cut := range len(in) + 1 {
		dir := t.TempDir()
		w := output.NewWriter(dir, output.WriterOptions{Now: newClock().now})
		r := must(output.Open(dir))
		w.Write(output.Stdout, []byte(in[:cut]))
		first := must(r.Drain(output.Cursor{}, 0, false))
		if cut < len(in)-3 && strings.ContainsRune(first.Text, '\ufffd') {
			t.Fatalf("cut at %d: half a rune is shown: %q", cut, first.Text)
		}
		b := must(json.Marshal(first.Next))
		var next output.Cursor
		if err := json.Unmarshal(b, &next); err != nil {
			t.Fatal(err)
		}
		w.Write(output.Stdout, []byte(in[cut:]))
		second := must(r.Drain(next, 0, true))
		if got := first.Text + second.Text; got != want {
			t.Fatalf("cut at %d: %q, want %q", cut, got, want)
		}
		if third := must(r.Drain(second.Next, 0, true)); third.Text != "" || third.Next.EmptyPolls != 1 {
			t.Fatalf("a third poll: %+v", third)
		}
	}
}

func TestDrainKeepsOrderAcrossStreams(t *testing.T) {
	dir := t.TempDir()
	w, _ := written(t, dir, 0, "o1 \x1b[3", "e1 \xe2\x82", "1mo2 ", "\xac e2 ", "o3")
	r := must(output.Open(dir))
	if d := must(r.Drain(output.Cursor{}, 0, false)); d.Text != "o1 e1 o2 € e2 o3" || d.Omitted || d.Binary || d.Bytes != w.Totals().Bytes {
		t.Errorf("%+v", d)
	}
}

// Of each stream the last N characters (spec 1.8): against a model that
// numbers every character.
func TestDrainPendingCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := must(os.MkdirTemp("", "claw-output-"))
		defer os.RemoveAll(dir)
		w := output.NewWriter(dir, output.WriterOptions{Now: newClock().now})
		type char struct {
			stream output.Stream
			text   string
		}
		var chars []char
		for range rapid.IntRange(1, 30).Draw(t, "writes") {
			s := output.Stream(rapid.IntRange(1, 2).Draw(t, "stream"))
			unit := rapid.SampledFrom([]string{"a", "é", "€", "🌊"}).Draw(t, "unit")
			n := rapid.OneOf(rapid.IntRange(1, 30), rapid.IntRange(900, 3000)).Draw(t, "n")
			w.Write(s, []byte(strings.Repeat(unit, n)))
			for range n {
				chars = append(chars, char{s, unit})
			}
		}
		limit := rapid.SampledFrom([]int{1, 1000, 1500}).Draw(t, "pending")
		left := map[output.Stream]int{output.Stdout: max(limit, 1000), output.Stderr: max(limit, 1000)}
		var want []string
		for _, c := range slices.Backward(chars) {
			if left[c.stream]--; left[c.stream] >= 0 {
				want = append(want, c.text)
			}
		}
		slices.Reverse(want)
		d := must(must(output.Open(dir)).Drain(output.Cursor{}, limit, true))
		if d.Text != strings.Join(want, "") {
			t.Fatalf("got %d characters, want %d", len([]rune(d.Text)), len(want))
		}
		if d.Omitted != (len(want) < len(chars)) {
			t.Fatalf("omitted %v: %d of %d shown", d.Omitted, len(want), len(chars))
		}
	})
}

// Single characters of both streams in turn, far more than the cap: order and
// memory both hold.
func TestDrainManyRuns(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	w := output.NewWriter(dir, output.WriterOptions{Now: clk.now})
	for i := range 20000 {
		w.Write(output.Stream(1+i%2), []byte{"ab"[i%2]})
	}
	d := must(must(output.Open(dir)).Drain(output.Cursor{}, 1000, true))
	if d.Text != strings.Repeat("ab", 1000) || !d.Omitted {
		t.Errorf("%d characters, omitted %v", len(d.Text), d.Omitted)
	}
}

func TestDrainAcrossDroppedOutput(t *testing.T) {
	dir := t.TempDir()
	w, m := written(t, dir, smallCap, "begin \x1b[3")
	line := strings.Repeat("z", 99) + "\n"
	for range 3000 {
		m.write(w, output.Stderr, []byte(line))
	}
	d := must(must(output.Open(dir)).Drain(output.Cursor{}, 200000, true))
	totals := w.Totals()
	note := fmt.Sprintf("\n[%d bytes of output are missing here]\nzzz", totals.DroppedBytes)
	if d.Missing != totals.DroppedBytes || !strings.HasPrefix(d.Text, "begin zzz") || strings.Count(d.Text, strings.ReplaceAll(note, "\n[", "[")) != 1 {
		t.Errorf("missing %d of %d; text begins %.60q", d.Missing, totals.DroppedBytes, d.Text)
	}
	if d.Next.Offset != totals.Bytes {
		t.Errorf("the cursor stands at %d of %d", d.Next.Offset, totals.Bytes)
	}
}

// True binary is flagged, and given in base64 (B06).
func TestB06Binary(t *testing.T) {
	dir := t.TempDir()
	raw := piece(3, 499, 1)
	written(t, dir, 0, string(raw))
	d := must(must(output.Open(dir)).Drain(output.Cursor{}, 0, true))
	if b := must(base64.StdEncoding.DecodeString(d.Base64)); !d.Binary || !bytes.Equal(b, raw) {
		t.Errorf("binary %v, %d bytes of base64", d.Binary, len(d.Base64))
	}
	if got := must(output.Open(dir)).Sample(10); !bytes.Equal(got, raw[490:]) {
		t.Errorf("sample %x", got)
	}
}

func TestCursors(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	c := output.Cursors{Dir: dir, Lock: func() (func(), error) { mu.Lock(); return mu.Unlock, nil }}
	if cur := must(c.Load("main")); cur.Offset != 0 {
		t.Errorf("a new cursor is at %+v", cur)
	}
	names := []string{"main", "Main", "a b", "../../etc/passwd", "x/y", ".", "agent:main:main", "ü", strings.Repeat("q", 100), "%2e", "main.json"}
	for i, name := range names {
		if err := c.Save(name, output.Cursor{Offset: int64(i + 1), Stderr: output.State{Mode: 3, Partial: []byte{0xe2}}}); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
	}
	files := map[string]bool{}
	for i, name := range names {
		cur := must(c.Load(name))
		if d := cmp.Diff(output.Cursor{Offset: int64(i + 1), Stderr: output.State{Mode: 3, Partial: []byte{0xe2}}}, cur); d != "" {
			t.Errorf("%q (-want +got):\n%s", name, d)
		}
	}
	for _, e := range must(os.ReadDir(filepath.Join(dir, "cursors"))) {
		files[strings.ToLower(e.Name())] = true
	}
	if len(files) != len(names) || len(must(os.ReadDir(dir))) != 1 {
		t.Errorf("%d files for %d names: %v", len(files), len(names), files)
	}
	for _, name := range []string{"", strings.Repeat("q", 101), "a\nb", "a\x00b", "\x7f"} {
		if _, err := c.Load(name); !errors.Is(err, output.ErrCursorName) {
			t.Errorf("Load(%q): %v", name, err)
		}
		if err := c.Save(name, output.Cursor{}); !errors.Is(err, output.ErrCursorName) {
			t.Errorf("Save(%q): %v", name, err)
		}
	}
}

// A poll that fails before its text is delivered moves nothing; two polls at
// once share the output between them.
func TestCursorsWith(t *testing.T) {
	dir := t.TempDir()
	w, m := written(t, dir, 0, "one ", "two ")
	r := must(output.Open(dir))
	var mu sync.Mutex
	c := output.Cursors{Dir: dir, Lock: func() (func(), error) { mu.Lock(); return mu.Unlock, nil }}
	crash := errors.New("the reader dies")
	if err := c.With("main", func(cur output.Cursor) (output.Cursor, error) {
		return must(r.Drain(cur, 0, false)).Next, crash
	}); err != crash {
		t.Fatal(err)
	}
	var texts sync.Map
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			c.With("main", func(cur output.Cursor) (output.Cursor, error) {
				d := must(r.Drain(cur, 0, false))
				texts.Store(i, d.Text)
				return d.Next, nil
			})
		})
	}
	group.Wait()
	var all []string
	texts.Range(func(_, v any) bool {
		if v != "" {
			all = append(all, v.(string))
		}
		return true
	})
	if len(all) != 1 || all[0] != "one two " {
		t.Errorf("eight polls showed %q", all)
	}
	m.write(w, output.Stdout, []byte("three"))
	c.With("other", func(cur output.Cursor) (output.Cursor, error) {
		if d := must(r.Drain(cur, 0, false)); d.Text != "one two three" {
			t.Errorf("another cursor sees %q", d.Text)
		}
		return cur, nil
	})
	if err := (output.Cursors{Dir: dir, Lock: func() (func(), error) { return nil, crash }}).With("main", nil); err != crash {
		t.Errorf("a lock that cannot be taken: %v", err)
	}
}

// Whatever stands in an index, the bytes are read, all of them, and capture
// goes on.
func FuzzIndex(f *testing.F) {
	dir := f.TempDir()
	written(f, dir, smallCap, "one\n", "two\n", "three")
	good := must(os.ReadFile(filepath.Join(dir, "output.index")))
	f.Add(good, []byte("one\ntwo\nthree"))
	f.Add(good[:len(good)-5], []byte("one\ntwo\nthree"))
	f.Add(append(bytes.Clone(good), good[32:]...), []byte("one\ntwo\nthree and more"))
	f.Add([]byte("clawidx1"), []byte("x"))
	f.Add([]byte{}, []byte("no index\n"))
	f.Fuzz(func(t *testing.T, index, data []byte) {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, "output.index"), index, 0o600)
		os.WriteFile(filepath.Join(dir, "output"), data, 0o600)
		read := func() []byte {
			r := must(output.Open(dir))
			var b bytes.Buffer
			if _, _, err := r.Copy(&b, output.Selection{}); err != nil {
				t.Fatal(err)
			}
			r.Totals()
			r.LastAt()
			l := must(r.Lines(output.Selection{Stream: output.Stderr, Since: time.Unix(1, 0)}))
			l.Text(0, l.Total)
			return b.Bytes()
		}
		if got := read(); !bytes.Equal(got, data) {
			t.Fatalf("read %q of %q", got, data)
		}
		w := must(output.OpenWriter(dir, output.WriterOptions{Now: newClock().now}))
		w.Write(output.Stderr, []byte("more"))
		w.Close()
		if got := read(); !bytes.Equal(got, append(bytes.Clone(data), "more"...)) {
			t.Fatalf("after more: %q of %q", got, data)
		}
	})
}

// A cursor file can hold anything; a reader never fails on it.
func FuzzCursor(f *testing.F) {
	f.Add([]byte(`{"offset":5,"stdout":{"mode":2,"partial":"4oI="}}`))
	f.Add([]byte(`{"offset":-1}`))
	f.Add([]byte(`{"offset":9223372036854775807}`))
	f.Add([]byte(`nonsense`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		written(t, dir, 0, "some\n", "output")
		os.Mkdir(filepath.Join(dir, "cursors"), 0o700)
		os.WriteFile(filepath.Join(dir, "cursors", "main.json"), b, 0o600)
		cur, err := output.Cursors{Dir: dir}.Load("main")
		if err != nil {
			t.Fatal(err)
		}
		d, err := must(output.Open(dir)).Drain(cur, 0, true)
		if err != nil || d.Next.Offset < 0 {
			t.Fatalf("%+v, %v", d, err)
		}
	})
}
