package scheduler

import (
	"errors"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"time"

	"claw/runner/source"
	"claw/state/automation"
)

// The bounds of what a pass reads of a stream.
const (
	mostReads = 16        // of source.MostRead each: what the cap on output keeps
	lazy      = 256 << 10 // bytes without anything to tell that are read again rather than written down
)

// heard is what a stream has said since it was last told.
type heard struct {
	text    string
	next    source.Cursor
	batches int64 // that are in text
	dropped int64 // that are not, and never will be
}

// tells says whether there is something to fire for.
func (h heard) tells() bool { return h.batches > 0 && strings.TrimSpace(h.text) != "" }

// feed tells what a stream has written, if it may fire: none of its runs goes
// on, and 30 s have passed since the last. Otherwise it stays in the file.
func (s *Scheduler) feed(m move, w *Work) (move, error) {
	id, src, now, eyes := m.id(), m.fired.Source, s.Clock.Now(), s.eyes()
	dir := s.Store.ProcessDir(src.Owner.ProcessID)
	eyes.Follow(id, dir, batchOf(m.auto.Rec.Schedule))
	at := src.FireAt(now)
	held := len(m.open) > 0 || at.After(now)
	eyes.Hold(id, held)
	if held {
		if len(m.open) == 0 {
			w.wakeAt(at)
		}
		return m, nil
	}
	from := eyes.From(id, src.Owner.ProcessID, source.Cursor{Out: src.Offset, Err: src.OffsetErr})
	if !source.Unread(dir, from) {
		return m, nil
	}
	h, err := hear(dir, from, m.auto.Rec.Schedule, false)
	if err != nil {
		return m, err
	}
	if !h.tells() && h.dropped == 0 && h.next.Out-src.Offset < lazy && h.next.Err-src.OffsetErr < lazy {
		eyes.Scanned(id, src.Owner.ProcessID, h.next)
		return m, nil
	}
	m.tell(h, now)
	return m, nil
}

func batchOf(s automation.Schedule) time.Duration {
	if s.BatchMs > 0 {
		return time.Duration(s.BatchMs) * time.Millisecond
	}
	return automation.DefaultBatch
}

// tell moves the cursor, and queues the run that is told what was read.
func (m *move) tell(h heard, now time.Time) {
	src := &m.fired.Source
	src.Offset, src.OffsetErr = h.next.Out, h.next.Err
	src.Dropped += h.dropped
	if !h.tells() {
		return
	}
	src.Coalesced += h.batches - 1
	r := automation.Fire(m.auto.Rec, m.runID(now), now)
	r.Input, r.NotBefore = h.text, src.FireAt(now)
	if !r.NotBefore.After(now) {
		r.NotBefore = time.Time{}
	}
	src.FiredAt = now
	m.fired.Run = &r
}

// lastWords takes the end of a stream's command in. What it has written before
// its end is told first: by the one run that may wait while another goes on. If
// one waits already, the end is taken in when that one has begun.
func (s *Scheduler) lastWords(m move, now time.Time) (move, error) {
	src := m.fired.Source
	from := source.Cursor{Out: src.Offset, Err: src.OffsetErr}
	h, err := hear(s.Store.ProcessDir(src.Owner.ProcessID), from, m.auto.Rec.Schedule, true)
	if err != nil {
		return m, err
	}
	if h.tells() && waits(m.open) {
		return m, nil
	}
	m.tell(h, now)
	run := m.fired.Run
	m.fired = ended(m, endOf(m.process), now)
	m.fired.Run = run
	return m, nil
}

func waits(open []automation.Run) bool {
	for _, r := range open {
		if r.Status == automation.Queued {
			return true
		}
	}
	return false
}

// hear reads on from a cursor to the end of what is there: all of it is told
// together, and what does not fit is counted, so that a busy stream is never told
// later and later. final: a last line needs no end of its own.
func hear(dir string, from source.Cursor, sched automation.Schedule, final bool) (heard, error) {
	h := heard{next: from}
	lost := int64(0)
	for range mostReads {
		out, err := source.Read(dir, h.next, final)
		if errors.Is(err, fs.ErrNotExist) {
			break // it was swept away
		}
		if err != nil {
			return h, err
		}
		lost += out.Dropped
		h.take(out.Lines, sched)
		moved := out.Next != h.next
		h.next = out.Next
		if !out.More || !moved {
			break
		}
	}
	if most := bytesOf(sched); lost > 0 {
		h.dropped += (lost + most - 1) / most
		h.text = "[" + strconv.FormatInt(lost, 10) + " bytes of output were not kept]\n" + h.text
	}
	return h, nil
}

func bytesOf(s automation.Schedule) int64 {
	if s.MaxBatchBytes > 0 {
		return s.MaxBatchBytes
	}
	return automation.DefaultBytes
}

// take adds lines: to the text as far as they fit, else to what is not told.
func (h *heard) take(lines []automation.Line, sched automation.Schedule) {
	before := h.text
	if before != "" {
		room := bytesOf(sched) - int64(len(before)) - 1
		if sched.MaxBatchBytes = room; room <= 0 || strings.HasSuffix(before, automation.Truncated) {
			sched.MaxBatchBytes = 1
		}
	}
	text, batches, told := automation.Batch(lines, sched)
	switch {
	case batches == 0:
	case before == "":
		rest := untold(lines, told, sched)
		h.text, h.batches = text, int64(batches)-rest
		h.dropped += rest
	case sched.MaxBatchBytes == 1: // it was full
		h.dropped += int64(batches)
		if !strings.HasSuffix(before, automation.Truncated) {
			h.text += "\n" + automation.Truncated
		}
	default:
		rest := untold(lines, told, sched)
		h.text += "\n" + text
		h.batches += int64(batches) - rest
		h.dropped += rest
	}
}

// untold counts the batches of which nothing is in a text that ends with line
// number told of those that were to be told.
func untold(lines []automation.Line, told int, sched automation.Schedule) int64 {
	if told == 0 {
		return 0
	}
	first := sort.Search(len(lines), func(n int) bool {
		_, _, got := automation.Batch(lines[:n], sched)
		return got >= told
	})
	_, batches, _ := automation.Batch(lines[first:], sched)
	_, all, _ := automation.Batch(lines, sched)
	_, before, _ := automation.Batch(lines[:first], sched)
	return int64(min(batches, all-before))
}
