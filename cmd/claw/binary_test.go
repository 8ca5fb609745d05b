package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait of these tests. Nothing is expected to take
// long; a loaded machine may.
const patience = 60 * time.Second

// clawBinary builds the program once for all tests of this package; TestMain
// removes it.
var clawBinary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("CLAW_TEST_BINARY"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "claw-binary")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "claw")
	cmd := exec.Command("go", "build", "-o", path, "claw/cmd/claw")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	underTest = path
	return path, nil
})

// need skips a test where a program is not installed; CLAW_REQUIRE_ALL=1, as
// .ci/run has it, makes that a failure.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CLAW_REQUIRE_ALL") == "1" {
		t.Fatalf("%s is not installed", program)
	}
	t.Skipf("%s is not installed", program)
}
