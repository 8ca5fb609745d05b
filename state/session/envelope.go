package session

import "strings"

// cutEnvelope takes off one "[Wed 2026-06-10 17:18 GMT+8] " in front of a
// text, as displays put it there.
func cutEnvelope(text string) string {
	inside, rest, ok := strings.Cut(text, "] ")
	inside, open := strings.CutPrefix(inside, "[")
	if !ok || !open {
		return text
	}
	words := strings.Split(inside, " ")
	if len(words) != 4 || !isWeekday(words[0]) || !like(words[1], "0000-00-00") || !isClock(words[2]) || !isZone(words[3]) {
		return text
	}
	return rest
}

func isWeekday(s string) bool {
	switch s {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

func isClock(s string) bool { return like(s, "00:00") || like(s, "00:00:00") }

// like tells that s has a digit wherever the pattern has a 0, and is equal to
// it elsewhere.
func like(s, pattern string) bool {
	if len(s) != len(pattern) {
		return false
	}
	for i := range len(s) {
		digit := s[i] >= '0' && s[i] <= '9'
		if pattern[i] == '0' && !digit || pattern[i] != '0' && s[i] != pattern[i] {
			return false
		}
	}
	return true
}

// isZone: GMT+8, UTC, +05:30, CEST, Europe/Berlin.
func isZone(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && !strings.ContainsRune("0123456789+-:/_", rune(s[i])) {
			return false
		}
	}
	return s != ""
}
