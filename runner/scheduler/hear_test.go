package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
)

// All that a stream has said since it was last told is told together, however
// much it is to read; what does not fit is counted.
func TestAStreamIsToldTogether(t *testing.T) {
	lines := func(texts ...string) (list []automation.Line) {
		for _, text := range texts { // each in a batch of its own
			list = append(list, automation.Line{At: noon.Add(time.Duration(len(list)) * time.Second), Text: text})
		}
		return list
	}
	long := strings.Repeat("x", 1000)
	for _, tt := range []struct {
		rule             string
		match            string
		pieces           [][]automation.Line
		text             string
		batches, dropped int64
	}{
		{"one piece", "", [][]automation.Line{lines("a", "b")}, "a\nb", 2, 0},
		{"two", "", [][]automation.Line{lines("a"), lines("b", "c")}, "a\nb\nc", 3, 0},
		{"nothing in the first that matches", "b", [][]automation.Line{lines("a"), lines("b")}, "b", 1, 0},
		{"nothing in the second", "a", [][]automation.Line{lines("a"), lines("b"), lines("a2")}, "a\na2", 2, 0},
		{"what does not fit", "", [][]automation.Line{lines(long), lines("y", long, "z")}, long + "\ny\n" + long[:1024-1000-1-2] + "\n[truncated]", 3, 1},
		{"nothing fits any more", "", [][]automation.Line{lines(long + long[:24]), lines("y"), lines("z")}, long + long[:24] + "\n[truncated]", 1, 2},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			sched := automation.Schedule{Kind: automation.KindStream, MaxBatchBytes: 1024}
			if tt.match != "" {
				sched.Mode, sched.Match = "match", tt.match
			}
			text, batches, dropped := scheduler.Take(sched, tt.pieces...)
			if text != tt.text || batches != tt.batches || dropped != tt.dropped {
				t.Errorf("%q, %d and %d;\nwant %q, %d and %d", text, batches, dropped, tt.text, tt.batches, tt.dropped)
			}
		})
	}
}
