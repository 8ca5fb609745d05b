package process_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claw/state/process"
)

func num(f float64) *float64 { return &f }

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// TestBoundsOf: the clamps of spec/exec-process.md 1.1, 1.8, 2.2, 2.4 and 6.
func TestBoundsOf(t *testing.T) {
	tests := []struct {
		name string
		b    process.Bounds
		v    *float64
		want int64
	}{
		{"yield, not given", process.Yield, nil, 10_000},
		{"yield, NaN", process.Yield, &nan, 10_000},
		{"yield, 0 is not at once", process.Yield, num(0), 10},
		{"yield, negative", process.Yield, num(-5), 10},
		{"yield, lowest", process.Yield, num(10), 10},
		{"yield, fraction", process.Yield, num(1000.9), 1000},
		{"yield, highest", process.Yield, num(120_000), 120_000},
		{"yield, more", process.Yield, num(120_001), 120_000},
		{"yield, infinite", process.Yield, &inf, 120_000},
		{"yield, huge", process.Yield, num(1e300), 120_000},
		{"output", process.OutputChars, nil, 200_000},
		{"output, few", process.OutputChars, num(1), 1_000},
		{"output, many", process.OutputChars, num(1e6), 200_000},
		{"pending", process.PendingChars, nil, 30_000},
		{"pending, few", process.PendingChars, num(999), 1_000},
		{"pending, many", process.PendingChars, num(200_001), 200_000},
		{"ttl", process.TTL, nil, 1_800_000},
		{"ttl, under a minute", process.TTL, num(59_999), 60_000},
		{"ttl, over three hours", process.TTL, num(10_800_001), 10_800_000},
		{"idle", process.InputWaitIdle, nil, 15_000},
		{"idle, short", process.InputWaitIdle, num(1), 1_000},
		{"idle, long", process.InputWaitIdle, num(600_001), 600_000},
		{"cap", process.OutputCap, nil, 64 << 20},
		{"cap, small", process.OutputCap, num(1), 64 << 10},
		{"cap, huge", process.OutputCap, num(1e300), math.MaxInt64},
	}
	for _, tt := range tests {
		if got := tt.b.Of(tt.v); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestBoundsParseIsStrict(t *testing.T) {
	tests := []struct {
		s    string
		want int64
		ok   bool
	}{
		{"5000", 5000, true},
		{" 5000 ", 5000, true},
		{"5", 10, true},
		{"-5", 10, true},
		{"999999999", 120_000, true},
		{"99999999999999999999", 120_000, true},
		{"10s", 10_000, false},
		{"", 10_000, false},
		{"1e4", 10_000, false},
		{"10.5", 10_000, false},
		{"ten", 10_000, false},
	}
	for _, tt := range tests {
		if got, ok := process.Yield.Parse(tt.s); got != tt.want || ok != tt.ok {
			t.Errorf("%q: %d, %v; want %d, %v", tt.s, got, ok, tt.want, tt.ok)
		}
	}
}

// TestPollTimeout: spec/exec-process.md 2.2.
func TestPollTimeout(t *testing.T) {
	tests := []struct {
		v    any
		want int64
	}{
		{nil, 0},
		{2000.0, 2000},
		{2000, 2000},
		{int64(2000), 2000},
		{json.Number("2000"), 2000},
		{"2000", 2000},
		{" 2000.9 ", 2000},
		{1999.9, 1999},
		{-1.0, 0},
		{30_000.0, 30_000},
		{30_001.0, 30_000},
		{"600000", 30_000},
		{"soon", 0},
		{"", 0},
		{"2s", 0},
		{nan, 0},
		{inf, 0},
		{"inf", 0},
		{true, 0},
		{[]any{1}, 0},
	}
	for _, tt := range tests {
		if got := process.PollTimeout(tt.v); got != tt.want {
			t.Errorf("%v: got %d, want %d", tt.v, got, tt.want)
		}
	}
}

// TestTimeoutMs: spec/exec-process.md 1.1.
func TestTimeoutMs(t *testing.T) {
	tests := []struct {
		seconds float64
		want    int64
	}{
		{1800, 1_800_000},
		{1.5, 1_500},
		{0, 0},
		{-1, 0},
		{nan, 0},
		{inf, 0},
		{-inf, 0},
		{2_147_483.647, 2_147_483_647},
		{2_147_484, 2_147_483_647},
		{1e300, 2_147_483_647},
		{0.0001, 1},
		{5e-324, 1},
	}
	for _, tt := range tests {
		if got := process.TimeoutMs(tt.seconds); got != tt.want {
			t.Errorf("%v s: got %d, want %d", tt.seconds, got, tt.want)
		}
	}
}

func TestRetryInMs(t *testing.T) {
	for polls, want := range []int64{5_000, 5_000, 10_000, 30_000, 60_000, 60_000, 60_000} {
		if got := process.RetryInMs(polls); got != want {
			t.Errorf("%d empty polls: %d, want %d", polls, got, want)
		}
	}
}

// TestLogSlice: the table of spec/exec-process.md 2.3.
func TestLogSlice(t *testing.T) {
	tests := []struct {
		name          string
		total         int
		offset, limit *float64
		from, to      int
		hint          bool
	}{
		{"nothing asked, few", 200, nil, nil, 0, 200, false},
		{"nothing asked, many", 201, nil, nil, 1, 201, true},
		{"nothing asked, none", 0, nil, nil, 0, 0, false},
		{"limit: the last", 300, nil, num(5), 295, 300, false},
		{"limit, more than there is", 3, nil, num(5), 0, 3, false},
		{"offset: to the end, uncapped", 1000, num(3), nil, 3, 1000, false},
		{"offset and limit", 1000, num(3), num(4), 3, 7, false},
		{"offset and limit, over the end", 5, num(3), num(4), 3, 5, false},
		{"negative offset", 10, num(-3), num(2), 0, 2, false},
		{"fractions", 10, num(2.9), num(3.9), 2, 5, false},
		{"limit 0", 10, nil, num(0), 10, 10, false},
		{"offset, limit 0", 10, num(2), num(0), 2, 2, false},
		{"negative limit", 10, num(2), num(-1), 2, 2, false},
		{"past the end", 10, num(10), num(5), 10, 10, false},
		{"far past the end", 10, num(1e300), nil, 10, 10, false},
		{"huge limit", 10, num(1), num(1e300), 1, 10, false},
		{"not numbers", 300, &nan, &inf, 100, 300, true},
	}
	for _, tt := range tests {
		from, to, hint := process.LogSlice(tt.total, tt.offset, tt.limit)
		if from != tt.from || to != tt.to || hint != tt.hint {
			t.Errorf("%s: %d..%d %v, want %d..%d %v", tt.name, from, to, hint, tt.from, tt.to, tt.hint)
		}
	}
	if got := process.LogHint(4711); got != "[showing last 200 of 4711 lines; pass offset/limit to page]" {
		t.Error(got)
	}
}

func TestLogSliceStaysInside(t *testing.T) {
	anyFloat := rapid.Ptr(rapid.Float64(), true)
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(0, 1<<40).Draw(t, "total")
		from, to, _ := process.LogSlice(total, anyFloat.Draw(t, "offset"), anyFloat.Draw(t, "limit"))
		if from < 0 || from > to || to > total {
			t.Fatalf("%d..%d of %d", from, to, total)
		}
	})
}

func FuzzBoundsParse(f *testing.F) {
	for _, s := range []string{"10000", "10s", "", "-1", strings.Repeat("9", 30)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, _ := process.Yield.Parse(s); n < 10 || n > 120_000 {
			t.Fatalf("%q: %d", s, n)
		}
	})
}
