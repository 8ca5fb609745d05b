package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/cmd/claw/internal/config"
	"claw/state/process"
)

// env is an environment with nothing in it but what is given.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// write makes a claw.toml and gives its path.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "claw.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("claw.toml", []byte(text), "/home/u")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

// Defaults: spec/exec-process.md 6, design.md 7, heartbeat-automations.md 1.1.
func TestDefaults(t *testing.T) {
	c, err := config.Load(env("HOME", t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Exec{
		BackgroundMs: 10000, TimeoutSeconds: 1800, CleanupMs: 1800000, NotifyOnExit: true,
		MaxOutput: 67108864, MaxOutputChars: 200000, PendingMaxOutputChars: 30000, InputWaitIdleMs: 15000,
		OnSupervisorLoss: "leave", Host: "auto",
	}
	if diff := cmp.Diff(want, c.Tools.Exec); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(config.State{OutputBudget: 2147483648, RetentionDays: 7}, c.State); diff != "" {
		t.Error(diff)
	}
	hb := c.Agents.Defaults.Heartbeat
	if hb.Every != 30*time.Minute || hb.Target != "last" || hb.Session != "main" || hb.AckMaxChars != 300 {
		t.Errorf("heartbeat defaults: %+v", hb)
	}
	if c.Wake.OnExit != "auto" || c.Channels.Default != "inbox" || !c.Cron.Enabled {
		t.Errorf("%+v %+v %+v", c.Wake, c.Channels, c.Cron)
	}
	if len(c.Warnings) != 0 || c.Tools.Denies("process") || c.IsSet("tools.exec.backgroundMs") {
		t.Errorf("warnings %v", c.Warnings)
	}
}

// The limits of the schema are those of the pure rules.
func TestBoundsAgreeWithProcess(t *testing.T) {
	for key, b := range map[string]process.Bounds{
		"tools.exec.backgroundMs":          process.Yield,
		"tools.exec.cleanupMs":             process.TTL,
		"tools.exec.maxOutputChars":        process.OutputChars,
		"tools.exec.pendingMaxOutputChars": process.PendingChars,
		"tools.exec.inputWaitIdleMs":       process.InputWaitIdle,
	} {
		if lo, hi := config.Bounds(key); lo != b.Min || hi != b.Max {
			t.Errorf("%s: %d to %d, process has %d to %d", key, lo, hi, b.Min, b.Max)
		}
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	c := parse(t, `
[tools]
deny = ["process"]
[tools.exec]
backgroundMs = 2_000
timeoutSeconds = 0
cleanupMs = 60000
notifyOnExit = false
notifyOnExitEmptySuccess = true
pathPrepend = ["~/bin", "/opt/x/bin"]
maxOutput = "1GiB"
maxOutputChars = 5000
pendingMaxOutputChars = 4000
inputWaitIdleMs = 1000
onSupervisorLoss = "kill"
host = "gateway"
[state]
outputBudget = 1048576
retentionDays = 1
unsafeFs = true
[wake]
onExit = "off"
[cron]
enabled = false
maxConcurrentRuns = 3
[hooks]
enabled = true
listen = "127.0.0.1:18789"
path = "/in"
tokenFile = "~/token"
tools = ["read"]
idempotencyWindow = "1h"
`)
	want := config.Exec{
		BackgroundMs: 2000, CleanupMs: 60000, NotifyOnExitEmptySuccess: true,
		PathPrepend: []string{"/home/u/bin", "/opt/x/bin"}, MaxOutput: 1 << 30, MaxOutputChars: 5000,
		PendingMaxOutputChars: 4000, InputWaitIdleMs: 1000, OnSupervisorLoss: "kill", Host: "gateway",
	}
	if diff := cmp.Diff(want, c.Tools.Exec); diff != "" {
		t.Error(diff)
	}
	if !c.Tools.Denies("process") || c.Tools.Denies("exec") {
		t.Error("deny")
	}
	if diff := cmp.Diff(config.State{OutputBudget: 1 << 20, RetentionDays: 1, UnsafeFs: true}, c.State); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(config.Hooks{
		Enabled: true, Listen: "127.0.0.1:18789", Path: "/in", TokenFile: "/home/u/token", Tools: []string{"read"}, IdempotencyWindow: time.Hour,
	}, c.Hooks); diff != "" {
		t.Error(diff)
	}
	if c.Wake.OnExit != "off" || c.Cron.Enabled || c.Cron.MaxConcurrentRuns != 3 {
		t.Errorf("%+v %+v", c.Wake, c.Cron)
	}
}

// What the seeds clamp is clamped and told; what they do not is refused.
func TestClamps(t *testing.T) {
	for _, row := range []struct {
		text string
		get  func(*config.Config) int64
		want int64
		warn string
	}{
		{"[tools.exec]\nbackgroundMs = 9", yield, 10, "claw.toml:2: tools.exec.backgroundMs: 9 is too small; 10 is used"},
		{"[tools.exec]\nbackgroundMs = 10", yield, 10, ""},
		{"[tools.exec]\nbackgroundMs = 120000", yield, 120000, ""},
		{"[tools.exec]\n\nbackgroundMs = 120001", yield, 120000, "claw.toml:3: tools.exec.backgroundMs: 120001 is too large; 120000 is used"},
		{"[tools.exec]\ncleanupMs = 0", ttl, 60000, "claw.toml:2: tools.exec.cleanupMs: 0 is too small; 60000 is used"},
		{"tools.exec.cleanupMs = 10800001", ttl, 10800000, "claw.toml:1: tools.exec.cleanupMs: 10800001 is too large; 10800000 is used"},
		{"[tools.exec]\ntimeoutSeconds = -5", timeout, 0, ""},
		{"[tools.exec]\ntimeoutSeconds = 2147483", timeout, 2147483, ""},
		{"[tools.exec]\ntimeoutSeconds = 9999999", timeout, 2147483, "claw.toml:2: tools.exec.timeoutSeconds: 9999999 is too large; 2147483 is used"},
		{"[tools.exec]\nmaxOutputChars = 1000", pending, 1000, ""}, // pending is never above it
	} {
		c := parse(t, row.text)
		if got := row.get(c); got != row.want {
			t.Errorf("%q: %d, want %d", row.text, got, row.want)
		}
		var got []string
		for _, w := range c.Warnings {
			got = append(got, w.String())
		}
		if strings.Join(got, "\n") != row.warn {
			t.Errorf("%q: warnings %q, want %q", row.text, got, row.warn)
		}
	}
}

func yield(c *config.Config) int64   { return c.Tools.Exec.BackgroundMs }
func ttl(c *config.Config) int64     { return c.Tools.Exec.CleanupMs }
func timeout(c *config.Config) int64 { return c.Tools.Exec.TimeoutSeconds }
func chars(c *config.Config) int64   { return c.Tools.Exec.MaxOutputChars }
func pending(c *config.Config) int64 { return c.Tools.Exec.PendingMaxOutputChars }
func idle(c *config.Config) int64    { return c.Tools.Exec.InputWaitIdleMs }

// The table of spec/exec-process.md 6, the names of design.md 7.
func TestEnvironment(t *testing.T) {
	const junk = "is not a whole number; ignored"
	for _, row := range []struct {
		name, file string
		env        []string
		get        func(*config.Config) int64
		want       int64
		source     string
		warn       string
	}{
		{"yield", "", []string{"CLAW_BASH_YIELD_MS", "2000"}, yield, 2000, "CLAW_BASH_YIELD_MS", ""},
		{"the seeds' name", "", []string{"OPENCLAW_BASH_YIELD_MS", "2000"}, yield, 2000, "OPENCLAW_BASH_YIELD_MS", ""},
		{"the oldest name", "", []string{"PI_BASH_YIELD_MS", "2000"}, yield, 2000, "PI_BASH_YIELD_MS", ""},
		{"ours first", "", []string{"PI_BASH_YIELD_MS", "1", "OPENCLAW_BASH_YIELD_MS", "200", "CLAW_BASH_YIELD_MS", "300"}, yield, 300, "CLAW_BASH_YIELD_MS", ""},
		{"then the seeds'", "", []string{"PI_BASH_YIELD_MS", "100", "OPENCLAW_BASH_YIELD_MS", "200"}, yield, 200, "OPENCLAW_BASH_YIELD_MS", ""},
		{"file first", "tools.exec.backgroundMs = 500", []string{"CLAW_BASH_YIELD_MS", "300"}, yield, 500, "claw.toml:1", ""},
		{"low", "", []string{"CLAW_BASH_YIELD_MS", "0"}, yield, 10, "CLAW_BASH_YIELD_MS", ""},
		{"negative", "", []string{"CLAW_BASH_YIELD_MS", "-7"}, yield, 10, "CLAW_BASH_YIELD_MS", ""},
		{"high", "", []string{"CLAW_BASH_YIELD_MS", "120001"}, yield, 120000, "CLAW_BASH_YIELD_MS", ""},
		{"beyond int64", "", []string{"CLAW_BASH_YIELD_MS", "99999999999999999999"}, yield, 120000, "CLAW_BASH_YIELD_MS", ""},
		{"unit", "", []string{"CLAW_BASH_YIELD_MS", "10s"}, yield, 10000, "default", `CLAW_BASH_YIELD_MS: tools.exec.backgroundMs: "10s" ` + junk},
		{"fraction", "", []string{"CLAW_BASH_YIELD_MS", "10.5"}, yield, 10000, "default", `CLAW_BASH_YIELD_MS: tools.exec.backgroundMs: "10.5" ` + junk},
		{"empty is unset", "", []string{"CLAW_BASH_YIELD_MS", "", "OPENCLAW_BASH_YIELD_MS", "200"}, yield, 200, "OPENCLAW_BASH_YIELD_MS", ""},
		{"chars low", "", []string{"OPENCLAW_BASH_MAX_OUTPUT_CHARS", "1"}, chars, 1000, "OPENCLAW_BASH_MAX_OUTPUT_CHARS", ""},
		{"chars high", "", []string{"PI_BASH_MAX_OUTPUT_CHARS", "200001"}, chars, 200000, "PI_BASH_MAX_OUTPUT_CHARS", ""},
		{"pending", "", []string{"CLAW_BASH_PENDING_MAX_OUTPUT_CHARS", "1500"}, pending, 1500, "CLAW_BASH_PENDING_MAX_OUTPUT_CHARS", ""},
		{"pending has no PI name", "", []string{"PI_BASH_PENDING_MAX_OUTPUT_CHARS", "1500"}, pending, 30000, "default", ""},
		{"ttl low", "", []string{"OPENCLAW_BASH_JOB_TTL_MS", "59999"}, ttl, 60000, "OPENCLAW_BASH_JOB_TTL_MS", ""},
		{"ttl high", "", []string{"PI_BASH_JOB_TTL_MS", "10800001"}, ttl, 10800000, "PI_BASH_JOB_TTL_MS", ""},
		{"idle low", "", []string{"OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS", "999"}, idle, 1000, "OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS", ""},
		{"idle high", "", []string{"CLAW_PROCESS_INPUT_WAIT_IDLE_MS", "600001"}, idle, 600000, "CLAW_PROCESS_INPUT_WAIT_IDLE_MS", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			name := write(t, row.file)
			c, err := config.Load(env(append(row.env, "CLAW_CONFIG", name)...))
			if err != nil {
				t.Fatal(err)
			}
			if got := row.get(c); got != row.want {
				t.Errorf("%d, want %d", got, row.want)
			}
			var warn string
			for _, w := range c.Warnings {
				warn += w.String()
			}
			if warn != row.warn {
				t.Errorf("warning %q, want %q", warn, row.warn)
			}
			found := false
			for _, s := range c.Provenance() {
				found = found || strings.TrimPrefix(s.Source.String(), filepath.Dir(name)+"/") == row.source
			}
			if !found {
				t.Errorf("no key comes from %s", row.source)
			}
		})
	}
}

// Either switch stops the clock: heartbeat-automations.md 1.1 "Global off".
func TestSkipCron(t *testing.T) {
	for _, name := range []string{"CLAW_SKIP_CRON", "OPENCLAW_SKIP_CRON"} {
		c, err := config.Load(env("CLAW_CONFIG", write(t, "cron.enabled = true"), name, "1"))
		if err != nil || c.Cron.Enabled {
			t.Errorf("%s: %v, enabled %v", name, err, c.Cron.Enabled)
		}
		if got := c.Source("cron.enabled").String(); got != name {
			t.Errorf("source %q", got)
		}
	}
}

// Files that cannot be read, B40: each message names the file and the reason.
func TestUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	loop, fifo, big, file := dir+"/loop", dir+"/fifo", dir+"/big", dir+"/file"
	must(t, os.Symlink("loop", loop))
	must(t, syscall.Mkfifo(fifo, 0o600))
	must(t, os.WriteFile(big, make([]byte, config.MaxFile+1), 0o600))
	must(t, os.WriteFile(file, nil, 0o600))
	for name, want := range map[string]string{
		dir:                 dir + ": is a directory, not a file",
		fifo:                fifo + ": is not a regular file",
		big:                 big + ": is larger than 1MiB",
		loop:                loop + ": cannot be opened: too many levels of symbolic links",
		file + "/claw.toml": file + "/claw.toml: cannot be opened: not a directory",
	} {
		_, err := config.Load(env("CLAW_CONFIG", name))
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	for _, name := range []string{"/dev/null", file} { // both say: no configuration
		if _, err := config.Load(env("CLAW_CONFIG", name)); err != nil {
			t.Error(err)
		}
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	name := write(t, "")
	must(t, os.Chmod(name, 0))
	_, err := config.Load(env("CLAW_CONFIG", name))
	if want := name + ": cannot be opened: permission denied"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMissingFileThatWasNamed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "clwa.toml")
	_, err := config.Load(env("CLAW_CONFIG", name))
	if want := name + ": there is no such file, and CLAW_CONFIG names it"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asError unwraps the list of problems.
func asError(t *testing.T, err error) *config.Error {
	t.Helper()
	var e *config.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not a *config.Error", err)
	}
	return e
}
