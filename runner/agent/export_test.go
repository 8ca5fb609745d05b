package agent

// Excerpt is what the row and the transcript keep of a reply that comes in
// these pieces.
func Excerpt(max int, pieces ...[]byte) string {
	x := newExcerpt(max)
	for _, p := range pieces {
		x.Write(p)
	}
	return x.String()
}

// CutText is exported for its test.
func CutText(s string, n int) string { return cutText(s, n) }
