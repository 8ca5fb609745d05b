package output_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/runner/output"
)

// Follow shows everything up to the end, in time, and no more wake-ups than
// ten a second when nothing comes.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := output.NewWriter(dir, output.WriterOptions{Cap: smallCap, Now: time.Now})
		r := must(output.Open(dir))
		done := make(chan struct{})
		var m model
		go func() {
			defer close(done)
			for i := range 50 {
				time.Sleep(time.Duration(i*7) * time.Millisecond)
				m.write(w, output.Stream(1+i%2), fmt.Appendf(nil, "line %d\n", i))
			}
			time.Sleep(time.Minute)
			m.write(w, output.Stdout, []byte("last words"))
		}()
		looks := 0
		live := func() bool {
			looks++
			select {
			case <-done:
				return false
			default:
				return true
			}
		}
		var got []byte
		start := time.Now()
		end, err := r.Follow(t.Context(), output.Selection{}, live, func(c output.Chunk) error {
			got = append(got, c.Data...)
			return nil
		})
		if err != nil || !bytes.Equal(got, m.data) || end != int64(len(m.data)) {
			t.Errorf("followed %d of %d bytes: %v", len(got), len(m.data), err)
		}
		if most := int(time.Since(start)/(20*time.Millisecond)) / 3; looks > most {
			t.Errorf("%d looks in %v", looks, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Follow(ctx, output.Selection{From: end}, func() bool { return true }, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("follow past its deadline: %v", err)
		}
	})
}

// Readers without a lock, against a writer that drops segments under them:
// every byte they see is in its place, and nothing that is kept is missed.
func TestReadersAgainstLiveWriter(t *testing.T) {
	dir := t.TempDir()
	w := output.NewWriter(dir, output.WriterOptions{Cap: smallCap, Now: time.Now})
	// Every 16-byte line says where it stands, so that readers need no model.
	const total = 60_000
	var writers, readers sync.WaitGroup
	writing := make(chan struct{})
	writers.Go(func() {
		defer close(writing)
		var block []byte
		for i := range total {
			block = fmt.Appendf(block, "%015d\n", i*16)
			if i%37 == 36 || i == total-1 {
				w.Write(output.Stream(1+i/37%2), block)
				block = block[:0]
			}
		}
	})
	live := func() bool {
		select {
		case <-writing:
			return false
		default:
			return true
		}
	}
	check := func(c output.Chunk) error {
		for at, p := c.Offset, c.Data; len(p) > 0; {
			want := fmt.Appendf(nil, "%015d\n", at/16*16)[at%16:]
			n := min(len(want), len(p))
			if !bytes.Equal(p[:n], want[:n]) {
				return fmt.Errorf("at %d: %q, want %q", at, p[:n], want[:n])
			}
			at, p = at+int64(n), p[n:]
		}
		return nil
	}
	r := must(output.Open(dir))
	readers.Go(func() {
		if end, err := r.Follow(t.Context(), output.Selection{}, live, check); err != nil || end != total*16 {
			t.Errorf("follow: %d, %v", end, err)
		}
	})
	for range 2 {
		readers.Go(func() {
			for live() {
				pos, size := int64(0), r.Size()
				next, err := r.Scan(0, size, output.Selection{}, func(c output.Chunk) error {
					if c.Offset != pos+c.Gap {
						return fmt.Errorf("at %d, want %d", c.Offset, pos+c.Gap)
					}
					pos = c.Offset + int64(len(c.Data))
					return check(c)
				})
				if err != nil || next < size {
					t.Errorf("scan: %d of %d, %v", next, size, err)
					return
				}
				if got := r.Totals(); got.Bytes < size || got.DroppedBytes < 0 {
					t.Errorf("totals %+v, at least %d bytes expected", got, size)
					return
				}
				r.Tail(100)
				w.Tail(100)
				w.Totals()
			}
		})
	}
	writers.Wait()
	readers.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(w.Totals(), r.Totals()); d != "" {
		t.Errorf("totals (-writer +reader):\n%s", d)
	}
}
