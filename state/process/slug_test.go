package process_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"claw/state/process"
)

func zero(int) int { return 0 }

// taking is a taken function over the names it has been given.
func taking(names map[string]bool) func(string) bool {
	return func(s string) bool { return names[s] }
}

// TestNewSlugWithRNG0 walks the whole ladder of spec/exec-process.md section 3.
func TestNewSlugWithRNG0(t *testing.T) {
	taken := map[string]bool{}
	next := func() string {
		s := process.NewSlug(taking(taken), zero, 36*36)
		if taken[s] {
			t.Fatalf("%s is taken", s)
		}
		taken[s] = true
		return s
	}
	want := []string{"amber-atlas"}
	for i := 2; i <= 12; i++ {
		want = append(want, "amber-atlas-"+itoa(i))
	}
	want = append(want, "amber-atlas-atlas")
	for i := 2; i <= 12; i++ {
		want = append(want, "amber-atlas-atlas-"+itoa(i))
	}
	want = append(want, "amber-atlas-atlas-aaa", "amber-atlas-atlas-aaa-100") // 1296 ms in base 36
	for _, w := range want {
		if got := next(); got != w {
			t.Fatalf("got %s, want %s", got, w)
		}
	}
}

// TestNewSlugAttempts: 12 pairs with 12 names each, 12 triples with 12 each,
// one with characters.
func TestNewSlugAttempts(t *testing.T) {
	asked := 0
	s := process.NewSlug(func(string) bool { asked++; return true }, rand.IntN, 1)
	if want := 12*12 + 12*12 + 1; asked != want {
		t.Errorf("asked %d times, want %d", asked, want)
	}
	if parts := strings.Split(s, "-"); len(parts) != 5 || len(parts[3]) != 3 || parts[4] != "1" {
		t.Errorf("got %s", s)
	}
}

// TestEveryPair: 42 adjectives and 54 nouns, lower-case ASCII, each pair once.
func TestEveryPair(t *testing.T) {
	const adjectives, nouns = 42, 54
	seen := map[string]bool{}
	var first, second []string
	for a := range adjectives {
		for n := range nouns {
			draws := []int{a, n}
			s := process.NewSlug(taking(nil), func(limit int) int {
				d := draws[0]
				draws = draws[1:]
				if d >= limit {
					t.Fatalf("list shorter than %d", limit)
				}
				return d
			}, 0)
			seen[s] = true
			l, r, _ := strings.Cut(s, "-")
			first, second = append(first, l), append(second, r)
			if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") != "" || strings.Count(s, "-") != 1 || l == "" || r == "" {
				t.Fatalf("malformed %q", s)
			}
		}
	}
	if len(seen) != 2268 {
		t.Errorf("%d pairs, want 2268", len(seen))
	}
	for _, w := range []string{"amber", "tide", "tidal", "coral", "silver"} {
		if !slices.Contains(first, w) {
			t.Errorf("no %s", w)
		}
	}
	for _, w := range []string{"atlas", "orbit", "reef", "harbor", "inlet", "gull"} {
		if !slices.Contains(second, w) {
			t.Errorf("no %s", w)
		}
	}
}

func TestNewSlugCostsLittle(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() { process.NewSlug(taking(nil), rand.IntN, 0) })
	if allocs > 3 {
		t.Errorf("%v allocations", allocs)
	}
}
