package process

import "strconv"

// Attempts and suffixes of spec/exec-process.md section 3.
const (
	slugAttempts  = 12
	slugSuffixMax = 12
)

const slugAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

// NewSlug makes a name nobody holds: "tide-orbit", then with a number behind
// it, then three words, then three words and three random characters, and when
// even that is taken with the time behind it. taken must cover what is live,
// what is listed and what was removed but has not ended. intn(n) is a random
// number from 0 to n-1 (crypto/rand in earnest). nowMs is the wall clock in
// milliseconds since the epoch.
func NewSlug(taken func(string) bool, intn func(int) int, nowMs int64) string {
	for _, words := range [2]int{2, 3} {
		for range slugAttempts {
			if s, ok := firstFree(randomWords(words, intn), taken); ok {
				return s
			}
		}
	}
	s := randomWords(3, intn) + "-"
	for range 3 {
		i := intn(len(slugAlphabet))
		s += slugAlphabet[i : i+1]
	}
	if taken(s) {
		s += "-" + strconv.FormatInt(nowMs, 36)
	}
	return s
}

// randomWords is one adjective and then nouns, joined with dashes.
func randomWords(n int, intn func(int) int) string {
	s := word(adjectives, intn(adjectiveCount))
	for range n - 1 {
		s += "-" + word(nouns, intn(nounCount))
	}
	return s
}

// firstFree is base, or base-2 to base-12.
func firstFree(base string, taken func(string) bool) (string, bool) {
	if !taken(base) {
		return base, true
	}
	for i := 2; i <= slugSuffixMax; i++ {
		if s := base + "-" + strconv.Itoa(i); !taken(s) {
			return s, true
		}
	}
	return "", false
}
