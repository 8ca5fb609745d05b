package automation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/state/automation"
)

// pains B30: 500 ms of quiet, and a ceiling of 5 s.
func TestDebounce(t *testing.T) {
	every := func(ms, until int) []int {
		var out []int
		for at := 0; at <= until; at += ms {
			out = append(out, at)
		}
		return out
	}
	for _, tt := range []struct {
		rule string
		at   []int // changes, in ms
		want int   // ms; -1 for never
	}{
		{"nothing", nil, -1},
		{"one", []int{0}, 500},
		{"three events for one save (watchexec 253)", []int{0, 2, 5}, 505},
		{"quiet begins with the last", []int{0, 400, 800}, 1300},
		{"a log that is written all the time", every(100, 10000), 5000},
		{"the last just before the ceiling", []int{0, 450, 900, 1350, 1800, 2250, 2700, 3150, 3600, 4050, 4500, 4900}, 5000},
		{"the clock was set back", []int{10000, 0}, 500},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var d automation.Debounce
			for _, ms := range tt.at {
				d = d.Saw(day("09:00").Add(time.Duration(ms) * time.Millisecond))
			}
			at, ok := d.At()
			if ok != (tt.want >= 0) || ok && at.Sub(day("09:00")) != time.Duration(tt.want)*time.Millisecond {
				t.Errorf("%s, %v", at, ok)
			}
		})
	}
}

func file(name string, size int64, clock string) automation.Entry {
	return automation.Entry{Name: name, Size: size, ModTime: day(clock)}
}

// What makes a directory another one.
func TestScan(t *testing.T) {
	base := []automation.Entry{file("a", 1, "09:00"), file("b/c", 2, "09:01"), {Name: "b", Dir: true}}
	with := func(change func([]automation.Entry) []automation.Entry) []automation.Entry {
		return change(slices.Clone(base))
	}
	for _, tt := range []struct {
		rule    string
		entries []automation.Entry
		same    bool
		changed string
	}{
		{"the same", base, true, ""},
		{"in another order", with(func(e []automation.Entry) []automation.Entry { slices.Reverse(e); return e }), true, ""},
		{"the time of a directory", with(func(e []automation.Entry) []automation.Entry { e[2].ModTime, e[2].Size = day("10:00"), 4096; return e }), true, ""},
		{"a file that is new", append(slices.Clone(base), file("d", 0, "09:00")), false, "d"},
		{"a file that is gone", base[1:], false, "a"},
		{"another size", with(func(e []automation.Entry) []automation.Entry { e[0].Size = 9; return e }), false, "a"},
		{"another time", with(func(e []automation.Entry) []automation.Entry { e[0].ModTime = e[0].ModTime.Add(1); return e }), false, "a"},
		{"another name", with(func(e []automation.Entry) []automation.Entry { e[0].Name = "z"; return e }), false, "a z"},
		{"a file where a directory was", with(func(e []automation.Entry) []automation.Entry { e[2] = file("b", 0, "09:00"); return e }), false, "b"},
		{"nothing at all", nil, false, "a b b/c"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			was := automation.Scan(base)
			got := automation.Scan(tt.entries)
			if (got == was) != tt.same || got == "" {
				t.Errorf("%q, before %q", got, was)
			}
			var names []string
			for _, e := range automation.Changes(base, tt.entries) {
				names = append(names, e.Name)
			}
			if s := strings.Join(names, " "); s != tt.changed {
				t.Errorf("changed %q; want %q", s, tt.changed)
			}
		})
	}
	odd := []automation.Entry{file("a\n\"b", 1, "09:00")}
	two := []automation.Entry{file("a", 1, "09:00"), file("b", 1, "09:00")}
	if automation.Scan(odd) == automation.Scan(two) {
		t.Error("a name with a newline is two names")
	}
	if !slices.Equal(base, []automation.Entry{file("a", 1, "09:00"), file("b/c", 2, "09:01"), {Name: "b", Dir: true}}) {
		t.Error("the list that was given is sorted")
	}
}

// ended is a run of the watch.
func ended(from, to string) *automation.Run {
	r := automation.Run{ID: "job@0", AutomationID: "job", Status: automation.Succeeded, StartedAt: day(from), EndedAt: day(to)}
	return &r
}

// pains B30: what a scan sets off.
func TestWatched(t *testing.T) {
	a := watch()
	armed := automation.Arm(&a, nil, day("09:00")).Source
	seen := func(digest string) automation.Source {
		s := armed
		s.Seen, s.SeenAt = digest, day("09:00")
		return s
	}
	for _, tt := range []struct {
		rule    string
		src     automation.Source
		digest  string
		changed []automation.Entry
		input   string // of the run; "-" for none
	}{
		{"the first look is what it begins with", armed, "x", nil, "-"},
		{"nothing has changed", seen("x"), "x", nil, "-"},
		{"something has", seen("x"), "y", []automation.Entry{file("a", 1, "09:01"), file("b", 1, "09:01")}, "a\nb"},
		{"nobody knows what (it changed while nothing ran)", seen("x"), "y", nil, ""},
		{"a name that is two lines", seen("x"), "y", []automation.Entry{file("a\nb", 1, "09:01")}, `"a\nb"`},
		{"a name that is no text", seen("x"), "y", []automation.Entry{file("a\xff", 1, "09:01")}, "a\uFFFD"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			f := automation.Watched(a, tt.src, tt.digest, tt.changed, nil, "job@1", day("09:02"))
			got := "-"
			if f.Run != nil {
				got = f.Run.Input
				if f.Run.ID != "job@1" || f.Run.Status != automation.Queued || !f.Source.FiredAt.Equal(day("09:02")) {
					t.Errorf("%+v", f)
				}
			}
			if got != tt.input || f.Source.Seen != tt.digest || !f.Automation.Enabled {
				t.Errorf("%q, %+v", got, f.Source)
			}
		})
	}
	var many []automation.Entry
	for i := range 120 {
		many = append(many, file(fmt.Sprintf("f%03d", i), 1, "09:01"))
	}
	if got := automation.WatchText([]automation.Entry{file("a", 1, "09:01"), {Name: "b", Gone: true}, file("deleted: c", 1, "09:01")}); got != "a\ndeleted: b\n\"deleted: c\"" {
		t.Errorf("%q", got)
	}
	if got := automation.WatchText(many); !strings.HasPrefix(got, "f000\nf001\n") || !strings.HasSuffix(got, "\nf099\nand 20 more") {
		t.Errorf("%.40q … %q", got, got[len(got)-40:])
	}
}

// pains B30: a run that changes what it watches.
func TestWatchLoop(t *testing.T) {
	inside, outside, gone := file("out.log", 1, "09:00:30"), file("in.csv", 1, "09:01:30"), automation.Entry{Name: "tmp", Gone: true}
	last := ended("09:00", "09:01")
	type scan struct {
		changed []automation.Entry
		last    *automation.Run
	}
	loop := scan{[]automation.Entry{inside}, last}
	for _, tt := range []struct {
		rule  string
		scans []scan
		want  string // f: fires, x: switched off
	}{
		{"six times may be", []scan{loop, loop, loop, loop, loop, loop}, "ffffff"},
		{"the seventh time it is switched off", []scan{loop, loop, loop, loop, loop, loop, loop}, "ffffffx"},
		{"somebody else in between", []scan{loop, loop, loop, loop, loop, loop, {[]automation.Entry{inside, outside}, last}, loop, loop, loop, loop, loop, loop, loop}, "fffffffffffffx"},
		{"files of others alone", times(7, scan{[]automation.Entry{outside}, last}), "fffffff"},
		{"the first has no run before", []scan{{[]automation.Entry{inside}, nil}, loop, loop, loop, loop, loop, loop}, "fffffff"},
		{"what is gone tells nothing", times(7, scan{[]automation.Entry{gone}, last}), "fffffff"},
		{"what is gone beside what was written", []scan{{[]automation.Entry{gone, inside}, last}, loop, loop, loop, loop, loop, {[]automation.Entry{gone, inside}, last}}, "ffffffx"},
		{"nobody knows what has changed", []scan{loop, loop, loop, loop, loop, loop, {nil, last}, loop}, "ffffffff"},
		{"at the very beginning and end of the run", []scan{{[]automation.Entry{file("a", 1, "09:00")}, last}, {[]automation.Entry{file("a", 1, "09:01")}, last}, loop, loop, loop, loop, loop}, "ffffffx"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			a := watch()
			src := automation.Arm(&a, nil, day("09:00")).Source
			src.Seen = "0"
			got := ""
			for i, s := range tt.scans {
				f := automation.Watched(a, src, fmt.Sprint(i+1), s.changed, s.last, "job@1", day("09:03"))
				a, src = f.Automation, f.Source
				switch {
				case f.Run != nil:
					got += "f"
				case !a.Enabled:
					got += "x"
					if a.State.AutoDisabled.Reason != "feedback-loop" || len(f.Notices) != 1 || !strings.Contains(f.Notices[0].Text, "out.log") || !strings.Contains(f.Notices[0].Hint, "claw cron enable job") || src.Status != automation.SourceError {
						t.Errorf("%+v", f)
					}
				}
			}
			if got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

func times[T any](n int, v T) []T {
	return slices.Repeat([]T{v}, n)
}

// A person who saves files while runs go on makes what a loop makes. Only when
// it is left alone do they differ: a run of ten seconds, which ended at
// 09:00:10, is followed by 20 s without one.
func TestWatchLeftAlone(t *testing.T) {
	mine, theirs := file("a", 1, "09:00:05"), file("a", 2, "09:00:12")
	last := ended("09:00:00", "09:00:10")
	type look struct {
		at      string
		digest  string
		changed []automation.Entry
	}
	for _, tt := range []struct {
		rule  string
		loops int // before
		looks []look
		want  string // f: fires, -: waits; and the count after
	}{
		{"the first two are told at once", 1, []look{{"09:00:11", "y", []automation.Entry{mine}}}, "f 2"},
		{"then it waits for as long as nothing changes", 2, []look{{"09:00:11", "y", []automation.Entry{mine}}, {"09:00:29", "y", []automation.Entry{mine}}}, "-- 2"},
		{"and then it is told", 2, []look{{"09:00:11", "y", []automation.Entry{mine}}, {"09:00:30", "y", []automation.Entry{mine}}}, "-f 3"},
		{"somebody saves meanwhile", 5, []look{{"09:00:11", "y", []automation.Entry{mine}}, {"09:00:13", "z", []automation.Entry{theirs}}}, "-f 0"},
		{"somebody takes something away meanwhile", 5, []look{{"09:00:11", "y", []automation.Entry{mine}}, {"09:00:13", "z", []automation.Entry{mine, {Name: "b", Gone: true}}}}, "-f 0"},
		{"somebody had saved before it was looked at", 6, []look{{"09:00:13", "y", []automation.Entry{mine, theirs}}}, "f 0"},
		{"what changed is taken back", 6, []look{{"09:00:11", "y", []automation.Entry{mine}}, {"09:00:12", "x", nil}}, "-- 6"},
		{"the clock was set back", 2, []look{{"08:00:00", "y", []automation.Entry{mine}}}, "f 3"},
		{"nobody does, and each run does", 6, []look{{"09:00:11", "y", []automation.Entry{mine}}, {"09:00:40", "y", []automation.Entry{mine}}}, "-x 7"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			a := watch()
			src := automation.Arm(&a, nil, day("08:59")).Source
			src.Seen, src.Loops = "x", tt.loops
			got := ""
			for _, l := range tt.looks {
				f := automation.Watched(a, src, l.digest, l.changed, last, "job@1", day(l.at))
				a, src = f.Automation, f.Source
				_, waits := src.Alone(last, day(l.at))
				switch {
				case f.Run != nil:
					got += "f"
				case !a.Enabled:
					got += "x"
				default:
					got += "-"
				}
				if waits != (f.Run == nil && a.Enabled && l.digest != "x") {
					t.Errorf("it waits: %v, %+v", waits, f)
				}
			}
			if got += fmt.Sprint(" ", src.Loops); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}
