package config

import (
	"slices"
	"strings"

	"claw/state/process"
)

// variable is one setting that can come from the environment: a name without
// its prefix, and the key it stands for; spec/exec-process.md section 6.
type variable struct {
	name string
	key  string
	pi   bool // the seeds also know a PI_ alias
}

var variables = []variable{
	{"BASH_YIELD_MS", "tools.exec.backgroundMs", true},
	{"BASH_MAX_OUTPUT_CHARS", "tools.exec.maxOutputChars", true},
	{"BASH_PENDING_MAX_OUTPUT_CHARS", "tools.exec.pendingMaxOutputChars", false},
	{"BASH_JOB_TTL_MS", "tools.exec.cleanupMs", true},
	{"PROCESS_INPUT_WAIT_IDLE_MS", "tools.exec.inputWaitIdleMs", false},
	{"WAKE_ON_EXIT", "wake.onExit", false},
	{"RUNNER_SAFE_MODE", "runner.safeMode", false},
}

// names are the spellings, strongest first.
func (v variable) names() []string {
	names := []string{"CLAW_" + v.name, "OPENCLAW_" + v.name}
	if v.pi {
		names = append(names, "PI_"+v.name)
	}
	return names
}

// applyEnv fills what the file left open. Numbers are clamped, as upstream
// does; what is not a whole number counts as unset, with a warning.
func (c *Config) applyEnv(getenv func(string) string) {
	for _, v := range variables {
		if !c.IsSet(v.key) {
			c.applyVariable(getenv, v)
		}
	}
	for _, name := range [...]string{"CLAW_SKIP_CRON", "OPENCLAW_SKIP_CRON"} {
		if getenv(name) == "1" && c.Cron.Enabled { // either switch is enough: spec 1.1 "Global off"
			c.Cron.Enabled = false
			c.setOrigin(origin{key: "cron.enabled", env: name})
		}
	}
	c.Tools.Exec.PendingMaxOutputChars = min(c.Tools.Exec.PendingMaxOutputChars, c.Tools.Exec.MaxOutputChars)
}

func (c *Config) applyVariable(getenv func(string) string, v variable) {
	for _, name := range v.names() {
		raw := strings.TrimSpace(getenv(name))
		if raw == "" {
			continue
		}
		if why := c.take(find(rootFields, v.key), raw); why != "" {
			c.Warnings = append(c.Warnings, Warning{
				Source: Source{Kind: FromEnv, Env: name}, Key: v.key,
				Text: quote(raw) + " is " + why + "; ignored",
			})
			continue
		}
		c.setOrigin(origin{key: v.key, env: name})
		return
	}
}

// take sets a field from the environment, or says what the value is not.
func (c *Config) take(f *field[Config], raw string) (why string) {
	switch at := f.at(c).(type) {
	case *int64:
		n, ok := process.Bounds{Min: f.min, Max: f.max}.Parse(raw)
		if !ok {
			return "not a whole number"
		}
		*at = n
	case *string:
		if !slices.Contains(f.oneOf, raw) {
			return "not one of " + strings.Join(f.oneOf, ", ")
		}
		*at = raw
	}
	return ""
}

// VariableDoc is one environment setting for the manual.
type VariableDoc struct {
	Names []string // strongest first
	Key   string   // the key it stands for; the file wins
}

// Variables lists the environment settings that stand for a key.
func Variables() []VariableDoc {
	docs := make([]VariableDoc, 0, len(variables)+1)
	for _, v := range variables {
		docs = append(docs, VariableDoc{v.names(), v.key})
	}
	return append(docs, VariableDoc{[]string{"CLAW_SKIP_CRON", "OPENCLAW_SKIP_CRON"}, "cron.enabled"})
}
