package recovery

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claw/runner/internal/proc"
	"claw/state/crontab"
)

// ticker is one place of this machine that starts claw by itself.
type ticker struct {
	where   string // a file, or "crontab"
	runs    string // what: "runner run" or "heartbeat tick"
	program string // as it is written
	stateIn string // --state-dir; empty: by the environment
	env     []string
	on      bool // it is switched on, as far as files tell
	user    bool // of the user's own systemd
	enable  string
}

// invocation finds in the words of a command where claw is started to make
// ticks.
func invocation(words []string) (t ticker, ok bool) {
	for i, w := range words {
		if filepath.Base(w) != "claw" {
			continue
		}
		t = ticker{program: w}
		for n := i - 1; n >= 0 && isAssignment(words[n]); n-- {
			t.env = append(t.env, words[n])
		}
		slices.Reverse(t.env)
		var verbs []string
		for n := i + 1; n < len(words); n++ {
			switch name, value, given := strings.Cut(words[n], "="); {
			case name == "--state-dir" && given:
				t.stateIn = value
			case name == "--state-dir" && n+1 < len(words):
				n++
				t.stateIn = words[n]
			case !strings.HasPrefix(words[n], "-"):
				verbs = append(verbs, words[n])
			}
		}
		if len(verbs) >= 2 && (verbs[0] == "runner" && verbs[1] == "run" || verbs[0] == "heartbeat" && verbs[1] == "tick") {
			t.runs = verbs[0] + " " + verbs[1]
			return t, true
		}
	}
	return ticker{}, false
}

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && !strings.ContainsFunc(name, func(c rune) bool { return oddInCheck(c) || c == '-' || c == '.' })
}

// home is where the units of the user are.
func (d *Doctor) home() string { return proc.Getenv(d.Environ, "HOME") }

// systemdUnits are the services of systemd that make ticks: the user's, and
// those of the machine that run as this user.
func (d *Doctor) systemdUnits() (all []ticker) {
	config := proc.Getenv(d.Environ, "XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(d.home(), ".config")
	}
	shared := d.environmentD(filepath.Join(config, "environment.d"))
	for _, dir := range []string{filepath.Join(config, "systemd/user"), filepath.Join(d.Root, "/etc/systemd/user"), filepath.Join(d.Root, "/etc/systemd/system")} {
		files, _ := filepath.Glob(filepath.Join(dir, "*.service"))
		for _, file := range files {
			text := textOf(file)
			more, _ := filepath.Glob(filepath.Join(file+".d", "*.conf"))
			for _, f := range more {
				text += "\n" + textOf(f)
			}
			system := filepath.Base(dir) == "system"
			u := parseUnit(text, d.home())
			if system && u.user != d.user() && !(u.user == "" && os.Geteuid() == 0) {
				continue
			}
			t, ok := invocation(u.exec)
			if !ok {
				continue
			}
			t.where, t.env = file, append(u.env, t.env...)
			if !system {
				t.env = append(slices.Clone(shared), t.env...)
			}
			t.on, t.user, t.enable = switchedOn(dir, file), !system, enableUnit(file, !system)
			all = append(all, t)
		}
	}
	return all
}

func enableUnit(file string, user bool) string {
	name := filepath.Base(file)
	if timer := strings.TrimSuffix(file, ".service") + ".timer"; exists(timer) {
		name = filepath.Base(timer)
	}
	if user {
		return "systemctl --user enable --now " + name
	}
	return "sudo systemctl enable --now " + name
}

// switchedOn tells whether a unit, or its timer, is wanted by something: there
// is a link in a folder ….wants.
func switchedOn(dir, file string) bool {
	stem := strings.TrimSuffix(filepath.Base(file), ".service")
	for _, ext := range []string{".service", ".timer"} {
		for _, kind := range []string{"wants", "requires"} {
			if links, _ := filepath.Glob(filepath.Join(dir, "*."+kind, stem+ext)); len(links) > 0 {
				return true
			}
		}
	}
	return false
}

// environmentD are the variables of all units of a user, environment.d(5).
func (d *Doctor) environmentD(dir string) (env []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.conf"))
	for _, file := range files {
		for line := range strings.Lines(textOf(file)) {
			if w := words(strings.TrimSpace(line)); len(w) == 1 && isAssignment(w[0]) && !strings.HasPrefix(w[0], "#") {
				env = append(env, strings.ReplaceAll(w[0], "$HOME", d.home()))
			}
		}
	}
	return env
}

// launchAgents are the agents and daemons of launchd that make ticks.
func (d *Doctor) launchAgents() (all []ticker) {
	for _, dir := range []string{filepath.Join(d.home(), "Library/LaunchAgents"), filepath.Join(d.Root, "/Library/LaunchAgents"), filepath.Join(d.Root, "/Library/LaunchDaemons")} {
		files, _ := filepath.Glob(filepath.Join(dir, "*.plist"))
		for _, file := range files {
			p := parsePlist(textOf(file))
			t, ok := invocation(p.argv)
			if !ok {
				continue
			}
			t.where, t.env, t.on = file, append(p.env, t.env...), !p.disabled
			t.enable = "launchctl enable gui/$(id -u)/" + strings.TrimSuffix(filepath.Base(file), ".plist")
			all = append(all, t)
		}
	}
	return all
}

// crontabs are the lines of cron that make ticks: the user's own, and those of
// the machine that run as this user.
func (d *Doctor) crontabs(ctx context.Context) (all []ticker, silent bool) {
	said := d.output(ctx, "crontab", "-l")
	if said.ok() {
		all = append(all, cronTickers("crontab", said.text, crontab.User, "")...)
	}
	files, _ := filepath.Glob(filepath.Join(d.Root, "/etc/cron.d/*"))
	for _, file := range append([]string{filepath.Join(d.Root, "/etc/crontab")}, files...) {
		all = append(all, cronTickers(file, textOf(file), crontab.System, d.user())...)
	}
	return all, said.silent
}

// cronTickers reads one crontab; only lines of user count, where there is one.
func cronTickers(where, text string, form crontab.Form, user string) (all []ticker) {
	if !strings.Contains(text, "claw") {
		return nil
	}
	for _, e := range crontab.Parse(text, form).Entries {
		t, ok := invocation(words(e.Command))
		if !ok || user != e.User {
			continue
		}
		env := []string{"PATH=/usr/bin:/bin"} // crontab(5)
		for _, v := range e.Env {
			env = append(env, v.Name+"="+v.Value)
		}
		t.where, t.env, t.on = where, append(env, t.env...), true
		all = append(all, t)
	}
	return all
}

// mostText is the most of a file that is read: what makes ticks is short.
const mostText = 256 << 10

func textOf(file string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostText {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(text)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
