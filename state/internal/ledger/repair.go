package ledger

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claw/state/internal/vfs"
)

// Repair sets right what Check finds and moves what it takes away into
// quarantine. The caller holds the lock. What is gone stays gone: a lost
// ledger is begun again with what the journal holds for it.
func (d *Dir) Repair(policy Policy, now time.Time) error {
	if err := d.moveStrays(); err != nil {
		return err
	}
	if n, err := d.ReadFormat(); err != nil || n == 0 {
		if err := d.rewriteFormat(); err != nil {
			return err
		}
	}
	if err := d.repairArchives(); err != nil {
		return err
	}
	j, err := d.Load(nil)
	if errors.Is(err, ErrNoJournal) {
		return d.Init(now)
	}
	if err != nil {
		return err
	}
	defer j.Close()
	return d.checkpoint(j, policy, now, true)
}

// rewriteFormat replaces a FORMAT that is lost or damaged, and keeps what
// stood there.
func (d *Dir) rewriteFormat() error {
	path := d.file(FormatName)
	if b, err := vfs.ReadFile(d.FS, path, 4096); err == nil {
		if err := d.quarantine(Bad{Path: FormatName, Why: "not a version number", Bytes: b}); err != nil {
			return err
		}
	}
	return Wrap("write", path, vfs.WriteFile(d.FS, path, []byte(strconv.Itoa(Format)+"\n"), 0o600))
}

// moveStrays moves what does not belong where it is: links, directories in
// place of files, left-over temporary files. A rewritten ledger that the
// journal still refers to is given its name first.
func (d *Dir) moveStrays() error {
	if j, err := d.Load(nil); err == nil {
		err = d.FinishRenames(j)
		j.Close()
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
	}
	for _, rel := range []string{"", LedgersName, ArchiveName} {
		entries, err := d.FS.ReadDir(d.file(rel))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
			continue
		}
		if err != nil {
			return Wrap("repair", d.file(rel), err)
		}
		for _, e := range entries {
			if err := d.moveStray(filepath.Join(rel, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Dir) moveStray(path string) error {
	info, err := d.FS.Lstat(d.file(path))
	if err != nil {
		return nil // gone meanwhile
	}
	mode := info.Mode()
	fit := mode&fs.ModeSymlink == 0 && (!mustBeFile(path) || mode.IsRegular()) && (!mustBeDir(path) || mode.IsDir())
	if fit && !stray(path) {
		return nil
	}
	if err := d.mkdir(d.file(QuarantineName)); err != nil {
		return Wrap("repair", d.file(QuarantineName), err)
	}
	to := strings.ReplaceAll(path, "/", "_")
	for n := 1; d.exists(d.file(QuarantineName, to)); n++ {
		to = strings.ReplaceAll(path, "/", "_") + "-" + strconv.Itoa(n)
	}
	return Wrap("repair", d.file(path), d.FS.Rename(d.file(path), d.file(QuarantineName, to)))
}

func (d *Dir) exists(path string) bool {
	_, err := d.FS.Lstat(path)
	return err == nil
}

// repairArchives takes damaged lines out of the archive.
func (d *Dir) repairArchives() error {
	entries, err := d.FS.ReadDir(d.file(ArchiveName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return Wrap("repair", d.file(ArchiveName), err)
	}
	for _, e := range entries {
		days, err := d.Days(e.Name())
		if err != nil {
			return err
		}
		for _, day := range days {
			if err := d.repairDay(e.Name(), day); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Dir) repairDay(name, day string) error {
	lines, bad, err := d.ReadDay(name, day)
	if err != nil || len(bad) == 0 {
		return err
	}
	for _, b := range bad {
		if err := d.quarantine(b); err != nil {
			return err
		}
	}
	var buf []byte
	for _, l := range lines {
		buf = append(append(buf, l.summed()...), '\n')
	}
	path := d.file(ArchiveName, name, day+".jsonl")
	return Wrap("repair", path, vfs.WriteFile(d.FS, path, buf, 0o600))
}
