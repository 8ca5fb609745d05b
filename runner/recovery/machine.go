package recovery

import (
	"os"
	"path/filepath"
	"strings"
)

// logind is where systemd-logind is configured, and where it remembers whose
// processes may outlive their sessions.
type logind struct {
	confs  []string // in the order in which later ones win
	linger string   // a folder with one file for each such user
	user   string
}

func systemLogind() logind {
	confs := []string{"/etc/systemd/logind.conf"}
	for _, dir := range []string{"/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d", "/etc/systemd/logind.conf.d"} {
		more, _ := filepath.Glob(filepath.Join(dir, "*.conf"))
		confs = append(confs, more...)
	}
	return logind{confs: confs, linger: "/var/lib/systemd/linger", user: os.Getenv("USER")}
}

// machine is what of this machine would hurt background work.
func machine() []Finding { return systemLogind().findings() }

// findings: with KillUserProcesses=yes and without lingering, logging out
// kills everything, supervisors included (pains B16).
func (l logind) findings() []Finding {
	if !l.killsUserProcesses() || l.lingers() {
		return nil
	}
	return []Finding{{
		Where: "systemd-logind", Level: Odd,
		What: "KillUserProcesses=yes: logging out ends every background command",
		Hint: "loginctl enable-linger keeps them running after you log out",
	}}
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
