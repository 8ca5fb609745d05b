package hook_test

import (
	"regexp"
	"testing"
)

// TestMarkers: each wrapping has an id of its own, 16 lower-case hex digits, the
// same in both markers (spec/tasks-recovery.md 5.5 and scenario 38).
func TestMarkers(t *testing.T) {
	w := newWorld(t, "true")
	start := regexp.MustCompile(`<<<EXTERNAL_UNTRUSTED_CONTENT id="([0-9a-f]{16})">>>`)
	end := regexp.MustCompile(`<<<END_EXTERNAL_UNTRUSTED_CONTENT id="([0-9a-f]{16})">>>$`)
	seen := map[string]bool{}
	for range 100 {
		m := w.accept(mail("the same")).Message
		a, b := start.FindStringSubmatch(m), end.FindStringSubmatch(m)
		if a == nil || b == nil || a[1] != b[1] || seen[a[1]] {
			t.Fatalf("%q", m)
		}
		seen[a[1]] = true
	}
}
