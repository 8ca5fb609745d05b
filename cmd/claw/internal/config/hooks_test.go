package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/cmd/claw/internal/config"
	"claw/state/external"
)

// Mappings come in the order of the file, each with its defaults.
func TestHookMappings(t *testing.T) {
	c := parse(t, `
[hooks]
enabled = true
presets = ["gmail"]
[hooks.mappings.zeta]
path = "/a/"
source = "x"
message = "{{a.b[0].c}}"
secretFile = "~/secret"
[hooks.mappings.alpha]
action = "wake"
mode = "next-heartbeat"
quiet = true
timeoutSeconds = 5
`)
	want := []config.HookMapping{
		{Name: "zeta", Mapping: external.Mapping{Secret: "/home/u/secret", Path: "a", Source: "x", Action: external.Ask, Mode: "now", Message: "{{a.b[0].c}}"}},
		{Name: "alpha", Mapping: external.Mapping{Path: "alpha", Action: external.Wake, Mode: "next-heartbeat", Quiet: true, TimeoutSeconds: 5}},
	}
	if diff := cmp.Diff(want, c.Hooks.Mappings); diff != "" {
		t.Error(diff)
	}
	if !c.Hooks.Enabled || !c.IsSet("hooks.mappings.zeta.path") {
		t.Error("what stands beside the mappings is not read")
	}
}

func TestHookProblems(t *testing.T) {
	for text, want := range map[string]string{
		"[hooks.mappings.a]\nmesage = \"x\"":           "claw.toml:2: hooks.mappings.a.mesage: unknown key; did you mean message?",
		"[hooks.mappings.a]\nmessage = \"{{x\"":        "claw.toml:2: hooks.mappings.a.message: {{ without }}",
		"[hooks.mappings.a]\nsession = \"hook:{{ }}\"": "claw.toml:2: hooks.mappings.a.session: {{}} is no path such as {{a.b[0].c}}",
		"[hooks.mappings.a]\npath = \"wake\"":          `claw.toml:2: hooks.mappings.a.path: "wake" is claw's own`,
		"[hooks.mappings.a]\naction = \"run\"":         `claw.toml:2: hooks.mappings.a.action: "run" is not "agent" or "wake"`,
		"[hooks]\nmappings = 1":                        "claw.toml:2: hooks.mappings: 1 is not a table",
		"[hooks.mappings]\na = 1":                      "claw.toml:2: hooks.mappings.a: 1 is not a table",
		"[hooks]\npresets = [\"gmial\"]":               `claw.toml:2: hooks.presets: "gmial" is not "gmail"; did you mean gmail?`,
		"[hooks]\nlisten = 1":                          "claw.toml:2: hooks.listen: 1 is not a string",
	} {
		_, err := config.Parse("claw.toml", []byte(text), "/home/u")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}
