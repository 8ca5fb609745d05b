package ledger

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"claw/state/internal/vfs"
)

// The names inside a state directory.
const (
	FormatName     = "FORMAT"
	LockName       = "lock"
	JournalName    = "journal.jsonl"
	LedgersName    = "ledgers"
	ArchiveName    = "archive"
	QuarantineName = "quarantine"
	ProcessesName  = "processes"
)

// Bounds that keep a damaged length from taking the memory of the machine.
const (
	maxFile   = 1 << 30 // bytes of one ledger, journal or archive
	MaxRecord = 4 << 20 // bytes of one record
)

// Dir is one state directory as files. Its methods take no lock: whoever
// writes holds the directory's lock, see package state.
type Dir struct {
	FS   vfs.FS
	Path string
	Boot string // id of the current boot
}

func (d *Dir) file(name ...string) string {
	return filepath.Join(append([]string{d.Path}, name...)...)
}

func (d *Dir) ledgerFile(name string) string { return d.file(LedgersName, name+".jsonl") }

// Bad is a damaged piece of a file: a line, or a torn tail.
type Bad struct {
	Path  string // relative to the directory
	Line  int    // from 1; 0 for a whole file
	Why   string
	Hint  string
	Bytes []byte
}

// Journal is the journal as far as it has been read. It is a snapshot: reading
// further makes a new one, and only the newest may be read further.
type Journal struct {
	Header  Header
	Tx      int64 // last transaction
	End     int64 // offset behind the last whole transaction
	Tail    []byte
	Bad     []Bad
	Rebuilt bool // the header was lost: the ledgers are taken as they are

	file   vfs.File
	info   fs.FileInfo
	lines  int
	tracks []track
	bases  *bases
}

// Empty is the journal of a directory that has none yet.
func Empty() *Journal { return &Journal{bases: new(bases)} }

// track is what the journal holds for one ledger, in order.
type track struct {
	name  string
	seq   int64 // of its last line
	bytes int64 // of its lines in the ledger, newlines counted
	lines []Line
}

// track finds what the journal holds for a ledger, nil when nothing.
func (j *Journal) track(name string) *track {
	for i := range j.tracks {
		if j.tracks[i].name == name {
			return &j.tracks[i]
		}
	}
	return nil
}

// seq is the last sequence number given in a ledger.
func (j *Journal) seq(name string) int64 {
	if t := j.track(name); t != nil {
		return t.seq
	}
	return j.Header.base(name).Seq
}

// Names lists the ledgers that the header or a transaction names, in order.
func (j *Journal) Names() []string {
	var names []string
	for _, b := range j.Header.Ledgers {
		names = append(names, b.Name)
	}
	for _, t := range j.tracks {
		names = append(names, t.name)
	}
	return sortedSet(names)
}

// add takes one transaction into the tracks.
func (j *Journal) add(ops []Op) {
	for _, op := range ops {
		t := j.track(op.Ledger)
		if t == nil {
			j.tracks = append(j.tracks, track{name: op.Ledger, seq: j.Header.base(op.Ledger).Seq})
			t = &j.tracks[len(j.tracks)-1]
		}
		t.lines = append(t.lines, op.Line)
		t.bytes += int64(len(op.Line.Raw)) + 1
		t.seq = max(t.seq, op.Line.Seq)
	}
}

// Close lets go of the journal's file.
func (j *Journal) Close() {
	if j != nil && j.file != nil {
		j.file.Close()
	}
}

// ErrNoJournal says that there is no journal and nothing it could have been
// lost from: an empty directory, or none.
var ErrNoJournal = errors.New("no journal yet")

// Load reads the journal. With a snapshot of the same generation only what is
// new is read; prev must not be used afterwards.
func (d *Dir) Load(prev *Journal) (*Journal, error) {
	path := d.file(JournalName)
	info, err := d.FS.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		prev.Close()
		return d.withoutJournal()
	}
	if err != nil {
		return nil, Wrap("read", path, err)
	}
	if prev != nil && prev.info != nil && os.SameFile(prev.info, info) && info.Size() >= prev.End {
		next := *prev
		next.tracks = append([]track(nil), prev.tracks...)
		return &next, next.extend()
	}
	prev.Close()
	return d.open(path)
}

// open reads a journal from its beginning.
func (d *Dir) open(path string) (*Journal, error) {
	f, err := d.FS.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return d.withoutJournal()
	}
	if err != nil {
		return nil, Wrap("read", path, err)
	}
	j := &Journal{file: f, bases: new(bases)}
	if j.info, err = f.Stat(); err == nil && j.info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: errIsDir}
	}
	if err == nil {
		err = j.extend()
	}
	if err == nil && j.lines == 0 {
		err = d.rebuild(j, "the journal's first line is torn")
	} else if err == nil && j.Rebuilt {
		err = d.rebuild(j, "the journal's first line is damaged")
	}
	if err != nil {
		f.Close()
		return nil, Wrap("read", path, err)
	}
	return j, nil
}

// extend reads what stands behind End.
func (j *Journal) extend() error {
	st, err := j.file.Stat()
	if err != nil {
		return err
	}
	buf, err := vfs.ReadRange(j.file, j.End, st.Size(), maxFile)
	if err != nil {
		return err
	}
	j.scan(buf)
	return nil
}

// scan takes whole lines off buf, which stands at End. A damaged line with a
// newline is Bad and skipped; what has no newline, and damaged lines that
// nothing whole follows, is the torn Tail.
func (j *Journal) scan(buf []byte) {
	base, good, bad := j.End, 0, []Bad(nil)
	for pos, n := 0, j.lines; ; {
		nl := bytes.IndexByte(buf[pos:], '\n')
		if nl < 0 {
			break
		}
		line := buf[pos : pos+nl]
		pos += nl + 1
		n++
		if err := j.line(n, line); err != nil {
			bad = append(bad, Bad{Path: JournalName, Line: n, Why: err.Error(), Hint: hintDoctor, Bytes: line})
			continue
		}
		j.Bad, bad = append(j.Bad, bad...), nil
		good, j.lines = pos, n
	}
	j.End = base + int64(good)
	j.Tail = buf[good:]
}

// line takes the nth line of the journal.
func (j *Journal) line(n int, b []byte) error {
	if n == 1 {
		h, err := parseHeader(b)
		if err != nil {
			j.Rebuilt = true
			return err
		}
		j.Header, j.Tx = h, h.Tx
		return nil
	}
	tx, ops, err := parseTxn(b)
	if err != nil {
		return err
	}
	j.add(ops)
	j.Tx = max(j.Tx, tx)
	return nil
}

// Same tells whether this is still the directory's journal, not one that a
// checkpoint has replaced.
func (d *Dir) Same(j *Journal) bool {
	info, err := d.FS.Lstat(d.file(JournalName))
	if j.info == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && os.SameFile(info, j.info)
}
