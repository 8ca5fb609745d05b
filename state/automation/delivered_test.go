package automation_test

import (
	"testing"
	"time"

	"claw/state/automation"
)

// 2.8 Tip: a one-shot is removed when its run has succeeded and its message
// has arrived; else it stays, switched off.
func TestReceipt(t *testing.T) {
	once := func(change ...func(*automation.Automation)) automation.Automation {
		return oneShot("09:00", append([]func(*automation.Automation){deleteAfter}, change...)...)
	}
	best := func(a *automation.Automation) {
		a.Delivery = &automation.Delivery{Mode: "announce", BestEffort: true}
	}
	kept := func(a *automation.Automation) { a.DeleteAfterRun = false }
	onExit := func(a *automation.Automation) {
		a.Schedule, a.Enabled = automation.Schedule{Kind: automation.KindOnExit, Command: "make"}, false
	}
	succeeded := automation.End{Status: automation.Succeeded, At: day("09:10"), Undelivered: true}
	for _, tt := range []struct {
		rule   string
		a      automation.Automation
		end    automation.End
		status automation.DeliveryStatus
		gone   string // "run": with its end, "message": with its message, or ""
	}{
		{"delivered", once(), succeeded, automation.Delivered, "message"},
		{"nothing to tell", once(), automation.End{Status: automation.Succeeded, At: day("09:10")}, automation.NotRequested, "run"},
		{"not delivered: kept", once(), succeeded, automation.NotDelivered, ""},
		{"nobody knows: kept", once(), succeeded, automation.DeliveryLost, ""},
		{"best effort: the message does not matter", once(best), succeeded, automation.NotDelivered, "run"},
		{"to be kept", once(kept), succeeded, automation.Delivered, ""},
		{"failed, and that was delivered: kept", once(), failed("09:10", automation.Other), automation.Delivered, ""},
		{"on-exit", hourly(onExit, deleteAfter), succeeded, automation.Delivered, "message"},
		{"recurring", hourly(), succeeded, automation.Delivered, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			r := run("09:00", automation.Running)
			f := automation.Finish(tt.a, r, tt.end, automation.Retry{}, zone)
			if f.Delete != (tt.gone == "run") {
				t.Fatalf("with its end: %v", f.Delete)
			}
			if f.Delete {
				return
			}
			if tt.gone == "message" && f.Automation.Enabled {
				t.Error("it is not switched off while its message is on its way")
			}
			a, got, done := automation.Receipt(f.Automation, f.Run, tt.status, "why")
			if done != (tt.gone == "message") {
				t.Errorf("done %v", done)
			}
			if got.Delivery != tt.status || got.DeliveryError != "why" || a.State.LastDelivery != tt.status || a.State.LastDeliveryError != "why" {
				t.Errorf("%+v\n%+v", got, a.State)
			}
			if got.Status != tt.end.Status {
				t.Errorf("the message has changed how the run ended: %s", got.Status)
			}
		})
	}
}

func TestReceiptAfterOtherThings(t *testing.T) {
	a := oneShot("09:00", deleteAfter)
	end := automation.End{Status: automation.Succeeded, At: day("09:10"), Undelivered: true}
	f := automation.Finish(a, run("09:00", automation.Running), end, automation.Retry{}, zone)
	t.Run("rescheduled meanwhile: it stays (openclaw 111383)", func(t *testing.T) {
		next := f.Automation
		next.Schedule.At, next.Enabled = day("17:00"), true
		edited, _ := automation.Edit(f.Automation, next, day("09:11"), zone)
		if _, _, done := automation.Receipt(edited, f.Run, automation.Delivered, ""); done {
			t.Error("removed")
		}
	})
	t.Run("rescheduled meanwhile, and off: it stays", func(t *testing.T) {
		next := f.Automation
		next.Schedule.At = day("17:00")
		edited, _ := automation.Edit(f.Automation, next, day("09:11"), zone)
		if _, _, done := automation.Receipt(edited, f.Run, automation.Delivered, ""); done {
			t.Error("removed")
		}
	})
	t.Run("switched on meanwhile: it stays", func(t *testing.T) {
		on := f.Automation
		on.Enabled = true
		if _, _, done := automation.Receipt(on, f.Run, automation.Delivered, ""); done {
			t.Error("removed")
		}
	})
	t.Run("of a run by hand: it stays", func(t *testing.T) {
		r := f.Run
		r.Manual = true
		if _, _, done := automation.Receipt(f.Automation, r, automation.Delivered, ""); done {
			t.Error("removed")
		}
	})
	t.Run("of an earlier run than the last: only that run says it", func(t *testing.T) {
		daily := settled("09:00", hourly())
		first := automation.Finish(daily, run("09:00", automation.Running), end, automation.Retry{}, zone)
		a, _, _ := automation.Receipt(first.Automation, first.Run, automation.Delivered, "")
		second := automation.Finish(a, run("10:00", automation.Running), automation.End{Status: automation.Succeeded, At: day("10:10"), Undelivered: true}, automation.Retry{}, zone)
		if second.Automation.State.LastDelivery != "" {
			t.Errorf("%q is that of the run before", second.Automation.State.LastDelivery)
		}
		a, r, _ := automation.Receipt(second.Automation, first.Run, automation.NotDelivered, "refused")
		if r.Delivery != automation.NotDelivered || a.State.LastDelivery != "" {
			t.Errorf("%s, %s", r.Delivery, a.State.LastDelivery)
		}
	})
	t.Run("an on-exit that waits for the next end is not removed with its run", func(t *testing.T) {
		a := hourly(deleteAfter, func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindOnExit, Command: "make"}
		})
		fired := automation.Fire(a, "x", day("09:00"))
		f := automation.Finish(a, fired, automation.End{Status: automation.Succeeded, At: day("09:10")}, automation.Retry{}, zone)
		if f.Delete {
			t.Error("removed")
		}
	})
}

// 2.8, 2.13: execution and delivery are apart, and the completion is both.
func TestCompletion(t *testing.T) {
	for _, tt := range []struct {
		status   automation.Status
		delivery automation.DeliveryStatus
		best     bool
		intended bool
		want     string
	}{
		{automation.Queued, "", false, false, ""},
		{automation.Running, "", false, false, ""},
		{automation.Succeeded, "", false, false, "succeeded"},
		{automation.Succeeded, "", false, true, ""},
		{automation.Succeeded, "", true, true, "succeeded"},
		{automation.Succeeded, automation.Delivered, false, true, "succeeded"},
		{automation.Succeeded, automation.NotRequested, false, false, "succeeded"},
		{automation.Succeeded, automation.NotDelivered, false, true, "failed"},
		{automation.Succeeded, automation.NotDelivered, true, true, "succeeded"},
		{automation.Succeeded, automation.DeliveryLost, false, true, "unknown"},
		{automation.Succeeded, automation.DeliveryLost, true, true, "succeeded"},
		{automation.Failed, automation.Delivered, false, true, "failed"},
		{automation.Failed, "", false, true, "failed"},
		{automation.TimedOut, "", false, false, "failed"},
		{automation.Interrupted, "", false, false, "failed"},
		{automation.Cancelled, "", false, false, "failed"},
		{automation.Skipped, "", false, false, "failed"},
		{automation.Missed, "", false, false, "failed"},
		{automation.Replaced, "", false, false, "failed"},
		{automation.Unknown, automation.Delivered, false, true, "unknown"},
	} {
		r := automation.Run{Status: tt.status, Delivery: tt.delivery, BestEffort: tt.best}
		if tt.intended {
			r.DeliveryID = "d"
		}
		if got := r.Completion(); got != tt.want {
			t.Errorf("%+v: %q; want %q", tt, got, tt.want)
		}
	}
}

// 2.13: three hours after its slot it is no news any more.
func TestStale(t *testing.T) {
	slot := day("09:00")
	for _, tt := range []struct {
		rule  string
		run   automation.Run
		after time.Duration
		want  bool
	}{
		{"three hours", automation.Run{Slot: slot}, 3 * time.Hour, false},
		{"a second more", automation.Run{Slot: slot}, 3*time.Hour + time.Second, true},
		{"by hand", automation.Run{Manual: true}, 9 * time.Hour, false},
		{"by hand, with a slot", automation.Run{Manual: true, Slot: slot}, 9 * time.Hour, false},
		{"fired by a source", automation.Run{StartedAt: slot}, 9 * time.Hour, false},
		{"made up in the morning", automation.Run{Slot: slot, CatchUp: true, StartedAt: slot.Add(8 * time.Hour)}, 8*time.Hour + time.Minute, false},
		{"made up, and then late", automation.Run{Slot: slot, CatchUp: true, StartedAt: slot.Add(8 * time.Hour)}, 11*time.Hour + time.Second, true},
		{"late for its turn", automation.Run{Slot: slot, StartedAt: slot.Add(4 * time.Hour)}, 4*time.Hour + time.Minute, true},
		{"the clock was set back", automation.Run{Slot: slot}, -time.Hour, false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := automation.Stale(tt.run, slot.Add(tt.after)); got != tt.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestModelFor(t *testing.T) {
	one := automation.Payload{Model: "a"}
	more := automation.Payload{Model: "a", Fallbacks: []string{"b", "c"}}
	own := automation.Payload{Fallbacks: []string{"b"}}
	for _, tt := range []struct {
		p       automation.Payload
		attempt int
		want    string
	}{
		{one, 0, "a"},
		{one, 1, "a"},
		{one, 3, "a"},
		{more, 0, "a"},
		{more, 1, "a"},
		{more, 2, "b"},
		{more, 3, "c"},
		{more, 4, "c"},
		{more, 9, "c"},
		{own, 1, ""},
		{own, 2, "b"},
		{own, 3, "b"},
		{automation.Payload{}, 2, ""},
	} {
		if got := tt.p.ModelFor(tt.attempt); got != tt.want {
			t.Errorf("%+v, attempt %d: %q; want %q", tt.p, tt.attempt, got, tt.want)
		}
	}
}
