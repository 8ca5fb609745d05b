package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claw/cmd/claw/internal/config"
)

// Every kind of mistake: file, line, key, rule, nearest key, remedy.
func TestProblems(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       string // all problems, one a line
		remedy     string
	}{
		{"misspelt key", "\n[tools.exec]\nbackgroundMss = 1", "claw.toml:3: tools.exec.backgroundMss: unknown key; did you mean backgroundMs?", ""},
		{"letters swapped", "[state]\nretentoinDays = 1", "claw.toml:2: state.retentoinDays: unknown key; did you mean retentionDays?", ""},
		{"wrong case", "[tools.exec]\nBackgroundMS = 1", "claw.toml:2: tools.exec.BackgroundMS: unknown key; did you mean backgroundMs?", ""},
		{"wrong table", "[tools]\nbackgroundMs = 1", "claw.toml:2: tools.backgroundMs: unknown key; did you mean tools.exec.backgroundMs?", ""},
		{"nothing near", "[wake]\nxyzzyplugh = 1", "claw.toml:2: wake.xyzzyplugh: unknown key", "valid here: onExit"},
		{"misspelt table", "[tool.exec]\nbackgroundMs = 1", "claw.toml:1: tool: unknown key; did you mean tools?", ""},
		{"unknown table", "a = 1\n\n[telemetry.sink]\nurl = 1", "claw.toml:1: a: unknown key\nclaw.toml:3: telemetry: unknown key", "valid here: tools, state, wake, runner, cron, hooks, agents, channels, automation"},
		{"old name", "[tools.exec]\ntimeoutSec = 1", "claw.toml:2: tools.exec.timeoutSec: not a key of claw", "tools.exec.timeoutSec: renamed: use timeoutSeconds"},
		{"not in claw", "[tools.exec]\nask = \"always\"", "claw.toml:2: tools.exec.ask: not a key of claw", "tools.exec.ask: claw has no approvals; remove it"},
		{"not in claw, a table", "[tools.elevated]\nenabled = true", "claw.toml:1: tools.elevated: not a key of claw", "tools.elevated: claw has no sandbox to leave; remove it"},
		{"host of later", "[tools.exec]\nhost = \"sandbox\"", `claw.toml:2: tools.exec.host: "sandbox" does not exist in claw yet`, "use auto or gateway"},
		{"host of never", "[tools.exec]\nhost = \"gatevay\"", `claw.toml:2: tools.exec.host: "gatevay" is not "auto" or "gateway"; did you mean gateway?`, ""},
		{"string for a number", "[tools.exec]\nbackgroundMs = \"fast\"", `claw.toml:2: tools.exec.backgroundMs: "fast" is not a whole number`, ""},
		{"quoted number", "[tools.exec]\nbackgroundMs = \"10000\"", `claw.toml:2: tools.exec.backgroundMs: "10000" is not a whole number`, ""},
		{"fraction", "[tools.exec]\nbackgroundMs = 1.5", `claw.toml:2: tools.exec.backgroundMs: 1.5 is not a whole number`, ""},
		{"table for a number", "[tools.exec.backgroundMs]\nx = 1", `claw.toml:1: tools.exec.backgroundMs: a table is not a whole number`, ""},
		{"number for a switch", "[tools.exec]\nnotifyOnExit = 1", `claw.toml:2: tools.exec.notifyOnExit: 1 is not true or false`, ""},
		{"number for a table", "tools = 3", `claw.toml:1: tools: 3 is not a table`, ""},
		{"number for a table within", "tools.exec = 3", `claw.toml:1: tools.exec: 3 is not a table`, ""},
		{"list for a string", "wake.onExit = [\"off\"]", `claw.toml:1: wake.onExit: a list is not a string`, ""},
		{"list of tables", "[[tools]]\n[[tools]]", `claw.toml:2: tools: a list of tables is not a table`, ""},
		{"range", "[state]\nretentionDays = 0", `claw.toml:2: state.retentionDays: 0 is out of range (1 to 3650)`, ""},
		{"range of ours", "[tools.exec]\nmaxOutputChars = 999", `claw.toml:2: tools.exec.maxOutputChars: 999 is out of range (1000 to 200000)`, ""},
		{"size", "[tools.exec]\nmaxOutput = \"64 elephants\"", `claw.toml:2: tools.exec.maxOutput: "64 elephants" is not a size`, `sizes are bytes, or "64MiB", "2 GiB", "500kB"`},
		{"size range", "[tools.exec]\nmaxOutput = \"1k\"", `claw.toml:2: tools.exec.maxOutput: "1k" is out of range (64KiB to 1PiB)`, ""},
		{"size range in bytes", "[state]\noutputBudget = 7", `claw.toml:2: state.outputBudget: 7 is out of range (1MiB to 1PiB)`, ""},
		{"deny", "tools.deny = [\"proces\"]", `claw.toml:1: tools.deny: "proces" is not "process"; did you mean process?`, ""},
		{"deny item", "tools.deny = [1]", `claw.toml:1: tools.deny: 1 is not a string, as every item must be`, ""},
		{"wake", "wake.onExit = \"of\"", `claw.toml:1: wake.onExit: "of" is not "auto", "runner" or "off"; did you mean off?`, ""},
		{"relative path", "tools.exec.pathPrepend = [\"bin\"]", `claw.toml:1: tools.exec.pathPrepend: "bin" is not an absolute path`, "write it from / or ~/"},
		{"path with colon", "tools.exec.pathPrepend = [\"/a:/b\"]", `claw.toml:1: tools.exec.pathPrepend: "/a:/b" is not a directory that can stand in PATH`, ""},
		{"long value", "wake.onExit = \"" + strings.Repeat("é", 50) + "\"", `claw.toml:1: wake.onExit: "` + strings.Repeat("é", 40) + `…" is not "auto", "runner" or "off"`, ""},
		{"control characters", "wake.onExit = \"\\u001b[31mred\"", `claw.toml:1: wake.onExit: "\x1b[31mred" is not "auto", "runner" or "off"`, ""},
		{"all at once, in order", "[wake]\nonexit = \"off\"\n[tools.exec]\nhostt = 1\nbackgroundMs = true", "claw.toml:2: wake.onexit: unknown key; did you mean onExit?\nclaw.toml:4: tools.exec.hostt: unknown key; did you mean host?\nclaw.toml:5: tools.exec.backgroundMs: true is not a whole number", ""},
		{"agent key", "[agents.main]\ncomand = [\"x\"]", "claw.toml:2: agents.main.comand: unknown key; did you mean command?", ""},
		{"agent key in its place", "[agents.main]\nevery = \"1m\"", "claw.toml:2: agents.main.every: unknown key; did you mean heartbeat.every?", ""},
		{"agent is no table", "agents.main = 3", "claw.toml:1: agents.main: 3 is not a table", ""},
		{"agent name", "[agents.\"a b\"]\n", `claw.toml:1: agents."a b": not a usable name`, "names are 1 to 64 letters, digits, - and _, and begin with a letter or digit"},
		{"command as text", "[agents.main]\ncommand = \"claude -p\"", `claw.toml:2: agents.main.command: "claude -p" is not a list of strings`, `a command is a list, program first: ["claude", "-p"]; ["sh", "-c", "…"] for a shell`},
		{"empty program", "[agents.main]\ncommand = [\"\"]", `claw.toml:2: agents.main.command: "" is not a program`, ""},
		{"env value", "[agents.main.env]\nN = 1", `claw.toml:1: agents.main.env: 1 is not a string; the value of "N" must be one`, ""},
		{"env name", "[agents.main.env]\n\"A=B\" = \"1\"", `claw.toml:1: agents.main.env: "A=B" cannot be set in an environment`, ""},
		{"context", "[agents.main]\ncontext = \"promt\"", `claw.toml:2: agents.main.context: "promt" is not "prompt" or "transcript"; did you mean prompt?`, ""},
		{"heartbeat key of the seeds", "[agents.defaults.heartbeat]\nincludeReasoning = true", "claw.toml:2: agents.defaults.heartbeat.includeReasoning: not a key of claw", "agents.defaults.heartbeat.includeReasoning: an agent of claw answers with one reply; remove it"},
		{"inline table", "[agents.defaults.heartbeat]\nactiveHours = { start = \"09:00\",\n stop = \"10:00\" }", "claw.toml:3: agents.defaults.heartbeat.activeHours.stop: unknown key", "valid here: start, end, timezone"},
		{"target", "[agents.main.heartbeat]\ntarget = \"desktp\"", `claw.toml:2: agents.main.heartbeat.target: "desktp" is not a channel; did you mean desktop?`, "one of last, none, desktop, inbox, mail, stdout, webhook"},
		{"default channel", "[channels.defaults]\nchannel = \"inbx\"", `claw.toml:2: channels.defaults.channel: "inbx" is not a channel; did you mean inbox?`, "one of desktop, inbox, mail, stdout, webhook"},
		{"channel without means", "[channels.me]\nto = \"x\"", `claw.toml:1: channels.me: neither command nor type is set`, `set command = ["program", …] or type = "inbox"`},
		{"channel without program", "[channels.me]\ntype = \"command\"", `claw.toml:1: channels.me: type is command, but command is not set`, `set command = ["program", …]`},
		{"webhook without address", "[channels.webhook]\n", `claw.toml:1: channels.webhook: type is webhook, but url is not set`, `set url = "https://…"`},
		{"visibility", "[channels.inbox.heartbeat]\nshowOK = true", "claw.toml:2: channels.inbox.heartbeat.showOK: unknown key; did you mean showOk?", ""},
		{"account", "[channels.inbox.accounts.a]\ntoo = \"x\"", "claw.toml:2: channels.inbox.accounts.a.too: unknown key; did you mean to?", ""},
		{"syntax", "[tools.exec]\nbackgroundMs = = 1\n", "claw.toml:2:16: tools.exec.backgroundMs: not valid TOML: expected value but found '=' instead", ""},
		{"twice", "[wake]\nonExit = \"off\"\nonExit = \"off\"\n", "claw.toml:3: wake.onExit: not valid TOML: Key 'wake.onExit' has already been defined.", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := config.Parse("claw.toml", []byte(row.text), "/home/u")
			if err == nil {
				t.Fatal("accepted")
			}
			if err.Error() != row.want {
				t.Errorf("\ngot  %s\nwant %s", err, row.want)
			}
			if got := asError(t, err).Remedy(); got != row.remedy {
				t.Errorf("remedy\ngot  %s\nwant %s", got, row.remedy)
			}
		})
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "k%02d = 1\n", i)
	}
	_, err := config.Parse("claw.toml", []byte(text.String()), "")
	e := asError(t, err)
	if len(e.Problems) != 20 || e.More != 10 || e.Problems[19].Line != 20 {
		t.Errorf("%d listed, %d more, last in line %d", len(e.Problems), e.More, e.Problems[19].Line)
	}
	if !strings.HasSuffix(err.Error(), "\nclaw.toml: and 10 more") {
		t.Error(err)
	}
}

// B40: small files that would take the decoder minutes or all memory.
func TestDeepNestingIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": "\na = " + strings.Repeat("[", 500_000),
		"braces":   "\na = " + strings.Repeat("{a=", 100_000),
		"dots":     "\n" + strings.Repeat("a.", 100_000) + "a = 1",
		"header":   "\n[" + strings.Repeat("a.", 100_000) + "a]",
	} {
		_, err := config.Parse("claw.toml", []byte(text), "")
		if want := "claw.toml:2: nested deeper than any key of claw.toml"; err == nil || err.Error() != want {
			t.Errorf("%s: %.100v", name, err)
		}
	}
	// Neither strings nor comments nest.
	deep := strings.Repeat("[.", 100)
	parse(t, "# "+deep+"\n[agents.main]\nmodel = '"+deep+"' # "+deep+"\n"+
		"[agents.b]\nmodel = \"\\\""+deep+"\"\n[agents.c]\nmodel = \"\"\"\n\\\""+deep+"\"\n\"\"\"\n[agents.d]\nmodel = '''\n"+deep+"'\n'''\n")
}

func TestNearest(t *testing.T) {
	keys := []string{"backgroundMs", "timeoutSeconds", "host", "to"}
	for word, want := range map[string]string{
		"backgroundMss": "backgroundMs", "bakgroundMs": "backgroundMs", "backgruondMs": "backgroundMs",
		"BACKGROUNDMS": "backgroundMs", "timeoutSec": "", "timeoutsecond": "timeoutSeconds", "hots": "host", "ot": "to",
		"zz": "", "": "", "completely-different": "", strings.Repeat("backgroundMs", 99): "",
	} {
		if got := config.Nearest(word, keys); got != want {
			t.Errorf("%.30q: %q, want %q", word, got, want)
		}
	}
}

// heartbeat-automations.md 1.1: ms s m h d, a bare number is minutes; zero,
// negative, blank and unreadable are off.
func TestCadence(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "500ms": 500 * time.Millisecond,
		"90s": 90 * time.Second, "45": 45 * time.Minute, "1.5h": 90 * time.Minute, " 30 m ": 30 * time.Minute, "30M": 30 * time.Minute,
		"0m": 0, "0": 0, "-5m": 0, "": 0, "  ": 0,
	} {
		got, ok := config.ParseEvery(text)
		if got != want || !ok {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"soon", "5y", "m", "1h5", "0h5", "1..5m", "99999999999d", "--5m", "5 m x"} {
		if got, ok := config.ParseEvery(text); got != 0 || ok {
			t.Errorf("%q: %v %v, want off", text, got, ok)
		}
	}
}

func TestCadenceIsReadBack(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0m": 0, "30m": 30 * time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute, "48h": 48 * time.Hour, "1.5s": 1500 * time.Millisecond,
		"1h0m5s": time.Hour + 5*time.Second, "10m": 10 * time.Minute,
	} {
		got := config.FormatEvery(d)
		if back, _ := config.ParseEvery(got); got != want || back != d {
			t.Errorf("%v: %q, read back as %v", d, got, back)
		}
	}
}
