package recovery

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"claw/runner/internal/proc"
)

// machine is what of this machine would hurt background work. Each question
// may hang: loginctl asks a bus, the others look at files anywhere.
func (x *exam) machine() []question {
	all := []question{
		{"the login manager", x.logout},
		{"/proc", func(context.Context) []Finding { return watches(x.Root) }},
		{x.Checks, func(context.Context) []Finding { return checks(x.Checks) }},
	}
	if x.Configured != nil {
		all = append(all, question{"what claw.toml names", func(context.Context) []Finding { return x.Configured() }})
	}
	return all
}

// logind is where systemd-logind is configured, and where it remembers whose
// processes may outlive their sessions. That is asked when loginctl cannot be.
type logind struct {
	confs  []string // in the order in which later ones win
	linger string   // a folder with one file for each such user
	user   string
}

func systemLogind(root, user string) logind {
	confs := []string{filepath.Join(root, "/etc/systemd/logind.conf")}
	for _, dir := range []string{"/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d", "/etc/systemd/logind.conf.d"} {
		more, _ := filepath.Glob(filepath.Join(root, dir, "*.conf"))
		confs = append(confs, more...)
	}
	return logind{confs: confs, linger: filepath.Join(root, "/var/lib/systemd/linger"), user: user}
}

const enableLinger = "loginctl enable-linger"

// logout: with KillUserProcesses=yes and without lingering, logging out kills
// everything, supervisors included (pains B16). Without lingering it also ends
// the units of a user.
func (x *exam) logout(ctx context.Context) []Finding {
	user := x.user()
	conf := systemLogind(x.Root, user)
	kills, lingers := conf.killsUserProcesses(), conf.lingers()
	var silent []Finding
	switch said := x.output(ctx, "loginctl", "show-user", "--property=KillUserProcesses"); {
	case said.silent:
		silent = append(silent, x.noAnswer("loginctl")) // it is not asked again
	case said.ok():
		kills = property(said.text, "KillUserProcesses", kills)
		if said := x.output(ctx, "loginctl", "show-user", user, "--property=Linger"); said.ok() {
			lingers = property(said.text, "Linger", lingers)
		}
	}
	return append(silent, logoutFindings(kills, lingers, x.userUnits())...)
}

// logoutFindings judges; units are those of the user's systemd that are
// switched on.
func logoutFindings(kills, lingers bool, units []string) []Finding {
	switch {
	case lingers:
	case kills:
		return []Finding{Found("logout_kills", "systemd-logind", "KillUserProcesses=yes: logging out ends every background command", enableLinger+" keeps them running after you log out")}
	case len(units) > 0:
		return []Finding{Found("linger_off", strings.Join(units, ", "), "it ends when you log out, and begins when you log in", enableLinger)}
	}
	return nil
}

// property reads "Name=yes" out of what loginctl show-user prints.
func property(text, name string, otherwise bool) bool {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && key == name {
			return isYes(value)
		}
	}
	return otherwise
}

// user is the name of whoever asks.
func (d *Doctor) user() string {
	text, _ := os.ReadFile(filepath.Join(d.Root, "/etc/passwd"))
	want := strconv.Itoa(os.Geteuid())
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(line, ":"); len(f) > 2 && f[2] == want {
			return f[0]
		}
	}
	return proc.Getenv(d.Environ, "USER")
}

// userUnits are the units of the user's systemd that keep claw at work.
func (x *exam) userUnits() (names []string) {
	for _, t := range x.systemdUnits() {
		if t.on && t.user {
			names = append(names, filepath.Base(t.where))
		}
	}
	return names
}

func (l logind) killsUserProcesses() bool {
	kills := false
	for _, name := range l.confs {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && strings.TrimSpace(key) == "KillUserProcesses" {
				kills = isYes(value)
			}
		}
	}
	return kills
}

func isYes(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "yes", "true", "1", "on":
		return true
	}
	return false
}

func (l logind) lingers() bool {
	if l.user == "" || l.user == "root" {
		return l.user == "root"
	}
	_, err := os.Stat(filepath.Join(l.linger, l.user))
	return err == nil
}
