package control

import (
	"bytes"
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
	truncated := lines.Missing > 0
	d.Aggregated, d.Truncated = &text, &truncated
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
	if *d.Truncated {
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

// followLines is how many lines a follower sees of what came before.
const followLines = 10

// Begin is the last lines of the output so far, followLines unless limit says
// otherwise, and where to go on from; text decodes what comes after it. The
// last line may not have ended yet, and then neither has Begin's.
func (c *Control) Begin(out *output.Reader, sel output.Selection, limit *float64, text *output.Text) (string, int64, error) {
	keep := lastLines{max: followLines}
	if limit != nil {
		keep.max = int(max(0, *limit))
	}
	var buf []byte
	end, err := out.Scan(sel.From, out.Size(), sel, func(chunk output.Chunk) error {
		buf = text.Append(buf[:0], chunk)
		keep.add(buf)
		return nil
	})
	return strings.ReplaceAll(string(keep.buf), "\r\n", "\n"), end, err
}

// lastLines holds the end of a text, at most max lines of it.
type lastLines struct {
	max   int
	buf   []byte
	lines int // line ends in buf
}

func (l *lastLines) add(p []byte) {
	l.buf = append(l.buf, p...)
	l.lines += bytes.Count(p, []byte{'\n'})
	limit := l.max
	if n := len(l.buf); n > 0 && l.buf[n-1] != '\n' {
		limit-- // the line that has not ended counts
	}
	for l.lines > max(limit, 0) {
		l.buf = l.buf[bytes.IndexByte(l.buf, '\n')+1:]
		l.lines--
	}
}

// Standing is how a polled process stands: the last paragraph of its answer.
func Standing(r Result, d Details) string {
	text := strings.TrimSpace(*d.Aggregated)
	if text == "" {
		return r.Text
	}
	return strings.TrimSpace(strings.Replace(r.Text, text, "", 1))
}

// LogNote is what a log says besides its lines.
func LogNote(r Result, d Details) string {
	return strings.TrimSpace(strings.Replace(r.Text, *d.Aggregated, "", 1))
}
