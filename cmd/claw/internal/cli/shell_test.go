package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// need is the path of a program. Where it is missing the test is skipped, or
// fails when CLAW_REQUIRE_ALL says that everything is installed.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path
	case os.Getenv("CLAW_REQUIRE_ALL") != "":
		t.Fatalf("%s is not installed, and CLAW_REQUIRE_ALL is set", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

var build = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "claw-cli-test-"); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "claw"), "claw/cmd/claw")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return dir, cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := build(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// binary is the folder of the real program, built once.
func binary(t *testing.T) (dir string) {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// environ is what a program sees in a test: a state of its own, claw in front
// of PATH, and nothing of the machine's configuration.
func environ(t *testing.T, stateDir string) []string {
	t.Helper()
	home := t.TempDir()
	return []string{
		"PATH=" + binary(t) + ":" + os.Getenv("PATH"), "HOME=" + home, "CLAW_STATE_DIR=" + stateDir, "CLAW_WAKE_ON_EXIT=off", "TERM=xterm", "LC_ALL=C.UTF-8",
		"XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_RUNTIME_DIR=" + home,
	}
}
