package agent_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"claw/runner/agent"
)

// However a reply is cut into pieces: what fits is kept as it is, and of what
// does not, a beginning and an end that add up, with the rest counted.
func TestExcerpt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 400
		whole := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n\xc3\xa4\xff")), 0, 1500).Draw(t, "reply")
		var pieces [][]byte
		for rest := whole; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		got := agent.Excerpt(most, pieces...)
		if len(whole) <= most {
			if got != string(whole) {
				t.Fatalf("%q became %q", whole, got)
			}
			return
		}
		head, rest, ok1 := strings.Cut(got, "\n[… ")
		note, tail, ok2 := strings.Cut(rest, " …]\n")
		var left int
		fmt.Sscanf(note, "%d bytes are left out here", &left)
		if !ok1 || !ok2 || len(got) > most || len(got) < most-100 {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
		if !bytes.HasPrefix(whole, []byte(head)) || !bytes.HasSuffix(whole, []byte(tail)) || len(head)+left+len(tail) != len(whole) {
			t.Fatalf("%d + %d + %d of %d", len(head), left, len(tail), len(whole))
		}
	})
}

func FuzzCutText(f *testing.F) {
	f.Add("grün", 3)
	f.Add("a\xff\xfeb", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || n > len(s)+10 {
			return
		}
		got := agent.CutText(s, n)
		if !utf8.ValidString(got) || utf8.ValidString(s) && (len(got) > n || !strings.HasPrefix(s, got) || n <= len(s) && len(got) < n-3) {
			t.Errorf("%q cut at %d is %q", s, n, got)
		}
	})
}
