package recovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"claw/runner/recovery"
)

// TestB16LogoutKillsEverything: pains B16. The words are those of
// logind.conf(5).
func TestB16LogoutKillsEverything(t *testing.T) {
	for _, tt := range []struct {
		name   string
		confs  []string
		linger bool
		units  []string
		code   string
	}{
		{name: "nothing configured"},
		{name: "commented out", confs: []string{"[Login]\n#KillUserProcesses=yes\n"}},
		{name: "switched on", confs: []string{"[Login]\nKillUserProcesses=yes\n"}, code: "logout_kills"},
		{name: "switched on, lingering", confs: []string{"[Login]\nKillUserProcesses=yes\n"}, linger: true},
		{name: "a later file wins", confs: []string{"[Login]\nKillUserProcesses=yes\n", "[Login]\nKillUserProcesses = no\n"}},
		{name: "a unit of the user ends too", units: []string{"claw-runner.service"}, code: "linger_off"},
		{name: "a unit, lingering", units: []string{"claw-runner.service"}, linger: true},
		{name: "what ends everything is said, and not what ends a part", confs: []string{"KillUserProcesses=1"}, units: []string{"x"}, code: "logout_kills"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var confs []string
			for i, text := range tt.confs {
				confs = append(confs, write(t, filepath.Join(dir, fmt.Sprintf("%d.conf", i)), text))
			}
			if tt.linger {
				write(t, filepath.Join(dir, "ann"), "")
			}
			found := recovery.Logout(recovery.KillsUserProcesses(confs), recovery.Lingers(dir, "ann"), tt.units)
			if tt.code == "" && len(found) > 0 || tt.code != "" && (len(found) != 1 || found[0].Code != tt.code || found[0].Fix == "") {
				t.Fatalf("findings = %v, want %q", found, tt.code)
			}
		})
	}
}

// write makes a file, and the folders above it.
func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
