package automation_test

import (
	"strings"
	"testing"
	"time"

	"claw/state/automation"
)

// failed is an end at a time of day.
func failed(clock string, c automation.Category) automation.End {
	return automation.End{Status: automation.Failed, Category: c, Error: "it broke", At: day(clock)}
}

func deleteAfter(a *automation.Automation) { a.DeleteAfterRun = true }

// finish ends a run that began at 09:00.
func finish(a automation.Automation, end automation.End, change ...func(*automation.Run)) automation.Finished {
	return automation.Finish(a, run("09:00", automation.Running, change...), end, automation.Retry{}, zone)
}

// With overlap=allow several runs fail at about the same time: what has switched
// itself off by the first does not do so again, and what a person has switched
// off is not said to have switched itself off.
func TestAutoDisableOnce(t *testing.T) {
	job := hourly(func(a *automation.Automation) { a.Overlap = automation.OverlapAllow })
	job.State.ConsecutiveErrors = 9
	first := finish(job, failed("09:10", automation.Other))
	second := finish(first.Automation, failed("09:11", automation.Other))
	if off := second.Automation.State.AutoDisabled; len(first.Notices) != 1 || len(second.Notices) != 0 || off.Errors != 10 || !off.At.Equal(day("09:10")) {
		t.Errorf("%d and %d notices, %+v", len(first.Notices), len(second.Notices), off)
	}
	job.Enabled = false
	if f := finish(job, failed("09:10", automation.Other)); len(f.Notices) != 0 || f.Automation.State.AutoDisabled != nil {
		t.Errorf("switched off by a person, and then %+v with %+v", f.Automation.State.AutoDisabled, f.Notices)
	}
}

// 2.8, recurring: the ladder, and when it is a retry.
func TestFinishRecurring(t *testing.T) {
	daily := func(a *automation.Automation) { a.Schedule.Expr = "0 9 * * *" }
	every := func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: 45000, AnchorMs: day("09:00").UnixMilli()}
	}
	for _, tt := range []struct {
		rule     string
		a        automation.Automation
		errors   int // before
		category automation.Category
		retry    string // until when, empty for none
		backoff  string
	}{
		{"transient, first: in 30 s, also when daily (openclaw 85888)", hourly(daily), 0, automation.RateLimit, "09:10:30", ""},
		{"transient, second: in 60 s", hourly(daily), 1, automation.Network, "09:11:00", ""},
		{"transient, third: in 5 min", hourly(daily), 2, automation.Timeout, "09:15:00", ""},
		{"transient, fourth: with the next slot", hourly(daily), 3, automation.ServerError, "", "09:25:00"},
		{"transient, but the next slot is earlier", hourly(every), 1, automation.Overloaded, "", "09:11:00"},
		{"permanent, first", hourly(daily), 0, automation.Validation, "", "09:10:30"},
		{"permanent, second", hourly(daily), 1, automation.Billing, "", "09:11:00"},
		{"permanent, third", hourly(daily), 2, automation.Other, "", "09:15:00"},
		{"permanent, fourth", hourly(daily), 3, automation.Other, "", "09:25:00"},
		{"permanent, fifth", hourly(daily), 4, automation.Other, "", "10:10:00"},
		{"permanent, ninth: the last step repeats", hourly(daily), 8, automation.Other, "", "10:10:00"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			tt.a.State.Settled, tt.a.State.ConsecutiveErrors = day("09:00"), tt.errors
			f := finish(tt.a, failed("09:10", tt.category))
			retry := ""
			if f.Retry != nil {
				retry = f.Retry.NotBefore.Format("15:04:05")
				if f.Retry.Attempt != 2 || !f.Retry.Slot.Equal(day("09:00")) || f.Retry.ID != "job@20261130T090000Z#2" || f.Retry.Status != automation.Queued {
					t.Errorf("%+v", f.Retry)
				}
			}
			st := f.Automation.State
			backoff := ""
			if !st.BackoffUntil.IsZero() {
				backoff = st.BackoffUntil.Format("15:04:05")
			}
			if retry != tt.retry || backoff != tt.backoff || st.ConsecutiveErrors != tt.errors+1 {
				t.Errorf("retry %s, back-off %s, %d errors; want %s, %s", retry, backoff, st.ConsecutiveErrors, tt.retry, tt.backoff)
			}
			if f.Run.Status != automation.Failed || !f.Run.EndedAt.Equal(day("09:10")) || f.Run.Error != "it broke" || st.LastStatus != automation.Failed || st.LastDurationMs != 600000 {
				t.Errorf("%+v\n%+v", f.Run, st)
			}
		})
	}
}

// What is configured takes the place of the defaults.
func TestRetryConfigured(t *testing.T) {
	a := settled("09:00", hourly())
	end := failed("09:10", automation.Billing)
	f := automation.Finish(a, run("09:00", automation.Running), end, automation.Retry{MaxAttempts: 1, Backoff: []time.Duration{time.Second}, On: []automation.Category{automation.Billing}}, zone)
	if f.Retry == nil || !f.Retry.NotBefore.Equal(day("09:10:01")) {
		t.Errorf("%+v", f.Retry)
	}
	f = automation.Finish(f.Automation, *f.Retry, end, automation.Retry{MaxAttempts: 1, On: []automation.Category{automation.Billing}}, zone)
	if f.Retry != nil {
		t.Errorf("a second one: %+v", f.Retry)
	}
	f = automation.Finish(a, run("09:00", automation.Running), failed("09:10", automation.Network), automation.Retry{MaxAttempts: -1}, zone)
	if f.Retry != nil {
		t.Errorf("with none: %+v", f.Retry)
	}
}

// 2.8: counters.
func TestFinishCounts(t *testing.T) {
	a := settled("09:00", hourly())
	a.State.ConsecutiveErrors, a.State.ConsecutiveSkips, a.State.BackoffUntil = 4, 2, day("09:30")
	ok := finish(a, automation.End{Status: automation.Succeeded, At: day("09:10")}).Automation.State
	if ok.ConsecutiveErrors != 0 || ok.ConsecutiveSkips != 0 || !ok.BackoffUntil.IsZero() || ok.LastStatus != automation.Succeeded {
		t.Errorf("succeeded: %+v", ok)
	}
	skipped := finish(a, automation.End{Status: automation.Skipped, At: day("09:10")}).Automation.State
	if skipped.ConsecutiveErrors != 0 || skipped.ConsecutiveSkips != 3 {
		t.Errorf("skipped: %+v", skipped)
	}
	for _, s := range []automation.Status{automation.TimedOut, automation.Interrupted, automation.Unknown} {
		f := finish(a, automation.End{Status: s, At: day("09:10")})
		if f.Automation.State.ConsecutiveErrors != 5 || f.Retry != nil {
			t.Errorf("%s: %+v", s, f)
		}
	}
	cancelled := finish(a, automation.End{Status: automation.Cancelled, At: day("09:10")}).Automation.State
	if cancelled.ConsecutiveErrors != 4 || cancelled.ConsecutiveSkips != 2 {
		t.Errorf("cancelled: %+v", cancelled)
	}
	stopped := func(r *automation.Run) { r.StoppedAt, r.ReplacedBy = day("09:09"), day("09:09") }
	f := finish(a, failed("09:10", automation.Network), stopped)
	if f.Run.Status != automation.Replaced || f.Automation.State.ConsecutiveErrors != 4 || f.Retry != nil || !strings.Contains(f.Run.Why, "overlap=replace") {
		t.Errorf("replaced: %+v", f)
	}
	if f := finish(a, automation.End{Status: automation.Succeeded, At: day("09:10")}, stopped); f.Run.Status != automation.Succeeded {
		t.Errorf("it ended before it could be stopped: %+v", f.Run)
	}
	// openclaw 137215: a run that may go on is not tried again.
	if f := finish(a, automation.End{Status: automation.Unknown, Category: automation.Timeout, At: day("09:10")}); f.Retry != nil {
		t.Errorf("unknown: %+v", f.Retry)
	}
	if f := finish(settled("09:00", hourly()), automation.End{Status: automation.TimedOut, Category: automation.Timeout, At: day("09:10")}); f.Retry == nil {
		t.Error("a timeout that is confirmed dead is not tried again")
	}
}

// 2.8: ten errors in a row, and it is off; a notice says how to enable it.
func TestAutoDisable(t *testing.T) {
	system := func(a *automation.Automation) { a.System = true }
	stream := func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindStream, Argv: []string{"tail"}}
	}
	for _, tt := range []struct {
		rule string
		a    automation.Automation
		end  automation.End
		n    int
		off  bool
	}{
		{"the ninth", hourly(), failed("09:10", automation.Other), 8, false},
		{"the tenth", hourly(), failed("09:10", automation.Other), 9, true},
		{"the tenth interruption", hourly(), automation.End{Status: automation.Interrupted, At: day("09:10")}, 9, true},
		{"a login that ran out", hourly(), failed("09:10", automation.Auth), 9, false},
		{"claw's own", hourly(system), failed("09:10", automation.Other), 9, false},
		{"a trigger", hourly(stream), failed("09:10", automation.Other), 9, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			tt.a.State.ConsecutiveErrors = tt.n
			f := finish(tt.a, tt.end)
			if f.Automation.Enabled == tt.off || (f.Automation.State.AutoDisabled != nil) != tt.off || len(f.Notices) == 1 != tt.off {
				t.Fatalf("%+v", f)
			}
			if tt.off && (f.Retry != nil || f.Automation.State.AutoDisabled.Reason != automation.ReasonFailures || !strings.Contains(f.Notices[0].Hint, "claw cron enable job") || !strings.Contains(f.Notices[0].Text, "10 failures")) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// 2.8: one-shots.
func TestFinishOneShot(t *testing.T) {
	attempt := func(n int) func(*automation.Run) { return func(r *automation.Run) { r.Attempt = n } }
	ok := automation.End{Status: automation.Succeeded, At: day("09:10")}
	undelivered := ok
	undelivered.Undelivered = true
	again := automation.End{Status: automation.Skipped, Again: true, At: day("09:10")}
	for _, tt := range []struct {
		rule    string
		a       automation.Automation
		end     automation.End
		attempt int
		retry   string
		deleted bool
		enabled bool
	}{
		{"succeeded", oneShot("09:00", deleteAfter), ok, 1, "", true, false},
		{"succeeded, to be kept", oneShot("09:00"), ok, 1, "", false, false},
		{"succeeded, and not delivered", oneShot("09:00", deleteAfter), undelivered, 1, "", false, false},
		{"transient, first", oneShot("09:00", deleteAfter), failed("09:10", automation.Network), 1, "09:10:30", false, true},
		{"transient, second", oneShot("09:00", deleteAfter), failed("09:10", automation.Network), 2, "09:11:00", false, true},
		{"transient, third", oneShot("09:00", deleteAfter), failed("09:10", automation.Network), 3, "09:15:00", false, true},
		{"transient, fourth: used up, and kept", oneShot("09:00", deleteAfter), failed("09:10", automation.Network), 4, "", false, false},
		{"permanent: kept", oneShot("09:00", deleteAfter), failed("09:10", automation.Other), 1, "", false, false},
		{"unknown: never by itself", oneShot("09:00", deleteAfter), automation.End{Status: automation.Unknown, Category: automation.Network, At: day("09:10")}, 1, "", false, false},
		{"skipped", oneShot("09:00", deleteAfter), automation.End{Status: automation.Skipped, At: day("09:10")}, 1, "", false, false},
		{"skipped, the heartbeat being off (openclaw 18917)", oneShot("09:00", deleteAfter), again, 1, "09:10:30", false, true},
		{"the same, used up", oneShot("09:00", deleteAfter), again, 4, "", false, false},
		{"cancelled", oneShot("09:00", deleteAfter), automation.End{Status: automation.Cancelled, At: day("09:10")}, 1, "", false, false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			f := finish(tt.a, tt.end, attempt(tt.attempt))
			retry := ""
			if f.Retry != nil {
				retry = f.Retry.NotBefore.Format("15:04:05")
			}
			if retry != tt.retry || f.Delete != tt.deleted || f.Automation.Enabled != tt.enabled {
				t.Errorf("retry %s, deleted %v, enabled %v", retry, f.Delete, f.Automation.Enabled)
			}
		})
	}
}

// 2.7 and 2.12: an edit while it ran is kept (openclaw 111383).
func TestFinishAfterAnEdit(t *testing.T) {
	a := oneShot("09:00", deleteAfter)
	moved := a
	moved.Schedule.At = day("17:00")
	edited, _ := automation.Edit(a, moved, day("09:05"), zone)
	f := finish(edited, automation.End{Status: automation.Succeeded, At: day("09:10")})
	if f.Delete || !f.Automation.Enabled || f.Automation.State.LastStatus != automation.Succeeded {
		t.Errorf("%+v", f)
	}
	if got, want := shown(automation.Decide(input("17:00", f.Automation)).Runs), "17:00 running"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	off := settled("09:00", hourly())
	off.Enabled = false
	if f := finish(off, failed("09:10", automation.Network)); f.Retry != nil {
		t.Errorf("switched off while it ran: %+v", f.Retry)
	}
}

// 2.12: a start by hand.
func TestManual(t *testing.T) {
	byHand := func(r *automation.Run) { r.Manual, r.Slot = true, time.Time{} }
	t.Run("consumes no one-shot (openclaw 83538)", func(t *testing.T) {
		f := finish(oneShot("17:00", deleteAfter), automation.End{Status: automation.Succeeded, At: day("09:10")}, byHand)
		if f.Delete || !f.Automation.Enabled {
			t.Errorf("%+v", f)
		}
		if got, want := shown(automation.Decide(input("17:00", f.Automation)).Runs), "17:00 running"; got != want {
			t.Errorf("%s; want %s", got, want)
		}
	})
	t.Run("shifts no cadence (openclaw 33940, 34012)", func(t *testing.T) {
		a := hourly(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: 3600000}
		})
		f := finish(a, automation.End{Status: automation.Succeeded, At: day("09:10")}, byHand)
		if next, ok := automation.Upcoming(f.Automation, nil, day("09:10"), zone); !ok || !next.Equal(day("09:30")) {
			t.Errorf("%s", next)
		}
	})
	t.Run("a failure is nobody's", func(t *testing.T) {
		f := finish(hourly(), failed("09:10", automation.Network), byHand)
		if f.Retry != nil || f.Automation.State.ConsecutiveErrors != 0 || !f.Automation.State.BackoffUntil.IsZero() {
			t.Errorf("%+v", f)
		}
	})
	t.Run("keeps the time that was asked for", func(t *testing.T) {
		a := hourly(func(a *automation.Automation) { a.Pacing = &automation.Pacing{} })
		a.State.PacedAt = day("11:00")
		f := finish(a, automation.End{Status: automation.Succeeded, At: day("09:10")}, byHand)
		if !f.Automation.State.PacedAt.Equal(day("11:00")) {
			t.Errorf("%+v", f.Automation.State)
		}
	})
	t.Run("a skip is nobody's", func(t *testing.T) {
		a := hourly()
		a.State.ConsecutiveErrors = 3
		f := finish(a, automation.End{Status: automation.Skipped, At: day("09:10")}, byHand)
		if st := f.Automation.State; st.ConsecutiveErrors != 3 || st.ConsecutiveSkips != 0 {
			t.Errorf("%+v", st)
		}
	})
	t.Run("one at a time", func(t *testing.T) {
		if r, why := automation.Manual(hourly(), "x", []automation.Run{run("09:00", automation.Running)}, day("09:10")); why != automation.CodeRunning || r.ID != "" {
			t.Errorf("%+v %s", r, why)
		}
		if r, why := automation.Manual(hourly(), "x", []automation.Run{run("09:00", automation.Succeeded)}, day("09:10")); why != "" || r.ID != "x" || !r.Manual || r.Status != automation.Queued {
			t.Errorf("%+v %s", r, why)
		}
		if _, why := automation.Manual(hourly(overlap(automation.OverlapAllow)), "x", []automation.Run{run("09:00", automation.Running)}, day("09:10")); why != "" {
			t.Errorf("%s", why)
		}
	})
	t.Run("whether it is due", func(t *testing.T) {
		paced := hourly()
		paced.State.PacedAt = day("09:30")
		off := hourly(func(a *automation.Automation) { a.Enabled = false })
		for _, tt := range []struct {
			a    automation.Automation
			now  string
			want bool
		}{{hourly(), "08:59:59", false}, {hourly(), "09:00", true}, {settled("09:00", hourly()), "09:10", false}, {off, "09:00", false}, {paced, "09:29", false}, {paced, "09:30", true}} {
			if got := automation.Due(tt.a, day(tt.now), zone); got != tt.want {
				t.Errorf("at %s: %v", tt.now, got)
			}
		}
	})
}

// 2.12: pacing, from the end of a run that succeeded, clamped.
func TestNextCheck(t *testing.T) {
	pacing := func(lo, hi time.Duration) automation.Automation {
		return hourly(func(a *automation.Automation) {
			a.Pacing = &automation.Pacing{MinMs: lo.Milliseconds(), MaxMs: hi.Milliseconds()}
		})
	}
	ok := func(d time.Duration) automation.End {
		return automation.End{Status: automation.Succeeded, At: day("09:10"), NextCheck: d}
	}
	asked := pacing(0, 0)
	asked.State.PacedAt = day("11:00")
	for _, tt := range []struct {
		rule string
		a    automation.Automation
		end  automation.End
		want string
	}{
		{"as asked", pacing(time.Minute, time.Hour), ok(30 * time.Minute), "09:40"},
		{"not sooner", pacing(10*time.Minute, time.Hour), ok(time.Minute), "09:20"},
		{"not later", pacing(time.Minute, time.Hour), ok(24 * time.Hour), "10:10"},
		{"no bound", pacing(0, 0), ok(5 * time.Hour), "14:10"},
		{"nothing asked", pacing(0, 0), ok(0), ""},
		{"no pacing", hourly(), ok(time.Hour), ""},
		{"failed: what was asked for is discarded", asked, automation.End{Status: automation.Failed, At: day("09:10"), NextCheck: time.Hour}, ""},
		{"timed out", asked, automation.End{Status: automation.TimedOut, At: day("09:10"), NextCheck: time.Hour}, ""},
		{"skipped", asked, automation.End{Status: automation.Skipped, At: day("09:10"), NextCheck: time.Hour}, ""},
		{"nothing asked this time", asked, ok(0), ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got := ""
			if p := finish(tt.a, tt.end).Automation.State.PacedAt; !p.IsZero() {
				got = p.Format("15:04")
			}
			if got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

func TestOnExitIsDeletedAfterItsRun(t *testing.T) {
	a := hourly(deleteAfter, func(a *automation.Automation) {
		a.Schedule, a.Enabled = automation.Schedule{Kind: automation.KindOnExit, Command: "make"}, false
	})
	fired := automation.Fire(a, "job!1", day("09:00"))
	fired.Status, fired.StartedAt = automation.Running, day("09:00")
	if f := automation.Finish(a, fired, automation.End{Status: automation.Succeeded, At: day("09:10")}, automation.Retry{}, zone); !f.Delete {
		t.Errorf("%+v", f)
	}
	if f := automation.Finish(a, fired, failed("09:10", automation.Network), automation.Retry{}, zone); f.Delete || f.Retry != nil {
		t.Errorf("%+v", f)
	}
}
