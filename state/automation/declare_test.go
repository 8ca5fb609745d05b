package automation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/state/automation"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// table is what claw.toml says: a nightly backup.
func table(change ...func(*automation.Automation)) automation.Automation {
	a := automation.Automation{
		Name: "backup", Enabled: true,
		Schedule: automation.Schedule{Kind: automation.KindCron, Expr: "30 2 * * *"},
		Payload:  automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"make", "backup"}},
	}
	for _, c := range change {
		c(&a)
	}
	return a
}

func name(n string) func(*automation.Automation) {
	return func(a *automation.Automation) { a.Name = n }
}

func key(k string) func(*automation.Automation) {
	return func(a *automation.Automation) { a.DeclarationKey = k }
}

func argv(words ...string) func(*automation.Automation) {
	return func(a *automation.Automation) { a.Payload.Argv = words }
}

func expr(e string) func(*automation.Automation) {
	return func(a *automation.Automation) { a.Schedule.Expr = e }
}

// ledger is what the automations are after a convergence.
func ledger(was []automation.Automation, d automation.Declared) []automation.Automation {
	out := slices.DeleteFunc(slices.Clone(was), func(a automation.Automation) bool { return slices.Contains(d.Remove, a.ID) })
	for _, a := range d.Put {
		if a.ID == "" {
			a.ID = fmt.Sprintf("id-%s-%d", a.DeclarationKey, len(out))
			out = append(out, a)
			continue
		}
		i := slices.IndexFunc(out, func(o automation.Automation) bool { return o.ID == a.ID })
		out[i] = a
	}
	return out
}

// converged is the ledger after the tables were declared at 08:00.
func converged(t *testing.T, tables ...automation.Automation) []automation.Automation {
	t.Helper()
	d := automation.Declare(nil, tables, day("08:00"), zone)
	if len(d.Errors) > 0 || len(d.Put) != len(tables) {
		t.Fatalf("%+v", d)
	}
	return ledger(nil, d)
}

func TestDeclareAdds(t *testing.T) {
	turn := table(name("news"), func(a *automation.Automation) {
		a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look"}
	})
	d := automation.Declare(nil, []automation.Automation{table(), turn}, day("08:00:00"), zone)
	if len(d.Put) != 2 || len(d.Errors)+len(d.Runs)+len(d.Remove) != 0 {
		t.Fatalf("%+v", d)
	}
	a := d.Put[0]
	if a.ID != "" || a.Owner != "config" || a.Declared == "" || a.DeclarationKey != "backup" || !a.Enabled {
		t.Errorf("%+v", a)
	}
	if a.SessionTarget != "isolated" || a.Delivery.Mode != "announce" || !a.CreatedAt.Equal(day("08:00")) || !a.State.Settled.Equal(day("08:00")) {
		t.Errorf("it is not completed: %+v", a)
	}
	if got := d.Put[1].Payload.ToolsAllow; !slices.Equal(got, []string{"*"}) {
		t.Errorf("tools of a table that says none: %q", got)
	}
}

func TestDeclareChanges(t *testing.T) {
	history := func(a *automation.Automation) {
		a.State.LastStatus, a.State.ConsecutiveErrors, a.State.LastRunAt = automation.Failed, 3, day("08:10")
	}
	for _, tt := range []struct {
		rule  string
		was   []automation.Automation // tables
		since func(*automation.Automation)
		now   []automation.Automation // tables
		at    string
		want  string // of each: what is written
	}{
		{"nothing has changed", []automation.Automation{table()}, history, []automation.Automation{table()}, "09:00", ""},
		{"written otherwise, and the key said", []automation.Automation{table()}, history, []automation.Automation{table(key("backup"))}, "09:00", ""},
		{"another command: its slots stay", []automation.Automation{table()}, history, []automation.Automation{table(argv("x"))}, "09:00", "put backup on, 3 errors"},
		{"another time: its slots move", []automation.Automation{table()}, history, []automation.Automation{table(expr("40 2 * * *"))}, "09:00", "put backup on, 3 errors, moved"},
		{"another time, and an old one was due", []automation.Automation{table(expr("30 8 * * *"))}, history, []automation.Automation{table(expr("40 2 * * *"))}, "09:00", "put backup on, 3 errors, moved; run 08:30 missed edited"},
		{"switched off by a person: it stays off", []automation.Automation{table()}, off, []automation.Automation{table()}, "09:00", ""},
		{"until the table changes", []automation.Automation{table()}, off, []automation.Automation{table(argv("x"))}, "09:00", "put backup on"},
		{"the same for what claw has switched off", []automation.Automation{table()}, func(a *automation.Automation) {
			a.Enabled, a.State.AutoDisabled = false, &automation.AutoDisabled{Reason: automation.ReasonFailures}
		}, []automation.Automation{table()}, "09:00", ""},
		{"a table that is off", []automation.Automation{table()}, history, []automation.Automation{table(off)}, "09:00", "put backup off, 3 errors"},
		{"a table that is gone", []automation.Automation{table()}, history, nil, "09:00", "remove"},
		{"another name, no key: another automation", []automation.Automation{table()}, history, []automation.Automation{table(name("save"))}, "09:00", "new save on; remove"},
		{"another name, the same key: the same automation", []automation.Automation{table(key("k"))}, history, []automation.Automation{table(key("k"), name("save"))}, "09:00", "put save on, 3 errors"},
		{"another key, the same name", []automation.Automation{table(key("k"))}, history, []automation.Automation{table(key("l"))}, "09:00", "new backup on; remove"},
		{"two that change names", []automation.Automation{table(key("k"), name("a")), table(key("l"), name("b"))}, history, []automation.Automation{table(key("k"), name("b")), table(key("l"), name("a"))}, "09:00", "put b on, 3 errors; put a on, 3 errors"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			was := converged(t, tt.was...)
			for i := range was {
				tt.since(&was[i])
			}
			d := automation.Declare(was, tt.now, day(tt.at), zone)
			var got []string
			for _, a := range d.Put {
				s := "put "
				if a.ID == "" {
					s = "new "
				}
				s += a.Name + map[bool]string{true: " on", false: " off"}[a.Enabled]
				if n := a.State.ConsecutiveErrors; n > 0 {
					s += fmt.Sprintf(", %d errors", n)
				}
				if a.State.ScheduleRev > 0 {
					s += ", moved"
				}
				got = append(got, s)
			}
			for _, r := range d.Runs {
				got = append(got, "run "+shown([]automation.Run{r}))
			}
			for range d.Remove {
				got = append(got, "remove")
			}
			for _, e := range d.Errors {
				got = append(got, "refused "+e.Err.Error())
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("%s\nwant %s", s, tt.want)
			}
			again := automation.Declare(ledger(was, d), tt.now, day("10:00"), zone)
			if len(again.Put)+len(again.Remove)+len(again.Errors) > 0 {
				t.Errorf("not converged: %+v", again)
			}
		})
	}
}

// A table that cannot be taken stops no other, and takes nothing away.
func TestDeclareRefuses(t *testing.T) {
	byHand := hourly(func(a *automation.Automation) { a.Owner = "operator" })
	keyed := hourly(func(a *automation.Automation) {
		a.ID, a.Name, a.Owner, a.DeclarationKey = "k1", "other", "operator", "k"
	})
	good := table(name("good"))
	for _, tt := range []struct {
		rule   string
		tables []automation.Automation
		who    string
		why    string
	}{
		{"a name that is taken", []automation.Automation{table(name("job")), good}, "job", "is taken"},
		{"a name that is taken, but for capitals", []automation.Automation{table(name("JOB")), good}, "JOB", "is taken"},
		{"a key that is taken", []automation.Automation{table(key("k")), good}, "backup", "no table of claw.toml has made"},
		{"a key twice", []automation.Automation{table(name("x"), key("good")), good}, "good", "declared twice"},
		{"two tables of one name", []automation.Automation{good, table(name("good"), key("z"))}, "good", "is taken"},
		{"a schedule that means nothing", []automation.Automation{table(expr("61 * * * *")), good}, "backup", "cannot be used"},
		{"a one-shot in the past", []automation.Automation{table(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindAt, At: day("07:00")}
		}), good}, "backup", "is in the past"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			d := automation.Declare([]automation.Automation{byHand, keyed}, tt.tables, day("09:00"), zone)
			if len(d.Errors) != 1 || d.Errors[0].Name != tt.who || !strings.Contains(d.Errors[0].Err.Error(), tt.why) || d.Errors[0].Err.Remedy() == "" {
				t.Errorf("%+v", d.Errors)
			}
			if len(d.Put) != 1 || len(d.Remove) != 0 {
				t.Errorf("%+v", d)
			}
		})
	}
	was := converged(t, table())
	d := automation.Declare(was, []automation.Automation{table(expr("61 * * * *"))}, day("09:00"), zone)
	if len(d.Errors) != 1 || len(d.Put)+len(d.Remove) != 0 {
		t.Errorf("a mistake in its table takes it away: %+v", d)
	}
}

// A one-shot of a table runs once, however often the tables are read.
func TestDeclaredOneShot(t *testing.T) {
	once := table(func(a *automation.Automation) {
		a.Schedule, a.DeleteAfterRun = automation.Schedule{Kind: automation.KindAt, At: day("09:00")}, true
	})
	rows := converged(t, once)
	p := automation.Decide(automation.Input{Now: day("09:00"), Automations: rows, Zone: zone})
	if len(p.Start) != 1 {
		t.Fatalf("%+v", p)
	}
	f := automation.Finish(p.Automations[0], p.Start[0], automation.End{Status: automation.Succeeded, At: day("09:01")}, automation.Retry{}, zone)
	if f.Delete || f.Automation.Enabled {
		t.Fatalf("%+v", f)
	}
	rows = []automation.Automation{f.Automation}
	for _, clock := range []string{"09:02", "23:00"} {
		if d := automation.Declare(rows, []automation.Automation{once}, day(clock), zone); len(d.Put)+len(d.Remove)+len(d.Errors) > 0 {
			t.Errorf("at %s: %+v", clock, d)
		}
	}
	said := once
	said.Description = "tea"
	if d := automation.Declare(rows, []automation.Automation{said}, day("10:00"), zone); len(d.Errors) > 0 || len(d.Put) != 1 {
		t.Errorf("that its time has passed refuses another change: %+v", d)
	} else if p := automation.Decide(automation.Input{Now: day("10:00"), Automations: d.Put, Zone: zone}); len(p.Start) > 0 {
		t.Errorf("it runs again: %+v", p)
	}
}

// Whatever the tables become: after one convergence there is nothing to do,
// what was made by hand is as it was, and no two have one name.
func TestDeclareConverges(t *testing.T) {
	tables := rapid.Custom(func(t *rapid.T) automation.Automation {
		a := table(name(rapid.SampledFrom([]string{"a", "b", "c", "A", "job"}).Draw(t, "name")),
			expr(rapid.SampledFrom([]string{"30 2 * * *", "0 9 * * *", "never"}).Draw(t, "expr")),
			argv(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "argv")))
		a.DeclarationKey = rapid.SampledFrom([]string{"", "", "k", "l"}).Draw(t, "key")
		a.Enabled = rapid.Bool().Draw(t, "on")
		return a
	})
	rapid.Check(t, func(t *rapid.T) {
		byHand := hourly(func(a *automation.Automation) { a.Owner = "operator" })
		rows := []automation.Automation{byHand}
		now := day("03:00")
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			wanted := rapid.SliceOfN(tables, 0, 4).Draw(t, "tables")
			d := automation.Declare(rows, wanted, now, zone)
			rows = ledger(rows, d)
			again := automation.Declare(rows, wanted, now.Add(time.Minute), zone)
			if len(again.Put)+len(again.Remove) > 0 || len(again.Errors) != len(d.Errors) {
				t.Fatalf("first %+v\nthen %+v", d, again)
			}
			if diff := cmp.Diff(byHand, rows[0]); diff != "" {
				t.Fatal(diff)
			}
			names, keys := map[string]bool{}, map[string]bool{}
			for _, a := range rows {
				if n := strings.ToLower(a.Name); names[n] {
					t.Fatalf("two are called %s", a.Name)
				} else {
					names[n] = true
				}
				if k := a.DeclarationKey; k != "" && keys[k] {
					t.Fatalf("two have the key %s", k)
				}
				keys[a.DeclarationKey] = true
			}
			now = now.Add(time.Hour)
		}
	})
}

// The fingerprint is of what a person can write.
func TestDigest(t *testing.T) {
	base := table()
	for _, tt := range []struct {
		rule   string
		change func(*automation.Automation)
		same   bool
	}{
		{"nothing", func(*automation.Automation) {}, true},
		{"what claw keeps", func(a *automation.Automation) {
			a.ID, a.Owner, a.Declared, a.CreatedAt, a.UpdatedAt, a.State = "x", "config", "y", day("09:00"), day("09:00"), automation.State{ConsecutiveErrors: 3}
		}, true},
		{"name", name("x"), false},
		{"key", key("x"), false},
		{"off", off, false},
		{"expression", expr("0 * * * *"), false},
		{"argv", argv("make", "backup", ""), false},
		{"argv cut otherwise", argv("make backup"), false},
		{"environment", func(a *automation.Automation) { a.Payload.Env = map[string]string{"A": "1"} }, false},
		{"no tools is not nothing said about tools", func(a *automation.Automation) { a.Payload.ToolsAllow = []string{} }, false},
		{"delivery", func(a *automation.Automation) { a.Delivery = &automation.Delivery{Mode: "none"} }, false},
		{"alert", func(a *automation.Automation) { a.FailureAlert = &automation.FailureAlert{Off: true} }, false},
		{"missed", policy(automation.MissedSkip, 0, 0), false},
		{"overlap", overlap(automation.OverlapQueue), false},
		{"pacing", func(a *automation.Automation) { a.Pacing = &automation.Pacing{MinMs: 1} }, false},
		{"trigger", script, false},
	} {
		a := table(tt.change)
		if got := automation.Digest(a) == automation.Digest(base); got != tt.same {
			t.Errorf("%s: the same %v", tt.rule, got)
		}
	}
	env := func(names ...string) automation.Automation {
		return table(func(a *automation.Automation) {
			a.Payload.Env = map[string]string{}
			for _, n := range names {
				a.Payload.Env[n] = "1"
			}
		})
	}
	if automation.Digest(env("A", "B", "C")) != automation.Digest(env("C", "B", "A")) {
		t.Error("the order of an environment counts")
	}
	one, two := table(), table(name("x"))
	for _, pair := range [][2][]automation.Automation{{nil, {one}}, {{one}, {two}}, {{one, two}, {two, one}}, {{one}, {one, two}}} {
		if automation.DigestAll(pair[0]) == automation.DigestAll(pair[1]) || automation.DigestAll(pair[0]) == "" {
			t.Errorf("%d and %d tables have one digest", len(pair[0]), len(pair[1]))
		}
	}
	if automation.DigestAll([]automation.Automation{one}) != automation.DigestAll([]automation.Automation{table(key("backup"))}) {
		t.Error("a key that is the name, said or not")
	}
}

// openclaw 86451: what adds an automation at each boot makes one.
func TestUpsert(t *testing.T) {
	a := table(key("k"), func(a *automation.Automation) {
		a.Schedule = automation.Schedule{Kind: automation.KindEvery, EveryMs: 3600000}
	})
	first, runs, change := automation.Upsert(nil, a, day("08:00"), zone)
	if change != automation.Added || len(runs) != 0 || !first.CreatedAt.Equal(day("08:00")) {
		t.Fatalf("%s %+v", change, first)
	}
	first.ID = "job"
	first.State.ConsecutiveErrors, first.State.Settled = 2, day("09:00")
	was := func(change func(*automation.Automation)) automation.Automation {
		b := first
		change(&b)
		return b
	}
	now := func(change func(*automation.Automation)) automation.Automation {
		b := a
		change(&b)
		return b
	}
	same := func(*automation.Automation) {}
	for _, tt := range []struct {
		rule   string
		was    automation.Automation
		now    automation.Automation
		change automation.Change
		on     bool
		moved  bool
		rows   string
	}{
		{"the same", first, now(same), automation.Unchanged, true, false, ""},
		{"with the defaults written out", first, now(func(a *automation.Automation) {
			a.SessionTarget, a.WakeMode, a.Delivery = "isolated", "now", &automation.Delivery{Mode: "announce"}
		}), automation.Unchanged, true, false, ""},
		{"with the anchor it has", first, now(func(a *automation.Automation) { a.Schedule.AnchorMs = day("08:00").UnixMilli() }), automation.Unchanged, true, false, ""},
		{"switched off by a person", was(off), now(same), automation.Unchanged, false, false, ""},
		{"to be off", first, now(off), automation.Changed, false, false, "10:00 missed disabled"},
		{"another command", first, now(argv("x")), automation.Changed, true, false, ""},
		{"another command, and off before", was(off), now(argv("x")), automation.Changed, true, false, ""},
		{"another interval", first, now(func(a *automation.Automation) { a.Schedule.EveryMs = 60000 }), automation.Changed, true, true, "10:00 missed edited"},
		{"another name", first, now(name("x")), automation.Changed, true, false, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, runs, change := automation.Upsert(&tt.was, tt.now, day("10:30"), zone)
			if change != tt.change || got.Enabled != tt.on || shown(runs) != tt.rows || (got.State.ScheduleRev > 0) != tt.moved {
				t.Errorf("%s, on %v, rows %q, %+v", change, got.Enabled, shown(runs), got.State)
			}
			if got.ID != "job" || !got.CreatedAt.Equal(day("08:00")) || tt.on == tt.was.Enabled && got.State.ConsecutiveErrors != 2 {
				t.Errorf("its history is lost: %+v", got)
			}
			if _, _, change := automation.Upsert(&got, tt.now, day("10:31"), zone); change != automation.Unchanged {
				t.Errorf("a second time it is %s", change)
			}
		})
	}
}
