package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/cmd/claw/internal/config"
)

func texts(all []config.Warning) (lines []string) {
	for _, w := range all {
		lines = append(lines, w.String())
	}
	return lines
}

// What cannot be meant, and is used all the same, is told.
func TestWarnsOfWhatCannotBeMeant(t *testing.T) {
	const pager = "[channels.x]\n"
	for _, tt := range []struct{ rule, file, want string }{
		{"a session that is none", "[agents.main.heartbeat]\nsession = \"garbage key\"", `claw.toml:2: agents.main.heartbeat.session: "garbage key" is not a session, such as "agent:main:ops" or "session:notes"; the main session is used`},
		{"in the defaults, once", "[agents.defaults.heartbeat]\nsession = \"garbage key\"\n[agents.a]\n[agents.b]", `claw.toml:2: agents.defaults.heartbeat.session: "garbage key" is not a session, such as "agent:main:ops" or "session:notes"; the main session is used`},
		{"another agent's", "[agents.main.heartbeat]\nsession = \"agent:ops:main\"", `claw.toml:2: agents.main.heartbeat.session: "agent:ops:main" is of agent ops; the main session is used`},
		{"another agent's, inherited", "[agents.defaults.heartbeat]\nsession = \"agent:ops:x\"\n[agents.main]\n[agents.ops]", `claw.toml:2: agents.defaults.heartbeat.session: "agent:ops:x" is of agent ops; agent main uses its main session`},
		{"a sub-agent's", "[agents.main.heartbeat]\nsession = \"agent:main:subagent:1\"", `claw.toml:2: agents.main.heartbeat.session: "agent:main:subagent:1" is of a sub-agent, and those are not woken; the main session is used`},
		{"its own", "[agents.main.heartbeat]\nsession = \"agent:main:ops\"", ""},
		{"one of nobody", "[agents.main.heartbeat]\nsession = \"session:notes\"", ""},
		{"main", "[agents.main.heartbeat]\nsession = \"main\"", ""},

		{"agents.default", "[agents.default]\nmodel = \"m\"", `claw.toml:1: agents.default: is one of the agents, and gives nothing to the others; did you mean [agents.defaults]?`},
		{"agents.Defaults", "[agents.Defaults]\nmodel = \"m\"", `claw.toml:1: agents.Defaults: is one of the agents, and gives nothing to the others; did you mean [agents.defaults]?`},
		{"channels.default", "[channels.default]\ntype = \"inbox\"", `claw.toml:1: channels.default: is one of the channels, and gives nothing to the others; did you mean [channels.defaults]?`},
		{"an agent of another name", "[agents.default-2]\n[agents.deputy]", ""},

		{"a command beside a type", pager + "type = \"mail\"\ncommand = [\"page\"]", "claw.toml:3: channels.x.command: type is mail, so the command is not used"},
		{"a url beside a type", pager + "type = \"mail\"\nurl = \"https://x/\"", "claw.toml:3: channels.x.url: type is mail, so the url is not used"},
		{"a url beside a command", pager + "command = [\"page\"]\nurl = \"https://x/\"", "claw.toml:3: channels.x.url: type is command, so the url is not used"},
		{"type command", pager + "type = \"command\"\ncommand = [\"page\"]", ""},

		{"https", pager + "type = \"webhook\"\nurl = \"https://me:pw@example.org:8443/a?b#c\"", ""},
		{"http", pager + "type = \"webhook\"\nurl = \"HTTP://127.0.0.1:80\"", ""},
		{"IPv6", pager + "type = \"webhook\"\nurl = \"http://[::1]:80/x\"", ""},
		{"ftp", pager + "type = \"webhook\"\nurl = \"ftp://x/y\"", badURL("ftp://x/y")},
		{"no url", pager + "type = \"webhook\"\nurl = \"not a url\"", badURL("not a url")},
		{"no host", pager + "type = \"webhook\"\nurl = \"http:///x\"", badURL("http:///x")},
		{"a port alone", pager + "type = \"webhook\"\nurl = \"http://:80/x\"", badURL("http://:80/x")},
		{"a name without a host", pager + "type = \"webhook\"\nurl = \"http://me@/x\"", badURL("http://me@/x")},
		{"no scheme", pager + "type = \"webhook\"\nurl = \"example.org/x\"", badURL("example.org/x")},
		{"a space", pager + "type = \"webhook\"\nurl = \"http://x/a b\"", badURL("http://x/a b")},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := strings.Join(texts(parse(t, tt.file).Warnings), "\n"); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

func badURL(url string) string {
	return `claw.toml:3: channels.x.url: "` + url + `" is not an address such as "https://example.org/hook"; nothing can be sent to it`
}

// A value that is wrong is one problem, not also that it is missing.
func TestWhatIsWrongIsNotMissing(t *testing.T) {
	for _, tt := range []struct {
		rule, file string
		problems   int
	}{
		{"a type that is none", "type = \"webhok\"\nurl = \"https://x\"", 1},
		{"a command that is no list", "command = \"page\"", 1},
		{"the same with its type", "type = \"command\"\ncommand = \"page\"", 1},
		{"a url that is no text", "type = \"webhook\"\nurl = 5", 1},
		{"nothing", "to = \"me\"", 1},
		{"an empty command", "command = []", 1},
		{"a key that is none, and nothing", "too = \"me\"", 2},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := config.Parse("claw.toml", []byte("[channels.x]\n"+tt.file), "/home/u")
			bad, ok := errors.AsType[*config.Error](err)
			if !ok || len(bad.Problems) != tt.problems {
				t.Errorf("%v", err)
			}
		})
	}
}

// Check tells what the machine lacks; each once, where it is written.
func TestCheckLooksOnTheMachine(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"good": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	c := parse(t, `[agents.defaults]
userTimezone = "Nowhere/Bad"
command = ["good"]
[agents.a]
heartbeat.activeHours.timezone = "europe/berlin"
[agents.b]
heartbeat.activeHours.timezone = "../../etc/passwd"
workdir = "`+dir+`/none"
command = ["data"]
[agents.c]
userTimezone = "UTC"
heartbeat.activeHours.timezone = "user"
workdir = "`+dir+`"
command = ["./good"]
recover = ["`+dir+`/data"]
hooks.before_agent_run = [["good"], ["absent"]]
[agents.d]
heartbeat.activeHours.timezone = "local"
command = ["absent"]
env = { PATH = "/elsewhere" }
[channels.x]
command = ["good"]
reconcile = ["absent"]
`)
	if len(c.Warnings) > 0 {
		t.Errorf("before: %v", texts(c.Warnings))
	}
	const zone = " is not a time zone that is known here; "
	notFound := func(name string) string {
		return "the program \"" + name + "\" is not found here, or cannot be executed"
	}
	want := []string{
		`claw.toml:2: agents.defaults.userTimezone: "Nowhere/Bad"` + zone + "the machine's zone is used",
		`claw.toml:5: agents.a.heartbeat.activeHours.timezone: "europe/berlin"` + zone + "userTimezone is used, else the machine's zone; did you mean Europe/Berlin?",
		`claw.toml:7: agents.b.heartbeat.activeHours.timezone: "../../etc/passwd"` + zone + "userTimezone is used, else the machine's zone",
		"claw.toml:8: agents.b.workdir: ",
		"claw.toml:9: agents.b.command: " + notFound("data"),
		"claw.toml:15: agents.c.recover: " + notFound(dir+"/data"),
		"claw.toml:16: agents.c.hooks.before_agent_run: " + notFound("absent"),
		"claw.toml:23: channels.x.reconcile: " + notFound("absent"),
	}
	got := texts(c.Check(dir))
	for i, line := range got { // of a temporary folder's name as much as quote shows
		if strings.Contains(line, "workdir") && strings.HasSuffix(line, " is not a directory that is there; the agent cannot be started") {
			got[i] = "claw.toml:8: agents.b.workdir: "
		}
		if strings.Contains(line, "agents.c.recover") {
			got[i] = want[5]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
