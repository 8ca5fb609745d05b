package recovery

import (
	"os"
	"path/filepath"
	"testing"
)

// TestB16LogoutKillsEverything: pains B16. The words are those of
// logind.conf(5).
func TestB16LogoutKillsEverything(t *testing.T) {
	for _, tt := range []struct {
		name   string
		confs  []string
		linger bool
		warned bool
	}{
		{"nothing configured", nil, false, false},
		{"commented out", []string{"[Login]\n#KillUserProcesses=yes\n"}, false, false},
		{"switched on", []string{"[Login]\nKillUserProcesses=yes\n"}, false, true},
		{"switched on, lingering", []string{"[Login]\nKillUserProcesses=yes\n"}, true, false},
		{"a later file wins", []string{"[Login]\nKillUserProcesses=yes\n", "[Login]\nKillUserProcesses = no\n"}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			l := logind{linger: dir, user: "ann"}
			for i, text := range tt.confs {
				name := filepath.Join(dir, string(rune('a'+i))+".conf")
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				l.confs = append(l.confs, name)
			}
			if tt.linger {
				if err := os.WriteFile(filepath.Join(dir, "ann"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			found := logoutFindings(l.killsUserProcesses(), l.lingers(), nil)
			if (len(found) == 1) != tt.warned {
				t.Fatalf("findings = %v, want a warning: %v", found, tt.warned)
			}
			if tt.warned && found[0].Fix == "" {
				t.Error("no remedy")
			}
		})
	}
}
