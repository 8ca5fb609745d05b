package control

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"claw/runner/clock"
	"claw/runner/output"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
)

// Details are the seeds' fields of every action on one process; what does not
// apply is left out.
type Details struct {
	Status    string `json:"status"`
	SessionID string `json:"sessionId,omitempty"`
	Name      string `json:"name,omitempty"`

	*Running
	*Finished

	Aggregated *string `json:"aggregated,omitempty"`
	Binary     string  `json:"binary,omitempty"` // base64 of the bytes, when they are not text
	RetryInMs  int64   `json:"retryInMs,omitempty"`
	Omitted    bool    `json:"omitted,omitempty"`
	Truncated  *bool   `json:"truncated,omitempty"`
	Total      *int    `json:"total,omitempty"` // lines
	TotalLines *int    `json:"totalLines,omitempty"`
	TotalChars *int64  `json:"totalChars,omitempty"`

	State string `json:"state,omitempty"`
	Error string `json:"error,omitempty"`
}

func details(p process.Process) Details {
	return Details{Status: process.Status(p), SessionID: p.Slug, Name: process.NameOf(p), State: process.TaskStatus(p)}
}

// PollRequest is one poll.
type PollRequest struct {
	Session string
	Wait    time.Duration // how long output or the end is waited for, already clamped
	Cursor  string        // name of the durable cursor; empty: the agent's own
	Peek    bool          // show without moving the cursor, and without acknowledging the end
}

// pollStep is how often a waiting poll looks.
const pollStep = 50 * time.Millisecond

// Polled is the answer to a poll before it counts as delivered: whoever has
// shown it calls Commit. Until then a reader that dies loses nothing.
type Polled struct {
	Result
	Commit func() error
}

// Poll drains what the process has printed since the cursor's last poll, and
// says whether it still runs (spec/exec-process.md 2.2).
func (c *Control) Poll(ctx context.Context, req PollRequest) (Polled, error) {
	if err := c.Settle(ctx); err != nil {
		return Polled{}, err
	}
	p, err := c.Find(req.Session, "No session found for "+req.Session)
	if err != nil {
		return Polled{}, err
	}
	id := p.ID
	cursor := cursor{Cursors: output.Cursors{Dir: c.Store.ProcessDir(id)}, name: firstOf(req.Cursor, "agent "+c.Agent)}
	if _, err := cursor.load(); errors.Is(err, output.ErrCursorName) {
		return Polled{}, &Refused{Kind: Invalid, Text: err.Error(), Err: err}
	}
	if err := c.awaitNews(ctx, id, cursor, req.Wait); err != nil {
		return Polled{}, err
	}
	unlock, err := c.lockCursors(ctx, id)
	if err != nil {
		return Polled{}, err
	}
	polled, err := c.drain(ctx, id, cursor)
	if err != nil || req.Peek {
		unlock()
		polled.Commit = func() error { return err }
		return polled, err
	}
	commit := polled.Commit
	polled.Commit = func() error {
		defer unlock()
		return commit()
	}
	return polled, nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// cursor is one named cursor of one process.
type cursor struct {
	output.Cursors
	name string
}

func (c cursor) load() (output.Cursor, error)  { return c.Load(c.name) }
func (c cursor) save(next output.Cursor) error { return c.Save(c.name, next) }

// row is the process of a poll by its ULID, so that a slug that was given to
// another one meanwhile is never mistaken for it.
func (c *Control) row(id string) (process.Process, error) {
	var p process.Process
	err := c.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Processes.Get(tx, id)
		if err == nil && (!ok || row.Rec.Removed || row.Rec.Cleared) {
			err = missing("No session found for " + firstOf(row.Rec.Slug, id))
		}
		p = row.Rec
		return err
	})
	return settle.View(c.Store, p, c.Clock.Now()), err
}

// awaitNews returns at output past the cursor, at the end, or after wait.
func (c *Control) awaitNews(ctx context.Context, id string, at cursor, wait time.Duration) error {
	for until := c.Clock.Elapsed() + wait; ; {
		p, err := c.row(id)
		if err != nil || !p.Live() || c.Clock.Elapsed() >= until || c.unread(id, at) {
			return err
		}
		if err := clock.Sleep(ctx, c.Clock, min(pollStep, until-c.Clock.Elapsed())); err != nil {
			return err
		}
	}
}

func (c *Control) unread(id string, from cursor) bool {
	out, err := output.Open(c.Store.ProcessDir(id))
	if err != nil {
		return false
	}
	at, err := from.load()
	return err != nil || out.Size() > at.Offset
}

// lockCursors keeps two polls of one process from showing the same bytes.
func (c *Control) lockCursors(ctx context.Context, id string) (func(), error) {
	path := filepath.Join(c.Store.ProcessDir(id), "cursors.lock")
	for {
		unlock, ok, err := state.TryLock(path)
		if err != nil || ok {
			return unlock, err
		}
		if err := clock.Sleep(ctx, c.Clock, 5*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// drain reads, under the cursors' lock, what is new.
func (c *Control) drain(ctx context.Context, id string, from cursor) (Polled, error) {
	p, err := c.row(id)
	if err != nil {
		return Polled{}, err
	}
	at, err := from.load()
	if err != nil {
		return Polled{}, err
	}
	out, err := output.Open(c.Store.ProcessDir(id))
	if err != nil {
		return Polled{}, err
	}
	got, err := out.Drain(at, int(c.Limits.PendingChars), !p.Live())
	if err != nil {
		return Polled{}, err
	}
	next, retry := c.backOff(at, got)
	d := details(p)
	truncated := got.Omitted || got.Missing > 0
	d.Aggregated, d.Omitted, d.Truncated = &got.Text, got.Omitted, &truncated
	d.Binary = got.Base64
	if p.Live() {
		d.RetryInMs = retry
	}
	return Polled{
		Result: Result{Text: c.pollText(p, got, &d), Details: d},
		Commit: func() error { return c.commitPoll(ctx, p, from, next) },
	}, nil
}

// staleAfter is when the count of empty polls starts over.
const staleAfter = time.Hour

// backOff counts empty polls in a row, for retryInMs.
func (c *Control) backOff(at output.Cursor, got output.Drained) (next output.Cursor, retryInMs int64) {
	now, next := c.Clock.Now(), got.Next
	if age := now.Sub(at.PolledAt); next.EmptyPolls > 0 && (age < 0 || age >= staleAfter) {
		next.EmptyPolls = 1
	}
	next.PolledAt = now
	return next, process.RetryInMs(next.EmptyPolls)
}

// pollText is the answer as text: the notes about what is missing, the new
// output, and how the process stands.
func (c *Control) pollText(p process.Process, got output.Drained, d *Details) string {
	var b strings.Builder
	if got.Missing > 0 {
		b.WriteString(process.DiscardedNote + "\n\n")
	}
	if got.Omitted {
		b.WriteString(omittedNote + "\n\n")
	}
	text := strings.TrimSpace(got.Text)
	if text == "" {
		text = "(no new output)"
	}
	b.WriteString(text + "\n\n")
	if !p.Live() {
		d.Finished = finished(p)
		return b.String() + process.EndSentence(p)
	}
	d.Running = c.running(p, &Session{})
	b.WriteString(c.liveSentence(d.Running))
	return b.String()
}

const omittedNote = "[earlier output is omitted from this poll; process log with offset and limit has it]"

func (c *Control) liveSentence(r *Running) string {
	if r.WaitingForInput {
		return process.WaitingHint(time.Duration(r.IdleMs) * time.Millisecond)
	}
	return "Process still running."
}

// commitPoll moves the cursor, and takes the end as acknowledged: a
// completion event that still waits is retired, one that would come is not
// queued.
func (c *Control) commitPoll(ctx context.Context, p process.Process, from cursor, next output.Cursor) error {
	if err := from.save(next); err != nil {
		return err
	}
	if p.Live() || p.Polled {
		return nil
	}
	return c.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Processes.Get(tx, p.ID)
		if err != nil || !ok || row.Rec.Live() || row.Rec.Polled {
			return err
		}
		if err := settle.Retire(tx, row.Rec); err != nil {
			return err
		}
		row.Rec.Polled = true
		return state.Processes.Put(tx, row.ID, row.Rev, row.Rec)
	})
}

// IsRefused tells a refusal from a failure of claw.
func IsRefused(err error) (*Refused, bool) { return errors.AsType[*Refused](err) }
