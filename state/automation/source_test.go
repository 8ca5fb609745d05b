package automation_test

import (
	"fmt"
	"testing"
	"time"

	"claw/state/automation"

	"pgregory.net/rapid"
)

// onExit waits for make to end; it was made at 08:30.
func onExit(change ...func(*automation.Automation)) automation.Automation {
	return hourly(append([]func(*automation.Automation){func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindOnExit, Command: "make", Cwd: "/src"}
	}}, change...)...)
}

// stream listens to tail; it was made at 08:30.
func stream(change ...func(*automation.Automation)) automation.Automation {
	return hourly(append([]func(*automation.Automation){func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindStream, Argv: []string{"tail", "-f", "log"}}
		a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
	}}, change...)...)
}

func watch(change ...func(*automation.Automation)) automation.Automation {
	return hourly(append([]func(*automation.Automation){func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindWatch, Dir: "/in"}
	}}, change...)...)
}

func atBoot(change ...func(*automation.Automation)) automation.Automation {
	return hourly(append([]func(*automation.Automation){func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindBoot}
	}}, change...)...)
}

// edit is an automation after a person's change.
func edit(a automation.Automation, clock string, change func(*automation.Automation)) automation.Automation {
	next := a
	change(&next)
	next, _ = automation.Edit(a, next, day(clock), zone)
	return next
}

func off(a *automation.Automation) { a.Enabled = false }
func on(a *automation.Automation)  { a.Enabled = true }

// live is the source of an automation whose command runs.
func live(a automation.Automation) *automation.Source {
	armed := automation.Arm(&a, nil, day("09:00"))
	s := armed.Source.Claimed(automation.Owner{ProcessID: "P"}).Began()
	return &s
}

// 3.4, 3.5: what is to be done about a source.
func TestArm(t *testing.T) {
	exit, lines := onExit(), stream()
	waits := func(a automation.Automation, clock string) *automation.Source {
		s := *live(a)
		s.Owner, s.Status, s.RetryAt, s.Failures = nil, automation.SourceRestarting, day(clock), 1
		return &s
	}
	given := func(a automation.Automation) (automation.Automation, *automation.Source) {
		f := automation.Fired{Automation: a, Source: *live(a)}
		for range 5 {
			f.Source.Owner = &automation.Owner{ProcessID: "P"}
			f = automation.StreamEnded(f.Automation, f.Source, automation.SourceEnd{Began: day("09:00"), At: day("09:00:01"), Code: new(1)}, day("09:00:01"))
		}
		return f.Automation, &f.Source
	}
	gaveUp, exhausted := given(lines)
	fired := automation.OnExitEnded(exit, *live(exit), automation.SourceEnd{Began: day("09:00"), At: day("09:05"), Code: new(0)}, "x", day("09:05"))
	gone := (*automation.Automation)(nil)
	ending := live(exit)
	ending.Status = automation.SourceStopping
	at := func(a automation.Automation) *automation.Automation { return &a }
	for _, tt := range []struct {
		rule string
		a    *automation.Automation
		src  *automation.Source
		now  string
		want string // start, stop, remove, keep; the status; when it is looked at again
	}{
		{"a new on-exit: its command is started", &exit, nil, "09:00", "start restarting"},
		{"a new stream: its command is started", &lines, nil, "09:00", "start restarting"},
		{"a new watch: nothing is started", at(watch()), nil, "09:00", "keep running"},
		{"a new @reboot: nothing is started", at(atBoot()), nil, "09:00", "keep running"},
		{"one by the clock: it has no source", at(hourly()), nil, "09:00", "remove "},
		{"one that is off", at(onExit(off)), nil, "09:00", "remove "},
		{"it runs", &exit, live(exit), "09:10", "keep running"},
		{"it waits", &exit, waits(exit, "09:10:30"), "09:10", "keep restarting 09:10:30"},
		{"it has waited", &exit, waits(exit, "09:10:30"), "09:10:30", "start restarting"},
		{"the clock was set back: it waits for no longer than the longest step", &exit, waits(exit, "09:10:30"), "08:50", "start restarting"},

		{"another name: it goes on (openclaw 99709, 104518)", at(edit(exit, "09:10", func(a *automation.Automation) { a.Name = "x" })), live(exit), "09:10", "keep running"},
		{"another payload: it goes on", at(edit(exit, "09:10", func(a *automation.Automation) { a.Payload.Argv = []string{"x"} })), live(exit), "09:10", "keep running"},
		{"the same once more: it goes on", at(edit(exit, "09:10", func(a *automation.Automation) {})), live(exit), "09:10", "keep running"},
		{"a stream of which something else is told: it goes on", at(edit(lines, "09:10", func(a *automation.Automation) {
			a.Schedule.Mode, a.Schedule.Match, a.Schedule.BatchMs = "match", "x", 50
		})), live(lines), "09:10", "keep running"},
		{"another command: the old one is ended first", at(edit(exit, "09:10", func(a *automation.Automation) { a.Schedule.Command = "x" })), live(exit), "09:10", "stop stopping"},
		{"another directory to run in", at(edit(exit, "09:10", func(a *automation.Automation) { a.Schedule.Cwd = "/" })), live(exit), "09:10", "stop stopping"},
		{"another argv", at(edit(lines, "09:10", func(a *automation.Automation) { a.Schedule.Argv = []string{"x"} })), live(lines), "09:10", "stop stopping"},
		{"another command, before the old one ran", at(edit(exit, "09:10", func(a *automation.Automation) { a.Schedule.Command = "x" })), waits(exit, "09:15"), "09:10", "start restarting"},
		{"by the clock now", at(edit(exit, "09:10", func(a *automation.Automation) { a.Schedule = hourly().Schedule })), live(exit), "09:10", "stop stopping"},
		{"by the clock now, and the old one has ended", at(edit(exit, "09:10", func(a *automation.Automation) { a.Schedule = hourly().Schedule })), waits(exit, "09:15"), "09:10", "remove restarting"},

		{"switched off", at(edit(exit, "09:10", off)), live(exit), "09:10", "stop stopping"},
		{"switched off while it waits", at(edit(exit, "09:10", off)), waits(exit, "09:15"), "09:10", "keep stopped"},
		{"off and on again between two looks: started anew", at(edit(edit(exit, "09:10", off), "09:11", on)), live(exit), "09:12", "stop stopping"},
		{"off and on again while it waits: at once", at(edit(edit(exit, "09:10", off), "09:11", on)), waits(exit, "09:15"), "09:12", "start restarting"},
		{"on again by a clock that was set back, while the command is being ended", at(edit(edit(exit, "08:40", off), "08:41", on)), ending, "08:42", "stop stopping"},
		{"removed", gone, live(exit), "09:10", "stop stopping"},
		{"removed, and its command has ended", gone, waits(exit, "09:15"), "09:10", "remove restarting"},
		{"removed, and no source", gone, nil, "09:10", "remove "},

		{"an on-exit that has fired is off, and stays", &fired.Automation, &fired.Source, "09:10", "keep stopped"},
		{"switched on again, it waits for another end", at(edit(fired.Automation, "09:20", on)), &fired.Source, "09:20", "start restarting"},
		{"a stream that was given up stays so", &gaveUp, exhausted, "23:00", "keep error"},
		{"until it is switched on again", at(edit(gaveUp, "23:00", on)), exhausted, "23:00", "start restarting"},
		{"also by a clock that was set back", at(edit(gaveUp, "08:40", on)), exhausted, "08:40", "start restarting"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			armed := automation.Arm(tt.a, tt.src, day(tt.now))
			got := "keep"
			switch {
			case armed.Start:
				got = "start"
			case armed.Stop:
				got = "stop"
			case armed.Remove:
				got = "remove"
			}
			got += " " + string(armed.Source.Status)
			if !armed.Next.IsZero() {
				got += " " + armed.Next.Format("15:04:05")
			}
			if got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

// A source that is armed anew knows nothing of before, but which boot it is.
func TestArmForgets(t *testing.T) {
	a := stream()
	src := *live(a)
	src.Owner, src.Failures, src.Dropped, src.Offset, src.FiredAt, src.Error = nil, 3, 7, 99, day("09:00"), "x"
	b := edit(a, "09:10", func(a *automation.Automation) { a.Schedule.Argv = []string{"other"} })
	got := automation.Arm(&b, &src, day("09:10")).Source
	want := automation.Source{AutomationID: "job", ScheduleRev: 1, Status: automation.SourceRestarting, ArmedAt: day("09:10")}
	if got != want {
		t.Errorf("%+v", got)
	}
	boot := atBoot()
	known := automation.Arm(&boot, nil, day("09:00")).Source
	known.Boot = "b1"
	again := edit(edit(boot, "09:10", off), "09:11", on)
	if got := automation.Arm(&again, &known, day("09:12")).Source; got.Boot != "b1" {
		t.Errorf("%+v", got)
	}
}

// What a command of before says counts no more.
func TestUnwanted(t *testing.T) {
	a := stream()
	moved := edit(a, "09:10", func(a *automation.Automation) { a.Schedule.Argv = []string{"x"} })
	stopped := edit(a, "09:10", off)
	clocked := edit(a, "09:10", func(a *automation.Automation) { a.Schedule = hourly().Schedule })
	named := edit(a, "09:10", func(a *automation.Automation) { a.Name = "x" })
	src := *live(a)
	for _, tt := range []struct {
		rule string
		a    *automation.Automation
		want bool
	}{{"as it was", &a, false}, {"renamed", &named, false}, {"another command", &moved, true}, {"off", &stopped, true}, {"by the clock", &clocked, true}, {"gone", nil, true}} {
		if got := src.Unwanted(tt.a); got != tt.want {
			t.Errorf("%s: %v", tt.rule, got)
		}
	}
}

// yard is one source while everything happens to it: a person, the clock, the
// end of its command, in any order.
type yard struct {
	t                    *rapid.T
	a                    *automation.Automation
	src                  *automation.Source
	now                  time.Time
	up                   int    // commands that run
	what                 string // the command that runs
	n                    int    // of claims
	fires, changes, offs int
}

// look is what a pass does.
func (y *yard) look() {
	armed := automation.Arm(y.a, y.src, y.now)
	if armed.Start && (y.up > 0 || y.a == nil || !y.a.Enabled) {
		y.t.Fatalf("started beside %d others: %+v", y.up, armed.Source)
	}
	switch {
	case armed.Remove:
		if y.up > 0 {
			y.t.Fatal("its row is removed while its command runs")
		}
		y.src = nil
		return
	case armed.Start:
		y.n++
		y.up, y.what = 1, y.a.Schedule.Command
		armed.Source = armed.Source.Claimed(automation.Owner{ProcessID: fmt.Sprint("P", y.n)}).Began()
	case armed.Stop:
		if y.up == 0 {
			y.t.Fatal("nothing is there to be stopped")
		}
		if !armed.Source.Unwanted(y.a) {
			y.t.Fatalf("what is wanted is stopped: %+v", armed.Source)
		}
	}
	y.src = &armed.Source
}

// end is the end of the command.
func (y *yard) end(end automation.SourceEnd) {
	if y.up == 0 {
		return
	}
	y.up = 0
	if y.src.Unwanted(y.a) {
		s := y.src.EndedStale()
		y.src = &s
		return
	}
	if y.what != y.a.Schedule.Command {
		y.t.Fatalf("the end of %s is taken for that of %s", y.what, y.a.Schedule.Command)
	}
	f := automation.OnExitEnded(*y.a, *y.src, end, "r", y.now)
	if fires := f.Run != nil && f.Run.Status == automation.Queued; fires {
		y.fires++
		if f.Automation.Enabled || end.Unknown || end.Error != "" {
			y.t.Fatalf("it fires: %+v", f)
		}
	}
	y.a, y.src = &f.Automation, &f.Source
}

func (y *yard) edit(change func(*automation.Automation)) {
	if y.a == nil {
		return
	}
	next := *y.a
	change(&next)
	next, _ = automation.Edit(*y.a, next, y.now, zone)
	y.a = &next
}

// Whatever happens, and in whatever order: two commands of one source never run
// at once, an on-exit fires once each time it is switched on, and in the end
// there is what is wanted.
func TestSourcesAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := onExit()
		y := &yard{t: t, a: &a, now: day("09:00")}
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			step := rapid.IntRange(0, 10).Draw(t, "step")
			switch step {
			case 0:
				y.edit(func(a *automation.Automation) { a.Name += "x" })
			case 1:
				y.changes++
				y.edit(func(a *automation.Automation) { a.Schedule.Command += "x" })
			case 2:
				y.edit(off)
			case 3:
				if y.a != nil && !y.a.Enabled {
					y.offs++
				}
				y.edit(on)
			case 4:
				y.end(automation.SourceEnd{Began: y.now, At: y.now, Code: new(0)})
			case 5:
				y.end(automation.SourceEnd{At: y.now, Error: "fork: no memory"})
			case 6:
				y.end(automation.SourceEnd{Began: y.now, At: y.now, Unknown: true})
			case 7:
				y.now = y.now.Add(time.Duration(rapid.IntRange(-7200, 7200).Draw(t, "seconds")) * time.Second)
			case 8:
				if rapid.IntRange(0, 9).Draw(t, "remove") == 0 {
					y.a = nil
				}
			default:
				y.look()
			}
		}
		if y.fires > 1+y.offs {
			t.Fatalf("it fired %d times, and was switched on %d times", y.fires, 1+y.offs)
		}
		for range 3 { // settles: what is not wanted ends, what waits is started
			y.look()
			if y.up > 0 && y.src.Unwanted(y.a) {
				y.end(automation.SourceEnd{At: y.now, Code: new(143)})
			}
			y.now = y.now.Add(20 * time.Minute)
		}
		switch wanted := y.a != nil && y.a.Enabled; {
		case wanted && (y.up != 1 || y.what != y.a.Schedule.Command):
			t.Fatalf("%d run, of %q: %+v", y.up, y.what, y.src)
		case !wanted && y.up != 0:
			t.Fatalf("it still runs: %+v", y.src)
		case y.a == nil && y.src != nil:
			t.Fatalf("its row is still there: %+v", y.src)
		}
	})
}
