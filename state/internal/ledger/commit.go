package ledger

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"time"

	"claw/state/internal/vfs"
)

// Change is one line to be written to one ledger.
type Change struct {
	Ledger string
	Draft  Draft
}

// stamp is the form of every time in a file.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Pending is a transaction that stands in the journal. Close it in any case.
type Pending struct {
	End     int64 // offset in the journal behind the transaction
	Durable bool  // a checkpoint has made it durable already

	journal *bases // the same for two transactions in the same file
	f       vfs.File
}

// UpTo tells whether a sync that has covered q, which may be nil, has covered
// p too.
func (p *Pending) UpTo(q *Pending) bool {
	return q != nil && q.journal == p.journal && q.End >= p.End
}

// Sync makes the transaction durable, and all that stand before it.
func (p *Pending) Sync() error {
	if err := p.f.Sync(); err != nil {
		return &Error{
			Op: "sync", Path: p.f.Name(), Why: ErrNotDurable.Error() + " (" + reason(err) + ")",
			Hint: "the change is visible and survives a crash of claw, but perhaps not a power cut; check the disk",
			Err:  errors.Join(ErrNotDurable, err),
		}
	}
	return nil
}

// Close lets go of the journal's file.
func (p *Pending) Close() { p.f.Close() }

// Commit appends one transaction to the journal and repeats its lines in the
// ledgers. The journal must be the one loaded under the lock, without a tail.
// Sync of what it returns comes after the lock has been released: the append
// decides the order, and many writers share one wait for the disk.
//
// When the journal cannot take the line whole it is cut back and nothing has
// changed. What happens to the repetition does not matter: a later write or
// checkpoint sees the ledger's size and makes it good from the journal.
func (d *Dir) Commit(j *Journal, changes []Change, now time.Time) (*Pending, error) {
	ops := draw(j, changes, now)
	line := append(appendTxn(nil, j.Tx+1, stamp(now), ops), '\n')
	path := d.file(JournalName)
	f, err := d.FS.OpenFile(path, os.O_WRONLY, 0o600)
	if err != nil {
		return nil, Wrap("write", path, err)
	}
	if _, err := f.WriteAt(line, j.End); err != nil {
		_ = f.Truncate(j.End) // if this fails too, the next writer cuts the torn tail
		f.Close()
		return nil, Wrap("write", path, err)
	}
	if j.Header.Boot == d.Boot {
		d.repeat(j, ops)
	}
	return &Pending{End: j.End + int64(len(line)), journal: j.bases, f: f}, nil
}

// draw gives each change its place in its ledger.
func draw(j *Journal, changes []Change, now time.Time) []Op {
	at := stamp(now)
	seqs := make(map[string]int64, len(changes))
	ops := make([]Op, 0, len(changes))
	for _, c := range changes {
		seq, ok := seqs[c.Ledger]
		if !ok {
			seq = j.seq(c.Ledger)
		}
		seq++
		seqs[c.Ledger] = seq
		raw := appendLine(nil, seq, j.Tx+1, at, c.Draft)
		ops = append(ops, Op{c.Ledger, Line{Seq: seq, Raw: raw}})
	}
	return ops
}

// repeat appends the lines of a transaction to their ledgers, best effort.
func (d *Dir) repeat(j *Journal, ops []Op) {
	var names []string
	lines := make(map[string][]byte, len(ops))
	for _, op := range ops {
		names = append(names, op.Ledger)
		lines[op.Ledger] = append(append(lines[op.Ledger], op.Line.Raw...), '\n')
	}
	for _, name := range sortedSet(names) {
		base := j.Header.base(name)
		f, err := d.openLedger(base)
		if err != nil {
			continue
		}
		if end, err := d.tail(f, base, j.track(name)); err == nil {
			_, _ = f.WriteAt(lines[name], end)
		}
		f.Close()
	}
}

// openLedger opens a ledger for writing. One that nothing has been checkpointed
// in is made, and its directory; another one that is missing stays missing.
func (d *Dir) openLedger(base Base) (vfs.File, error) {
	path := d.ledgerFile(base.Name)
	f, err := d.FS.OpenFile(path, os.O_RDWR, 0)
	if base.Size > 0 || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := d.mkdir(d.file(LedgersName)); err != nil {
		return nil, err
	}
	return d.FS.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

func (d *Dir) mkdir(path string) error {
	err := d.FS.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// tail gives the offset behind what the journal holds for a ledger so far. A
// file of the right length is taken to be right: within one boot only a killed
// writer can have left it otherwise, and that shows in the length.
func (d *Dir) tail(f vfs.File, base Base, t *track) (end int64, err error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end = base.Size + t.size()
	if st.Size() != end {
		_, err = d.complete(f, base, t.join(), true, false)
	}
	return end, err
}

// What complete finds when the checkpointed bytes are not what they were.
var (
	errShort  = errors.New("the ledger is shorter than its last checkpoint")
	errEdited = errors.New("the ledger has changed since its last checkpoint")
)

// complete makes a ledger file end in tail behind its checkpointed part, and
// compares every byte there. What else stood there goes to quarantine, unless
// an interrupted checkpoint or another boot explains it. The checkpointed part
// itself is compared when verify says so, and before anything is cut: where a
// person has made the file longer or shorter, the rest is not where it was.
func (d *Dir) complete(f vfs.File, base Base, tail []byte, sameBoot, verify bool) (changed bool, err error) {
	st, err := f.Stat()
	if err != nil {
		return false, err
	}
	if st.Size() < base.Size {
		return false, errShort
	}
	have, err := vfs.ReadRange(f, base.Size, st.Size(), maxFile)
	if err != nil {
		return false, err
	}
	if verify || !bytes.HasPrefix(tail, have) {
		if buf, err := vfs.ReadRange(f, 0, base.Size, maxFile); err != nil || sum32(0, buf) != base.CRC {
			return false, errors.Join(errEdited, err)
		}
	}
	if bytes.Equal(have, tail) {
		return false, nil
	}
	same := common(have, tail)
	if same < len(have) {
		if sameBoot && !interrupted(have[same:]) {
			bad := Bad{Path: LedgersName + "/" + base.Name + ".jsonl", Why: "it differs from the journal", Bytes: have[same:]}
			if err := d.quarantine(bad); err != nil {
				return false, err
			}
		}
		if err := f.Truncate(base.Size + int64(same)); err != nil {
			return false, err
		}
	}
	_, err = f.WriteAt(tail[same:], base.Size+int64(same))
	return true, err
}

// common is the length of the whole lines that two files begin with.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// interrupted tells what a killed writer leaves: archived markers of a
// checkpoint that was not completed, and a torn line.
func interrupted(b []byte) bool {
	for raw := range bytes.Lines(b) {
		line, whole := bytes.CutSuffix(raw, []byte("\n"))
		if !whole {
			return bytes.HasPrefix(line, []byte(`{"seq":`[:min(len(line), 7)]))
		}
		if l, err := ParseLine(line, false); err != nil || !l.Archived() {
			return false
		}
	}
	return true
}

// size is the length of a track's lines in the ledger.
func (t *track) size() int64 {
	if t == nil {
		return 0
	}
	return t.bytes
}

// join is the lines of a track as they stand in the ledger.
func (t *track) join() []byte {
	if t == nil {
		return nil
	}
	b := make([]byte, 0, t.bytes)
	for _, l := range t.lines {
		b = append(append(b, l.Raw...), '\n')
	}
	return b
}
