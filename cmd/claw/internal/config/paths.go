package config

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Locations are where claw looks, for `claw config path`.
type Locations struct {
	Config     string // claw.toml, whether it exists or not
	ConfigFrom string // what decided: a variable's name, or "default"
	ConfigDir  string // the folder of claw.toml: heartbeat.d/ and prompts/ are beside it
	State      string
	StateFrom  string
}

// Paths gives both places. Only a missing home directory is an error.
func Paths(getenv func(string) string) (l Locations, err error) {
	if l.Config, l.ConfigFrom, err = file(getenv); err != nil {
		return l, err
	}
	l.ConfigDir = filepath.Dir(l.Config)
	l.State, l.StateFrom, err = state(getenv)
	return l, err
}

// StateDir is $CLAW_STATE_DIR, else $XDG_STATE_HOME/claw, else
// ~/.local/state/claw (design.md section 3), always absolute. A relative XDG
// value is ignored, as the XDG specification wants. The error is a *HomeError.
func StateDir(getenv func(string) string) (string, error) {
	dir, _, err := state(getenv)
	return dir, err
}

func state(getenv func(string) string) (dir, from string, err error) {
	return locate(getenv, "CLAW_STATE_DIR", "XDG_STATE_HOME", "claw", ".local/state")
}

// file is $CLAW_CONFIG, else $XDG_CONFIG_HOME/claw/claw.toml, else
// ~/.config/claw/claw.toml.
func file(getenv func(string) string) (name, from string, err error) {
	return locate(getenv, "CLAW_CONFIG", "XDG_CONFIG_HOME", "claw/claw.toml", ".config")
}

// locate tries claw's own variable, the XDG one, and the folder below home.
func locate(getenv func(string) string, own, xdg, name, below string) (p, from string, err error) {
	if v := getenv(own); v != "" {
		p, err = filepath.Abs(v)
		return p, own, err
	}
	if v := getenv(xdg); filepath.IsAbs(v) {
		return filepath.Join(v, name), xdg, nil
	}
	if home := Home(getenv); home != "" {
		return filepath.Join(home, below, name), "default", nil
	}
	return "", "", &HomeError{Variable: own}
}

// HomeError says that no home directory is known: neither HOME nor the
// password file has one. cron on some systems starts programs like that.
type HomeError struct{ Variable string }

// Error is one sentence without the remedy.
func (e *HomeError) Error() string {
	return "there is no home directory: HOME is not set, and /etc/passwd has none for user " + strconv.Itoa(os.Getuid())
}

// Remedy is one sentence.
func (e *HomeError) Remedy() string {
	return "set HOME or " + e.Variable + ", in a crontab as a line of its own"
}

// Home is $HOME when it is absolute, else what /etc/passwd says for this user,
// else "".
func Home(getenv func(string) string) string {
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return home
	}
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return ""
	}
	defer f.Close()
	return homeOf(f, os.Getuid())
}

// homeOf finds the home directory of a user id in passwd(5) text.
func homeOf(passwd io.Reader, uid int) string {
	id := strconv.Itoa(uid)
	for lines := bufio.NewScanner(passwd); lines.Scan(); {
		// name:password:uid:gid:comment:home:shell
		entry := strings.Split(lines.Text(), ":")
		if len(entry) >= 6 && entry[2] == id && filepath.IsAbs(entry[5]) {
			return entry[5]
		}
	}
	return ""
}
