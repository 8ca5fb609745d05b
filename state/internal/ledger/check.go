package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"claw/state/internal/vfs"
)

// checker collects what is wrong.
type checker struct {
	d   *Dir
	bad []Bad
}

func (c *checker) add(path string, line int, hint, format string, args ...any) {
	c.bad = append(c.bad, Bad{Path: path, Line: line, Why: fmt.Sprintf(format, args...), Hint: hint})
}

// Check reads everything and lists what is not as it should be: checksums,
// sequence and revision numbers, the agreement of journal and ledgers, the
// archive, permissions, and files that do not belong. It writes nothing. While
// others write it may see their half-done work.
func (d *Dir) Check() ([]Bad, error) {
	c := checker{d: d}
	if _, err := d.FS.Lstat(d.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	c.tree()
	j, err := d.Load(nil)
	c.format(errors.Is(err, ErrNoJournal))
	if errors.Is(err, ErrNoJournal) {
		return c.bad, nil
	}
	if err != nil {
		c.failed(JournalName, err)
		return c.bad, nil
	}
	defer j.Close()
	c.journal(j)
	for _, name := range j.Names() {
		c.ledger(j, name)
	}
	return c.bad, c.archives()
}

// failed takes an error as a problem.
func (c *checker) failed(path string, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Why: err.Error()}
	}
	c.add(path, 0, e.Hint, "%s", e.Why)
}

// format looks at the version of the layout. A directory without a journal is
// one that Init has yet to complete.
func (c *checker) format(unborn bool) {
	switch n, err := c.d.ReadFormat(); {
	case err != nil:
		c.failed(FormatName, err)
	case n == 0 && !unborn:
		c.add(FormatName, 0, hintDoctor, "it is missing")
	case n > Format:
		c.add(FormatName, 0, "use the newer claw to write here; reading works", "format %d is newer than this claw's %d", n, Format)
	}
}

// tree looks at the kinds and permissions of what lies in the directory.
func (c *checker) tree() {
	for _, dir := range []string{"", LedgersName, ArchiveName, QuarantineName} {
		c.folder(dir)
	}
	if entries, err := c.d.FS.ReadDir(c.d.file(ArchiveName)); err == nil {
		for _, e := range entries {
			c.folder(filepath.Join(ArchiveName, e.Name()))
		}
	}
}

func (c *checker) folder(rel string) {
	entries, err := c.d.FS.ReadDir(c.d.file(rel))
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(rel, e.Name())
		info, err := c.d.FS.Lstat(c.d.file(path))
		if err != nil {
			continue
		}
		if why, hint := unfit(path, info.Mode()); why != "" {
			c.add(path, 0, hint, "%s", why)
		}
	}
}

// unfit says what is wrong with the kind or the permissions of a path.
func unfit(path string, mode fs.FileMode) (why, hint string) {
	switch {
	case mode&fs.ModeSymlink != 0:
		return ErrSymlink.Error(), hintLink
	case mustBeFile(path) && !mode.IsRegular():
		return "it is not a regular file", hintDoctor
	case mustBeDir(path) && !mode.IsDir():
		return "it is not a directory", hintDoctor
	case mode.Perm()&0o022 != 0:
		return fmt.Sprintf("others can write to it (mode %04o)", mode.Perm()), "chmod go-w it"
	case stray(path):
		return "a file that an interrupted write left behind", hintDoctor
	}
	return "", ""
}

func mustBeFile(path string) bool {
	switch path {
	case FormatName, LockName, JournalName:
		return true
	}
	return strings.HasSuffix(path, ".jsonl") && filepath.Dir(path) != QuarantineName
}

func mustBeDir(path string) bool {
	switch path {
	case LedgersName, ArchiveName, QuarantineName, ProcessesName:
		return true
	}
	return filepath.Dir(path) == ArchiveName
}

// stray tells names that exist only in the middle of a write.
func stray(path string) bool {
	if filepath.Dir(path) == "." {
		return path == JournalName+".tmp" || path == FormatName+".tmp"
	}
	return filepath.Dir(path) == LedgersName && strings.Contains(path, ".jsonl.")
}

// journal checks the lines of the journal one by one and their numbers.
func (c *checker) journal(j *Journal) {
	c.bad = append(c.bad, j.Bad...)
	if len(j.Tail) > 0 {
		c.bad = append(c.bad, Bad{Path: JournalName, Line: j.lines + 1, Why: "the end is torn; the next write cuts it", Hint: hintDoctor, Bytes: j.Tail})
	}
	for _, t := range j.tracks {
		s := sequence{last: j.Header.base(t.name).Seq, packed: j.Header.base(t.name).Seq}
		for _, l := range t.lines {
			if again, err := ParseLine(l.Raw, false); err != nil || again.Seq != l.Seq {
				c.add(JournalName, 0, hintDoctor, "transaction %d holds a damaged line of %s", l.Tx, t.name)
			}
			if why := s.next(l); why != "" && len(j.Bad) == 0 && !j.Rebuilt {
				c.add(JournalName, 0, hintDoctor, "ledger %s: %s", t.name, why)
			}
		}
	}
}

// sequence follows the numbers of one ledger. Lines up to packed may have gaps.
type sequence struct {
	last, packed, tx int64
	revs             map[string]int64
}

func (s *sequence) next(l Line) string {
	if s.revs == nil {
		s.revs = make(map[string]int64)
	}
	rev, seen := s.revs[l.ID]
	last, tx := s.last, s.tx
	s.last, s.tx, s.revs[l.ID] = l.Seq, l.Tx, l.Rev
	if !l.Live() {
		delete(s.revs, l.ID) // it may begin again
	}
	switch {
	case l.Seq <= last:
		return fmt.Sprintf("seq %d follows %d", l.Seq, last)
	case l.Seq != last+1 && l.Seq > s.packed+1:
		return fmt.Sprintf("seq %d follows %d: lines are missing", l.Seq, last)
	case l.Tx < tx:
		return fmt.Sprintf("transaction %d follows %d", l.Tx, tx)
	case seen && l.Rev <= rev && !(l.Archived() && l.Rev == rev):
		return fmt.Sprintf("revision %d of %s follows %d", l.Rev, l.ID, rev)
	}
	return ""
}

// ledger checks the checkpointed part of a ledger, and that the rest repeats
// the journal as far as it goes.
func (c *checker) ledger(j *Journal, name string) {
	base, rel := j.Header.base(name), LedgersName+"/"+name+".jsonl"
	rows, err := c.d.Rows(j, name, nil)
	if err != nil {
		c.failed(rel, err)
		return
	}
	c.bad = append(c.bad, rows.Bad...)
	if rows.Edited && len(rows.Bad) == 0 && !j.Rebuilt {
		c.add(rel, 0, hintDoctor, "it has changed since its last checkpoint")
	}
	f, err := c.d.openBase(base)
	if errors.Is(err, fs.ErrNotExist) {
		return // nothing checkpointed, or Rows has said so
	}
	if err != nil {
		c.failed(rel, Wrap("read", rel, err))
		return
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return
	}
	buf, err := vfs.ReadRange(f, 0, st.Size(), maxFile)
	if err != nil || int64(len(buf)) < base.Size || rows.Edited {
		return
	}
	c.numbers(rel, base, buf[:base.Size])
	if !bytes.HasPrefix(j.track(name).join(), buf[base.Size:]) {
		c.add(rel, 0, "nothing is lost: the next checkpoint repairs it", "what follows the last checkpoint differs from the journal")
	}
}

func (c *checker) numbers(rel string, base Base, buf []byte) {
	s := sequence{packed: base.Packed}
	n := 0
	for raw := range bytes.Lines(buf) {
		n++
		l, err := ParseLine(bytes.TrimSuffix(raw, []byte("\n")), false)
		if err != nil {
			c.add(rel, n, hintDoctor, "%s", err)
			continue
		}
		if why := s.next(l); why != "" {
			c.add(rel, n, hintDoctor, "%s", why)
		}
	}
	if s.last != base.Seq && base.Seq > base.Packed {
		c.add(rel, n, hintDoctor, "the last line has seq %d, not %d", s.last, base.Seq)
	}
}

func (c *checker) archives() error {
	entries, err := c.d.FS.ReadDir(c.d.file(ArchiveName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return Wrap("check", c.d.file(ArchiveName), err)
	}
	for _, e := range entries {
		days, err := c.d.Days(e.Name())
		if err != nil {
			return err
		}
		for _, day := range days {
			_, bad, err := c.d.ReadDay(e.Name(), day)
			if err != nil {
				c.failed(filepath.Join(ArchiveName, e.Name(), day+".jsonl"), err)
			}
			c.bad = append(c.bad, bad...)
		}
	}
	return nil
}
