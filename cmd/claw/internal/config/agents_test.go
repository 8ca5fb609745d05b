package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/cmd/claw/internal/config"
)

// The example of tour.md.
func TestTourExample(t *testing.T) {
	c := parse(t, `
[agents.main]
command = ["claude", "-p"]

[agents.defaults.heartbeat]
every = "30m"
activeHours = { start = "09:00", end = "22:00" }
gate = true                      # only when a check in heartbeat.d/ or an event has something to say
`)
	main := c.Agents.Entries["main"]
	if diff := cmp.Diff([]string{"claude", "-p"}, main.Command); diff != "" {
		t.Error(diff)
	}
	want := config.Heartbeat{
		Every: 30 * time.Minute, Target: "last", Session: "main", AckMaxChars: 300, Gate: true,
		ActiveHours: config.ActiveHours{Start: "09:00", End: "22:00"},
	}
	if diff := cmp.Diff(want, main.Heartbeat); diff != "" {
		t.Error(diff)
	}
	if main.HasHeartbeat || !c.Agents.Defaults.HasHeartbeat {
		t.Error("only the defaults have a heartbeat block of their own")
	}
}

// Per-agent values merge over the defaults key by key.
func TestAgentMerging(t *testing.T) {
	c := parse(t, `
[agents.zed]
timeoutSeconds = 5
recover = ["r"]
context = "transcript"
workdir = "~/zed"
env = { A = "zed", C = "c" }
hooks.before_agent_run = [["check", "one"], ["two"]]
[agents.zed.heartbeat]
every = "5m"
target = "pager"
to = "+1"
accountId = "x"
session = "agent:zed:ops"
model = "small"
prompt = "look"
ackMaxChars = -1
isolatedSession = true
lightContext = true
skipWhenBusy = true
timeoutSeconds = 60
activeHours.timezone = "Europe/Berlin"
[agents.amy]
hooks.before_agent_run = ["check", "one"]
[agents.defaults]
model = "big"
userTimezone = "UTC"
env = { A = "a", B = "b" }
heartbeat.activeHours.start = "08:00"
[channels.pager]
command = ["page"]
`)
	if diff := cmp.Diff([]string{"amy", "zed"}, c.Agents.Names()); diff != "" {
		t.Error(diff)
	}
	want := config.Agent{
		Recover: []string{"r"}, Model: "big", TimeoutSeconds: 5, Env: map[string]string{"A": "zed", "B": "b", "C": "c"},
		Workdir: "/home/u/zed", Context: "transcript", UserTimezone: "UTC", BeforeAgentRun: [][]string{{"check", "one"}, {"two"}},
		HasHeartbeat: true,
		Subagents:    config.Subagents{MaxSpawnDepth: 1, MaxChildrenPerAgent: 5, MaxConcurrent: 8, ArchiveAfterMinutes: 60},
		Heartbeat: config.Heartbeat{
			Every: 5 * time.Minute, Target: "pager", To: "+1", AccountID: "x", Session: "agent:zed:ops", Model: "small", Prompt: "look",
			IsolatedSession: true, LightContext: true, SkipWhenBusy: true, TimeoutSeconds: 60,
			ActiveHours: config.ActiveHours{Start: "08:00", Timezone: "Europe/Berlin"},
		},
	}
	if diff := cmp.Diff(want, c.Agents.Entries["zed"]); diff != "" {
		t.Error(diff)
	}
	amy := c.Agents.Entries["amy"]
	if diff := cmp.Diff(map[string]string{"A": "a", "B": "b"}, amy.Env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"check", "one"}}, amy.BeforeAgentRun); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]string{
		"agents.zed.model": "claw.toml:26", "agents.zed.heartbeat.every": "claw.toml:10",
		"agents.zed.heartbeat.activeHours.start": "claw.toml:29", "agents.amy.context": "default", "agents.amy.env": "claw.toml:28",
	} {
		if got := source(c, key); got != want {
			t.Errorf("%s comes from %s, want %s", key, got, want)
		}
	}
}

func source(c *config.Config, key string) string {
	for _, s := range c.Provenance() {
		if s.Key == key {
			return s.Source.String()
		}
	}
	return "nowhere"
}

// Visibility: account over channel over defaults over built-in, key by key.
func TestChannelMerging(t *testing.T) {
	c := parse(t, `
[channels.defaults]
channel = "me"
heartbeat.showOk = true
[channels.me]
command = ["send", "--now"]
reconcile = ["ask"]
failure = "unknown"
to = "me@example.org"
timeoutSeconds = 10
env.TOKEN = "secret"
heartbeat.useIndicator = false
[channels.me.accounts.work]
to = "work@example.org"
heartbeat.showAlerts = false
[channels.me.accounts."a b"]
[channels.desktop]
[channels.ops]
type = "webhook"
url = "https://example.org"
`)
	me := c.Channels.Entries["me"]
	want := config.Channel{
		Type: "command", Command: []string{"send", "--now"}, Reconcile: []string{"ask"}, Failure: "unknown", To: "me@example.org",
		TimeoutSeconds: 10, Env: map[string]string{"TOKEN": "secret"},
		Heartbeat: config.Visibility{ShowOk: true, ShowAlerts: true},
		Accounts: map[string]config.Account{
			"work": {To: "work@example.org", Heartbeat: config.Visibility{ShowOk: true}},
			"a b":  {To: "me@example.org", Heartbeat: config.Visibility{ShowOk: true, ShowAlerts: true}},
		},
	}
	if diff := cmp.Diff(want, me); diff != "" {
		t.Error(diff)
	}
	desktop := config.Channel{
		Type: "desktop", Failure: "not_sent", TimeoutSeconds: 30,
		Heartbeat: config.Visibility{ShowOk: true, ShowAlerts: true, UseIndicator: true},
	}
	if diff := cmp.Diff(desktop, c.Channels.Entries["desktop"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"desktop", "me", "ops"}, c.Channels.Names()); diff != "" {
		t.Error(diff)
	}
	if got := source(c, `channels.me.accounts."a b".heartbeat.showOk`); got != "claw.toml:4" {
		t.Errorf("showOk of an account comes from %s", got)
	}
}

// heartbeat-automations.md 1.1 and 1.5: what cannot be read switches off or
// opens the window, and is told.
func TestHeartbeatFailsOpen(t *testing.T) {
	c := parse(t, `
[agents.defaults.heartbeat]
every = "soon"
activeHours = { start = "8:00", end = "24:30" }
[agents.a.heartbeat]
every = 15
activeHours = { start = "24:00", end = "24:00" }
`)
	defaults, a := c.Agents.Defaults.Heartbeat, c.Agents.Entries["a"].Heartbeat
	if defaults.Every != 0 || defaults.ActiveHours != (config.ActiveHours{}) {
		t.Errorf("%+v", defaults)
	}
	if a.Every != 15*time.Minute || a.ActiveHours != (config.ActiveHours{End: "24:00"}) {
		t.Errorf("%+v", a)
	}
	want := []string{
		`claw.toml:4: agents.defaults.heartbeat.activeHours.end: "24:30" is not a time such as "09:00"; the window is ignored`,
		`claw.toml:4: agents.defaults.heartbeat.activeHours.start: "8:00" is not a time such as "09:00"; the window is ignored`,
		`claw.toml:3: agents.defaults.heartbeat.every: "soon" is not a duration such as "30m"; the heartbeat is off`,
		`claw.toml:7: agents.a.heartbeat.activeHours.start: "24:00" is not a time such as "09:00"; the window is ignored`,
	}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
