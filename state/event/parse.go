package event

import "strings"

// Parsed is a completion text taken apart.
type Parsed struct {
	Finished bool   // an "Exec finished" text of a node or an approval: nothing below is known
	Failed   bool   // the verb
	ID       string // slug, or the seeds' first characters of one
	Result   string // "code 0", "signal SIGTERM" or "unknown exit code"; the words in lower case
	Run      string // run id, unescaped; empty when there is none
	Output   string // what follows " :: ", or the paragraph after a timeout
}

// Success tells a completed process with code 0.
func (c Parsed) Success() bool {
	digits, ok := strings.CutPrefix(c.Result, "code ")
	return !c.Failed && ok && strings.Trim(digits, "-0") == ""
}

// Relayable tells a completion that has something to say. Only a success with
// nothing but its name and code has not (spec/exec-process.md 4.1).
func (c Parsed) Relayable() bool {
	return c.Finished || !c.Success() || strings.TrimSpace(c.Output) != ""
}

// Parse reads a completion, and says whether it is one, by the grammar of
// spec/exec-process.md 4.1: case does not matter, the text must begin with it
// (space before is tolerated), and it is
//
//	exec (completed|failed) (ID, RESULT[, run RUN])[ :: OUTPUT]
//	exec finished: …     exec finished (…
//
// with RESULT one of "code N", "signal NAME" and, unlike upstream, "unknown
// exit code"; and, unlike upstream, a blank line and a paragraph may follow, as
// after every timeout.
func Parse(text string) (Parsed, bool) {
	s, ok := cutFold(strings.TrimLeft(text, " \t\r\n"), "exec ")
	if !ok {
		return Parsed{}, false
	}
	if rest, ok := cutFold(s, "finished"); ok {
		rest, colon := strings.CutPrefix(rest, ":")
		open := strings.HasPrefix(strings.TrimPrefix(rest, " "), "(")
		return Parsed{Finished: true}, colon || open
	}
	var c Parsed
	rest, ok := cutFold(s, "completed (")
	if !ok {
		rest, ok = cutFold(s, "failed (")
		c.Failed = true
	}
	if !ok {
		return Parsed{}, false
	}
	if rest, ok = c.readHead(rest); !ok || !c.readTrailer(rest) {
		return Parsed{}, false
	}
	return c, true
}

// readHead reads "ID, RESULT[, run RUN])" and returns what follows.
func (c *Parsed) readHead(s string) (rest string, ok bool) {
	n := span(s, isIDByte)
	if n == 0 || n > 64 {
		return "", false
	}
	c.ID, s = s[:n], s[n:]
	if s, ok = strings.CutPrefix(s, ", "); !ok {
		return "", false
	}
	if s, ok = c.readResult(s); !ok {
		return "", false
	}
	if after, ok := cutFold(s, ", run "); ok {
		end := strings.IndexByte(after, ')')
		if end < 0 {
			return "", false
		}
		c.Run, s = unescapeRun(after[:end]), after[end:]
	}
	return strings.CutPrefix(s, ")")
}

func (c *Parsed) readResult(s string) (rest string, ok bool) {
	if after, ok := cutFold(s, "unknown exit code"); ok {
		c.Result = "unknown exit code"
		return after, true
	}
	if after, ok := cutFold(s, "code "); ok {
		digits := strings.TrimPrefix(after, "-")
		n := span(digits, isDigit)
		end := len(after) - len(digits) + n
		c.Result = "code " + after[:end]
		return after[end:], n > 0
	}
	if after, ok := cutFold(s, "signal "); ok {
		n := span(after, isAlnum)
		c.Result = "signal " + after[:n]
		return after[n:], n > 0
	}
	return "", false
}

// readTrailer reads what stands behind the parenthesis, to the end.
func (c *Parsed) readTrailer(s string) bool {
	for _, sep := range [...]string{" :: ", "\n\n"} {
		if after, ok := strings.CutPrefix(s, sep); ok {
			c.Output = after
			return true
		}
	}
	return strings.TrimSpace(s) == ""
}

// EscapeRun makes a run id fit between ", run " and ")".
func EscapeRun(id string) string {
	return strings.ReplaceAll(strings.ReplaceAll(id, "%", "%25"), ")", "%29")
}

func unescapeRun(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "%29", ")"), "%25", "%")
}

// cutFold is strings.CutPrefix without regard to case, for ASCII prefixes.
func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// span is how many bytes at the beginning of s fit.
func span(s string, fits func(byte) bool) int {
	for i := range len(s) {
		if !fits(s[i]) {
			return i
		}
	}
	return len(s)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlnum(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isIDByte(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }
