package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claw/state/internal/vfs"
	"claw/state/ulid"
)

const dayForm = "2006-01-02"

// Day names the archive file of a record: the UTC day of its creation, which
// its ULID tells, so that whoever knows the id knows the file. For an id that
// is no ULID it is the day the line was written.
func (l Line) Day() string {
	if at, ok := ulid.Time(l.ID); ok {
		return at.UTC().Format(dayForm)
	}
	return l.Time().UTC().Format(dayForm)
}

// archive appends the lines that the policy lets go to their days and syncs
// them. What it returns has left the ledger once the checkpoint is complete.
func (c *checkpoint) archive(name string, lines []Line) (gone map[string]bool, err error) {
	gone = c.policy(name, lines)
	leaving, err := c.removed(name)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		if gone[l.ID] {
			leaving = append(leaving, l)
		}
	}
	days := make(map[string][]byte)
	for _, l := range leaving {
		days[l.Day()] = append(append(days[l.Day()], l.summed()...), '\n')
	}
	names := make([]string, 0, len(days))
	for day := range days {
		names = append(names, day)
	}
	slices.Sort(names)
	for _, day := range names {
		if err := c.d.appendDay(name, day, days[day]); err != nil {
			return nil, err
		}
	}
	return gone, nil
}

// removed is the ends of records that were removed after the archive had taken
// an earlier revision of them: the archive must know too, for the line in the
// ledger does not outlive its next rewrite.
func (c *checkpoint) removed(name string) (ends []Line, err error) {
	over := c.j.Overlay(name)
	last := make(map[string]int)
	for i, l := range over {
		last[l.ID] = i
	}
	for i, l := range over {
		if l.kind != deleted || last[l.ID] != i {
			continue
		}
		_, found, err := c.d.FindArchived(name, l.ID)
		if err != nil {
			return nil, err
		}
		if found {
			ends = append(ends, l)
		}
	}
	return ends, nil
}

// appendDay adds lines to one day of an archive, durably.
func (d *Dir) appendDay(name, day string, lines []byte) error {
	path := d.file(ArchiveName, name, day+".jsonl")
	f, err := d.FS.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = d.createDay(path)
	}
	if err != nil {
		return Wrap("archive", path, err)
	}
	defer f.Close()
	end, err := d.wholeLines(f, ArchiveName+"/"+name+"/"+day+".jsonl")
	if err == nil {
		_, err = f.WriteAt(lines, end)
	}
	if err != nil {
		_ = f.Truncate(end) // what has not left its ledger need not stay here
		return Wrap("archive", path, err)
	}
	if err := f.Sync(); err != nil {
		return Wrap("archive", path, err)
	}
	// Always, for the file may be there because a checkpoint died at this point.
	return Wrap("archive", path, errors.Join(d.FS.SyncDir(filepath.Dir(path)), d.FS.SyncDir(d.file(ArchiveName))))
}

// createDay makes the file of a day, and the directories above it.
func (d *Dir) createDay(path string) (vfs.File, error) {
	for _, dir := range []string{filepath.Dir(filepath.Dir(path)), filepath.Dir(path)} {
		if err := d.mkdir(dir); err != nil {
			return nil, err
		}
	}
	return d.FS.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

// wholeLines gives the length of an archive file without a torn end, which a
// power cut during a checkpoint leaves; the records in it are still in their
// ledger.
func (d *Dir) wholeLines(f vfs.File, path string) (int64, error) {
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return 0, err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], st.Size()-1); err != nil {
		return st.Size(), err
	}
	if last[0] == '\n' {
		return st.Size(), nil
	}
	buf, err := vfs.ReadRange(f, 0, st.Size(), maxFile)
	if err != nil {
		return st.Size(), err
	}
	end := bytes.LastIndexByte(buf, '\n') + 1
	bad := Bad{Path: path, Why: "the torn end of an archive", Bytes: buf[end:]}
	if err := d.quarantine(bad); err != nil {
		return st.Size(), err
	}
	return int64(end), f.Truncate(int64(end))
}

// Days lists the days of an archive, newest first.
func (d *Dir) Days(name string) ([]string, error) {
	dir := d.file(ArchiveName, name)
	entries, err := d.FS.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var days []string
	for _, e := range entries {
		day, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if _, err := time.Parse(dayForm, day); ok && err == nil {
			days = append(days, day)
		}
	}
	slices.Reverse(days)
	return days, Wrap("read", dir, err)
}

// ReadDay gives the records of one day of an archive, the latest revision of
// each id, in order of id.
func (d *Dir) ReadDay(name, day string) ([]Line, []Bad, error) {
	path := d.file(ArchiveName, name, day+".jsonl")
	buf, err := vfs.ReadFile(d.FS, path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // pruned meanwhile
	}
	if err != nil {
		return nil, nil, Wrap("read", path, err)
	}
	var all []Line
	var bad []Bad
	for n := 1; len(buf) > 0; n++ {
		raw, rest, whole := bytes.Cut(buf, []byte("\n"))
		buf = rest
		l, err := ParseLine(raw, false)
		if err == nil {
			all = append(all, l)
		} else if whole {
			bad = append(bad, Bad{Path: ArchiveName + "/" + name + "/" + day + ".jsonl", Line: n, Why: err.Error(), Hint: hintDoctor, Bytes: raw})
		}
	}
	all = latest(all)
	slices.SortFunc(all, func(a, b Line) int { return strings.Compare(a.ID, b.ID) })
	return all, bad, nil
}

// FindArchived looks an id up in the archive: in the day its ULID names, else
// in all of them.
func (d *Dir) FindArchived(name, id string) (Line, bool, error) {
	days := []string{(Line{ID: id}).Day()}
	if _, ok := ulid.Time(id); !ok {
		var err error
		if days, err = d.Days(name); err != nil {
			return Line{}, false, err
		}
	}
	for _, day := range days {
		l, ok, err := d.findInDay(name, day, id)
		if ok || err != nil {
			return l, ok, err
		}
	}
	return Line{}, false, nil
}

// How much of an archive findInDay reads first, and at once at most.
const (
	firstPiece = 16 << 10
	piece      = 256 << 10
)

// findInDay searches the bytes for the id, from the end, where what has just
// moved there stands, and parses only the lines that have it: a day may hold a
// hundred thousand.
func (d *Dir) findInDay(name, day, id string) (found Line, ok bool, err error) {
	path := d.file(ArchiveName, name, day+".jsonl")
	f, err := d.FS.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Line{}, false, nil
	}
	if err != nil {
		return Line{}, false, Wrap("read", path, err)
	}
	defer f.Close()
	l, ok, err := findBack(f, firstPiece, id)
	return l, ok && l.Live(), Wrap("read", path, err)
}

// findBack reads a file of lines from its end, step bytes at first and then more
// each time, until it has the last line of an id.
func findBack(f vfs.File, step int64, id string) (found Line, ok bool, err error) {
	st, err := f.Stat()
	if err != nil {
		return Line{}, false, err
	}
	quoted := appendString(nil, id)
	var rest []byte // of a line that begins before what has been read
	for end := st.Size(); end > 0; step = min(2*step, piece) {
		from := max(0, end-max(step, int64(len(rest))))
		buf, err := vfs.ReadRange(f, from, end, maxFile)
		if err != nil {
			return Line{}, false, err
		}
		buf, rest, end = append(buf, rest...), nil, from
		if from > 0 {
			cut := bytes.IndexByte(buf, '\n') + 1
			if cut == 0 {
				cut = len(buf)
			}
			rest, buf = buf[:cut], buf[cut:]
		}
		if l, ok := lastOf(buf, quoted, id); ok {
			return l, true, nil
		}
	}
	return Line{}, false, nil
}

// lastOf is the last whole line of an id that is sound. The ID stands there as
// quoted. It searches forwards, which is ten times as fast as backwards.
func lastOf(buf, quoted []byte, id string) (last Line, ok bool) {
	buf = buf[:bytes.LastIndexByte(buf, '\n')+1] // what follows is torn
	for {
		n := bytes.Index(buf, quoted)
		if n < 0 {
			return last, ok
		}
		start := bytes.LastIndexByte(buf[:n], '\n') + 1
		end := n + bytes.IndexByte(buf[n:], '\n')
		if l, err := ParseLine(buf[start:end], false); err == nil && l.ID == id {
			last, ok = l, true
		}
		buf = buf[end+1:]
	}
}

// Prune deletes the days of every archive before a day and reports how many.
func (d *Dir) Prune(before time.Time) (removed int, err error) {
	names, err := d.FS.ReadDir(d.file(ArchiveName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, Wrap("prune", d.file(ArchiveName), err)
	}
	limit := before.UTC().Format(dayForm)
	for _, e := range names {
		days, err := d.Days(e.Name())
		if err != nil {
			return removed, err
		}
		for _, day := range days {
			if day >= limit {
				continue
			}
			path := d.file(ArchiveName, e.Name(), day+".jsonl")
			if err := d.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return removed, Wrap("prune", path, err)
			}
			removed++
		}
	}
	return removed, nil
}

// compact takes white space out of a record a person has formatted.
func compact(record []byte) []byte {
	var buf bytes.Buffer
	if json.Compact(&buf, record) != nil {
		return record
	}
	return buf.Bytes()
}
