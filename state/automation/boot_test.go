package automation_test

import (
	"testing"
	"time"

	"claw/state/automation"
)

// @reboot: once for each boot, and not for the one it was made in.
func TestBooted(t *testing.T) {
	turn := func(a *automation.Automation) {
		a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
	}
	never := time.Time{}
	for _, tt := range []struct {
		rule string
		a    automation.Automation // made at 08:30
		seen string                // the boot on record
		boot string
		up   time.Time
		now  string
		want string // until when it waits, "now", or empty for no run
	}{
		{"the machine came up since", atBoot(), "b1", "b2", day("09:00"), "09:00:30", "now"},
		{"it has run for this boot", atBoot(), "b2", "b2", day("09:00"), "09:00:30", ""},
		{"made in this boot", atBoot(), "", "b1", day("08:00"), "08:31", ""},
		{"made in the boot before, and never looked at", atBoot(), "", "b2", day("09:00"), "09:01", "now"},
		{"switched on in this boot", edit(edit(atBoot(), "08:40", off), "09:10", on), "b1", "b2", day("09:00"), "09:11", ""},
		{"switched on in the boot before", edit(edit(atBoot(), "08:40", off), "08:50", on), "b1", "b2", day("09:00"), "09:01", "now"},
		{"renamed in this boot", edit(atBoot(), "09:10", func(a *automation.Automation) { a.Name = "x" }), "b1", "b2", day("09:00"), "09:11", "now"},
		{"looked at long after the boot", atBoot(), "b1", "b2", day("09:00"), "22:00", "now"},
		{"a turn waits until the machine has come up", atBoot(turn), "b1", "b2", day("09:00"), "09:00:30", "09:02"},
		{"a turn later does not", atBoot(turn), "b1", "b2", day("09:00"), "09:02", "now"},
		{"nobody knows when the machine came up", atBoot(), "b1", "b2", never, "09:01", ""},
		{"nobody knows which boot it is", atBoot(), "b1", "", day("09:00"), "09:01", ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			src := automation.Arm(&tt.a, nil, day(tt.now)).Source
			src.Boot = tt.seen
			f := automation.Booted(tt.a, src, tt.boot, tt.up, day(tt.now))
			got := ""
			if r := f.Run; r != nil {
				got = "now"
				if !r.NotBefore.IsZero() {
					got = r.NotBefore.Format("15:04")
				}
				if r.ID != "job@boot-"+tt.boot || r.Status != automation.Queued {
					t.Errorf("%+v", r)
				}
			}
			if got != tt.want {
				t.Errorf("%q; want %q", got, tt.want)
			}
			if tt.boot != "" && f.Source.Boot != tt.boot {
				t.Errorf("on record: %q", f.Source.Boot)
			}
			if again := automation.Booted(tt.a, f.Source, tt.boot, tt.up, day(tt.now)); again.Run != nil || again.Source != f.Source {
				t.Errorf("twice for one boot: %+v", again)
			}
			if f.Run != nil && tt.want == "now" {
				if p := automation.Decide(input(tt.now, tt.a, *f.Run)); len(p.Start) != 1 {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// Of what is run by something else than the clock there is nothing to decide by
// the clock.
func TestSourcesHaveNoSlots(t *testing.T) {
	for _, a := range []automation.Automation{onExit(), stream(), watch(), atBoot()} {
		if a.Schedule.Kind.Timed() {
			t.Errorf("%s is timed", a.Schedule.Kind)
		}
		if p := automation.Decide(input("23:00", a)); len(p.Runs)+len(p.Automations)+len(p.Notices) != 0 || !p.Next.IsZero() {
			t.Errorf("%s: %+v", a.Schedule.Kind, p)
		}
		if at, ok := automation.Upcoming(a, nil, day("23:00"), zone); ok {
			t.Errorf("%s: next %s", a.Schedule.Kind, at)
		}
		if automation.Due(a, day("23:00"), zone) {
			t.Errorf("%s is due", a.Schedule.Kind)
		}
	}
}
