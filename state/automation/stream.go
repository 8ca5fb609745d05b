package automation

import (
	"regexp"
	"strings"
	"time"
)

// The rules of streams (spec/heartbeat-automations.md 3.5).
const (
	StreamGap    = 30 * time.Second // the least between two firings
	StreamStable = time.Minute      // a command that ran for this long is not failing
	StreamTries  = 5                // short ones in a row; then it is given up
	DefaultBatch = 250 * time.Millisecond
	DefaultBytes = 16384
)

// What of a stream is told: every line, or those that match.
const (
	modeLine  = "line"
	modeMatch = "match"
)

// StreamEnded is what follows from the end of the command of a stream: it is
// started again, at once if it ran for a minute, else after 30 s, 60 s, 5 min
// and 15 min. After the fifth short or failed one in a row it is given up: the
// automation is switched off until a person enables it, and what has been
// written before may still be told.
func StreamEnded(a Automation, src Source, end SourceEnd, now time.Time) Fired {
	src.Owner, src.Status, src.Error = nil, SourceRestarting, end.Error
	if src.Error == "" {
		src.Error = "its command ended (" + end.how() + ")"
	}
	if !end.Unknown && end.Error == "" && end.lasted() >= StreamStable {
		src.Failures, src.RetryAt = 0, now
		return Fired{Automation: a, Source: src}
	}
	src.Failures++
	if src.Failures < StreamTries {
		ladder := [...]time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}
		src.RetryAt = now.Add(step(ladder[:], src.Failures))
		return Fired{Automation: a, Source: src}
	}
	src.Status, src.Exhausted, src.RetryAt = SourceError, true, time.Time{}
	a.Enabled = false
	a.State.AutoDisabled = &AutoDisabled{Reason: ReasonExhausted, At: now, Errors: src.Failures}
	notice := Notice{
		AutomationID: a.ID, Name: a.Name, Code: ReasonExhausted,
		Text: a.Name + " is switched off: its command ended " + itoa(src.Failures) + " times in a row within a minute; the last: " + src.Error,
		Hint: "correct the cause, then: claw cron enable " + a.Name,
	}
	return Fired{Automation: a, Source: src, Notices: []Notice{notice}}
}

// how says how a command ended, in a few words.
func (e SourceEnd) how() string {
	switch {
	case e.Unknown:
		return "nobody knows how"
	case e.Code != nil:
		return "exit " + itoa(*e.Code)
	case e.Signal != "":
		return "signal " + e.Signal
	}
	return "exit unknown"
}

// Line is a whole line of a stream, without its newline.
type Line struct {
	At   time.Time // when it was written
	Text string
	Cut  bool // only its beginning: it was longer than what is taken in
}

// batch is the window from the first line on in which lines are told together.
func (s Schedule) batch() time.Duration {
	if s.BatchMs > 0 {
		return time.Duration(s.BatchMs) * time.Millisecond
	}
	return DefaultBatch
}

func (s Schedule) maxBytes() int {
	if s.MaxBatchBytes > 0 {
		return int(s.MaxBatchBytes)
	}
	return DefaultBytes
}

// Batch is what the lines of a stream say, in their order: those that are to be
// told, one a line, at most MaxBatchBytes of them and then "[truncated]". With
// the mode match a line is tested whole, also where it is cut off in the text;
// one that was cut when it was taken in does not match. batches is in how many
// windows of BatchMs the lines to be told fall: more than one are told
// together. told is how many lines the text has, the last perhaps in part.
// Without lines to be told all are zero.
func Batch(lines []Line, s Schedule) (text string, batches, told int) {
	match, err := s.matcher()
	if err != nil {
		return "", 0, 0
	}
	var b strings.Builder
	var until time.Time
	full := false
	for _, line := range lines {
		if !match(line) {
			continue
		}
		if batches == 0 || !line.At.Before(until) {
			batches, until = batches+1, line.At.Add(s.batch())
		}
		if full {
			continue
		}
		had := b.Len()
		if full = !appendLine(&b, line, s.maxBytes()); b.Len() > had {
			told++
		}
	}
	if full {
		return strings.TrimSuffix(b.String(), "\n") + "\n" + Truncated, batches, told
	}
	return strings.TrimSuffix(b.String(), "\n"), batches, told
}

// appendLine adds a line; false when it does not fit whole.
func appendLine(b *strings.Builder, line Line, most int) bool {
	text := clean(line.Text)
	room := most - b.Len()
	if len(text) > room {
		b.WriteString(strings.ToValidUTF8(text[:max(0, room)], ""))
		return false
	}
	b.WriteString(text + "\n")
	return true
}

// clean is a line as it is told: no carriage returns, valid UTF-8.
func clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\r", ""), "\uFFFD")
}

// matcher tells the lines that are to be told.
func (s Schedule) matcher() (func(Line) bool, *Error) {
	if s.Mode != modeMatch {
		return func(Line) bool { return true }, nil
	}
	re, err := regexp.Compile(s.Match)
	if err != nil {
		return nil, refuse("stream match", s.Match, "is no regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "the syntax is that of RE2")
	}
	return func(l Line) bool { return !l.Cut && re.MatchString(strings.ReplaceAll(l.Text, "\r", "")) }, nil
}

// FireAt is from when on a stream may fire again: 30 s after it last did.
func (s Source) FireAt(now time.Time) time.Time {
	if s.FiredAt.IsZero() || s.FiredAt.After(now) { // the clock was set back
		return now
	}
	return s.FiredAt.Add(StreamGap)
}
