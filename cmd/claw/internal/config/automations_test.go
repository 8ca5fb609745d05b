package config_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claw/cmd/claw/internal/config"
	"claw/state/automation"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	return time.LoadLocation(name)
}

// declared is the only table of a text, which is in order.
func declared(t *testing.T, text string) automation.Automation {
	t.Helper()
	tables := parse(t, text).Declared(noon, zone)
	if len(tables) != 1 || tables[0].Problem != nil {
		t.Fatalf("%q: %d tables, %v", text, len(tables), tables[0].Problem)
	}
	return tables[0].Automation
}

const head = "[[automation]]\nname = \"backup\"\n"

func TestDeclared(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	sec := func(n int) *int { return &n }
	base := automation.Automation{DeclarationKey: "backup", Name: "backup", Owner: "config", Enabled: true}
	every6h := automation.Schedule{Kind: automation.KindEvery, EveryMs: 21_600_000}
	command := automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}}
	with := func(change func(*automation.Automation)) automation.Automation {
		a := base
		a.Schedule, a.Payload = every6h, command
		change(&a)
		return a
	}
	const e = head + "every = \"6h\"\n"
	const c = head + "argv = [\"true\"]\n"
	for _, row := range []struct {
		name, text string
		want       automation.Automation
	}{
		{"an interval and an argv", e + `argv = ["true"]`, with(func(*automation.Automation) {})},
		{"a key of its own", e + "key = \"k\"\nargv = [\"true\"]", with(func(a *automation.Automation) { a.DeclarationKey = "k" })},
		{"off", e + "enabled = false\nargv = [\"true\"]", with(func(a *automation.Automation) { a.Enabled = false })},
		{"the positional form", c + `schedule = "0 9 * * 1-5"`, with(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindCron, Expr: "0 9 * * 1-5"}
		})},
		{"each boot", c + `schedule = "@reboot"`, with(func(a *automation.Automation) { a.Schedule = automation.Schedule{Kind: automation.KindBoot} })},
		{"a cron expression, with its zone, at the second", c + "cron = \"0 9 * * *\"\ntz = \"Europe/Berlin\"\nexact = true", with(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindCron, Expr: "0 9 * * *", TZ: "Europe/Berlin", StaggerMs: ms(0)}
		})},
		{"spread", c + "cron = \"0 9 * * *\"\nstagger = \"90s\"", with(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindCron, Expr: "0 9 * * *", StaggerMs: ms(90_000)}
		})},
		{"a time in a zone, which stays when it has run", c + "at = \"2026-12-24T18:00\"\ntz = \"Europe/Berlin\"", with(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindAt, At: time.Date(2026, 12, 24, 17, 0, 0, 0, time.UTC), TZ: "Europe/Berlin"}
		})},
		{"a time that is past is a table all the same", c + `at = "2026-11-01T00:00Z"`, with(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindAt, At: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
		})},
		{"the end of a command", c + "onExit = \"make\"\nonExitCwd = \"~/src\"", with(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindOnExit, Command: "make", Cwd: "/home/u/src"}
		})},
		{"a stream", head + "stream = [\"tail\", \"-F\", \"log\"]\nstreamMatch = \"error\"\nstreamBatchMs = 500\nmessage = \"look\"", with(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindStream, Argv: []string{"tail", "-F", "log"}, Mode: "match", Match: "error", BatchMs: 500}
			a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look", ToolsAllow: []string{"*"}}
		})},
		{"a directory", c + "watch = \"/srv/in\"\nrecursive = true\nglob = \"*.csv\"", with(func(a *automation.Automation) {
			a.Schedule = automation.Schedule{Kind: automation.KindWatch, Dir: "/srv/in", Recursive: true, Glob: "*.csv"}
		})},
		{"a command line", e + "command = \"a | b\"\ncwd = \"~/x\"\nenv = { A = \"1\" }\ninput = \"i\"\ntimeoutSeconds = 0\nnoOutputTimeoutSeconds = 9\noutputMaxBytes = \"4KiB\"", with(func(a *automation.Automation) {
			a.Payload = automation.Payload{
				Kind: automation.PayloadCommand, Argv: []string{"sh", "-lc", "a | b"}, Cwd: "/home/u/x", Env: map[string]string{"A": "1"},
				Input: "i", TimeoutSeconds: sec(0), NoOutputTimeoutSeconds: 9, OutputMaxBytes: 4096,
			}
		})},
		{"a message with tools", e + "message = \"m\"\nagent = \"main\"\nsession = \"session:ops\"\nmodel = \"x\"\nfallbacks = [\"y\"]\nthinking = \"low\"\ntools = []\nlightContext = true", with(func(a *automation.Automation) {
			a.AgentID, a.SessionTarget = "main", "session:ops"
			a.Payload = automation.Payload{
				Kind: automation.PayloadTurn, Message: "m", Model: "x", Fallbacks: []string{"y"}, Thinking: "low", ToolsAllow: []string{}, LightContext: true,
			}
		})},
		{"a reminder", e + `reminder = "r"`, with(func(a *automation.Automation) {
			a.WakeMode, a.Payload = "now", automation.Payload{Kind: automation.PayloadEvent, Text: "r"}
		})},
		{"an event", e + `event = "r"`, with(func(a *automation.Automation) {
			a.WakeMode, a.Payload = "next-heartbeat", automation.Payload{Kind: automation.PayloadEvent, Text: "r"}
		})},
		{"policies", e + "argv = [\"true\"]\nmissed = \"all\"\nmissedLimit = 3\nmissedWindow = \"6h\"\noverlap = \"queue\"", with(func(a *automation.Automation) {
			a.Missed = automation.MissedRule{Policy: "all", Limit: 3, WindowMs: 21_600_000}
			a.Overlap = "queue"
		})},
		{"delivery and alerts, pacing and a trigger", e + `argv = ["true"]
pacing = { min = "1m", max = "1h" }
trigger = { script = "check", once = true }
[automation.delivery]
channel = "mail"
to = "me"
url = "https://example.org"
bestEffort = true
[automation.failureAlert]
after = 3
cooldownSeconds = 60
`, with(func(a *automation.Automation) {
			a.Pacing = &automation.Pacing{MinMs: 60_000, MaxMs: 3_600_000}
			a.Trigger = &automation.Trigger{Script: "check", Once: true}
			a.Delivery = &automation.Delivery{Channel: "mail", To: "me", URL: "https://example.org", BestEffort: true}
			a.FailureAlert = &automation.FailureAlert{After: 3, CooldownMs: 60_000}
		})},
		{"no alerts", e + "argv = [\"true\"]\nfailureAlert.enabled = false", with(func(a *automation.Automation) { a.FailureAlert = &automation.FailureAlert{Off: true} })},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, declared(t, row.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is wrong with one table is said with its line, and the others are not
// touched.
func TestDeclaredProblems(t *testing.T) {
	const good = "[[automation]]\nname = \"good\"\nevery = \"1h\"\nargv = [\"true\"]\n\n"
	for _, row := range []struct{ name, table, want string }{
		{"expression", "every = \"6h\"\n", `claw.toml:6: automation.bad: nothing is given to do`},
		{"no schedule", "argv = [\"true\"]\n", `claw.toml:6: automation.bad: no schedule is given`},
		{"two schedules", "every = \"6h\"\ncron = \"0 9 * * *\"\nargv = [\"true\"]\n", `claw.toml:9: automation.bad.cron: there are 2 schedules: every "6h", cron "0 9 * * *"`},
		{"a bad hour", "cron = \"0 25 * * *\"\nargv = [\"true\"]\n", `claw.toml:8: automation.bad.cron: `},
		{"a bad zone", "argv = [\"true\"]\ncron = \"0 9 * * *\"\n# c\ntz = \"Mars\"\n", `claw.toml:11: automation.bad.tz: `},
		{"a date that never comes", "argv = [\"true\"]\nschedule = \"0 0 30 2 *\"\n", `claw.toml:9: automation.bad.schedule: `},
		{"counted from now", "argv = [\"true\"]\nschedule = \"20m\"\n", `claw.toml:9: automation.bad.schedule: "20m" is counted from now`},
		{"a sub-table", "every = \"6h\"\nargv = [\"true\"]\n[automation.delivery]\nchannel = \"inbx\"\n", `claw.toml:11: automation.bad.delivery.channel: "inbx" is not a channel; did you mean inbox?`},
		{"after a long value", "every = \"6h\"\ndescription = \"\"\"\na\n[[automation]]\n\"\"\"\nargv = [\n \"true\" ]\nglob = \"x\"\n", `claw.toml:15: automation.bad.glob: glob means nothing without watch`},
		{"the same name", "every = \"6h\"\nargv = [\"true\"]\n[[automation]]\nname = \"Good\"\nevery = \"1h\"\nargv = [\"x\"]\n", `claw.toml:11: automation.Good.name: the name is that of another table, on line 1`},
		{"a message's model with a command", "every = \"6h\"\nargv = [\"true\"]\nmodel = \"x\"\n", `claw.toml:10: automation.bad.model: model means nothing without a message`},
		{"a variable that commands are not given", "every = \"6h\"\nargv = [\"true\"]\nenv = { PATH = \"/x\" }\n", `claw.toml:10: automation.bad.env: Security Violation: Custom 'PATH' variable is forbidden`},
		{"a command for a stream", "stream = [\"a\"]\nargv = [\"true\"]\n", `claw.toml:8: automation.bad.stream: `},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := parse(t, good+"[[automation]]\nname = \"bad\"\n"+row.table)
			err := c.CheckDeclared(noon, zone)
			if err == nil || !strings.HasPrefix(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("\ngot  %v\nwant %s", err, row.want)
			}
			if first := c.Declared(noon, zone)[0]; first.Problem != nil || first.Automation.Name != "good" {
				t.Errorf("the good one: %v", first.Problem)
			}
		})
	}
}

// A key that is not known, or a value that cannot be read, is wrong with its own
// table only (spec/heartbeat-automations.md 2.2): all of it is told.
func TestMisspeltTables(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"an unknown key", head + "every = \"1h\"\nargv = [\"true\"]\n[[automation]]\nname = \"b\"\ncmd = \"x\"\ncron_ = \"x\"", "claw.toml:7: automation.b.cmd: unknown key; did you mean cwd?\nclaw.toml:8: automation.b.cron_: unknown key; did you mean cron?"},
		{"an unknown key below", head + "[automation.delivery]\nchanel = \"inbox\"", "claw.toml:4: automation.backup.delivery.chanel: unknown key; did you mean channel?"},
		{"a wrong type", head + "every = 5", "claw.toml:3: automation.backup.every: 5 is not a string"},
		{"a wrong choice", head + "missed = \"onc\"", `claw.toml:3: automation.backup.missed: "onc" is not "skip", "once" or "all"; did you mean once?`},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := parse(t, row.text+"\n[[automation]]\nname = \"good\"\nevery = \"1h\"\nargv = [\"true\"]\n")
			if err := c.CheckDeclared(noon, zone); err == nil || err.Error() != row.want {
				t.Errorf("\ngot  %v\nwant %s", err, row.want)
			}
			tables := c.Declared(noon, zone)
			if last := tables[len(tables)-1]; last.Problem != nil || last.Automation.Name != "good" {
				t.Errorf("the good one: %v", last.Problem)
			}
			if _, err := config.ReadAutomations("claw.toml", []byte(row.text), "toml", "/home/u"); err == nil || err.Error() != row.want {
				t.Errorf("as an import: %v", err)
			}
		})
	}
}

// What says not which automation it is, or is none at all, is an error of the
// whole file, as elsewhere: else those would be taken away that it means.
func TestMalformedTables(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"a misspelt key", head + "every = \"1h\"\nkye = \"k\"", "claw.toml:4: automation.backup.kye: unknown key; did you mean key?"},
		{"a name that is none", "[[automation]]\nname = 5\nevery = \"1h\"", "claw.toml:2: automation.\"number 1\".name: 5 is not a string"},
		{"no name", "[[automation]]\nevery = \"1h\"", "claw.toml:1: automation.\"number 1\": the automation has no name"},
		{"one table", "[automation]\nname = \"x\"", "claw.toml:1: automation: a table is not a list of tables"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := config.Parse("claw.toml", []byte(row.text), "/home/u")
			if err == nil || err.Error() != row.want {
				t.Errorf("\ngot  %v\nwant %s", err, row.want)
			}
		})
	}
}

// samples are automations of every kind, complete as New makes them.
func samples(t *testing.T) []automation.Automation {
	t.Helper()
	text, sec := `
name = "%"
every = "1h30m"
anchor = "2026-01-01T00:00Z"
argv = ["sh", "-c", "echo \"$1\" \\ é\n"]
env = { A = "1", B_C = "x\ty" }
cwd = "/"
input = "a\nb"
timeoutSeconds = 0
---
name = "%"
cron = "0 9 * * 1-5"
tz = "Europe/Berlin"
exact = true
command = "a 'b' | c"
missed = "all"
missedLimit = 4
missedWindow = "90m"
overlap = "allow"
enabled = false
---
name = "%"
at = "2026-12-24T18:00:00.25Z"
reminder = "r"
keepAfterRun = true
---
name = "%"
at = "2026-12-24T18:00Z"
event = "r"
---
name = "%"
cron = "@daily"
stagger = "1m30s"
message = "m"
tools = []
agent = "main"
session = "agent:main:ops"
delivery.mode = "webhook"
delivery.url = "https://example.org"
---
name = "%"
cron = "*/5 * * * *"
message = "m"
tools = ["exec", "read"]
model = "a"
fallbacks = ["b", "c"]
thinking = "high"
lightContext = true
session = "session:x"
failureAlert.enabled = false
pacing.min = "1m"
trigger.script = "s"
---
name = "%"
onExit = "make"
onExitCwd = "/tmp"
deleteAfterRun = true
message = "m"
delivery.mode = "none"
---
name = "%"
stream = ["tail", "-F", "x"]
streamMode = "line"
streamBatchMs = 100
streamMaxBatchBytes = 2048
event = "e"
---
name = "%"
watch = "/srv"
recursive = true
glob = "*.x"
argv = ["true"]
noOutputTimeoutSeconds = 4
outputMaxBytes = 1000
delivery = { channel = "inbox", bestEffort = true }
failureAlert = { after = 2, cooldownSeconds = 30, channel = "mail", to = "x", mode = "announce", includeSkipped = true }
---
name = "%"
schedule = "@reboot"
argv = ["true"]
displayName = "D"
description = "two\nlines"
key = "k"
`, time.Second
	var all []automation.Automation
	for i, table := range strings.Split(text, "---\n") {
		table = "[[automation]]\n" + strings.Replace(table, "%", "n"+string(rune('0'+i)), 1)
		written, err := config.ReadAutomations("x", []byte(table), "toml", "/home/u")
		if err != nil {
			t.Fatalf("%v\n%s", err, table)
		}
		a, err := written[0].Build(noon, zone)
		if err != nil {
			t.Fatalf("%v\n%s", err, table)
		}
		a.ID = "id"
		all = append(all, automation.New(a, noon.Add(-sec)))
	}
	return all
}

// What is written of an automation means the same when it is read again.
func TestWrittenAutomationsMeanTheSame(t *testing.T) {
	all := samples(t)
	for _, form := range []string{"toml", "json"} {
		var tables []config.Automation
		for _, a := range all {
			tables = append(tables, config.AutomationOf(a))
		}
		var out bytes.Buffer
		if err := config.WriteAutomations(&out, tables, form); err != nil {
			t.Fatal(err)
		}
		again, err := config.ReadAutomations("x", out.Bytes(), form, "/home/u")
		if err != nil || len(again) != len(all) {
			t.Fatalf("%s: %d, %v\n%s", form, len(again), err, &out)
		}
		for i, w := range again {
			got, err := w.Build(noon, zone)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			if got.Payload.Kind == automation.PayloadTurn && got.Payload.ToolsAllow == nil {
				got.Payload.ToolsAllow = all[i].Payload.ToolsAllow
			}
			got.ID = "id"
			got = automation.New(got, noon.Add(-time.Second))
			if automation.Digest(got) != automation.Digest(all[i]) {
				t.Errorf("%s: %s", form, cmp.Diff(all[i], got))
			}
		}
		if form == "json" && !json.Valid(out.Bytes()) {
			t.Error("no JSON")
		}
	}
}

// What is exported can stand in claw.toml.
func TestWrittenAutomationsCanBeDeclared(t *testing.T) {
	var tables []config.Automation
	for _, a := range samples(t) {
		tables = append(tables, config.AutomationOf(a))
	}
	var out bytes.Buffer
	if err := config.WriteAutomations(&out, tables, "toml"); err != nil {
		t.Fatal(err)
	}
	if err := parse(t, out.String()).CheckDeclared(noon, zone); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestDifferences(t *testing.T) {
	a := config.NewAutomation()
	a.Name, a.Cron, a.Env, a.Tools = "x", "0 9 * * *", map[string]string{"A": "secret"}, []string{"exec"}
	b := a
	b.Cron, b.TZ, b.Enabled, b.Env, b.Tools, b.MissedWindow = "0 10 * * *", "UTC", false, map[string]string{"A": "other"}, nil, time.Hour
	want := []config.Difference{
		{Key: "enabled", Old: "true", New: "false"},
		{Key: "cron", Old: "0 9 * * *", New: "0 10 * * *"},
		{Key: "tz", Old: "", New: "UTC"},
		{Key: "env", Old: "A (values not shown)", New: "A (values not shown)"},
		{Key: "tools", Old: `["exec"]`, New: ""},
		{Key: "missedWindow", Old: "", New: "1h"},
	}
	if diff := cmp.Diff(want, config.Differences(a, b)); diff != "" {
		t.Error(diff)
	}
	if d := config.Differences(a, a); len(d) != 0 {
		t.Errorf("of itself: %v", d)
	}
}

// A token is in no output.
func TestSecretsAreNotShown(t *testing.T) {
	c := parse(t, "[cron]\nwebhookToken = \"hunter2\"\n"+head+"every = \"1h\"\nargv = [\"true\"]\nenv = { PASSWORD = \"hunter2\" }\n")
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		if err := c.Show(&out, asJSON); err != nil || strings.Contains(out.String(), "hunter2") {
			t.Errorf("%v\n%s", err, &out)
		}
		if !strings.Contains(out.String(), "webhookToken") || !strings.Contains(out.String(), "automation.backup.env") {
			t.Errorf("not mentioned:\n%s", &out)
		}
	}
}

func TestCronKeys(t *testing.T) {
	c := parse(t, `[cron]
maxConcurrentRuns = 2
maxConcurrentCommands = 8
skipMissedJobs = true
webhookTokenFile = "~/token"
sessionRetention = false
[cron.retry]
maxAttempts = 1
backoffSeconds = [5, 10]
retryOn = ["network"]
[cron.failureAlert]
after = 4
cooldownSeconds = 0
channel = "mail"
`)
	want := config.Cron{
		Enabled: true, MaxConcurrentRuns: 2, MaxConcurrentCommands: 8, SkipMissedJobs: true, WebhookTokenFile: "/home/u/token",
		Retry:        config.Retry{MaxAttempts: 1, BackoffSeconds: []int64{5, 10}, RetryOn: []string{"network"}},
		FailureAlert: config.Alert{Enabled: true, After: 4, Mode: "announce", Channel: "mail"},
	}
	if diff := cmp.Diff(want, c.Cron, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if d := parse(t, "").Cron.SessionRetention; d != 24*time.Hour {
		t.Errorf("by itself %v, want 24h", d)
	}
	for text, want := range map[string]string{
		"[cron]\nsessionRetention = true":            `claw.toml:2: cron.sessionRetention: true is not a duration such as "30m"`,
		"[cron]\nsessionRetention = \"1 fortnight\"": `claw.toml:2: cron.sessionRetention: "1 fortnight" is not a duration such as "30m"`,
		"[cron.retry]\nbackoffSeconds = [0]":         `claw.toml:2: cron.retry.backoffSeconds: 0 is out of range (1 to 2147483)`,
		"[cron.retry]\nbackoffSeconds = 5":           `claw.toml:2: cron.retry.backoffSeconds: 5 is not a list of whole numbers`,
		"[cron.retry]\nretryOn = [\"netwrk\"]":       `claw.toml:2: cron.retry.retryOn: "netwrk" is not "rate_limit", "overloaded", "network", "timeout" or "server_error"; did you mean network?`,
		"[cron]\nfailureAlert = 1":                   "claw.toml:2: cron.failureAlert: 1 is not a table",
	} {
		if _, err := config.Parse("claw.toml", []byte(text), "/home/u"); err == nil || err.Error() != want {
			t.Errorf("\ngot  %v\nwant %s", err, want)
		}
	}
}

// Whatever stands in a file, it is read or refused, and what was read is written
// so that it is read as the same.
func FuzzReadAutomations(f *testing.F) {
	f.Add([]byte(head+"every = \"1h\"\nargv = [\"a\"]\nenv = {A = \"1\"}\n[automation.delivery]\nto = \"x\""), false)
	f.Add([]byte(`{"automations":[{"name":"x","cron":"0 9 * * *","tools":[],"timeoutSeconds":5}]}`), true)
	f.Add([]byte("automation = [{name='a', at=\"2026-01-01\"}, {name=\"\"\"\nb\"\"\"}]"), false)
	f.Fuzz(func(t *testing.T, data []byte, isJSON bool) {
		form := "toml"
		if isJSON {
			form = "json"
		}
		all, err := config.ReadAutomations("x", data, form, "/home/u")
		if err != nil {
			return
		}
		for _, a := range all {
			_, _ = a.Build(noon, zone)
		}
		for _, form := range []string{"toml", "json"} {
			var out bytes.Buffer
			if err := config.WriteAutomations(&out, all, form); err != nil {
				t.Fatal(err)
			}
			again, err := config.ReadAutomations("x", out.Bytes(), form, "/home/u")
			if err != nil || len(again) != len(all) {
				t.Fatalf("%d of %d, %v\n%s", len(again), len(all), err, &out)
			}
			for i := range all {
				if d := config.Differences(all[i], again[i]); len(d) > 0 {
					t.Fatalf("%+v\n%s", d, &out)
				}
			}
		}
	})
}
