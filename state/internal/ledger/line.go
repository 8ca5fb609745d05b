package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"slices"
	"strconv"
	"time"
)

// Line is one line of a ledger or of an archive: one revision of one record.
//
//	{"seq":7,"tx":12,"id":"01J…","rev":3,"time":"2026-12-01T08:00:00.123Z","record":{…},"sum":"1c291ca3"}
//
// seq grows by one per ledger, rev by one per id; tx is the transaction that
// wrote it. A removed record ends in a line with "deleted":true in place of
// the record, one that has moved to the archive in a line with
// "archived":"DAY" and the revision it had. sum is CRC-32 in hexadecimal over
// the bytes of the line before `,"sum"`. Fields this program does not know
// stand before the record and are kept.
type Line struct {
	Seq, Tx, Rev int64
	ID           string
	Raw          []byte // the whole line, without its newline
	when         []byte // RFC 3339, as written
	kind         kind
	body         []byte // what stands between time and sum, see Open
}

// kind tells what a line says about its record.
type kind uint8

const (
	nothing kind = iota // the zero Line
	live
	deleted  // the record was removed
	archived // the record lies in archive/NAME/DAY.jsonl
)

const (
	keyRecord   = `,"record":`
	keyDeleted  = `,"deleted":true`
	keyArchived = `,"archived":"`
	keySum      = `,"sum":"`
	sumLen      = len(keySum) + 8 + len(`"}`) // ,"sum":"xxxxxxxx"}
)

// Live tells a line that carries a record.
func (l Line) Live() bool { return l.kind == live }

// Archived tells a line that says the record has moved to the archive.
func (l Line) Archived() bool { return l.kind == archived }

// Time is when the line was written; zero when that cannot be read.
func (l Line) Time() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, string(l.when))
	return t
}

// sum32 is the checksum of every line and of every checkpointed ledger: the
// CRC-32 of zlib and gzip. CRC-32C would do as well, but its tables take longer
// to build than a small journal takes to read, in every program anew.
func sum32(crc uint32, b []byte) uint32 {
	return crc32.Update(crc, crc32.IEEETable, b)
}

// appendSum closes a line whose bytes from start on are complete but for it.
func appendSum(dst []byte, start int) []byte {
	crc := sum32(0, dst[start:])
	dst = append(dst, keySum...)
	dst = appendHex(dst, crc)
	return append(dst, `"}`...)
}

func appendHex(dst []byte, crc uint32) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, digits[crc>>shift&15])
	}
	return dst
}

// splitSum takes the closing sum off a line. has is false when there is none
// where claw writes it, ok when it is the right one.
func splitSum(b []byte) (rest []byte, has, ok bool) {
	n := len(b) - sumLen
	if n < 0 || string(b[n:n+len(keySum)]) != keySum || string(b[len(b)-2:]) != `"}` {
		return b, false, false
	}
	var hex [8]byte
	return b[:n], true, string(appendHex(hex[:0], sum32(0, b[:n]))) == string(b[n+len(keySum):len(b)-2])
}

// Draft is a line to be written; Seq and Tx are given by Commit.
type Draft struct {
	ID      string
	Rev     int64
	Record  []byte // compact JSON object; nil removes the record
	Extra   []byte // unknown envelope fields to carry on, `,"k":v` each
	archive string // the day of an archived marker
}

// appendLine encodes a line, without a newline.
func appendLine(dst []byte, seq, tx int64, at string, d Draft) []byte {
	start := len(dst)
	dst = strconv.AppendInt(append(dst, `{"seq":`...), seq, 10)
	dst = strconv.AppendInt(append(dst, `,"tx":`...), tx, 10)
	dst = appendString(append(dst, `,"id":`...), d.ID)
	dst = strconv.AppendInt(append(dst, `,"rev":`...), d.Rev, 10)
	dst = appendString(append(dst, `,"time":`...), at)
	dst = append(dst, d.Extra...)
	switch {
	case d.Record != nil:
		dst = append(append(dst, keyRecord...), d.Record...)
	case d.archive != "":
		dst = append(append(append(dst, keyArchived...), d.archive...), '"')
	default:
		dst = append(dst, keyDeleted...)
	}
	return appendSum(dst, start)
}

// appendString writes a JSON string; ids and times hardly ever need escaping.
func appendString(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			b, _ := json.Marshal(s)
			return append(dst, b...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// errors of one line, shown as the reason of a Bad.
var (
	errSum      = errors.New("the checksum does not match; if the line was edited by hand, take its \"sum\" field out")
	errSyntax   = errors.New("not a ledger line")
	errNoObject = errors.New("the record is not a JSON object")
)

// ParseLine reads one line, without its newline. The result refers to b.
// trusted skips the checksum, for bytes that a larger one has answered for.
func ParseLine(b []byte, trusted bool) (Line, error) {
	rest, has, ok := splitSum(b)
	if has && !trusted && !ok {
		return Line{}, errSum
	}
	if l, ok := parseCanonical(b, rest); has && ok {
		return l, nil
	}
	return parseLoose(b)
}

// parseCanonical reads a line in claw's own field order; rest is b without
// its sum.
func parseCanonical(b, rest []byte) (Line, bool) {
	c := cursor{b: rest}
	l := Line{Raw: b}
	c.lit(`{"seq":`)
	l.Seq = c.num()
	c.lit(`,"tx":`)
	l.Tx = c.num()
	c.lit(`,"id":"`)
	id := c.str()
	c.lit(`,"rev":`)
	l.Rev = c.num()
	c.lit(`,"time":"`)
	l.when = c.str()
	if c.bad {
		return l, false
	}
	l.ID, l.body = string(id), rest[c.i:]
	switch {
	case bytes.HasPrefix(l.body, []byte(keyRecord)):
		l.kind = live
	case string(l.body) == keyDeleted:
		l.kind = deleted
	case bytes.HasPrefix(l.body, []byte(keyArchived)):
		l.kind = archived
	default:
		return l, false
	}
	return l, l.valid()
}

func (l Line) valid() bool { return l.Seq > 0 && l.Rev > 0 && l.ID != "" }

// parseLoose reads a line with unknown fields, or one that a person wrote: any
// order, any white space, the sum optional.
func parseLoose(b []byte) (Line, error) {
	var f map[string]json.RawMessage
	if json.Unmarshal(b, &f) != nil || f == nil {
		return Line{}, errSyntax
	}
	if f["sum"] != nil {
		if _, has, ok := splitSum(b); !has || !ok {
			return Line{}, errSum
		}
	}
	l := Line{Raw: b}
	var when string
	for key, to := range map[string]any{"seq": &l.Seq, "tx": &l.Tx, "id": &l.ID, "rev": &l.Rev, "time": &when} {
		if f[key] != nil && json.Unmarshal(f[key], to) != nil {
			return Line{}, errSyntax
		}
	}
	l.when = []byte(when)
	if !l.valid() || l.Tx < 0 {
		return Line{}, errSyntax
	}
	return l, l.looseBody(f)
}

// looseBody brings the fields after time into the form that Open reads.
func (l *Line) looseBody(f map[string]json.RawMessage) error {
	for key, raw := range f {
		if !envelopeKey(key) {
			l.body = append(append(appendString(append(l.body, ','), key), ':'), raw...)
		}
	}
	switch {
	case f["record"] != nil:
		if skipObject(f["record"]) != len(f["record"]) {
			return errNoObject
		}
		l.kind = live
		l.body = append(append(slices.Clip(l.body), keyRecord...), f["record"]...)
	case string(f["deleted"]) == "true":
		l.kind = deleted
	case f["archived"] != nil:
		l.kind = archived
	default:
		return errSyntax
	}
	return nil
}

func envelopeKey(k string) bool {
	switch k {
	case "seq", "tx", "id", "rev", "time", "record", "deleted", "archived", "sum":
		return true
	}
	return false
}

// Open gives the record, and the unknown envelope fields as `,"k":v` each. The
// record of a line that is not Live is nil.
func (l Line) Open() (record, extra []byte, err error) {
	if l.kind != live {
		return nil, nil, nil
	}
	if rec := l.body[min(len(keyRecord), len(l.body)):]; bytes.HasPrefix(l.body, []byte(keyRecord)) && skipObject(rec) == len(rec) {
		return rec, nil, nil
	}
	if !bytes.HasPrefix(l.body, []byte(keyRecord)) { // looseBody put the record last
		return l.openExtra(l.body)
	}
	again, err := parseLoose(l.Raw)
	if err != nil {
		return nil, nil, err
	}
	return again.openExtra(again.body)
}

// openExtra splits a body made by looseBody: the record is its last value.
func (l Line) openExtra(body []byte) (record, extra []byte, err error) {
	var f struct {
		Record json.RawMessage `json:"record"`
	}
	if err := json.Unmarshal(l.Raw, &f); err != nil || len(f.Record) == 0 {
		return nil, nil, errNoObject
	}
	return f.Record, body[:len(body)-len(f.Record)-len(keyRecord)], nil
}
