package program_test

import (
	"testing"

	"pgregory.net/rapid"

	"claw/runner/internal/program"
)

// kept is the rule, said of the whole stream at once.
func kept(keep program.Keep, all string) string {
	switch {
	case keep.Head > 0 && keep.Tail > 0 && len(all) > keep.Head+keep.Tail:
		return all[:keep.Head] + "\n…\n" + all[len(all)-keep.Tail:]
	case keep.Head > 0 && keep.Tail > 0:
		return all
	case keep.Head > 0:
		return all[:min(len(all), keep.Head)]
	}
	return all[max(0, len(all)-keep.Tail):]
}

func TestBothEndsAreKeptHoweverTheyCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := program.Keep{Head: rapid.IntRange(0, 9).Draw(t, "head"), Tail: rapid.IntRange(0, 9).Draw(t, "tail")}
		pieces := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 12)).Draw(t, "pieces")
		all := ""
		for _, p := range pieces {
			all += string(p)
		}
		if got, want := string(program.Kept(keep, pieces...)), kept(keep, all); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
