package recovery_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/runner/recovery"
)

// TestWords: what sh -c 'printf "%s\n" …' makes of the same lines.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"  a\tb ", []string{"a", "b"}},
		{`/opt/my\ dir/claw runner run`, []string{"/opt/my dir/claw", "runner", "run"}},
		{`"a b"c 'd "e'`, []string{"a bc", `d "e`}},
		{`a "" b`, []string{"a", "", "b"}},
		{"cd /tmp && claw heartbeat tick >/dev/null", []string{"cd", "/tmp", "claw", "heartbeat", "tick", "/dev/null"}},
		{`"never ends`, []string{"never ends"}},
	} {
		if diff := cmp.Diff(tt.want, recovery.Words(tt.line)); diff != "" {
			t.Errorf("%q: %s", tt.line, diff)
		}
	}
}

func TestInvocation(t *testing.T) {
	for _, tt := range []struct {
		line, program, runs, stateIn string
		env                          []string
	}{
		{line: "/usr/local/bin/claw heartbeat tick", program: "/usr/local/bin/claw", runs: "heartbeat tick"},
		{line: "claw runner run --safe", program: "claw", runs: "runner run"},
		{line: "A=1 CLAW_STATE_DIR=/srv/x claw --color never heartbeat tick"},
		{line: "A=1 CLAW_STATE_DIR=/srv/x claw --color=never heartbeat tick", program: "claw", runs: "heartbeat tick", env: []string{"A=1", "CLAW_STATE_DIR=/srv/x"}},
		{line: "nice claw --state-dir /srv/x runner run", program: "claw", runs: "runner run", stateIn: "/srv/x"},
		{line: "claw runner run --state-dir=/srv/y", program: "claw", runs: "runner run", stateIn: "/srv/y"},
		{line: "/usr/bin/crawl runner run"},
		{line: "claw runner status"},
		{line: "claw exec true"},
		{line: "claw"},
		{line: "test -x /opt/claw && /opt/claw heartbeat tick", program: "/opt/claw", runs: "heartbeat tick"},
	} {
		program, runs, stateIn, env := recovery.Invocation(tt.line)
		if program != tt.program || runs != tt.runs || stateIn != tt.stateIn || !cmp.Equal(env, tt.env) {
			t.Errorf("%q: %q %q %q %q", tt.line, program, runs, stateIn, env)
		}
	}
}

// TestUnit: systemd.service(5), systemd.exec(5), systemd.syntax(7).
func TestUnit(t *testing.T) {
	exec, env, user := recovery.Unit(`# ExecStart=/no
[Unit]
ExecStart=/not/here
[Service]
User=ann
Environment=A=1 "B=two words"
; Environment=C=3
Environment=PATH=%h/bin:/usr/bin
ExecStart=-/opt/claw \
	runner run
[Install]
User=bob
`, "/home/ann")
	if diff := cmp.Diff([]string{"/opt/claw", "runner", "run"}, exec); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"A=1", "B=two words", "PATH=/home/ann/bin:/usr/bin"}, env); diff != "" {
		t.Error(diff)
	}
	if user != "ann" {
		t.Errorf("user %q", user)
	}
	if exec, env, _ := recovery.Unit("[Service]\nExecStart=/a b\nEnvironment=A=1\n[Service]\nExecStart=\nExecStart=/c d\nEnvironment=\n", ""); !cmp.Equal(exec, []string{"/c", "d"}) || len(env) != 0 {
		t.Errorf("what is dropped in does not replace: %q %q", exec, env)
	}
}

// TestContrib: the files that people install are understood.
func TestContrib(t *testing.T) {
	for name, want := range map[string]string{
		"systemd/claw-runner.service": "runner run", "systemd/claw-tick.service": "heartbeat tick",
		"launchd/claw.runner.plist": "runner run", "launchd/claw.tick.plist": "heartbeat tick",
	} {
		text, err := os.ReadFile("../../contrib/" + name)
		if err != nil {
			t.Fatal(err)
		}
		words, env, _ := recovery.Unit(string(text), "/home/ann")
		if strings.HasSuffix(name, ".plist") {
			words, env, _ = recovery.Plist(string(text))
		}
		program, runs, _, _ := recovery.Invocation(strings.Join(words, " "))
		if program != "/usr/local/bin/claw" || runs != want || !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=/") && strings.Contains(kv, "/usr/bin") }) {
			t.Errorf("%s: %q %q, environment %q", name, program, runs, env)
		}
	}
}

// TestPlist: launchd.plist(5); the file of contrib is one.
func TestPlist(t *testing.T) {
	argv, env, disabled := recovery.Plist(`<?xml version="1.0"?><!-- <key>Disabled</key><true/> -->
<plist><dict>
<key>KeepAlive</key><dict><key>Disabled</key><true/></dict>
<key>ProgramArguments</key><array><string>/opt/a &amp; b/claw</string><string>runner</string><string>run</string></array>
<key>EnvironmentVariables</key>
<dict><key>PATH</key><string>/usr/bin:/bin</string><key>CLAW_STATE_DIR</key><string>/srv/x</string></dict>
<key>StandardErrorPath</key><string>/tmp/log</string>
</dict></plist>`)
	if !cmp.Equal(argv, []string{"/opt/a & b/claw", "runner", "run"}) || !cmp.Equal(env, []string{"PATH=/usr/bin:/bin", "CLAW_STATE_DIR=/srv/x"}) || disabled {
		t.Errorf("%q %q %v", argv, env, disabled)
	}
	if _, _, disabled := recovery.Plist("<dict><key>Disabled</key><true/></dict>"); !disabled {
		t.Error("it is not seen to be switched off")
	}
}

// TestHeldBy: lines as proc(5) shows them.
func TestHeldBy(t *testing.T) {
	const locks = `1: POSIX  ADVISORY  WRITE 100 08:02:77 0 EOF
2: FLOCK  ADVISORY  READ  200 08:02:77 0 EOF
3: FLOCK  ADVISORY  WRITE 300 08:02:177 0 EOF
4: FLOCK  ADVISORY  WRITE 400 08:02:77 0 EOF
4: -> FLOCK  ADVISORY  WRITE 500 08:02:99 0 EOF
5: FLOCK  ADVISORY  WRITE -1 08:02:88 0 EOF
`
	for inode, want := range map[uint64]int{77: 400, 177: 300, 88: 0, 99: 0, 5: 0} {
		if got := recovery.HeldBy(locks, inode); got != want {
			t.Errorf("inode %d: pid %d, want %d", inode, got, want)
		}
	}
}

func TestCloudOf(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ann/Dropbox/claw":                                    "Dropbox",
		"/home/ann/Dropbox (Work)/claw":                             "Dropbox",
		"/Users/ann/Library/Mobile Documents/com~apple~CloudDocs/x": "iCloud",
		"/Users/ann/Library/CloudStorage/OneDrive-Firm/x":           "a cloud provider",
		"/home/ann/Nextcloud2/x":                                    "Nextcloud",
		"/home/ann/.local/state/claw":                               "",
		"/home/ann/dropboxes/claw":                                  "",
		"/srv/my drive/claw":                                        "Google Drive",
		"/srv/my drives/claw":                                       "",
	} {
		if got := recovery.CloudOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// FuzzUnits: what lies in the folders of units may be anything.
func FuzzUnits(f *testing.F) {
	f.Add("[Service]\nExecStart=/a/claw runner run\n", "<dict><key>ProgramArguments</key><array><string>x</string></array></dict>")
	f.Add("[Service]\nExecStart=\"\\", "<!--<key>")
	f.Fuzz(func(t *testing.T, unit, plist string) {
		exec, _, _ := recovery.Unit(unit, "/h")
		for _, w := range exec {
			if len(w) > len(unit)+strings.Count(unit, "%h")*2+len(unit) {
				t.Errorf("%q of %q", w, unit)
			}
		}
		argv, env, _ := recovery.Plist(plist)
		if len(argv)+len(env) > strings.Count(plist, "<") {
			t.Errorf("%q %q of %q", argv, env, plist)
		}
		_, runs, _, _ := recovery.Invocation(unit)
		if runs != "" && !strings.Contains(unit, "claw") {
			t.Errorf("%q runs %q", unit, runs)
		}
	})
}

// FuzzHeldBy: a pid is one that stands there.
func FuzzHeldBy(f *testing.F) {
	f.Add("1: FLOCK  ADVISORY  WRITE 1234 08:02:131079 0 EOF", uint64(131079))
	f.Fuzz(func(t *testing.T, locks string, inode uint64) {
		if pid := recovery.HeldBy(locks, inode); pid < 0 || pid > 0 && !strings.Contains(locks, "FLOCK") {
			t.Errorf("pid %d of %q", pid, locks)
		}
	})
}
