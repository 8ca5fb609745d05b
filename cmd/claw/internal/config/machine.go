package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Check looks on this machine for what the file names: time zones, working
// directories, programs. It gives a Warning for each that is not there; all of
// it is used all the same, for it may be there when it is needed. pathVar is
// the PATH of the caller. It costs some files that no other command reads.
func (c *Config) Check(pathVar string) []Warning {
	m := &machine{cfg: c, path: append(slices.Clone(c.Tools.Exec.PathPrepend), filepath.SplitList(pathVar)...)}
	m.agent("agents.defaults.", &c.Agents.Defaults)
	for _, name := range c.Agents.Names() {
		a := c.Agents.Entries[name]
		m.agent(keyString([]string{"agents", name})+".", &a)
	}
	for _, a := range c.Automations {
		m.automation(a)
	}
	for _, name := range c.Channels.Names() {
		ch := c.Channels.Entries[name]
		at := keyString([]string{"channels", name}) + "."
		m.program(at+"command", ch.Command, ch.Env, "")
		m.program(at+"reconcile", ch.Reconcile, ch.Env, "")
	}
	return m.found
}

type machine struct {
	cfg   *Config
	path  []string
	found []Warning
}

// warn tells of a key that is written in the file; what is inherited is told
// where it stands.
func (m *machine) warn(key, text string) {
	if m.cfg.IsSet(key) {
		m.found = append(m.found, Warning{Source: m.cfg.Source(key), Key: m.cfg.shownKey(key), Text: text})
	}
}

func (m *machine) agent(at string, a *Agent) {
	m.zone(at+"userTimezone", a.UserTimezone, "the machine's zone is used")
	m.zone(at+"heartbeat.activeHours.timezone", a.Heartbeat.ActiveHours.Timezone, "userTimezone is used, else the machine's zone")
	if a.Workdir != "" {
		if info, err := os.Stat(a.Workdir); err != nil || !info.IsDir() {
			m.warn(at+"workdir", quote(a.Workdir)+" is not a directory that is there; the agent cannot be started")
		}
	}
	m.program(at+"command", a.Command, a.Env, a.Workdir)
	m.program(at+"recover", a.Recover, a.Env, a.Workdir)
	m.program(at+"complete", a.Complete, a.Env, a.Workdir)
	for _, argv := range a.BeforeAgentRun {
		m.program(at+"hooks.before_agent_run", argv, a.Env, a.Workdir)
	}
}

// automation warns of what a table needs and is not there.
func (m *machine) automation(a Automation) {
	at := keyString(a.at) + "."
	for _, d := range [...]given{{"cwd", a.Cwd}, {"onExitCwd", a.OnExitCwd}, {"streamCwd", a.StreamCwd}, {"watch", a.Watch}} {
		if info, err := os.Stat(d.value); d.value != "" && (err != nil || !info.IsDir()) {
			m.warn(at+d.key, quote(d.value)+" is not a directory that is there")
		}
	}
	m.program(at+"argv", a.Argv, a.Env, a.Cwd)
	m.program(at+"stream", a.Stream, nil, a.StreamCwd)
}

// zone warns of a name that is not in the data base of zones, and says what is
// used in its place (spec/heartbeat-automations.md 1.5 fails open).
func (m *machine) zone(key, name, instead string) {
	if name == "" || name == "user" || name == "local" || isZone(name) {
		return
	}
	text := quote(name) + " is not a time zone that is known here; " + instead
	if near := capitals(name); isZone(near) {
		text += "; did you mean " + near + "?"
	}
	m.warn(key, text)
}

func isZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil
}

// capitals writes the name of a zone as most are written: Europe/Berlin.
func capitals(name string) string {
	var b strings.Builder
	begins := true
	for _, r := range strings.ToLower(name) {
		if begins {
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
		begins = r == '/' || r == '_' || r == '-'
	}
	return b.String()
}

// program warns of an argv whose program is not there. env may change PATH:
// then only a name with a slash can be looked for, and a relative one only
// from a workdir that is known.
func (m *machine) program(key string, argv []string, env map[string]string, workdir string) {
	if len(argv) == 0 {
		return
	}
	name := argv[0]
	var there bool
	_, ownPath := env["PATH"]
	switch {
	case filepath.IsAbs(name):
		there = isProgram(name)
	case strings.Contains(name, "/"):
		there = workdir == "" || isProgram(filepath.Join(workdir, name))
	default:
		there = ownPath || slices.ContainsFunc(m.path, func(dir string) bool { return isProgram(filepath.Join(dir, name)) })
	}
	if !there {
		m.warn(key, "the program "+quote(name)+" is not found here, or cannot be executed")
	}
}

func isProgram(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&fs.ModePerm&0o111 != 0
}
