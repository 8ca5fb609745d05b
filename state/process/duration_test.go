package process_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"claw/state/process"
)

const (
	ms  = time.Millisecond
	sec = time.Second
	day = 24 * time.Hour
)

// TestRuntimeAndHumanDuration: the first forms from spec/exec-process.md 2.1,
// the second from tour.md.
func TestRuntimeAndHumanDuration(t *testing.T) {
	tests := []struct {
		d              time.Duration
		runtime, human string
	}{
		{450 * ms, "450ms", "450ms"},
		{45 * sec, "45s", "45s"},
		{125 * sec, "2m5s", "2m05s"},
		{90 * time.Minute, "1h30m", "1h30m"},
		{26 * time.Hour, "1d2h", "1d02h"},
		{0, "n/a", "0s"},
		{-5 * sec, "n/a", "0s"},
		{400 * time.Microsecond, "n/a", "0s"},
		{600 * time.Microsecond, "1ms", "1ms"},
		{999 * ms, "999ms", "999ms"},
		{999_600 * time.Microsecond, "1s", "1s"},
		{1499 * ms, "1s", "1s"},
		{1500 * ms, "2s", "2s"},
		{59_500 * ms, "1m", "1m00s"}, // rounded up to a minute
		{64 * sec, "1m4s", "1m04s"},
		{time.Hour, "1h", "1h00m"},
		{time.Hour + 5*sec, "1h", "1h00m"},
		{3*time.Hour + 12*time.Minute, "3h12m", "3h12m"},
		{day, "1d", "1d00h"},
		{400*day + 3*time.Hour + 59*time.Minute, "400d3h", "400d03h"},
	}
	for _, tt := range tests {
		if got := process.Runtime(tt.d); got != tt.runtime {
			t.Errorf("Runtime(%v) = %s, want %s", tt.d, got, tt.runtime)
		}
		if got := process.HumanDuration(tt.d); got != tt.human {
			t.Errorf("HumanDuration(%v) = %s, want %s", tt.d, got, tt.human)
		}
	}
}

// TestRuntimeReadsBack: what is written is a duration near the one given.
func TestRuntimeReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(int64(ms), int64(day)-int64(sec)).Draw(t, "d"))
		back, err := time.ParseDuration(process.Runtime(d))
		if err != nil {
			t.Fatal(err)
		}
		off, allowed := (d - back).Abs(), time.Minute
		switch {
		case d < sec-ms:
			allowed = ms
		case d < time.Hour-sec:
			allowed = sec
		}
		if off > allowed {
			t.Fatalf("%v is written %v", d, back)
		}
	})
}
