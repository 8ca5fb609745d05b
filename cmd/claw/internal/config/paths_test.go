package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claw/cmd/claw/internal/config"
)

// design.md section 3, and the XDG specification on relative paths.
func TestStateDir(t *testing.T) {
	cwd, err := os.Getwd()
	must(t, err)
	for _, row := range []struct {
		name string
		env  []string
		want string
	}{
		{"own", []string{"CLAW_STATE_DIR", "/s", "XDG_STATE_HOME", "/x", "HOME", "/h"}, "/s"},
		{"own, relative", []string{"CLAW_STATE_DIR", "s", "HOME", "/h"}, filepath.Join(cwd, "s")},
		{"xdg", []string{"XDG_STATE_HOME", "/x", "HOME", "/h"}, "/x/claw"},
		{"xdg, relative", []string{"XDG_STATE_HOME", "x", "HOME", "/h"}, "/h/.local/state/claw"},
		{"home", []string{"HOME", "/h"}, "/h/.local/state/claw"},
	} {
		if got, err := config.StateDir(env(row.env...)); got != row.want || err != nil {
			t.Errorf("%s: %q %v, want %q", row.name, got, err, row.want)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, row := range []struct {
		env  []string
		want config.Locations
	}{
		{
			[]string{"HOME", "/h"},
			config.Locations{"/h/.config/claw/claw.toml", "default", "/h/.config/claw", "/h/.local/state/claw", "default"},
		},
		{
			[]string{"XDG_CONFIG_HOME", "/c", "XDG_STATE_HOME", "/s", "HOME", "/h"},
			config.Locations{"/c/claw/claw.toml", "XDG_CONFIG_HOME", "/c/claw", "/s/claw", "XDG_STATE_HOME"},
		},
		{
			[]string{"CLAW_CONFIG", "/etc/x.toml", "CLAW_STATE_DIR", "/s"},
			config.Locations{"/etc/x.toml", "CLAW_CONFIG", "/etc", "/s", "CLAW_STATE_DIR"},
		},
	} {
		if got, err := config.Paths(env(row.env...)); got != row.want || err != nil {
			t.Errorf("%+v %v", got, err)
		}
	}
}

// cron on some systems sets no HOME.
func TestHomeWithoutHOME(t *testing.T) {
	const passwd = "root:x:0:0:root:/root:/bin/bash\nbroken\nx:x:7:7:::\n" +
		"u:x:1000:1000:A Person,,,:/home/u:/bin/sh\nu2:x:1000:1000::/home/second:/bin/sh\nnohome:x:1001:1001::relative:/bin/sh\n"
	for uid, want := range map[int]string{0: "/root", 1000: "/home/u", 7: "", 1001: "", 99: ""} {
		if got := config.HomeOf(strings.NewReader(passwd), uid); got != want {
			t.Errorf("%d: %q, want %q", uid, got, want)
		}
	}
	for _, home := range []string{"", "relative"} {
		want := ""
		if f, err := os.Open("/etc/passwd"); err == nil {
			defer f.Close()
			want = config.HomeOf(f, os.Getuid())
		}
		if got := config.Home(env("HOME", home)); got != want {
			t.Errorf("HOME=%q: %q, want %q", home, got, want)
		}
	}
}

func TestHomeError(t *testing.T) {
	err := error(&config.HomeError{Variable: "CLAW_STATE_DIR"})
	var r interface{ Remedy() string }
	if !errors.As(err, &r) || r.Remedy() != "set HOME or CLAW_STATE_DIR, in a crontab as a line of its own" {
		t.Error(r.Remedy())
	}
	if !strings.HasPrefix(err.Error(), "there is no home directory: HOME is not set") {
		t.Error(err)
	}
}

// Without a home the configuration is the defaults; only the state needs one.
func TestLoadFindsTheFile(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "claw"), 0o700))
	name := filepath.Join(dir, "claw", "claw.toml")
	must(t, os.WriteFile(name, []byte("wake.onExit = \"off\""), 0o600))
	c, err := config.Load(env("XDG_CONFIG_HOME", dir))
	must(t, err)
	if got, read := c.File(); got != name || !read || c.Wake.OnExit != "off" {
		t.Errorf("%q %v %q", got, read, c.Wake.OnExit)
	}
}
