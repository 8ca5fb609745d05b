package ledger

import "bytes"

// cursor reads bytes that claw itself wrote, in the order it writes them. The
// first thing that is not as expected sets bad, and the caller falls back to
// encoding/json.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

// lit takes a fixed text.
func (c *cursor) lit(s string) {
	if c.bad || len(c.b)-c.i < len(s) || string(c.b[c.i:c.i+len(s)]) != s {
		c.bad = true
		return
	}
	c.i += len(s)
}

// num takes a non-negative integer of at most 18 digits, without leading zeros.
func (c *cursor) num() int64 {
	start, n := c.i, int64(0)
	for !c.bad && c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		n = n*10 + int64(c.b[c.i]-'0')
		c.i++
		if c.i-start > 18 {
			c.bad = true
		}
	}
	if c.i == start || c.b[start] == '0' && c.i > start+1 {
		c.bad = true
	}
	return n
}

// str takes the rest of a string whose opening quote was taken, and its
// closing quote. A string with an escape is not canonical.
func (c *cursor) str() []byte {
	if c.bad {
		return nil
	}
	n := bytes.IndexByte(c.b[c.i:], '"')
	if n < 0 || bytes.IndexByte(c.b[c.i:c.i+n], '\\') >= 0 {
		c.bad = true
		return nil
	}
	s := c.b[c.i : c.i+n]
	c.i += n + 1
	return s
}

// take takes n bytes.
func (c *cursor) take(n int64) []byte {
	if c.bad || n < 0 || int64(len(c.b)-c.i) < n {
		c.bad = true
		return nil
	}
	s := c.b[c.i : c.i+int(n)]
	c.i += int(n)
	return s
}

// skipObject gives the length of the JSON object at the start of b, 0 when
// there is none. Only braces and strings are looked at: the checksum, or
// encoding/json later on, answers for the rest.
func skipObject(b []byte) int {
	if len(b) == 0 || b[0] != '{' {
		return 0
	}
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
