package automation_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"claw/state/automation"
)

// 3.5: when the command of a stream is started again.
func TestStreamEnded(t *testing.T) {
	short := func(at string) automation.SourceEnd {
		return automation.SourceEnd{Began: day(at).Add(-59 * time.Second), At: day(at), Code: new(1)}
	}
	stable := func(at string) automation.SourceEnd {
		return automation.SourceEnd{Began: day(at).Add(-time.Minute), At: day(at), Code: new(0)}
	}
	broken := func(at string) automation.SourceEnd {
		return automation.SourceEnd{At: day(at), Error: "exec: no such file"}
	}
	lost := func(at string) automation.SourceEnd {
		return automation.SourceEnd{Began: day(at).Add(-time.Hour), At: day(at), Unknown: true}
	}
	const at = "12:00"
	for _, tt := range []struct {
		rule string
		ends []automation.SourceEnd
		want string // the wait after each
	}{
		{"a minute is stable: at once", []automation.SourceEnd{stable(at)}, "0s"},
		{"short ones: 30 s, 60 s, 5 min, 15 min, and no more", []automation.SourceEnd{short(at), short(at), short(at), short(at), short(at)}, "30s 1m0s 5m0s 15m0s off"},
		{"that cannot be started: the same", []automation.SourceEnd{broken(at), broken(at), broken(at), broken(at), broken(at)}, "30s 1m0s 5m0s 15m0s off"},
		{"a stable one begins anew", []automation.SourceEnd{short(at), short(at), short(at), short(at), stable(at), short(at)}, "30s 1m0s 5m0s 15m0s 0s 30s"},
		{"that nobody knows the end of is not stable", []automation.SourceEnd{lost(at), short(at)}, "30s 1m0s"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			a, src := stream(), *live(stream())
			var got []string
			for _, end := range tt.ends {
				f := automation.StreamEnded(a, src, end, day(at))
				if a, src = f.Automation, f.Source; f.Run != nil || src.Owner != nil {
					t.Fatalf("%+v", f)
				}
				if !a.Enabled {
					got = append(got, "off")
					if src.Status != automation.SourceError || !src.Exhausted || a.State.AutoDisabled.Reason != "stream-exhausted" || len(f.Notices) != 1 || !strings.Contains(f.Notices[0].Hint, "claw cron enable job") {
						t.Errorf("%+v", f)
					}
					continue
				}
				if src.Status != automation.SourceRestarting || src.Error == "" {
					t.Errorf("%+v", src)
				}
				got = append(got, src.RetryAt.Sub(day(at)).String())
				src = src.Claimed(automation.Owner{ProcessID: "P"}).Began()
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%s; want %s", s, tt.want)
			}
		})
	}
}

// The cursor belongs to the output of one command.
func TestClaimedBeginsAnOutput(t *testing.T) {
	src := *live(stream())
	src.Offset, src.OffsetErr, src.Dropped, src.Failures, src.FiredAt = 10, 20, 3, 2, day("09:00")
	got := src.Claimed(automation.Owner{ProcessID: "Q"})
	if got.Offset != 0 || got.OffsetErr != 0 || got.Owner.ProcessID != "Q" || got.Status != automation.SourceStarting {
		t.Errorf("%+v", got)
	}
	if got.Dropped != 3 || got.Failures != 2 || !got.FiredAt.Equal(day("09:00")) {
		t.Errorf("what is counted over all commands is lost: %+v", got)
	}
}

// told makes lines of "ms text"; a text that ends in … is cut.
func told(lines ...string) []automation.Line {
	var out []automation.Line
	for _, l := range lines {
		ms, text, _ := strings.Cut(l, " ")
		d, err := time.ParseDuration(ms + "ms")
		if err != nil {
			panic(err)
		}
		_, cut := strings.CutSuffix(text, "…")
		out = append(out, automation.Line{At: day("09:00").Add(d), Text: text, Cut: cut})
	}
	return out
}

// 3.5: batches.
func TestBatch(t *testing.T) {
	line := automation.Schedule{Kind: automation.KindStream, Mode: "line"}
	match := automation.Schedule{Kind: automation.KindStream, Mode: "match", Match: "^ERROR"}
	small := automation.Schedule{Kind: automation.KindStream, MaxBatchBytes: 1024, BatchMs: 50}
	late := automation.Schedule{Kind: automation.KindStream, Mode: "match", Match: "END$", MaxBatchBytes: 1024}
	kib := strings.Repeat("x", 1023)
	long := strings.Repeat("y", 3000)
	for _, tt := range []struct {
		rule    string
		s       automation.Schedule
		lines   []automation.Line
		text    string
		batches int
		told    int
	}{
		{"nothing", line, nil, "", 0, 0},
		{"every line", line, told("0 a", "10 b"), "a\nb", 1, 2},
		{"no mode is line", automation.Schedule{}, told("0 a"), "a", 1, 1},
		{"empty lines are lines", line, told("0 a", "1 ", "2 b"), "a\n\nb", 1, 3},
		{"250 ms are one batch", line, told("0 a", "249 b"), "a\nb", 1, 2},
		{"from its first line on", line, told("0 a", "200 b", "250 c", "499 d", "500 e"), "a\nb\nc\nd\ne", 3, 5},
		{"as long as is said", small, told("0 a", "49 b", "50 c"), "a\nb\nc", 2, 3},
		{"what matches", match, told("0 ok", "1 ERROR x", "2 an ERROR"), "ERROR x", 1, 1},
		{"nothing matches", match, told("0 ok", "1 fine"), "", 0, 0},
		{"a window begins with what is told", match, told("0 ok", "200 ERROR 1", "400 ERROR 2"), "ERROR 1\nERROR 2", 1, 2},
		{"carriage returns are no text", line, told("0 a\r", "1 10%\r20%\r"), "a\n10%20%", 1, 2},
		{"a match does not see them either", late, told("0 the END\r"), "the END", 1, 1},
		{"a line that was cut is told", line, told("0 abc…"), "abc…", 1, 1},
		{"and does not match", match, told("0 ERROR abc…"), "", 0, 0},
		{"1024 bytes fit", small, told("0 " + kib), kib, 1, 1},
		{"more do not", small, told("0 "+kib, "1 a"), kib + "\n[truncated]", 1, 1},
		{"what is left out counts as a batch", small, told("0 "+kib, "1 a", "60 b", "120 c"), kib + "\n[truncated]", 3, 1},
		{"a line is told in part", small, told("0 a", "1 "+long), "a\n" + strings.Repeat("y", 1022) + "\n[truncated]", 1, 2},
		{"the whole line is tested, also where it is cut off", late, told("0 " + long + "END"), strings.Repeat("y", 1024) + "\n[truncated]", 1, 1},
		{"not within a letter", small, told("0 x" + strings.Repeat("ä", 600)), "x" + strings.Repeat("ä", 511) + "\n[truncated]", 1, 1},
		{"bytes that are no text", line, told("0 a\xffb"), "a\uFFFDb", 1, 1},
		{"a clock that was set back begins no window", line, told("500 a", "0 b"), "a\nb", 1, 2},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			text, batches, n := automation.Batch(tt.lines, tt.s)
			if text != tt.text || batches != tt.batches || n != tt.told {
				t.Errorf("%.80q, %d batches, %d lines (%d bytes); want %.80q, %d, %d (%d bytes)", text, batches, n, len(text), tt.text, tt.batches, tt.told, len(tt.text))
			}
		})
	}
}

// 3.5: 30 s between firings.
func TestFireAt(t *testing.T) {
	fired := automation.Source{FiredAt: day("09:00")}
	for _, tt := range []struct {
		src       automation.Source
		now, want string
	}{
		{automation.Source{}, "09:00", "09:00"},
		{fired, "09:00:10", "09:00:30"},
		{fired, "09:05", "09:00:30"},
		{fired, "08:00", "08:00"}, // the clock was set back
	} {
		if got := tt.src.FireAt(day(tt.now)); !got.Equal(day(tt.want)) {
			t.Errorf("at %s: %s", tt.now, got)
		}
	}
}

// A run that waits for a stream that a person has switched off is not owed; of
// one that was given up it is.
func TestRunsOfSourcesThatAreOff(t *testing.T) {
	fire := func(a automation.Automation) automation.Run {
		r := automation.Fire(a, "job@1", day("09:00"))
		r.Slot = time.Time{}
		return r
	}
	byHand := edit(stream(), "09:00", off)
	gaveUp := stream(off)
	gaveUp.State.AutoDisabled = &automation.AutoDisabled{Reason: automation.ReasonExhausted}
	failing := stream(off)
	failing.State.AutoDisabled = &automation.AutoDisabled{Reason: automation.ReasonFailures}
	moved := edit(stream(), "09:00", func(a *automation.Automation) { a.Schedule.Argv = []string{"x"} })
	for _, tt := range []struct {
		rule string
		a    automation.Automation
		rev  int
		want string
	}{
		{"on", stream(), 0, "hand running"},
		{"switched off by a person", byHand, 0, "hand skipped disabled"},
		{"switched off for its failures", failing, 0, "hand skipped disabled"},
		{"given up: what it said before is told", gaveUp, 0, "hand running"},
		{"another command by now", moved, 0, "hand skipped edited"},
		{"an on-exit is always off when it fires", onExit(off), 0, "hand running"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			r := fire(tt.a)
			r.ScheduleRev = tt.rev
			if got := shown(automation.Decide(input("12:30", tt.a, r)).Runs); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

func FuzzBatch(f *testing.F) {
	f.Add("a\nERROR b\n\xff\r\n", "ERROR", 1024, 7)
	f.Add(strings.Repeat("ä", 2000), "", 2000, 100)
	f.Fuzz(func(t *testing.T, text, match string, most, ms int) {
		s := automation.Schedule{Kind: automation.KindStream, MaxBatchBytes: int64(1024 + uint(most)%64512)}
		if match != "" {
			s.Mode, s.Match = "match", match
		}
		var lines []automation.Line
		for i, l := range strings.Split(text, "\n") {
			lines = append(lines, automation.Line{At: day("09:00").Add(time.Duration(i*(ms%1000)) * time.Millisecond), Text: l})
		}
		got, batches, n := automation.Batch(lines, s)
		if !utf8.ValidString(got) || strings.Contains(got, "\r") || len(got) > int(s.MaxBatchBytes)+len("\n[truncated]") {
			t.Errorf("%d bytes of %d: %q", len(got), s.MaxBatchBytes, got)
		}
		if batches > len(lines) || n > len(lines) || (batches == 0) != (n == 0) {
			t.Errorf("%d batches, %d of %d lines told", batches, n, len(lines))
		}
	})
}
