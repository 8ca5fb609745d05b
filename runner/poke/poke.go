// Package poke tells whoever does the work that there is some: the tick or
// runner that is at work now, and if there is none, a tick that is started for
// it.
//
//	there is work ─▶ Bump the generation ─▶ somebody holds runner.lock? ─ yes ─▶ he will see it
//	                                                 └──── no ─▶ start claw heartbeat tick --detached
//
// The generation is bumped before the lock is looked at, and its holder
// compares it once more after he has let the lock go. So one of the two sees
// the other, and no poke is lost between a pass that found nothing and the end
// of its tick.
package poke

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"claw/runner/internal/proc"
	"claw/state"
)

// When the end of a process is acted upon; wake.onExit in claw.toml.
const (
	Auto   = "auto"   // at once: by whoever is at work, else by a tick that is started
	Runner = "runner" // by the runner, if there is one
	Off    = "off"    // by the next tick
)

// Lock is the file whose lock a tick holds while it works and a runner for
// life.
func Lock(dir string) string { return filepath.Join(dir, "runner.lock") }

func generationFile(dir string) string { return filepath.Join(dir, "runner.poke") }

// Bump changes the generation.
func Bump(dir string) error {
	f, err := os.OpenFile(generationFile(dir), os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte{'\n'})
	return errors.Join(err, f.Close())
}

// Generation is a number that every Bump changes; only whether two are the
// same means anything.
func Generation(dir string) int64 {
	info, err := os.Lstat(generationFile(dir))
	if err != nil {
		return 0
	}
	return info.Size()
}

// Trim keeps the generation's file small. Only the holder of the lock may call
// it, before he reads the generation for his next pass.
func Trim(dir string) {
	if Generation(dir) > 64<<10 {
		os.Truncate(generationFile(dir), 0)
	}
}

// Act has whoever is at work, or a tick with the environment environ, look at
// the state directory, as mode says. A directory that is gone needs nobody.
func Act(dir, mode string, environ []string) error {
	if mode == Off || mode == "" {
		return nil
	}
	if err := Bump(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if mode != Auto {
		return nil
	}
	if held, err := state.Held(Lock(dir)); held || err != nil {
		return err
	}
	_, err := proc.Detach([]string{"heartbeat", "tick", "--detached"}, append(Outside(environ), "CLAW_STATE_DIR="+dir))
	return err
}

// Outside is environ without what says that one is inside an agent's turn or
// a process of claw: a tick acts for everybody, and does not belong to the
// process whose end it was started for.
func Outside(environ []string) []string {
	kept := make([]string, 0, len(environ)+1)
	for _, kv := range environ {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "CLAW_AGENT", "CLAW_SESSION", "CLAW_TURN_ID", "CLAW_REASON", "CLAW_PROCESS_ID", proc.RunVar, "CLAW_STATE_DIR",
			"CLAW_HOOKS_TOKEN", "CLAW_TOOLS", "CLAW_THINKING", "CLAW_AUTOMATION", "CLAW_RUN_ID", "CLAW_SLOT", "CLAW_TRIGGER",
			"OPENCLAW_AGENT", "OPENCLAW_SESSION", "OPENCLAW_TURN_ID", "OPENCLAW_SHELL", "OPENCLAW_STATE_DIR":
		default:
			kept = append(kept, kv)
		}
	}
	return kept
}
