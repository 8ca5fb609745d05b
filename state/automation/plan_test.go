package automation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/state/automation"
)

// hourly is due at every full hour, exactly; it was made at 08:30.
func hourly(change ...func(*automation.Automation)) automation.Automation {
	exact := int64(0)
	a := automation.Automation{
		ID: "job", Name: "job", Enabled: true,
		Schedule: automation.Schedule{Kind: automation.KindCron, Expr: "0 * * * *", StaggerMs: &exact},
		Payload:  automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"make"}},
	}
	for _, c := range change {
		c(&a)
	}
	return automation.New(a, time.Date(2026, 11, 30, 8, 30, 0, 0, time.UTC))
}

func oneShot(clock string, change ...func(*automation.Automation)) automation.Automation {
	return hourly(append(change, func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindAt, At: day(clock)}
	})...)
}

// day is a time of 30 November 2026 in UTC.
func day(clock string) time.Time {
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, clock); err == nil {
			return time.Date(2026, 11, 30, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
		}
	}
	panic(clock)
}

func input(now string, a automation.Automation, open ...automation.Run) automation.Input {
	return automation.Input{Now: day(now), Automations: []automation.Automation{a}, Runs: open, Zone: zone}
}

func run(clock string, status automation.Status, change ...func(*automation.Run)) automation.Run {
	r := automation.Run{
		ID: automation.RunID("job", day(clock), 1), AutomationID: "job", Name: "job", Slot: day(clock), Attempt: 1,
		Status: status, QueuedAt: day(clock),
	}
	if status == automation.Running {
		r.StartedAt = day(clock)
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

// shown writes the rows of a plan: "09:00 missed coalesced, 10:00-11:00(2) …".
func shown(runs []automation.Run) string {
	var out []string
	for _, r := range runs {
		s := r.Slot.UTC().Format("15:04:05")
		if r.Slot.IsZero() {
			s = "hand"
		}
		s = strings.TrimSuffix(s, ":00")
		if r.Count > 1 {
			s += "-" + r.Through.UTC().Format("15:04") + fmt.Sprintf("(%d)", r.Count)
		}
		if r.Attempt > 1 {
			s += fmt.Sprintf("#%d", r.Attempt)
		}
		s += " " + string(r.Status)
		if r.Code != "" {
			s += " " + string(r.Code)
		}
		if r.Status == automation.Queued && !r.NotBefore.IsZero() {
			s += " until " + r.NotBefore.UTC().Format("15:04:05")
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func policy(p automation.MissedPolicy, limit int, window time.Duration) func(*automation.Automation) {
	return func(a *automation.Automation) {
		a.Missed = automation.MissedRule{Policy: p, Limit: limit, WindowMs: window.Milliseconds()}
	}
}

func overlap(o automation.Overlap) func(*automation.Automation) {
	return func(a *automation.Automation) { a.Overlap = o }
}

func agent(a *automation.Automation) {
	a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
}

func settled(clock string, a automation.Automation) automation.Automation {
	a.State.Settled = day(clock)
	return a
}

// What becomes of slots that have come due, by policy.
func TestDecideSlots(t *testing.T) {
	for _, tt := range []struct {
		rule string
		in   automation.Input
		want string
		next string
	}{
		{"nothing is due", input("08:59:59", hourly()), "", "09:00"},
		{"not owed before its creation", input("08:45", hourly()), "", "09:00"},
		{"due", input("09:00", hourly()), "09:00 running", "10:00"},
		{"a tick that comes a minute late is on time", input("09:01:30", hourly(policy(automation.MissedSkip, 0, 0))), "09:00 running", "10:00"},
		{"decided once (openclaw 42640)", input("09:00:01", settled("09:00", hourly())), "", "10:00"},
		{"a clock set back repeats nothing", input("08:50", settled("10:00", hourly())), "", "11:00"},
		{"a correction of more than three hours: the new time counts", input("08:50", settled("23:00", hourly())), "", "09:00"},
		{"missed, once: the latest for all (openclaw 4018, 9084)", input("12:30", hourly()), "09:00-11:00(3) missed coalesced, 12:00 running", "13:00"},
		{"missed, skip", input("12:30", hourly(policy(automation.MissedSkip, 0, 0))), "09:00-12:00(4) missed late", "13:00"},
		{"missed, skip, but the last is on time", input("12:00:30", hourly(policy(automation.MissedSkip, 0, 0))), "09:00-11:00(3) missed late, 12:00 running", "13:00"},
		{"missed, all", input("12:30", hourly(policy(automation.MissedAll, 0, 0), overlap(automation.OverlapAllow))), "09:00 running, 10:00 running, 11:00 running, 12:00 running", "13:00"},
		{"missed, all, one after another", input("11:30", hourly(policy(automation.MissedAll, 0, 0))), "09:00 running, 10:00 queued overlap, 11:00 queued overlap", "12:00"},
		{"missed, all, with a limit", input("12:30", hourly(policy(automation.MissedAll, 2, 0), overlap(automation.OverlapAllow))), "09:00-10:00(2) missed limit, 11:00 running, 12:00 running", "13:00"},
		{"the limit is for missed ones", input("12:00:30", hourly(policy(automation.MissedAll, 2, 0), overlap(automation.OverlapAllow))), "09:00 missed limit, 10:00 running, 11:00 running, 12:00 running", "13:00"},
		{"missed, all, within a window", input("12:30", hourly(policy(automation.MissedAll, 0, 90*time.Minute), overlap(automation.OverlapAllow))), "09:00-10:00(2) missed window, 11:00 running, 12:00 running", "13:00"},
		{"missed, once, outside its window", input("12:30", hourly(policy(automation.MissedOnce, 0, 10*time.Minute))), "09:00-12:00(4) missed window", "13:00"},
		{"an agent's turn is not replayed by default (seed 003 section 8)", input("12:30", hourly(agent)), "09:00-12:00(4) missed late", "13:00"},
		{"switched off", input("12:30", hourly(func(a *automation.Automation) { a.Enabled = false })), "", ""},
		{"one-shot", input("09:20", oneShot("09:20")), "09:20 running", ""},
		{"one-shot, missed", input("13:20", oneShot("09:20")), "09:20 running", ""},
		{"one-shot of an agent, missed", input("13:20", oneShot("09:20", agent)), "09:20 running", ""},
		{"one-shot, missed and skipped on demand", input("13:20", oneShot("09:20", policy(automation.MissedSkip, 0, 0))), "09:20 missed late", ""},
		{"one-shot, later", input("09:00", oneShot("09:20")), "", "09:20"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := automation.Decide(tt.in)
			if got := shown(p.Runs); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
			next := ""
			if !p.Next.IsZero() {
				next = strings.TrimSuffix(p.Next.UTC().Format("15:04:05"), ":00")
			}
			if next != tt.next {
				t.Errorf("next %s; want %s", next, tt.next)
			}
			again := automation.Decide(after(tt.in, p))
			if s := shown(again.Runs); s != "" {
				t.Errorf("a second look decides again: %s", s)
			}
		})
	}
}

// after is what the next look sees, once a plan was written.
func after(in automation.Input, p automation.Plan) automation.Input {
	next := in
	next.Automations, next.Runs = nil, nil
	for _, a := range in.Automations {
		for _, changed := range p.Automations {
			if changed.ID == a.ID {
				a = changed
			}
		}
		next.Automations = append(next.Automations, a)
	}
	have := map[string]bool{}
	for _, r := range append(slices.Clone(p.Runs), in.Runs...) {
		if !have[r.ID] && r.Status.Open() {
			next.Runs = append(next.Runs, r)
		}
		have[r.ID] = true
	}
	next.Life = func(automation.Run) automation.Life { return automation.Alive }
	return next
}

// A switch for all: recurring ones are not made up, one-shots are (2.10,
// openclaw 73644).
func TestSkipMissed(t *testing.T) {
	in := input("12:30", hourly())
	in.SkipMissed = true
	if got, want := shown(automation.Decide(in).Runs), "09:00-12:00(4) missed late"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	in = input("12:30", oneShot("09:20"))
	in.SkipMissed = true
	if got, want := shown(automation.Decide(in).Runs), "09:20 running"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// byHand is a run that a person has started, and that goes on.
func byHand(clock string) automation.Run {
	return run(clock, automation.Running, func(r *automation.Run) {
		r.ID, r.Manual, r.Slot, r.StartedAt = "job@hand", true, time.Time{}, day(clock)
	})
}

// What becomes of a slot while an earlier run has not ended.
func TestOverlap(t *testing.T) {
	alive := func(in automation.Input) automation.Input {
		in.Life = func(automation.Run) automation.Life { return automation.Alive }
		return in
	}
	retry := run("09:00", automation.Queued, func(r *automation.Run) {
		r.Attempt, r.ID, r.NotBefore = 2, automation.RunID("job", r.Slot, 2), day("09:59:30")
	})
	for _, tt := range []struct {
		rule string
		in   automation.Input
		want string
		stop int
	}{
		{"skip", input("10:00", settled("09:00", hourly()), run("09:00", automation.Running)), "10:00 skipped overlap", 0},
		{"queue", input("10:00", settled("09:00", hourly(overlap(automation.OverlapQueue))), run("09:00", automation.Running)), "10:00 queued overlap", 0},
		{"allow", input("10:00", settled("09:00", hourly(overlap(automation.OverlapAllow))), run("09:00", automation.Running)), "10:00 running", 0},
		{"replace stops, and waits for the end", input("10:00", settled("09:00", hourly(overlap(automation.OverlapReplace))), run("09:00", automation.Running)), "09:00 running, 10:00 queued overlap", 1},
		{"replace takes the place of what waits", input("10:00", settled("09:00", hourly(overlap(automation.OverlapReplace))), run("09:00", automation.Queued, func(r *automation.Run) { r.NotBefore = day("11:00") })), "09:00 replaced replaced, 10:00 running", 0},
		{"a one-shot waits for a run by hand (openclaw 83538)", input("09:20", oneShot("09:20"), byHand("09:19")), "09:20 queued overlap", 0},
		{"a one-shot that is to be skipped", input("09:20", oneShot("09:20", overlap(automation.OverlapSkip)), byHand("09:19")), "09:20 skipped overlap", 0},
		{"a new slot comes instead of another attempt", input("10:00", settled("09:00", hourly()), retry), "09:00#2 replaced replaced, 10:00 running", 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := automation.Decide(alive(tt.in))
			if got := shown(p.Runs); got != tt.want || len(p.Stop) != tt.stop {
				t.Errorf("%s, %d to stop; want %s", got, len(p.Stop), tt.want)
			}
			for _, r := range p.Runs {
				if (r.Status == automation.Skipped || r.Status == automation.Replaced || r.Code == automation.CodeOverlap) && r.Why == "" {
					t.Errorf("no reason: %+v", r)
				}
			}
		})
	}
}

func TestAFullQueueSkips(t *testing.T) {
	in := input("10:00", settled("09:00", hourly(overlap(automation.OverlapQueue))), run("09:00", automation.Running))
	for i := range automation.MaxQueued {
		in.Runs = append(in.Runs, run(fmt.Sprintf("08:%02d", i), automation.Queued, func(r *automation.Run) { r.QueuedAt = day("09:30") }))
	}
	in.Life = func(automation.Run) automation.Life { return automation.Alive }
	if got, want := shown(automation.Decide(in).Runs), "10:00 skipped queue-full"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// A person is told after three skips in a row (pains B29), once.
func TestSkipsAreTold(t *testing.T) {
	a := settled("08:30", hourly())
	told := 0
	for h := 10; h < 15; h++ {
		in := input(fmt.Sprintf("%02d:00", h), settled(fmt.Sprintf("%02d:00", h-1), a), run("09:00", automation.Running))
		in.Life = func(automation.Run) automation.Life { return automation.Alive }
		p := automation.Decide(in)
		a = p.Automations[0]
		for _, n := range p.Notices {
			told++
			if n.Code != "skips" || h != 12 || n.Hint == "" || !strings.Contains(n.Text, "3 times in a row") {
				t.Errorf("at %d: %+v", h, n)
			}
		}
	}
	if told != 1 || a.State.ConsecutiveSkips != 5 {
		t.Errorf("told %d times, %d skips", told, a.State.ConsecutiveSkips)
	}
}

// many gives n automations that are due at the same slots.
func many(n int, clock string, change ...func(*automation.Automation)) automation.Input {
	in := automation.Input{Now: day(clock), Zone: zone}
	for i := range n {
		a := hourly(change...)
		a.ID, a.Name = fmt.Sprintf("job%02d", i), fmt.Sprintf("job%02d", i)
		a.State.LastRunAt = day("08:00").Add(time.Duration(-i) * time.Minute) // the last has waited longest
		in.Automations = append(in.Automations, a)
	}
	return in
}

// 2.7: at most so many at once; the others wait, nothing is lost, and whoever
// has waited longest is first.
func TestMaxConcurrent(t *testing.T) {
	in := many(10, "09:00")
	in.MaxCommands = 3
	p := automation.Decide(in)
	var started []string
	for _, r := range p.Start {
		started = append(started, r.AutomationID)
	}
	if got := strings.Join(started, " "); got != "job09 job08 job07" {
		t.Errorf("started %s", got)
	}
	waiting := 0
	for _, r := range p.Runs {
		if r.Status == automation.Queued {
			waiting++
			if r.Code != automation.CodeConcurrency || r.Why == "" {
				t.Errorf("%+v", r)
			}
		}
	}
	if waiting != 7 {
		t.Errorf("%d wait", waiting)
	}
	next := after(in, p)
	next.Runs = slices.DeleteFunc(next.Runs, func(r automation.Run) bool { return r.Status == automation.Running })
	next.Now = day("10:00:00").Add(-time.Second)
	if p = automation.Decide(next); len(p.Start) != 3 || p.Start[0].AutomationID != "job06" || p.Start[0].LateMs != 3599000 {
		t.Errorf("%s", shown(p.Start))
	}
}

// 2.10: five missed ones at once, the others five seconds apart.
func TestCatchUpIsSpread(t *testing.T) {
	p := automation.Decide(many(8, "09:30"))
	if len(p.Start) != 5 {
		t.Errorf("%d start at once", len(p.Start))
	}
	var at []string
	for _, r := range p.Runs {
		if r.Status == automation.Queued {
			at = append(at, r.NotBefore.Format("15:04:05"))
			if r.Code != automation.CodeCatchUp {
				t.Errorf("%+v", r)
			}
		}
	}
	if got := strings.Join(at, " "); got != "09:30:05 09:30:10 09:30:15" {
		t.Errorf("the others at %s", got)
	}
	if want := day("09:30:05"); !p.Next.Equal(want) {
		t.Errorf("next %s", p.Next)
	}
	if p := automation.Decide(many(8, "09:00:30")); len(p.Start) != 8 {
		t.Errorf("%d of 8 on time start at once", len(p.Start))
	}
}

// 2.10 and seed 003 section 8: turns of agents are held for two minutes after
// a boot; commands are not.
func TestHeldAfterBoot(t *testing.T) {
	for _, tt := range []struct {
		rule string
		in   automation.Input
		want string
	}{
		{"a turn due before the boot", input("09:01:00", hourly(agent)), "09:00 queued boot until 09:02:30"},
		{"a turn made up", input("09:01", hourly(agent, policy(automation.MissedOnce, 0, 0))), "09:00 queued boot until 09:02:30"},
		{"a reminder that wakes at once", input("09:01", hourly(func(a *automation.Automation) {
			a.Payload = automation.Payload{Kind: automation.PayloadEvent, Text: "tea"}
		})), "09:00 queued boot until 09:02:30"},
		{"a reminder for the next heartbeat", input("09:01", hourly(func(a *automation.Automation) {
			a.Payload, a.WakeMode = automation.Payload{Kind: automation.PayloadEvent, Text: "tea"}, "next-heartbeat"
		})), "09:00 running"},
		{"a command", input("09:01", hourly()), "09:00 running"},
		{"a turn, long after", input("10:00", settled("09:00", hourly(agent))), "10:00 running"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			tt.in.Boot = day("09:00:30")
			if got := shown(automation.Decide(tt.in).Runs); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
	in := many(3, "09:01", agent)
	in.Boot = day("09:00:30")
	if got, want := shown(automation.Decide(in).Runs), "09:00 queued boot until 09:02:30, 09:00 queued boot until 09:02:35, 09:00 queued boot until 09:02:40"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	in = input("09:02:30", settled("09:00", hourly(agent)), run("09:00", automation.Queued, func(r *automation.Run) { r.NotBefore = day("09:02:30") }))
	if got, want := shown(automation.Decide(in).Runs), "09:00 running"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// 2.7 and 2.8: what holds a slot back.
func TestDelays(t *testing.T) {
	for _, tt := range []struct {
		rule  string
		in    automation.Input
		state func(*automation.State)
		want  string
	}{
		{"back-off", input("09:00", hourly()), func(s *automation.State) {
			s.ConsecutiveErrors, s.BackoffUntil, s.LastEndAt = 5, day("09:40"), day("08:40")
		}, "09:00 queued backoff until 09:40:00"},
		{"back-off that is over", input("09:00", hourly()), func(s *automation.State) {
			s.ConsecutiveErrors, s.BackoffUntil, s.LastEndAt = 5, day("09:00"), day("08:40")
		}, "09:00 running"},
		{"back-off after the clock was set back", input("09:00", hourly()), func(s *automation.State) {
			s.ConsecutiveErrors, s.BackoffUntil, s.LastEndAt = 5, day("11:40"), day("10:40")
		}, "09:00 running"},
		{"2 s after the end of a run (openclaw 14164, 17821)", input("09:00", hourly()), func(s *automation.State) { s.LastEndAt = day("08:59:59") }, "09:00 queued refire-gap until 09:00:01"},
		{"seconds that were asked for have no gap", input("09:00", hourly(func(a *automation.Automation) { a.Schedule.Expr = "* * * * * *" })), func(s *automation.State) {
			s.LastEndAt, s.Settled = day("08:59:59"), day("08:59:59")
		}, "09:00 running"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			tt.state(&tt.in.Automations[0].State)
			p := automation.Decide(tt.in)
			if got := shown(p.Runs); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

// A one-shot whose slot has a run already never fires again (openclaw 11612,
// 56488).
func TestRecordedSlotsAreLeftAlone(t *testing.T) {
	in := input("09:20", oneShot("09:20"))
	in.Recorded = func(id string) bool { return id == "job@20261130T092000Z" }
	if p := automation.Decide(in); len(p.Runs) != 0 || len(p.Automations) != 1 || p.Automations[0].Enabled {
		t.Errorf("%+v", p)
	}
	in = input("12:30", hourly())
	in.Recorded = func(id string) bool { return id == "job@20261130T090000Z" || id == "job@20261130T120000Z" }
	if got, want := shown(automation.Decide(in).Runs), "10:00-11:00(2) missed coalesced"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// 2.8: three errors in computing the next time, a minute apart, and it is off;
// the others go on.
func TestScheduleErrors(t *testing.T) {
	in := many(2, "08:40")
	in.Automations[0].Schedule.TZ = "Mars/Olympus"
	notices := 0
	for i := range 5 {
		in.Now = day("08:40").Add(time.Duration(i) * 40 * time.Second)
		p := automation.Decide(in)
		notices += len(p.Notices)
		for _, a := range p.Automations {
			in.Automations[0] = a
		}
		if off := in.Automations[0].State.AutoDisabled; (off != nil) != (i >= 4) {
			t.Errorf("after %s: %+v", in.Now.Sub(day("08:40")), off)
		}
		if p.Next != day("09:00") {
			t.Errorf("the other one is next at %s", p.Next)
		}
	}
	if a := in.Automations[0]; a.Enabled || a.State.AutoDisabled.Reason != automation.ReasonSchedule || notices != 1 {
		t.Errorf("%+v, %d notices", a.State, notices)
	}
	healed := hourly()
	healed.State.ScheduleErrors, healed.State.ScheduleError = 2, "x"
	if p := automation.Decide(input("08:40", healed)); p.Automations[0].State.ScheduleErrors != 0 {
		t.Errorf("%+v", p.Automations[0].State)
	}
}

// 2.12: pacing.
func TestPaced(t *testing.T) {
	paced := func(clock string) automation.Automation {
		a := settled("09:00", hourly(func(a *automation.Automation) { a.Pacing = &automation.Pacing{} }))
		a.State.PacedAt, a.State.LastEndAt = day(clock), day("09:00:10")
		return a
	}
	for _, tt := range []struct{ rule, now, paced, want, next string }{
		{"earlier than the next slot", "09:20", "09:20", "09:20 running", "10:00"},
		{"the time that was asked for is waited for", "09:19", "09:20", "", "09:20"},
		{"slots before it are skipped", "11:00", "11:30", "10:00-11:00(2) skipped paced", "11:30"},
		{"then it is a slot", "11:30", "11:30", "10:00-11:00(2) skipped paced, 11:30 running", "12:00"},
		{"missed, and a later slot stands for it", "12:00", "11:30", "10:00-11:00(2) skipped paced, 11:30 missed coalesced, 12:00 running", "13:00"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := automation.Decide(input(tt.now, paced(tt.paced)))
			if got := shown(p.Runs); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
			if want := day(tt.next); !p.Next.Equal(want) {
				t.Errorf("next %s; want %s", p.Next, want)
			}
		})
	}
}

// 2.7: never longer than a minute, never a hot loop.
func TestSleep(t *testing.T) {
	for _, tt := range []struct {
		next string
		want time.Duration
	}{{"09:00:20", 20 * time.Second}, {"12:00", time.Minute}, {"09:00", 2 * time.Second}, {"08:00", 2 * time.Second}} {
		if got := (automation.Plan{Next: day(tt.next)}).Sleep(day("09:00")); got != tt.want {
			t.Errorf("next %s: %s", tt.next, got)
		}
	}
	if got := (automation.Plan{}).Sleep(day("09:00")); got != time.Minute {
		t.Errorf("never: %s", got)
	}
}

// A schedule of seconds after a clock that was years ahead: bounded (flyte
// 6470).
func TestManyMissedSlots(t *testing.T) {
	in := input("09:00", hourly(func(a *automation.Automation) { a.Schedule.Expr = "* * * * * *" }))
	in.Now = in.Now.AddDate(3, 0, 0)
	p := automation.Decide(in)
	if len(p.Runs) != 2 || !p.Runs[0].AtLeast || p.Runs[0].Count < 9000 || !p.Runs[0].Through.Equal(in.Now.Add(-time.Second)) || p.Runs[1].Status != automation.Running {
		t.Errorf("%+v", p.Runs)
	}
}

// Looking changes nothing (openclaw 12440): the plan is computed on copies.
func TestDecideIsPure(t *testing.T) {
	in := input("12:30", hourly(), run("09:00", automation.Queued), run("08:40", automation.Running))
	in.Life = func(automation.Run) automation.Life { return automation.Dead }
	before := fmt.Sprintf("%+v", in.Automations) + fmt.Sprintf("%+v", in.Runs)
	first := automation.Decide(in)
	if got := fmt.Sprintf("%+v", in.Automations) + fmt.Sprintf("%+v", in.Runs); got != before {
		t.Errorf("changed:\n%s\n%s", before, got)
	}
	if a, b := shown(first.Runs), shown(automation.Decide(in).Runs); a != b {
		t.Errorf("%s, then %s", a, b)
	}
}

func BenchmarkDecide10000NoneDue(b *testing.B) {
	in := many(10000, "08:40")
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	in.Zone = func(string) (*time.Location, error) { return berlin, nil }
	for b.Loop() {
		automation.Decide(in)
	}
}
