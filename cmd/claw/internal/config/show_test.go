package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claw/cmd/claw/internal/config"
)

// ignored is what a round trip cannot keep: environments are not shown, and a
// value that is shown for an agent becomes its own.
var ignored = cmp.Options{
	cmpopts.IgnoreUnexported(config.Config{}), cmpopts.IgnoreFields(config.Agent{}, "HasHeartbeat", "Env"),
	cmpopts.IgnoreFields(config.Channel{}, "Env"), cmpopts.IgnoreFields(config.Config{}, "Warnings"), cmpopts.EquateEmpty(),
}

const rich = `
[tools]
deny = ["process"]
exec.pathPrepend = ["/opt/a \" b", "/é"]
exec.maxOutput = "65537"
[agents.main]
command = ["claude", "-p", "line\nbreak \\ \u0001"]
env = { TOKEN = "hunter2" }
hooks.before_agent_run = [["a", "b"], ["c"]]
heartbeat = { every = "1h30m", target = "me" }
[agents.x-1]
[channels.me]
command = ["send"]
env.KEY = "hunter2"
[channels.me.accounts."a b"]
to = "x"
`

// What Show prints is claw.toml again. B38: environments are hidden in it.
func TestShowIsReadBack(t *testing.T) {
	c := parse(t, rich)
	var out bytes.Buffer
	must(t, c.Show(&out, false))
	if strings.Contains(out.String(), "hunter2") {
		t.Error("an environment value is shown")
	}
	back, err := config.Parse("shown", out.Bytes(), "/home/u")
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if diff := cmp.Diff(c, back, ignored); diff != "" {
		t.Error(diff)
	}
}

func TestShowLines(t *testing.T) {
	name := write(t, "\n[tools.exec]\nbackgroundMs = 1\n")
	c, err := config.Load(env("CLAW_CONFIG", name, "OPENCLAW_BASH_JOB_TTL_MS", "70000"))
	must(t, err)
	var out bytes.Buffer
	must(t, c.Show(&out, false))
	for _, want := range []string{
		"tools.exec.backgroundMs = 10                     # " + name + ":3\n",
		"tools.exec.cleanupMs = 70000                     # OPENCLAW_BASH_JOB_TTL_MS\n",
		"tools.exec.maxOutput = \"64MiB\"                   # default\n",
		"agents.defaults.heartbeat.every = \"30m\"          # default\n",
		"# " + name + ":3: tools.exec.backgroundMs: 1 is too small; 10 is used\n",
	} {
		if !strings.Contains("\n"+out.String(), "\n"+want) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

func TestShowJSON(t *testing.T) {
	c := parse(t, rich)
	var out bytes.Buffer
	must(t, c.Show(&out, true))
	var got struct {
		SchemaVersion int
		File          string
		Read          bool
		Settings      []struct {
			Key, Source, File, Env string
			Value                  any
			Line                   int
		}
		Warnings []string
	}
	must(t, json.Unmarshal(out.Bytes(), &got))
	if got.SchemaVersion != 1 || got.File != "claw.toml" || !got.Read || got.Warnings == nil || strings.Contains(out.String(), "hunter2") {
		t.Errorf("%+v", got)
	}
	want := map[string]any{
		"tools.exec.backgroundMs": float64(10000), "tools.exec.notifyOnExit": true, "tools.exec.maxOutput": "65537",
		"agents.main.heartbeat.every": "1h30m", "agents.main.env": []any{"TOKEN"},
		"agents.main.hooks.before_agent_run": []any{[]any{"a", "b"}, []any{"c"}},
	}
	for _, s := range got.Settings {
		if v, ok := want[s.Key]; ok && cmp.Diff(v, s.Value) != "" {
			t.Errorf("%s: %v, want %v", s.Key, s.Value, v)
		}
		if s.Key == "agents.main.env" && (s.Source != "file" || s.Line != 8) {
			t.Errorf("%+v", s)
		}
		delete(want, s.Key)
	}
	if len(want) != 0 {
		t.Errorf("not shown: %v", want)
	}
}

// Show must not hide a full disk.
func TestShowReportsWriteErrors(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	for _, asJSON := range []bool{false, true} {
		if parse(t, "").Show(full, asJSON) == nil {
			t.Error("writing to a full disk succeeded")
		}
	}
}

// The defaults in the manual are a claw.toml that says nothing new.
func TestKeys(t *testing.T) {
	var text strings.Builder
	seen := map[string]bool{}
	for _, k := range config.Keys() {
		if seen[k.Key] || k.Type == "" || k.Help == "" || !strings.HasSuffix(k.Help, ".") {
			t.Errorf("twice or not documented: %+v", k)
		}
		seen[k.Key] = true
		if k.Default != "" && !strings.HasPrefix(k.Key, "channels.NAME") && !strings.HasPrefix(k.Key, "automation.") && !strings.HasPrefix(k.Key, "hooks.mappings.") {
			text.WriteString(strings.Replace(k.Key, "NAME", "defaults", 1) + " = " + k.Default + "\n")
		}
	}
	if diff := cmp.Diff(parse(t, ""), parse(t, text.String()), ignored); diff != "" {
		t.Error(diff)
	}
	for _, v := range config.Variables() {
		if !seen[v.Key] || !strings.HasPrefix(v.Names[0], "CLAW_") {
			t.Errorf("%+v", v)
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d keys", len(seen))
	}
}

// A missing file costs one open. The number is generous: the point is that
// neither the schema nor the decoder is run, which would be thousands.
func TestMissingFileIsCheap(t *testing.T) {
	none := env("HOME", t.TempDir())
	allocs := testing.AllocsPerRun(50, func() {
		if _, err := config.Load(none); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 30 {
		t.Errorf("%.0f allocations", allocs)
	}
}
