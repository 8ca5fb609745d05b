package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claw/state/automation"
	"claw/state/ulid"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		samples []float64
		want    float64
	}{{[]float64{7}, 7}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(c.samples); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.samples, got, c.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	m := map[string]float64{"claw": 3, "floor": 2, "zero": 0}
	for _, c := range []struct {
		row  row
		want string
	}{
		{newRow("x", "ms", m, "claw", "floor").atMost(1.5), "ok"},
		{newRow("x", "ms", m, "claw", "floor").atMost(1.4), "over"},
		{newRow("x", "ms", m, "claw", "absent").atMost(1.4), "-"},
		{newRow("x", "ms", m, "claw").atMost(1.4), "-"},
		{newRow("x", "ms", m, "claw", "absent", "floor").atMost(1.4), "-"}, // not to the next best
		{newRow("x", "ms", m, "absent", "floor").atMost(1.4), "-"},
		{newRow("x", "ticks", m, "zero", "floor").judge("none", true, true), "ok"},
		{skipped("x", "why"), "-"},
	} {
		if c.row.Verdict != c.want {
			t.Errorf("%+v: verdict %q, want %q", c.row, c.row.Verdict, c.want)
		}
	}
}

func TestOldIDIsAULIDOfItsTime(t *testing.T) {
	at := time.UnixMilli(1_790_000_123_456)
	id, next := oldID(at, 31), oldID(at, 32)
	if got, ok := ulid.Time(id); !ok || !got.Equal(at) {
		t.Errorf("%s is of %v (%v), want %v", id, got, ok, at)
	}
	if id >= next || !strings.HasSuffix(id, "000Z") || !strings.HasSuffix(next, "0010") {
		t.Errorf("31 and 32 give %s and %s", id, next)
	}
}

func TestOldProcessesEndInOrderWithinTheirDays(t *testing.T) {
	p := past{n: 1000, last: time.Unix(1_790_000_000, 0)}
	if !p.ended(999).Equal(p.last) {
		t.Errorf("the last ends at %v, want %v", p.ended(999), p.last)
	}
	if first := p.ended(0); p.last.Sub(first) >= 6*24*time.Hour || !first.Before(p.ended(1)) {
		t.Errorf("the first ends at %v, the second at %v", first, p.ended(1))
	}
}

func TestStamps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ran")
	from := mono()
	for range 3 {
		if code := tool([]string{"stamp", file, "7"}); code != 7 {
			t.Fatalf("stamp exits %d, want 7", code)
		}
	}
	at, err := stamps(file, 3)
	if err != nil || len(at) != 3 || at[0] < from || at[2] > mono() || countStamps(file) != 3 {
		t.Errorf("stamps are %v (%v), begun at %d", at, err, from)
	}
}

func TestField(t *testing.T) {
	file := filepath.Join(t.TempDir(), "status")
	text := "Name:\tx\nVmHWM:\t  7168 kB\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		suffix string
		want   float64
		ok     bool
	}{{"VmHWM", 7168, true}, {"ctxt_switches", 7, true}, {"Pss", 0, false}} {
		if got, ok := field(file, c.suffix); got != c.want || ok != c.ok {
			t.Errorf("%s is %v, %v; want %v, %v", c.suffix, got, ok, c.want, c.ok)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 2.345: "2.35", 12.34: "12.3", 1298.4: "1298"} {
		if got := number(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestBenchmarksOfOthersAreRead(t *testing.T) {
	out := `goos: linux
BenchmarkNext/claw/0_9_*_*_1-5-2         	  521062	       300 ns/op
BenchmarkNext/robfig/0_9_*_*_1-5-2     	  196243	       200.5 ns/op
BenchmarkNext/gronx/0_9_*_*_1-5-2      	    6482	     100 ns/op
BenchmarkNext/claw/*_*_*_*_*-2         	  516176	       10 ns/op
BenchmarkNext/robfig/*_*_*_*_*-2       	   46305	      20 ns/op
BenchmarkNext/gronx/*_*_*_*_*-2        	    4504	     14464 ns/op
PASS
`
	r := worstOf("x", parseBenchmarks(out))
	if r.Claw != 300 || r.Ratio != 3 || r.Beside[0] != (value{"gronx", 100}) || r.Verdict != "over" || !strings.HasSuffix(r.Note, "0 9 * * 1-5") {
		t.Errorf("%+v", r)
	}
}

func TestRunsThatAreNotComplete(t *testing.T) {
	at := func(sec int) automation.Run {
		return automation.Run{Name: "a", Slot: time.Unix(int64(sec), 0), Status: automation.Succeeded}
	}
	with := func(r automation.Run, change func(*automation.Run)) automation.Run { change(&r); return r }
	for name, c := range map[string]struct {
		runs []automation.Run
		ok   bool
	}{
		"one after the other": {[]automation.Run{at(1), at(2), at(3)}, true},
		"a gap":               {[]automation.Run{at(1), at(2), at(4)}, false},
		"twice":               {[]automation.Run{at(1), at(2), at(2)}, false},
		"one for several":     {[]automation.Run{at(1), with(at(2), func(r *automation.Run) { r.Through = time.Unix(4, 0) }), at(5)}, true},
		"unknown":             {[]automation.Run{at(1), with(at(2), func(r *automation.Run) { r.Status = automation.Unknown })}, false},
	} {
		if err := complete(c.runs); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
