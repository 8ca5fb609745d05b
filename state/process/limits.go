package process

import (
	"math"
	"strconv"
	"strings"
)

// Bounds are the default and the limits of one number that may be set.
type Bounds struct {
	Default, Min, Max int64
}

// The limits of spec/exec-process.md 1.8, 2.2, 2.4 and 6. Times are in
// milliseconds. They are never written to.
var (
	Yield         = Bounds{10_000, 10, 120_000}           // yieldMs, tools.exec.backgroundMs; 0 becomes 10, it is not "at once"
	OutputChars   = Bounds{200_000, 1_000, 200_000}       // characters a result or a log shows
	PendingChars  = Bounds{30_000, 1_000, 200_000}        // characters one poll shows of one stream
	TTL           = Bounds{1_800_000, 60_000, 10_800_000} // tools.exec.cleanupMs: how long a finished process stays listed
	InputWaitIdle = Bounds{15_000, 1_000, 600_000}        // quiet for so long, it may be waiting for input
	PollWait      = Bounds{0, 0, 30_000}                  // the timeout of one poll
	OutputCap     = Bounds{64 << 20, 64 << 10, 1<<63 - 1} // bytes of output kept on disk
)

// TailChars is how many characters of the end of the output stay in a row.
const TailChars = 2000

// The retention of finished background processes (spec/exec-process.md 2.9).
const (
	MaxFinished      = 50        // listed at most, the earliest finished goes first
	MaxFinishedChars = 2_000_000 // of their output together
)

// Clamp moves n into the bounds.
func (b Bounds) Clamp(n int64) int64 { return max(b.Min, min(n, b.Max)) }

// Of is a number as a tool call gives it: rounded down and clamped, or the
// default when there is none or it is not a number.
func (b Bounds) Of(v *float64) int64 {
	switch {
	case v == nil || math.IsNaN(*v):
		return b.Default
	case *v >= float64(b.Max):
		return b.Max
	case *v <= float64(b.Min):
		return b.Min
	}
	return b.Clamp(int64(math.Floor(*v)))
}

// Parse reads an integer as an environment variable holds it, strictly: "10s"
// is not one (spec/exec-process.md 6). What it reads is clamped; ok is false
// when the text is no integer, and then the default is returned.
func (b Bounds) Parse(s string) (n int64, ok bool) {
	s = strings.TrimSpace(s)
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && !isRangeError(err) {
		return b.Default, false
	}
	return b.Clamp(n), true // out of range is read as the nearest int64
}

func isRangeError(err error) bool {
	ne, ok := err.(*strconv.NumError)
	return ok && ne.Err == strconv.ErrRange
}

// PollTimeout reads the timeout of a poll in milliseconds: a number or a
// numeric string, rounded down and clamped to 0..30000; anything else is 0
// (spec/exec-process.md 2.2).
func PollTimeout(v any) int64 {
	f := 0.0
	switch v := v.(type) {
	case float64:
		f = v
	case int:
		f = float64(v)
	case int64:
		f = float64(v)
	case string:
		f = numeric(v)
	case interface{ String() string }: // json.Number
		f = numeric(v.String())
	}
	if math.IsInf(f, 0) {
		return 0
	}
	return PollWait.Of(&f)
}

// numeric is 0 for what is not a number.
func numeric(s string) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return 0
	}
	return f
}

// maxTimeoutMs is the longest timer the seeds can set, about 24.8 days.
const maxTimeoutMs = 1<<31 - 1

// TimeoutMs is the whole life a command is given, in milliseconds, from a
// timeout in seconds: 0, a negative number, NaN and infinity mean none, which
// is 0; the longest is 2147483647 (spec/exec-process.md 1.1). A fraction of a
// millisecond counts as one, so that a tiny timeout never becomes none.
func TimeoutMs(seconds float64) int64 {
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0
	}
	ms := math.Ceil(seconds * 1000)
	if ms > maxTimeoutMs {
		return maxTimeoutMs
	}
	return int64(ms)
}

// RetryInMs is how long to wait before polling again after so many empty polls
// of one process in a row: 5000, 10000, 30000, then 60000 milliseconds. 0, a
// poll that brought something, starts over (spec/exec-process.md 2.2).
func RetryInMs(emptyPolls int) int64 {
	switch {
	case emptyPolls <= 1:
		return 5_000
	case emptyPolls == 2:
		return 10_000
	case emptyPolls == 3:
		return 30_000
	}
	return 60_000
}

// LogLines is how many lines a log shows when nothing is asked for.
const LogLines = 200

// LogSlice says which of total lines a log shows, from inclusive to exclusive,
// by the table of spec/exec-process.md 2.3. Offset and limit count lines, the
// offset from 0; nil, NaN and infinity are not given. Fractions are rounded
// down and negative numbers are 0. hint is set when only the last LogLines are
// shown because nothing was asked for; LogHint says so.
func LogSlice(total int, offset, limit *float64) (from, to int, hint bool) {
	o, hasOffset := lineCount(offset, total)
	l, hasLimit := lineCount(limit, total)
	switch {
	case hasOffset && hasLimit:
		return o, min(total, o+l), false
	case hasOffset:
		return o, total, false
	case hasLimit:
		return total - l, total, false
	}
	from = max(0, total-LogLines)
	return from, total, from > 0
}

// lineCount reads a number of lines, at most total.
func lineCount(v *float64, total int) (n int, given bool) {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return 0, false
	}
	return int(max(0, min(math.Floor(*v), float64(total)))), true
}

// LogHint is the line after a log that shows only the last LogLines of total.
func LogHint(total int) string {
	return "[showing last " + strconv.Itoa(LogLines) + " of " + strconv.Itoa(total) + " lines; pass offset/limit to page]"
}
