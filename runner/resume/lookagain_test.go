package resume

import (
	"testing"
	"time"
)

// An agent whose supervisor died is looked at soon, and later less often, but
// once a minute for ever.
func TestLookAgain(t *testing.T) {
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ since, want time.Duration }{
		{0, time.Second},
		{300 * time.Millisecond, time.Second},
		{5 * time.Second, 5 * time.Second},
		{59 * time.Second, 59 * time.Second},
		{time.Hour, time.Minute},
		{-2 * time.Hour, time.Second}, // the clock was set back
	} {
		if got := lookAgain(at, at.Add(tt.since)).Sub(at.Add(tt.since)); got != tt.want {
			t.Errorf("%v after the cut it is looked at in %v; want %v", tt.since, got, tt.want)
		}
	}
}
