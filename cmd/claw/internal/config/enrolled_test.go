package config_test

import (
	"testing"
	"time"

	"claw/cmd/claw/internal/config"
)

func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("claw.toml", []byte(text), "/home/u")
	must(t, err)
	return c
}

// spec/heartbeat-automations.md 1.1: who is enrolled.
func TestEnrolled(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want map[string]bool
	}{
		"nothing is configured": {"", map[string]bool{"main": true, "ops": false}},
		"agents without a block: only the default one": {
			"[agents.main]\ncommand = ['a']\n[agents.ops]\ncommand = ['b']\n",
			map[string]bool{"main": true, "ops": false},
		},
		"the defaults have one: all": {
			"[agents.defaults.heartbeat]\nevery = '1h'\n[agents.main]\ncommand = ['a']\n[agents.ops]\ncommand = ['b']\n",
			map[string]bool{"main": true, "ops": true},
		},
		"one agent has its own: only that one": {
			"[agents.defaults.heartbeat]\nevery = '1h'\n[agents.main]\ncommand = ['a']\n[agents.ops.heartbeat]\ntarget = 'none'\n",
			map[string]bool{"main": false, "ops": true, "nobody": false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := parsed(t, row.text)
			for agent, want := range row.want {
				if got := c.Enrolled(agent); got != want {
					t.Errorf("%s: %v, want %v", agent, got, want)
				}
			}
		})
	}
}

// spec/heartbeat-automations.md 1.1, timeoutSeconds.
func TestHeartbeatTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":                                      10 * time.Minute, // every is 30m
		"[agents.main.heartbeat]\nevery = '2m'": 2 * time.Minute,
		"[agents.main.heartbeat]\nevery = '10ms'":                                          time.Second,
		"[agents.main.heartbeat]\nevery = '0m'":                                            10 * time.Minute,
		"[agents.main]\ntimeoutSeconds = 900":                                              15 * time.Minute,
		"[agents.defaults]\ntimeoutSeconds = 40":                                           40 * time.Second,
		"[agents.defaults]\ntimeoutSeconds = 0":                                            -1,
		"[agents.main.heartbeat]\ntimeoutSeconds=7":                                        7 * time.Second,
		"[agents.main]\ntimeoutSeconds = 900\n[agents.main.heartbeat]\ntimeoutSeconds = 7": 7 * time.Second,
	} {
		if got := parsed(t, text).HeartbeatTimeout("main"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// spec/heartbeat-automations.md 1.1: account over channel over defaults, per
// key; showOk false and showAlerts true by themselves.
func TestVisibility(t *testing.T) {
	c := parsed(t, `
[channels.defaults.heartbeat]
showOk = true
[channels.team]
command = ["team"]
[channels.team.heartbeat]
showAlerts = false
[channels.team.accounts.me.heartbeat]
showOk = false
`)
	for at, want := range map[[2]string][2]bool{ // showOk, showAlerts
		{"inbox", ""}:      {true, true},
		{"team", ""}:       {true, false},
		{"team", "nobody"}: {true, false},
		{"team", "me"}:     {false, false},
	} {
		v := c.Channels.Visibility(at[0], at[1])
		if got := [2]bool{v.ShowOk, v.ShowAlerts}; got != want {
			t.Errorf("%v: %v, want %v", at, got, want)
		}
	}
}
