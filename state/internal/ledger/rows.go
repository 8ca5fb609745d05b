package ledger

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"claw/state/internal/vfs"
)

// Rows is the checkpointed part of one ledger, the latest line of each id. It
// is never changed once it has been read.
type Rows struct {
	Lines  []Line // in order of seq; removed and archived ids are gone
	Bad    []Bad
	Total  int64 // bytes of all its lines
	Edited bool  // the bytes are not those that were checkpointed
}

// bases keeps what has been read of the ledgers in one generation.
type bases struct {
	mu   sync.Mutex
	rows map[string]*Rows
}

func (b *bases) get(name string) *Rows {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rows[name]
}

func (b *bases) put(name string, r *Rows) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rows == nil {
		b.rows = make(map[string]*Rows)
	}
	b.rows[name] = r
}

// Pin opens every ledger file that belongs to this generation, so that Rows
// reads the same bytes whatever a checkpoint does meanwhile: it replaces
// files, and changes none of their checkpointed bytes. A missing file is left
// to Rows to report. The caller then asks Same, and closes the pins.
func (d *Dir) Pin(j *Journal) map[string]vfs.File {
	pins := make(map[string]vfs.File, len(j.Header.Ledgers))
	for _, b := range j.Header.Ledgers {
		if b.Size == 0 || j.bases.get(b.Name) != nil {
			continue
		}
		f, err := d.openBase(b)
		if err != nil {
			continue
		}
		pins[b.Name] = f
	}
	return pins
}

// openBase opens the file of a checkpointed ledger: under the name it was
// rewritten to, if a crash came before the rename, else under its own.
func (d *Dir) openBase(b Base) (vfs.File, error) {
	if b.File != "" {
		f, err := d.FS.OpenFile(d.file(LedgersName, b.File), os.O_RDONLY, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return d.FS.OpenFile(d.ledgerFile(b.Name), os.O_RDONLY, 0)
}

// Rows reads the checkpointed part of a ledger. pin is its open file, or nil.
// A missing or empty file that should hold something is an error: a missing
// ledger is not an empty one.
func (d *Dir) Rows(j *Journal, name string, pin vfs.File) (*Rows, error) {
	if r := j.bases.get(name); r != nil {
		return r, nil
	}
	b := j.Header.base(name)
	r, err := d.readBase(b, pin)
	if err == nil {
		j.bases.put(name, r)
	}
	return r, err
}

func (d *Dir) readBase(b Base, f vfs.File) (*Rows, error) {
	if b.Size == 0 {
		return new(Rows), nil
	}
	path := d.ledgerFile(b.Name)
	if f == nil {
		var err error
		f, err = d.openBase(b)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, Damaged("read", path, "the ledger is missing")
		}
		if err != nil {
			return nil, Wrap("read", path, err)
		}
		defer f.Close()
	}
	buf, err := vfs.ReadRange(f, 0, b.Size, maxFile)
	if err != nil {
		return nil, Wrap("read", path, err)
	}
	if len(buf) == 0 {
		return nil, Damaged("read", path, "the ledger is empty, and it should not be")
	}
	if int64(len(buf)) == b.Size && sum32(0, buf) == b.CRC {
		return readRows(buf, b, true), nil
	}
	return d.readEdited(b, f)
}

// readEdited reads a ledger whose bytes are not those of the last checkpoint:
// damaged, or changed by hand. Every line must answer for itself.
func (d *Dir) readEdited(b Base, f vfs.File) (*Rows, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, Wrap("read", f.Name(), err)
	}
	buf, err := vfs.ReadRange(f, 0, st.Size(), maxFile)
	if err != nil {
		return nil, Wrap("read", f.Name(), err)
	}
	r := readRows(buf, b, false)
	r.Edited = true
	return r, nil
}

// readRows parses ledger lines. Lines behind the checkpoint repeat the
// journal and are left out.
func readRows(buf []byte, b Base, trusted bool) *Rows {
	r := new(Rows)
	path := LedgersName + "/" + b.Name + ".jsonl"
	var all []Line
	for n := 1; len(buf) > 0; n++ {
		raw, rest, whole := bytes.Cut(buf, []byte("\n"))
		buf = rest
		l, err := ParseLine(raw, trusted)
		switch {
		case err != nil && whole || err != nil && len(raw) > 0 && !behind(all, b):
			r.Bad = append(r.Bad, Bad{Path: path, Line: n, Why: err.Error(), Hint: hintDoctor, Bytes: raw})
		case err == nil && l.Seq <= b.Seq:
			all = append(all, l)
			r.Total += int64(len(raw)) + 1
		}
	}
	r.Lines = latest(all)
	return r
}

// behind tells that the last checkpointed line has been seen: what is torn
// after it is only a repetition.
func behind(all []Line, b Base) bool {
	return len(all) > 0 && all[len(all)-1].Seq >= b.Seq
}

// latest keeps the last line of each id, in order, and drops ids whose last
// line is not live.
func latest(lines []Line) []Line {
	last := make(map[string]int, len(lines))
	for i, l := range lines {
		last[l.ID] = i
	}
	kept := make([]Line, 0, len(last))
	for i, l := range lines {
		if last[l.ID] == i && l.Live() {
			kept = append(kept, l)
		}
	}
	return kept
}

// Overlay gives what the journal holds for a ledger, in order.
func (j *Journal) Overlay(name string) []Line {
	if t := j.track(name); t != nil {
		return t.lines
	}
	return nil
}

// Problems is what was found damaged in the journal itself.
func (j *Journal) Problems() []Bad {
	bad := slices.Clone(j.Bad)
	if bytes.IndexByte(j.Tail, '\n') >= 0 {
		bad = append(bad, Bad{Path: JournalName, Line: j.lines + 1, Why: "the last line is damaged", Hint: hintDoctor, Bytes: j.Tail})
	}
	return bad
}

func sortedSet(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// ledgerNames lists ledgers/*.jsonl.
func (d *Dir) ledgerNames() ([]string, error) {
	entries, err := d.FS.ReadDir(d.file(LedgersName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok && ValidName(name) {
			names = append(names, name)
		}
	}
	return names, err
}

// withoutJournal decides between a directory that has no journal yet and one
// that has lost it.
func (d *Dir) withoutJournal() (*Journal, error) {
	j := &Journal{bases: new(bases)}
	if err := d.rebuild(j, "the journal is missing"); err != nil {
		return nil, Wrap("read", d.file(JournalName), err)
	}
	if len(j.Header.Ledgers) == 0 {
		return nil, ErrNoJournal
	}
	return j, nil
}

// rebuild makes up a header from the ledgers as they lie there, for reading
// only: whoever wants to write must repair first.
func (d *Dir) rebuild(j *Journal, why string) error {
	names, err := d.ledgerNames()
	if err != nil {
		return err
	}
	j.Rebuilt = true
	j.Header = Header{Journal: Format, Generation: 1, Boot: d.Boot, Tx: j.Tx}
	for _, name := range names {
		buf, err := vfs.ReadFile(d.FS, d.ledgerFile(name), maxFile)
		if err != nil {
			return err
		}
		if b, tx := survey(name, buf); b.Size > 0 {
			j.Header.Ledgers = append(j.Header.Ledgers, b)
			j.Header.Tx = max(j.Header.Tx, tx)
		}
	}
	j.Tx = max(j.Tx, j.Header.Tx)
	for i := range j.tracks {
		t := &j.tracks[i]
		t.seq = max(t.seq, j.Header.base(t.name).Seq)
	}
	if len(j.Header.Ledgers) > 0 && len(j.Bad) == 0 {
		j.Bad = append(j.Bad, Bad{Path: JournalName, Why: why, Hint: hintDoctor})
	}
	return nil
}

// survey takes a whole ledger file for checkpointed.
func survey(name string, buf []byte) (b Base, tx int64) {
	b = Base{Name: name, Size: int64(len(buf)), CRC: sum32(0, buf) + 1} // wrong on purpose: every line answers for itself
	for raw := range bytes.Lines(buf) {
		if l, err := ParseLine(bytes.TrimSuffix(raw, []byte("\n")), false); err == nil {
			b.Seq, tx = max(b.Seq, l.Seq), max(tx, l.Tx)
		}
	}
	b.Packed = b.Seq
	return b, tx
}
