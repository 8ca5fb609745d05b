package output

import (
	"bytes"
	"errors"
	"syscall"
	"time"
)

// heldCap is how much of the output is kept in memory while the disk is full.
const heldCap = 256 << 10

// held is output for which the disk has had no room. It goes to the disk before
// anything that was written after it, or is lost before that.
type held struct {
	pieces []heldPiece
	bytes  int
}

type heldPiece struct {
	stream Stream
	data   []byte
}

// full tells that what was met last is a disk without room, which may have some
// again at any moment.
func (w *Writer) full() bool {
	if w.blame < 0 || w.blame >= len(w.problems) {
		return false
	}
	err := w.problems[w.blame].Err
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// hold keeps p for later. Where that is too much, what was held before is lost:
// the end of an output says more than its middle.
func (w *Writer) hold(stream Stream, p []byte) {
	if w.held.bytes+len(p) > heldCap {
		w.loseHeld()
	}
	if len(p) > heldCap {
		w.lose(p[:len(p)-heldCap])
		p = p[len(p)-heldCap:]
	}
	w.held.bytes += len(p)
	if n := len(w.held.pieces); n > 0 && w.held.pieces[n-1].stream == stream {
		w.held.pieces[n-1].data = append(w.held.pieces[n-1].data, p...)
		return
	}
	w.held.pieces = append(w.held.pieces, heldPiece{stream, bytes.Clone(p)})
}

// flush writes what is held, as far as there is room now.
func (w *Writer) flush(now time.Time) {
	for len(w.held.pieces) > 0 {
		piece := &w.held.pieces[0]
		rest := w.keep(piece.stream, piece.data, now)
		w.held.bytes -= len(piece.data) - len(rest)
		if piece.data = rest; len(rest) == 0 {
			w.held.pieces = w.held.pieces[1:]
			continue
		}
		if !w.full() {
			w.loseHeld()
		}
		return
	}
}

func (w *Writer) loseHeld() {
	for _, piece := range w.held.pieces {
		w.lose(piece.data)
	}
	w.held = held{}
}

// Flush writes what was kept in memory while the disk was full. The error is why
// there still is some; Close loses it.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held.bytes == 0 || w.closed {
		return nil
	}
	w.retryAt = time.Time{}
	if w.flush(w.now()); w.held.bytes == 0 {
		return nil
	}
	return w.problems[w.blame]
}
