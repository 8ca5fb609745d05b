package ledger

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"claw/state/internal/vfs"
)

// Policy picks the ids, out of the live lines of a ledger, that may leave it
// for the archive.
type Policy func(name string, rows []Line) map[string]bool

// slack is how many bytes of superseded lines a ledger may hold beyond the
// size of its live ones before it is rewritten.
const slack = 64 << 10

// packedName is the name under which a generation rewrites a ledger.
func packedName(name string, generation int64) string {
	return name + ".jsonl." + strconv.FormatInt(generation, 10)
}

// checkpoint is one run of Checkpoint.
type checkpoint struct {
	d      *Dir
	j      *Journal
	policy Policy
	at     string
	next   Header
	names  bool // a name in ledgers/ has changed
	repair bool // rewrite every ledger, and take a lost one for empty
}

// Checkpoint moves what the journal holds into the ledgers, what is past its
// retention into the archive, what is damaged into quarantine, and begins a new
// generation of the journal. The caller holds the lock.
//
// The order is the argument. Until the new journal is renamed into place, the
// old one with the checkpointed part of every ledger still is the state:
//
//   - archive lines are written and synced first; a record may stand in the
//     archive and in its ledger, and readers prefer the ledger;
//   - a ledger is appended to behind its checkpointed part, which the old header
//     does not count, or rewritten under a name that only the new header knows;
//   - everything, and the names, is synced before the journal is replaced.
//
// Afterwards the new header's File finds a rewritten ledger under either name,
// so that the last rename may come late or, after a crash, from the next writer.
func (d *Dir) Checkpoint(j *Journal, policy Policy, now time.Time) error {
	return d.checkpoint(j, policy, now, false)
}

func (d *Dir) checkpoint(j *Journal, policy Policy, now time.Time, repair bool) error {
	c := checkpoint{d: d, j: j, policy: policy, at: stamp(now), repair: repair}
	c.next = Header{Journal: Format, Generation: j.Header.Generation + 1, Boot: d.Boot, Tx: j.Tx, Time: now.UTC(), raw: j.Header.raw}
	for _, name := range j.Names() { // before anything is written
		if err := c.readable(name); err != nil {
			return err
		}
	}
	for _, bad := range j.Bad {
		if err := d.quarantine(bad); err != nil {
			return err
		}
	}
	for _, name := range j.Names() {
		base, err := c.ledger(name)
		if err != nil {
			return Wrap("checkpoint", d.ledgerFile(name), err)
		}
		c.next.Ledgers = append(c.next.Ledgers, base)
	}
	if c.names {
		if err := d.FS.SyncDir(d.file(LedgersName)); err != nil {
			return Wrap("checkpoint", d.file(LedgersName), err)
		}
	}
	if err := d.keepTail(j); err != nil {
		return err
	}
	if err := d.writeJournal(c.next); err != nil {
		return err
	}
	_ = d.FinishRenames(&Journal{Header: c.next}) // the header knows both names
	return nil
}

// large is the size beyond which a ledger is not looked at as a whole at every
// checkpoint, but when it has grown by half: a queue that nobody empties must
// not make every writer wait.
const large = 1 << 20

// sweeps tells whether all records of a ledger are looked at this time.
func (c *checkpoint) sweeps(name string) bool {
	base, size := c.j.Header.base(name), c.j.Header.base(name).Size+c.j.track(name).size()
	if c.repair || len(c.j.Bad) > 0 || size <= large || size >= base.Swept/2*3 {
		return true
	}
	rows := c.j.bases.get(name)
	return rows != nil && rows.Edited
}

// readable finds out whether a ledger can be checkpointed at all.
func (c *checkpoint) readable(name string) error {
	if c.repair {
		return nil
	}
	if c.sweeps(name) {
		_, err := c.d.Rows(c.j, name, nil)
		return err
	}
	f, err := c.d.openBase(c.j.Header.base(name))
	if err != nil {
		_, err = c.d.Rows(c.j, name, nil) // says what is wrong
		return err
	}
	return f.Close()
}

// ledger brings one ledger up to date and gives its part of the new header.
func (c *checkpoint) ledger(name string) (Base, error) {
	if !c.sweeps(name) {
		lines := latest(slices.Clone(c.j.Overlay(name)))
		gone, err := c.archive(name, lines)
		if err != nil {
			return Base{}, err
		}
		base, err := c.extend(name, lines, gone, false)
		if !changed(err) {
			return base, err
		}
		c.j.bases.put(name, nil)
	}
	base, err := c.sweep(name)
	if changed(err) { // since it was read: the file is what counts
		c.j.bases.put(name, nil)
		return c.sweep(name)
	}
	return base, err
}

// changed tells that a ledger's checkpointed bytes are not what they were.
func changed(err error) bool { return errors.Is(err, errShort) || errors.Is(err, errEdited) }

// sweep looks at all records of a ledger, lets go what is past its retention
// wherever it stands, and rewrites the file when it is mostly superseded lines.
func (c *checkpoint) sweep(name string) (Base, error) {
	rows, err := c.d.Rows(c.j, name, nil)
	if c.repair && errors.Is(err, ErrDamaged) {
		rows, err = new(Rows), nil
	}
	if err != nil {
		return Base{}, err
	}
	for _, bad := range rows.Bad {
		if err := c.d.quarantine(bad); err != nil {
			return Base{}, err
		}
	}
	lines := latest(append(slices.Clone(rows.Lines), c.j.Overlay(name)...))
	gone, err := c.archive(name, lines)
	if err != nil {
		return Base{}, err
	}
	stay, size := remaining(lines, gone)
	if c.repair || rows.Edited || len(c.j.Bad) > 0 || rows.Total+c.j.track(name).size()-size > size+slack {
		return c.pack(name, stay)
	}
	next, err := c.extend(name, lines, gone, true)
	next.Swept = next.Size
	return next, err
}

// remaining is the lines that stay, and their length in a file.
func remaining(lines []Line, gone map[string]bool) (stay []Line, size int64) {
	for _, l := range lines {
		if !gone[l.ID] {
			stay = append(stay, l)
			size += int64(len(l.Raw)) + 1
		}
	}
	return stay, size
}

// extend completes a ledger behind its checkpointed part and marks what has
// been archived.
func (c *checkpoint) extend(name string, lines []Line, gone map[string]bool, verify bool) (Base, error) {
	old := c.j.Header.base(name)
	next := old
	next.File = ""
	next.Seq = c.j.seq(name)
	tail := c.j.track(name).join()
	for _, l := range lines {
		if gone[l.ID] {
			next.Seq++
			tail = appendLine(tail, next.Seq, c.j.Tx, c.at, Draft{ID: l.ID, Rev: l.Rev, archive: l.Day()})
			tail = append(tail, '\n')
		}
	}
	if old.Size == 0 && len(tail) == 0 {
		return next, nil
	}
	f, err := c.open(old)
	if err != nil {
		return next, err
	}
	defer f.Close()
	changed, err := c.d.complete(f, old, tail, c.j.Header.Boot == c.d.Boot, verify)
	if err == nil && changed || len(tail) > 0 {
		err = errors.Join(err, f.Sync())
	}
	next.Size += int64(len(tail))
	next.CRC = sum32(next.CRC, tail)
	return next, err
}

// open opens a ledger for writing; a file that was not there before makes the
// directory of ledgers worth a sync.
func (c *checkpoint) open(base Base) (vfs.File, error) {
	if base.Size == 0 || base.File != "" {
		c.names = true // its name is not durable yet
	}
	return c.d.openLedger(base)
}

// pack writes a ledger anew, with only the lines that stay.
func (c *checkpoint) pack(name string, stay []Line) (Base, error) {
	seq := c.j.seq(name)
	next := Base{Name: name, Seq: seq, Packed: seq}
	var buf []byte
	for _, l := range stay {
		buf = append(append(buf, l.summed()...), '\n')
	}
	next.Size, next.CRC = int64(len(buf)), sum32(0, buf)
	next.Swept = next.Size
	next.File = packedName(name, c.next.Generation)
	c.names = true
	if err := c.d.mkdir(c.d.file(LedgersName)); err != nil {
		return next, err
	}
	return next, vfs.WriteTemp(c.d.FS, c.d.file(LedgersName, next.File), buf, 0o600)
}

// summed is the line as it may stand in a rewritten ledger: one that a person
// wrote gets a checksum.
func (l Line) summed() []byte {
	if _, has, ok := splitSum(l.Raw); has && ok {
		return l.Raw
	}
	record, extra, err := l.Open()
	if err != nil || record == nil {
		return l.Raw
	}
	return appendLine(nil, l.Seq, l.Tx, string(l.when), Draft{ID: l.ID, Rev: l.Rev, Record: compact(record), Extra: extra})
}

// FinishRenames gives rewritten ledgers their own name. It does nothing where
// that has been done.
func (d *Dir) FinishRenames(j *Journal) error {
	for _, b := range j.Header.Ledgers {
		if b.File == "" {
			continue
		}
		err := d.FS.Rename(d.file(LedgersName, b.File), d.ledgerFile(b.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Wrap("rename", d.file(LedgersName, b.File), err)
		}
	}
	return nil
}

// keepTail saves a torn tail of the journal before it is cut.
func (d *Dir) keepTail(j *Journal) error {
	if len(j.Tail) == 0 {
		return nil
	}
	return d.quarantine(Bad{Path: JournalName, Line: j.lines + 1, Why: "the torn end of the journal", Bytes: j.Tail})
}

// CutTail takes a torn tail off the journal, at the last whole line, and keeps
// its bytes in quarantine.
func (d *Dir) CutTail(j *Journal) error {
	if err := d.keepTail(j); err != nil {
		return err
	}
	path := d.file(JournalName)
	f, err := d.FS.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return Wrap("cut", path, err)
	}
	defer f.Close()
	return Wrap("cut", path, f.Truncate(j.End))
}
