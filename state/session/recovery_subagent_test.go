package session_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claw/state/session"
)

// TestResume: spec/tasks-recovery.md 4.10 and 9.10.
func TestResume(t *testing.T) {
	ago := func(d time.Duration) time.Time { return at.Add(-d) }
	resumed := func(ds ...time.Duration) (r session.Resumes) {
		for _, d := range ds {
			r = r.Accepted("R", ago(d))
		}
		return r
	}
	const h, m = time.Hour, time.Minute
	for _, tt := range []struct {
		name    string
		r       session.Resumes
		age     time.Duration
		timeout time.Duration
		want    session.Revival
	}{
		{"just begun", session.Resumes{}, 0, 0, session.Revive},
		{"two hours old", session.Resumes{}, 2 * h, 0, session.Revive},
		{"older than two hours", session.Resumes{}, 2*h + time.Millisecond, 0, session.Finalise},
		{"older, with a short timeout", session.Resumes{}, 2*h + time.Millisecond, m, session.Finalise},
		{"a long timeout and a minute", session.Resumes{}, 5*h + m, 5 * h, session.Revive},
		{"beyond a long timeout and a minute", session.Resumes{}, 5*h + m + time.Millisecond, 5 * h, session.Finalise},
		{"one resume a moment ago", resumed(time.Second), h, 0, session.Revive},
		{"two, the first two minutes ago", resumed(2*m, time.Second), h, 0, session.Wedge},
		{"two, the first longer ago", resumed(2*m+time.Millisecond, time.Second), h, 0, session.Revive},
		{"three over an hour", resumed(50*m, 30*m, 10*m), h, 0, session.Revive},
		{"four over an hour: more than three", resumed(50*m, 40*m, 30*m, 10*m), h, 0, session.Wedge},
		{"the last two of three were rapid", resumed(50*m, m, time.Second), h, 0, session.Wedge},
		{"dated after now: the clock was set back", resumed(-3*h, -3*h), h, 0, session.Wedge},
		{"wedged, however long ago", resumed(50*m).Wedged("it kept failing", ago(40*m)), h, 0, session.Wedge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			what, why := tt.r.Resume(ago(tt.age), tt.timeout, at)
			if what != tt.want || (why == "") != (what == session.Revive) {
				t.Errorf("%s %q, want %s", what, why, tt.want)
			}
		})
	}
	r := session.Resumes{}.Wedged("the first", at).Wedged("the second", at.Add(h))
	if _, why := r.Resume(at, 0, at); why != "the first" || !r.WedgedAt.Equal(at) {
		t.Errorf("%+v, %q", r, why)
	}
}

// TestResumesAreBounded: whatever the times, no sub-agent is resumed more than
// four times, nor three times within two minutes, nor after it was wedged.
func TestResumesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r session.Resumes
		var accepted []time.Time
		now, wedged := at, false
		for range rapid.IntRange(1, 30).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "seconds")) * time.Second)
			what, why := r.Resume(at, 0, now)
			switch what {
			case session.Wedge:
				wedged, r = true, r.Wedged(why, now)
			case session.Revive:
				if wedged {
					t.Fatal("resumed after it was wedged")
				}
				accepted = append(accepted, now)
				r = r.Accepted("R", now)
			}
		}
		if len(accepted) > 4 {
			t.Fatalf("resumed %d times", len(accepted))
		}
		for i := 2; i < len(accepted); i++ {
			if accepted[i].Sub(accepted[i-2]) <= 2*time.Minute {
				t.Fatalf("three times within two minutes: %v", accepted)
			}
		}
	})
}

func TestResumeAsk(t *testing.T) {
	for task, want := range map[string]string{
		"  look at it \n":         "look at it",
		strings.Repeat("ü", 2000): strings.Repeat("ü", 2000),
		strings.Repeat("ü", 2001): strings.Repeat("ü", 1999) + "…",
		strings.Repeat("€x", 5e3): strings.Repeat("€x", 1000)[:len("€x")*999+len("€")] + "…",
		"":                        "",
	} {
		if got := session.ResumeAsk(task); got != want {
			t.Errorf("%.20q…: %d bytes, want %d", task, len(got), len(want))
		}
	}
}

func TestScanDelay(t *testing.T) {
	for n, want := range []time.Duration{0, 5 * time.Second, 10 * time.Second, 20 * time.Second, 0} {
		if got, ok := session.ScanDelay(n); got != want || ok != (want > 0) {
			t.Errorf("look %d: %v, %v", n, got, ok)
		}
	}
}
