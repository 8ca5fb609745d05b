// Script tests drive the real binary as a person does: through arguments,
// pipes, files and signals (testdata/script/README.md has the commands).
package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// contrib is what other programs read.
const contrib = "../../contrib"

// underTest is the program: built once for the package, or the one that
// CLAW_TEST_BINARY names.
var underTest string

func TestMain(m *testing.M) {
	testscript.Main(cleaner{m}, map[string]func(){"gen": gen, "slowcat": slowcat, "mortal": mortal})
}

// cleaner is testing.M and then the removal of the binary. The programs that
// scripts run are this test binary too and never come here.
type cleaner struct{ m *testing.M }

func (c cleaner) Run() int {
	code := c.m.Run()
	if underTest != "" && underTest != os.Getenv("CLAW_TEST_BINARY") {
		os.RemoveAll(filepath.Dir(underTest))
	}
	return code
}

func TestScript(t *testing.T) {
	if underTest = os.Getenv("CLAW_TEST_BINARY"); underTest == "" {
		var err error
		if underTest, err = clawBinary(); err != nil {
			t.Fatal(err)
		}
		os.Chmod(filepath.Dir(underTest), 0o755) // other users run it too
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setup,
		Condition:           condition,
		Cmds:                commands(),
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(5 * time.Minute),
		RequireExplicitExec: true,
	})
}

// setup gives every script a home, XDG directories and a state directory of
// its own, and an end: see sweep.
func setup(env *testscript.Env) error {
	recipes, err := filepath.Abs(contrib)
	if err != nil {
		return err
	}
	for _, dir := range []string{"home", "run"} {
		if err := os.Mkdir(filepath.Join(env.WorkDir, dir), 0o700); err != nil {
			return err
		}
	}
	env.Vars = append(env.Vars,
		"PATH="+filepath.Dir(underTest)+string(os.PathListSeparator)+env.Getenv("PATH"),
		"CLAW="+underTest,
		"CONTRIB="+recipes,
		"HOME="+filepath.Join(env.WorkDir, "home"),
		"XDG_CONFIG_HOME="+filepath.Join(env.WorkDir, "home", ".config"),
		"XDG_STATE_HOME="+filepath.Join(env.WorkDir, "home", ".local", "state"),
		"XDG_RUNTIME_DIR="+filepath.Join(env.WorkDir, "run"),
		"CLAW_STATE_DIR="+filepath.Join(env.WorkDir, "state"),
		"CLAW_WAKE_ON_EXIT=off", // a script that wants ticks says so
		"SHELL=/bin/sh", "TERM=xterm-256color", "LC_ALL=C.UTF-8",
	)
	s := &script{t: env.T().(testing.TB), work: env.WorkDir, states: []string{filepath.Join(env.WorkDir, "state")}}
	env.Values[scriptKey{}] = s
	env.Defer(s.sweep)
	return nil
}

// condition adds [root], and [all]: nothing may be skipped (.ci/run sets it).
func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "all":
		return os.Getenv("CLAW_REQUIRE_ALL") == "1", nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}
