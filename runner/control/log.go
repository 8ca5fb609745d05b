package control

import (
	"strings"
	"time"

	"claw/runner/output"
	"claw/state/process"
)

// LogRequest is one look at the output so far; lines, the offset from 0.
type LogRequest struct {
	Session       string
	Offset, Limit *float64
	Selection     output.Selection
	Timestamps    bool
}

// Log shows the aggregated output of a process. It drains nothing and can be
// repeated (spec/exec-process.md 2.3).
func (c *Control) Log(req LogRequest) (Result, error) {
	p, err := c.FindKept(req.Session, "No session found for "+req.Session)
	if err != nil {
		return Result{}, err
	}
	out, err := output.Open(c.Store.ProcessDir(p.ID))
	if err != nil {
		return Result{}, &Refused{Kind: Missing, Err: err, Text: "The output of " + p.Slug + " is no longer kept."}
	}
	lines, err := out.Lines(req.Selection)
	if err != nil {
		return Result{}, err
	}
	if req.Timestamps {
		lines.Stamp = stamp
	}
	from, to, hint := process.LogSlice(lines.Total, req.Offset, req.Limit)
	text, err := c.slice(lines, from, to)
	if err != nil {
		return Result{}, err
	}
	d := details(p)
	d.Total, d.TotalLines, d.TotalChars = &lines.Total, &lines.Total, &lines.Chars
	d.Aggregated, d.Truncated = &text, lines.Missing > 0
	if hint {
		hint = lines.Total > process.LogLines
	}
	return Result{Text: c.logText(p, text, hint, &d), Details: d}, nil
}

func stamp(dst []byte, t time.Time) []byte {
	return append(t.Local().AppendFormat(dst, "2006-01-02T15:04:05.000Z07:00"), ' ')
}

// slice is the wanted lines as text, at most the last characters that one
// answer shows.
func (c *Control) slice(lines *output.Lines, from, to int) (string, error) {
	var b strings.Builder
	if err := lines.Copy(&b, from, to); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if limit := int(c.Limits.OutputChars); len(text) > limit {
		text = process.Last(text, limit)
	}
	return text, nil
}

func (c *Control) logText(p process.Process, text string, hint bool, d *Details) string {
	if strings.TrimSpace(text) == "" {
		text = noOutput(p)
	}
	if d.Truncated {
		text = process.DiscardedNote + "\n\n" + text
	}
	if hint {
		text += "\n\n" + process.LogHint(*d.Total)
	}
	if p.Live() {
		d.Running = c.running(p, &Session{})
		if d.WaitingForInput {
			text += "\n\n" + c.liveSentence(d.Running)
		}
		return text
	}
	d.Finished = finished(p)
	if p.Exit != nil && p.Exit.TimedOut {
		text += "\n\n" + process.EndSentence(p)
	}
	return text
}

func noOutput(p process.Process) string {
	if p.Live() {
		return "(no output yet)"
	}
	return "(no output recorded)"
}
