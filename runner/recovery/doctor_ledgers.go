package recovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"claw/runner/settle"
	"claw/state"
)

// contents looks at what is in the state directory, in the order in which one
// thing follows from another: what cannot be read would be taken for missing.
func (x *exam) contents() {
	x.locks()
	x.part("state_unreadable", x.ledgers)
	x.part("state_unreadable", x.abandoned)
	x.part("state_unreadable", x.strays)
	x.part("state_unreadable", x.rows)
	x.part("state_unreadable", x.supervisors)
	x.part("state_unreadable", x.taskAudit)
	x.part("state_unreadable", x.sessions)
	x.part("state_unreadable", x.monitors)
	x.part("state_unreadable", x.quarantine)
}

// ledgers shows damaged lines and files, and repairs them.
func (x *exam) ledgers() error {
	before, err := x.store.Check()
	if err != nil || len(before) == 0 {
		return err
	}
	var left []state.Problem
	repaired := x.fix && !slices.ContainsFunc(before, isNewer)
	if repaired {
		if _, err := x.store.Repair(x.ctx); err != nil {
			x.failed("fix_failed", err)
			repaired = false
		}
	}
	if repaired {
		if left, err = x.store.Check(); err != nil {
			return err
		}
	}
	for _, p := range before {
		if where := whereOf(p); repaired && !slices.ContainsFunc(left, func(l state.Problem) bool { return whereOf(l) == where && l.Why == p.Why }) {
			x.mended("ledger_damaged", where, p.Why, "repaired; what was taken away is in quarantine/")
		} else {
			x.add("ledger_damaged", where, p.Why, damageFix(p))
		}
	}
	return nil
}

// isNewer tells a directory that only a newer claw may write to.
func isNewer(p state.Problem) bool {
	return p.Path == "FORMAT" && strings.Contains(p.Why, "newer than")
}

// damageFix is the command first.
func damageFix(p state.Problem) string {
	if p.Hint == "" || strings.Contains(p.Hint, mends) {
		return mends + " sets it right; what it takes away goes to quarantine/"
	}
	return p.Hint
}

func whereOf(p state.Problem) string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	return p.Path
}

// abandoned shows processes whose supervisor died and that nobody has looked
// at since, and what processes have left running.
func (x *exam) abandoned() error {
	if x.fix {
		gone, err := settle.Lost(x.ctx, x.store)
		for _, p := range gone {
			x.mended("process_lost", p.Slug, "its supervisor died", "it is recorded as lost")
		}
		if err != nil {
			x.failed("fix_failed", err)
		}
	}
	var found []Finding
	err := x.store.View(func(tx *state.Tx) error {
		found = nil
		rows, err := state.Processes.All(tx)
		for _, row := range rows {
			if settle.Abandoned(x.store, row.Rec) {
				found = append(found, Found("process_lost", row.Rec.Slug, "its supervisor died; it will be recorded as lost", mends+" records it now, as does the next tick"))
			}
			for _, l := range settle.Survivors(row.Rec) {
				found = append(found, Found("process_leftover", row.Rec.Slug, fmt.Sprintf("it left %q (pid %d) running", l.Command, l.PID), "claw process kill "+row.Rec.Slug+" ends it"))
			}
		}
		return err
	})
	x.findings = append(x.findings, found...)
	return err
}

// unmended makes a finding of what could not be written.
func (x *exam) unmended(err error) error {
	if err != nil {
		x.failed("fix_failed", err)
	}
	return nil
}

// strays shows folders of processes that no row knows: an exec that died
// before its claim was written leaves one.
func (x *exam) strays() error {
	entries, err := os.ReadDir(x.store.ProcessDir(""))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	var unknown []string
	err = x.store.View(func(tx *state.Tx) error {
		unknown = unknown[:0]
		for _, e := range entries {
			if _, known, err := state.Processes.Find(tx, e.Name()); err != nil {
				return err
			} else if !known {
				unknown = append(unknown, e.Name())
			}
		}
		return nil
	})
	for _, id := range unknown {
		dir := x.store.ProcessDir(id)
		if held, err := state.Held(settle.Lifeline(dir)); held || err != nil {
			continue // a claim that is being made
		}
		x.moveAway("process_stray", filepath.Join("processes", id), "no record knows this folder")
	}
	return err
}

// moveAway puts something into quarantine/.
func (x *exam) moveAway(code, rel, what string) {
	if !x.fix {
		x.add(code, rel, what, mends+" moves it to quarantine/")
		return
	}
	to := x.freeName(strings.ReplaceAll(strings.TrimPrefix(rel, "processes/"), "/", "_"))
	err := os.MkdirAll(filepath.Dir(to), 0o700)
	if err == nil {
		err = os.Rename(filepath.Join(x.Dir, rel), to)
	}
	if err != nil {
		x.add("fix_failed", rel, what+"; it cannot be moved: "+reason(err), "mv "+filepath.Join(x.Dir, rel)+" away")
		return
	}
	x.mended(code, rel, what, "it is "+filepath.Join("quarantine", filepath.Base(to))+" now")
}

// freeName is a path in quarantine/ that is not taken.
func (x *exam) freeName(name string) string {
	to := filepath.Join(x.Dir, "quarantine", name)
	for n := 1; ; n++ {
		if _, err := os.Lstat(to); err != nil {
			return to
		}
		to = filepath.Join(x.Dir, "quarantine", fmt.Sprintf("%s-%d", name, n))
	}
}

// backup keeps a record as it was before it is mended.
func (x *exam) backup(ledger, id string, rec any) error {
	line, err := json.Marshal(map[string]any{"at": x.Clock.Now(), "ledger": ledger, "id": id, "was": rec})
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(x.Dir, "quarantine"), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(filepath.Join(x.Dir, "quarantine", "doctor.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// quarantine shows what is kept there. It is a person's to remove.
func (x *exam) quarantine() error {
	entries, err := os.ReadDir(filepath.Join(x.Dir, "quarantine"))
	if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 {
		return nil
	}
	var size uint64
	var newest time.Time
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			size += uint64(info.Size())
			if info.ModTime().After(newest) {
				newest = info.ModTime()
			}
		}
	}
	pieces := fmt.Sprintf("%d pieces", len(entries))
	if len(entries) == 1 {
		pieces = "one piece"
	}
	x.add("quarantine_kept", "quarantine", pieces+", "+bytesWords(size)+", the newest of "+newest.Local().Format("2006-01-02 15:04"), "look at it with less, and rm what nobody needs: claw never does")
	return err
}
