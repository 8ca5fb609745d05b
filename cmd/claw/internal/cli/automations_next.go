package cli

import (
	"fmt"
	"strings"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
)

type automationsNext struct {
	What  string `arg:"" help:"A cron expression, \"every 6h\", or the name of an automation." placeholder:"EXPR|NAME"`
	Count int    `help:"How many times (default 5)." default:"5" placeholder:"N"`
	From  string `help:"From this time on; default now." placeholder:"TIME"`
	TZ    string `name:"tz" help:"Time zone; default the automation's, else the host's." placeholder:"ZONE"`
	JSON  bool   `name:"json" help:"Print {\"next\": [\"RFC 3339\", …], \"words\", \"effects\": [{\"at\", \"effect\"}]}."`
}

// Help shows examples.
func (automationsNext) Help() string {
	return "What a change of the clocks does to a time stands beside it. In a pipe each line is a time in RFC 3339, a tab, and that.\n\n" +
		examples(`claw cron next "30 2 * * *" --tz America/New_York --from 2026-03-07`, "claw cron next standup --count 3 --json | jq -r '.next[]'")
}

// upcoming is one time at which a schedule is due.
type upcoming struct {
	At     time.Time `json:"at"`
	Effect string    `json:"effect"`
}

// Run prints times.
func (c *automationsNext) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	if c.Count < 1 || c.Count > 10000 {
		return usagef(fmt.Sprintf("automations next: --count %d is not between 1 and 10000", c.Count))
	}
	made, from, zoned, slots, err := c.slots(a, s)
	if err != nil {
		return cronError("next", err)
	}
	var times []upcoming
	at := from.Add(-time.Millisecond)
	if made.ID == "" && made.Schedule.Kind == automation.KindEvery {
		at = from // one that is made then is due an interval later
	}
	for len(times) < c.Count {
		next, ok := slots.Next(at)
		if !ok {
			break
		}
		times = append(times, upcoming{next.In(zoned), slots.Effect(next)})
		at = next
	}
	words := slots.Words(time.Local)
	if c.JSON {
		return a.io.JSON(nextJSON(words, times))
	}
	if _, err = fmt.Fprint(a.io.Out, nextText(words, times, a.io.OutTTY)); err != nil {
		return err
	}
	c.remark(a, made, len(times))
	return nil
}

// remark says what the times alone do not.
func (c *automationsNext) remark(a *app, made automation.Automation, n int) {
	spread := automation.Schedule{Kind: made.Schedule.Kind, Expr: made.Schedule.Expr}.Stagger()
	switch {
	case n == 0 && !made.Schedule.Kind.Timed():
		a.io.Note(made.Name + " is not run by the clock; it has no times")
	case n == 0:
		a.io.Note(c.What + " has no times any more")
	case made.ID == "" && spread > 0:
		a.io.Say("an automation runs up to "+counted(int(spread.Minutes()), "minute")+" later, always by the same time", "claw cron add --exact runs it at the second")
	case made.ID != "" && !made.Enabled:
		a.io.Say(made.Name+" is off: it runs at none of these", "claw cron enable "+made.Name)
	case made.State.PacedAt.After(a.now()):
		a.io.Note("its last run asked for the next check at " + exact(made.State.PacedAt) + ": it runs at none of these before that")
	case made.State.BackoffUntil.After(a.now()):
		a.io.Note("after " + counted(made.State.ConsecutiveErrors, "failure") + " in a row it does not run before " + exact(made.State.BackoffUntil))
	}
}

// slots are those of an automation that is called so, else of a schedule.
func (c *automationsNext) slots(a *app, s *scheduler.Scheduler) (made automation.Automation, from time.Time, loc *time.Location, slots automation.Slots, err error) {
	if made, err = c.meant(a, s); err != nil {
		return made, from, loc, slots, err
	}
	if loc, err = s.Zone(firstOf(c.TZ, made.Schedule.TZ)); err != nil {
		return made, from, loc, slots, &automation.Error{Field: "time zone", Value: c.TZ, Why: "is not known here", Hint: "write an IANA name such as Europe/Berlin"}
	}
	from = a.now()
	if c.From != "" {
		if from, err = automation.ParseAt(c.From, a.now(), loc); err != nil {
			return made, from, loc, slots, err
		}
	}
	if made.Schedule.Kind == automation.KindEvery && made.Schedule.AnchorMs == 0 {
		made.Schedule.AnchorMs = from.UnixMilli()
	}
	if slots, err = made.Slots(s.Zone); err == nil && made.ID == "" && made.Schedule.Kind == automation.KindCron {
		if _, ok := slots.Next(from.Add(-time.Millisecond)); !ok { // as claw cron add would say
			err = &automation.Error{Field: "cron expression", Value: c.What, Why: "has no upcoming run time and would never fire", Hint: "take other years, or none; --from looks from another time on"}
		}
	}
	return made, from, loc, slots, err
}

// meant is the automation that is called so, else one of a schedule alone.
func (c *automationsNext) meant(a *app, s *scheduler.Scheduler) (automation.Automation, error) {
	e, err := s.Find(c.What)
	made := e.Automation
	missing, ok := err.(*scheduler.Refused)
	switch {
	case err == nil && c.TZ != "" && made.Schedule.Kind == automation.KindCron:
		made.Schedule.TZ = c.TZ
		return made, nil
	case !ok || !missing.Missing:
		return made, err
	case isReboot(c.What):
		return made, &automation.Error{Field: "schedule", Value: c.What, Why: "is once after each boot, and nobody knows when that is", Hint: "claw cron add @reboot makes an automation of it"}
	}
	schedule, bad := automation.ParseSchedule(c.What, c.TZ, a.now(), s.Zone)
	if bad != nil && !strings.ContainsAny(c.What, " @") {
		return made, err // it looks like a name
	}
	if schedule.Kind == automation.KindCron {
		exact := int64(0)
		schedule.StaggerMs = &exact // which comes of an id
	}
	return automation.Automation{Schedule: schedule}, bad
}

func nextJSON(words string, times []upcoming) map[string]any {
	next, effects := []string{}, []upcoming{}
	for _, u := range times {
		next = append(next, u.At.Format(time.RFC3339))
		if u.Effect != "" {
			effects = append(effects, u)
		}
	}
	return map[string]any{"next": next, "words": words, "effects": effects}
}

// columns are how wide a line for people may be.
const columns = 80

// nextText is tour.md "Give it a rhythm" for people, and lines for programs.
func nextText(words string, times []upcoming, people bool) string {
	var b strings.Builder
	if people {
		b.WriteString(words + "\n")
	}
	for _, u := range times {
		line := u.At.Format(time.RFC3339) + "\t" + u.Effect
		if people {
			layout := "Mon _2 Jan 2006 15:04 MST"
			if u.At.Second() != 0 {
				layout = "Mon _2 Jan 2006 15:04:05 MST"
			}
			line = "  " + u.At.Format(layout)
			switch {
			case u.Effect == "":
			case len(line)+3+len(u.Effect) > columns:
				line += "\n      " + u.Effect
			default:
				line += "   " + u.Effect
			}
		}
		b.WriteString(line + "\n")
	}
	if len(times) == 0 && people {
		b.WriteString("  never again\n")
	}
	return b.String()
}
