package control

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"claw/runner/output"
	"claw/state"
	"claw/state/process"
)

// Session is one entry of a list, in the seeds' fields, with what claw adds
// behind them. Times are RFC 3339, durations milliseconds.
type Session struct {
	SessionID string    `json:"sessionId"`
	Status    string    `json:"status"` // running, completed or failed
	StartedAt time.Time `json:"startedAt,omitzero"`
	RuntimeMs int64     `json:"runtimeMs"`
	Cwd       string    `json:"cwd"`
	Command   string    `json:"command"`
	Name      string    `json:"name,omitempty"`
	Tail      string    `json:"tail"`
	Truncated bool      `json:"truncated"`

	*Running
	*Finished

	ID         string             `json:"id"`    // ULID
	State      string             `json:"state"` // running, succeeded, failed, timed_out, cancelled, lost
	Agent      string             `json:"agent"`
	SessionKey string             `json:"sessionKey"`
	TaskID     string             `json:"taskId,omitempty"`
	PTY        bool               `json:"pty,omitempty"`
	Argv       []string           `json:"argv"`
	Output     process.Totals     `json:"output"`
	Leftover   []process.Leftover `json:"leftover,omitempty"`
	Warnings   []string           `json:"warnings,omitempty"`
	TimeoutMs  int64              `json:"timeoutMs,omitempty"`
}

// Running is what only a running process has.
type Running struct {
	PID             int       `json:"pid,omitempty"`
	StdinWritable   bool      `json:"stdinWritable"`
	WaitingForInput bool      `json:"waitingForInput"`
	IdleMs          int64     `json:"idleMs"`
	LastOutputAt    time.Time `json:"lastOutputAt,omitzero"`
}

// Finished is what only a finished process has.
type Finished struct {
	ExitCode         *int      `json:"exitCode"`
	ExitSignal       string    `json:"exitSignal,omitempty"`
	ExitReason       string    `json:"exitReason,omitempty"`
	TimedOut         bool      `json:"timedOut,omitempty"`
	NoOutputTimedOut bool      `json:"noOutputTimedOut,omitempty"`
	Error            string    `json:"error,omitempty"`
	EndedAt          time.Time `json:"endedAt,omitzero"`
}

// Filter narrows a list; empty fields do not.
type Filter struct {
	Cwd   string // exactly this directory
	Name  string // the derived or given name, or the label, contains it
	State string // one of the words of Session.State
	All   bool   // also what has left the list by age or was cleared
}

// List is what is running and what has finished lately, newest start first.
type List struct {
	Status   string    `json:"status"`
	Sessions []Session `json:"sessions"`
}

// List answers the list action.
func (c *Control) List(f Filter) (Result, error) {
	rows, err := c.rows()
	if err != nil {
		return Result{}, err
	}
	if f.All {
		if rows, err = c.withArchive(rows); err != nil {
			return Result{}, err
		}
	}
	now := c.Clock.Now()
	list := List{Status: process.StatusCompleted, Sessions: []Session{}}
	var lines []string
	for _, p := range listed(rows, now, f.All) {
		if !f.passes(p) {
			continue
		}
		s := c.session(p)
		list.Sessions = append(list.Sessions, s)
		waiting := s.Running != nil && s.WaitingForInput
		lines = append(lines, process.ListLine(p, time.Duration(s.RuntimeMs)*time.Millisecond, waiting))
	}
	text := strings.Join(lines, "\n")
	if text == "" {
		text = "No running or recent sessions."
	}
	return Result{Text: text, Details: list}, nil
}

// withArchive adds what has left the ledger, newest start first.
func (c *Control) withArchive(rows []process.Process) ([]process.Process, error) {
	err := c.Store.View(func(tx *state.Tx) error {
		old := rows[len(rows):]
		for row, err := range state.Processes.Archived(tx) {
			if err != nil {
				return err
			}
			if c.All || row.Rec.Agent == c.Agent {
				old = append(old, row.Rec)
			}
		}
		slices.SortStableFunc(old, func(a, b process.Process) int { return cmp.Compare(b.ID, a.ID) })
		rows = append(rows, old...)
		return nil
	})
	return rows, err
}

// listed applies the retention of spec/exec-process.md 2.9 to rows, newest
// start first: finished ones within their time to live, at most 50 of them
// and 2 million characters, the earliest finished leaving first.
func listed(rows []process.Process, now time.Time, all bool) []process.Process {
	var out []process.Process
	keep := retained(rows, now)
	for _, p := range rows {
		switch {
		case p.Removed || !p.Background || p.TurnID != "": // an agent's argv is its turn's business
		case p.Live() || all || keep[p.ID]:
			out = append(out, p)
		}
	}
	return out
}

func retained(rows []process.Process, now time.Time) map[string]bool {
	var finished []process.Process
	for _, p := range rows {
		if !p.Live() && p.Background && !p.Cleared && !p.Removed && now.Before(p.EndedAt.Add(ttl(p))) {
			finished = append(finished, p)
		}
	}
	sortByEnd(finished)
	keep := make(map[string]bool, len(finished))
	chars := int64(0)
	for i, p := range finished {
		chars += min(p.Output.Bytes-p.Output.DroppedBytes, process.OutputChars.Max)
		if i >= process.MaxFinished || (i > 0 && chars > process.MaxFinishedChars) {
			break
		}
		keep[p.ID] = true
	}
	return keep
}

func ttl(p process.Process) time.Duration { return time.Duration(p.TTLMs) * time.Millisecond }

func (f Filter) passes(p process.Process) bool {
	switch {
	case f.Cwd != "" && p.Cwd != f.Cwd:
	case f.Name != "" && !strings.Contains(process.NameOf(p), f.Name) && !strings.Contains(p.Slug, f.Name):
	case f.State != "" && f.State != stateOf(p, f.State):
	default:
		return true
	}
	return false
}

// stateOf is the state of p in the vocabulary of word: "completed" is one of
// the seeds', everything else a task's. Their "failed" are not the same.
func stateOf(p process.Process, word string) string {
	if word == process.StatusCompleted {
		return process.Status(p)
	}
	return process.TaskStatus(p)
}

// session is the entry of p. A running process is asked through its files,
// not its supervisor, so that a list never waits.
func (c *Control) session(p process.Process) Session {
	s := Session{
		SessionID: p.Slug, Status: process.Status(p), StartedAt: startedAt(p), Cwd: p.Cwd, Command: p.Command,
		Name: process.NameOf(p), Tail: p.Tail, Output: p.Output,
		ID: p.ID, State: process.TaskStatus(p), Agent: p.Agent, SessionKey: p.Session, TaskID: p.TaskID,
		PTY: p.PTY, Argv: p.Argv, Leftover: p.Leftover, Warnings: p.Warnings, TimeoutMs: p.TimeoutMs,
	}
	end := c.Clock.Now()
	if p.Live() {
		s.Running = c.running(p, &s)
	} else {
		s.Finished, end = finished(p), p.EndedAt
	}
	s.RuntimeMs = max(0, end.Sub(startedAt(p)).Milliseconds())
	s.Truncated = p.Output.DroppedBytes > 0 || s.Output.Bytes > process.OutputChars.Max
	return s
}

func startedAt(p process.Process) time.Time {
	if p.StartedAt.IsZero() {
		return p.CreatedAt
	}
	return p.StartedAt
}

func (c *Control) running(p process.Process, s *Session) *Running {
	r := &Running{PID: p.Root.PID, StdinWritable: p.StdinOpen}
	out, err := output.Open(c.Store.ProcessDir(p.ID))
	if err == nil {
		r.LastOutputAt = out.LastAt()
		s.Tail, s.Output = out.Tail(process.TailChars), out.Totals()
	}
	idle := process.Idle(p, r.LastOutputAt, c.Clock.Now())
	if r.LastOutputAt.IsZero() {
		r.LastOutputAt = startedAt(p)
	}
	r.IdleMs = idle.Milliseconds()
	r.WaitingForInput = process.WaitingForInput(p, idle, c.Limits.InputIdle)
	return r
}

func finished(p process.Process) *Finished {
	f := &Finished{EndedAt: p.EndedAt}
	if e := p.Exit; e != nil {
		f.ExitCode, f.ExitSignal, f.ExitReason = e.Code, e.Signal, string(e.Reason)
		f.TimedOut, f.NoOutputTimedOut = e.TimedOut, e.Reason == process.ReasonNoOutputTimeout
		f.Error = e.Error
	}
	return f
}
