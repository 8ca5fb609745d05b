package automation_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"claw/state/automation"
)

// 3.4: what follows from the end of the command.
func TestOnExitEnded(t *testing.T) {
	a := onExit()
	t.Run("it is switched off and fires once, with what is known of the end", func(t *testing.T) {
		end := automation.SourceEnd{Began: day("09:00"), At: day("09:01:30"), Code: new(2), Tail: "built\nfailed\n"}
		f := automation.OnExitEnded(a, *live(a), end, "job@1", day("09:01:31"))
		if f.Automation.Enabled || f.Automation.State.AutoDisabled != nil {
			t.Errorf("%+v", f.Automation)
		}
		if s := f.Source; s.Status != automation.SourceStopped || s.Owner != nil || !s.FiredAt.Equal(day("09:01:31")) {
			t.Errorf("%+v", s)
		}
		r := f.Run
		if r == nil || r.ID != "job@1" || r.Status != automation.Queued || r.Input != "exit: 2\nduration: 1m30s\noutput:\nbuilt\nfailed" || !r.Slot.IsZero() {
			t.Fatalf("%+v", r)
		}
		p := automation.Decide(input("09:01:31", f.Automation, *r))
		if len(p.Start) != 1 || p.Start[0].ID != "job@1" {
			t.Errorf("off as it is, its run does not start: %+v", p)
		}
	})
	t.Run("an unknown end never fires: it is on record, and a person is told", func(t *testing.T) {
		f := automation.OnExitEnded(a, *live(a), automation.SourceEnd{Began: day("09:00"), At: day("09:01"), Unknown: true, Error: "its supervisor died"}, "job@1", day("09:02"))
		r := f.Run
		if r == nil || r.Status != automation.Unknown || !r.EndedAt.Equal(day("09:02")) || r.Error == "" {
			t.Fatalf("%+v", r)
		}
		if f.Automation.Enabled || f.Automation.State.AutoDisabled == nil || f.Source.Status != automation.SourceError || !f.Source.Exhausted || !f.Source.FiredAt.IsZero() {
			t.Errorf("%+v\n%+v", f.Automation, f.Source)
		}
		if len(f.Notices) != 1 || !strings.Contains(f.Notices[0].Hint, "claw cron enable job") || !strings.Contains(f.Notices[0].Text, "make") {
			t.Errorf("%+v", f.Notices)
		}
		if p := automation.Decide(input("09:03", f.Automation, *r)); len(p.Start) != 0 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("what could not be started is tried again after 1 s, 5 s, 30 s, 5 min, 5 min", func(t *testing.T) {
		src := *live(a)
		for i, want := range []string{"09:00:01", "09:00:05", "09:00:30", "09:05", "09:05"} {
			f := automation.OnExitEnded(a, src, automation.SourceEnd{At: day("09:00"), Error: "fork: out of memory"}, "job@1", day("09:00"))
			src = f.Source
			if !src.RetryAt.Equal(day(want)) || src.Status != automation.SourceRestarting || src.Error != "fork: out of memory" || src.Owner != nil {
				t.Errorf("failure %d: %+v", i+1, src)
			}
			if f.Run != nil || !f.Automation.Enabled || len(f.Notices) > 0 {
				t.Errorf("failure %d: %+v", i+1, f)
			}
		}
		src = src.Claimed(automation.Owner{ProcessID: "P"}).Began()
		f := automation.OnExitEnded(a, src, automation.SourceEnd{Began: day("09:05"), At: day("09:06"), Code: new(0)}, "job@1", day("09:06"))
		if f.Run == nil || f.Source.Failures != 0 || f.Source.Error != "" {
			t.Errorf("%+v", f)
		}
	})
	t.Run("what is removed after its run is removed", func(t *testing.T) {
		a := onExit(deleteAfter)
		f := automation.OnExitEnded(a, *live(a), automation.SourceEnd{Began: day("09:00"), At: day("09:01"), Code: new(0)}, "job@1", day("09:01"))
		run := *f.Run
		run.Status, run.StartedAt = automation.Running, day("09:01")
		if got := automation.Finish(f.Automation, run, automation.End{Status: automation.Succeeded, At: day("09:02")}, automation.Retry{}, zone); !got.Delete {
			t.Errorf("%+v", got)
		}
	})
}

func TestOnExitText(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	for _, tt := range []struct {
		rule string
		end  automation.SourceEnd
		want string
	}{
		{"nothing was said", automation.SourceEnd{Began: day("09:00"), At: day("09:00"), Code: new(0)}, "exit: 0\nduration: 0s"},
		{"a signal", automation.SourceEnd{Began: day("09:00"), At: day("15:00"), Signal: "SIGKILL"}, "signal: SIGKILL\nduration: 6h"},
		{"blank output is none", automation.SourceEnd{Began: day("09:00"), At: day("09:00:01"), Code: new(1), Tail: " \r\n\n"}, "exit: 1\nduration: 1s"},
		{"lines of DOS", automation.SourceEnd{Code: new(1), Tail: "a\r\nb\r\n"}, "exit: 1\nduration: 0s\noutput:\na\nb"},
		{"the end of what is long, from the beginning of a line", automation.SourceEnd{Code: new(1), Tail: strings.Repeat(line, 50)}, "exit: 1\nduration: 0s\noutput:\n[truncated]\n" + strings.TrimSuffix(strings.Repeat(line, 40), "\n")},
		{"exactly so much that it fits", automation.SourceEnd{Code: new(1), Tail: strings.Repeat(line, 40)}, "exit: 1\nduration: 0s\noutput:\n" + strings.TrimSuffix(strings.Repeat(line, 40), "\n")},
		{"cut between two lines, none is lost", automation.SourceEnd{Code: new(1), Tail: "y\n" + strings.Repeat(line, 39) + strings.Repeat("z", 100)}, "exit: 1\nduration: 0s\noutput:\n[truncated]\n" + strings.Repeat(line, 39) + strings.Repeat("z", 100)},
		{"the clock was set back", automation.SourceEnd{Began: day("09:00"), At: day("08:00"), Code: new(0)}, "exit: 0\nduration: 0s"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := automation.OnExitText(tt.end); got != tt.want {
				t.Errorf("%.300q\nwant %.300q (%d, %d bytes)", got, tt.want, len(got), len(tt.want))
			}
		})
	}
	one := automation.OnExitText(automation.SourceEnd{Code: new(1), Tail: strings.Repeat("ä", 5000)})
	if !utf8.ValidString(one) || len(one) > 4100 {
		t.Errorf("%d bytes, valid %v", len(one), utf8.ValidString(one))
	}
}
