package process_test

import (
	"errors"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claw/state/process"
)

func TestParseSize(t *testing.T) {
	tests := []struct {
		s    string
		want int64
	}{
		{"0", 0},
		{"1048576", 1 << 20},
		{"64MiB", 64 << 20},
		{"64 MiB", 64 << 20},
		{" 64mib ", 64 << 20},
		{"512k", 512 << 10},
		{"512Ki", 512 << 10},
		{"1G", 1 << 30},
		{"2GiB", 2 << 30},
		{"1.5G", 3 << 29},
		{".5K", 512},
		{"3KB", 3000},
		{"2MB", 2_000_000},
		{"7B", 7},
		{"1T", 1 << 40},
		{"1P", 1 << 50},
		{"9223372036854775807", math.MaxInt64},
	}
	for _, tt := range tests {
		if got, err := process.ParseSize(tt.s); got != tt.want || err != nil {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", tt.s, got, err, tt.want)
		}
	}
}

func TestParseSizeRefuses(t *testing.T) {
	for _, s := range []string{"", " ", "k", "-1", "+1", "1x", "1 MiBs", "MiB", "1e3", "0x10", "1.2.3", ".", "1,5G", "∞", "64M iB", "9223372036854775808", "8388608T", "99999999999999999999999", "9223372036854775807.0"} {
		_, err := process.ParseSize(s)
		var se *process.SizeError
		if !errors.As(err, &se) {
			t.Errorf("ParseSize(%q): %v", s, err)
			continue
		}
		if !strings.Contains(err.Error(), strconv.Quote(s)) || se.Remedy() == "" {
			t.Errorf("%v: does not quote %q, or no remedy", err, s)
		}
	}
}

// TestParseSizeAsTruncate asks coreutils what the units mean.
func TestParseSizeAsTruncate(t *testing.T) {
	for _, unit := range []string{"", "K", "KiB", "KB", "M", "MiB", "MB", "G", "GB", "T", "TB"} {
		out, err := exec.Command("numfmt", "--from=auto", "3"+strings.TrimSuffix(strings.Replace(unit, "iB", "i", 1), "B")).Output()
		if err != nil {
			t.Skipf("numfmt: %v", err)
		}
		want, _ := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if !strings.HasSuffix(unit, "B") && unit != "" {
			// numfmt's bare letters are decimal; dd's and ours are binary.
			out, _ = exec.Command("numfmt", "--from=iec", "3"+unit).Output()
			want, _ = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		}
		if got, err := process.ParseSize("3" + unit); got != want || err != nil {
			t.Errorf("3%s = %d, %v; want %d", unit, got, err, want)
		}
	}
}

func TestFormatSize(t *testing.T) {
	tests := []struct {
		n    int64
		want string
	}{
		{0, "0 B"},
		{900, "900 B"},
		{1023, "1023 B"},
		{1024, "1 KiB"},
		{1536, "1.5 KiB"},
		{64 << 20, "64 MiB"},
		{3 << 29, "1.5 GiB"},
		{2 << 30, "2 GiB"},
		{1<<20 - 1, "1 MiB"}, // not 1024 KiB
		{1 << 50, "1 PiB"},
		{math.MaxInt64, "8192 PiB"},
		{-2048, "-2 KiB"},
	}
	for _, tt := range tests {
		if got := process.FormatSize(tt.n); got != tt.want {
			t.Errorf("FormatSize(%d) = %s, want %s", tt.n, got, tt.want)
		}
	}
}

func TestSizeReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<53).Draw(t, "n")
		back, err := process.ParseSize(process.FormatSize(n))
		if err != nil || math.Abs(float64(back-n)) > 0.05*float64(n) {
			t.Fatalf("%d is written %s, read %d, %v", n, process.FormatSize(n), back, err)
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"64MiB", "64 MiB", "512k", "1G", "1.5G", "", "9223372036854775807", "1\u212a", "..", "1.9999999999999999999P"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := process.ParseSize(s)
		if n < 0 || err != nil && n != 0 {
			t.Fatalf("%q: %d, %v", s, n, err)
		}
	})
}
