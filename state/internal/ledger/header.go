package ledger

import (
	"encoding/json"
	"time"
)

// Format is the layout version this program writes and understands; it stands
// in the file FORMAT and in the journal's header.
const Format = 1

// Header is the first line of the journal: what had been checkpointed when
// this generation of the journal began. Everything after it in the ledgers
// repeats the journal's own lines.
type Header struct {
	Journal    int       `json:"journal"`    // Format
	Generation int64     `json:"generation"` // grows by one per checkpoint
	Boot       string    `json:"boot"`       // boot id: in another boot, unsynced bytes may be gone
	Tx         int64     `json:"tx"`         // last transaction before this generation
	Time       time.Time `json:"time"`
	Ledgers    []Base    `json:"ledgers"` // in order of name

	raw []byte // the line as read, for fields this program does not know
}

// Base is the checkpointed part of one ledger.
type Base struct {
	Name   string `json:"name"`
	Seq    int64  `json:"seq"`             // of the last line ever written up to here
	Packed int64  `json:"packed"`          // lines up to this seq have been rewritten, with gaps
	Size   int64  `json:"size"`            // bytes of the file that are durable
	CRC    uint32 `json:"crc"`             // CRC-32 of those bytes
	File   string `json:"file,omitempty"`  // rewritten under this name, to be renamed to NAME.jsonl
	Swept  int64  `json:"swept,omitempty"` // size when all its records were last looked at
}

// base finds the checkpointed part of a ledger; the zero Base when it has none.
func (h *Header) base(name string) Base {
	for _, b := range h.Ledgers {
		if b.Name == name {
			return b
		}
	}
	return Base{Name: name}
}

// encode writes the header line, without a newline. Unknown fields of the line
// it was read from are kept.
func (h Header) encode() []byte {
	b, _ := json.Marshal(h) // cannot fail: plain fields only
	if h.raw != nil {
		b = Merge(h.raw, known[Header](h.raw), b)
	}
	b = dropKey(b, "sum")
	return appendSum(b[:len(b)-1], 0)
}

// dropKey takes a top-level key out of an object; the sum of a header that was
// read is an unknown field to the struct.
func dropKey(b []byte, key string) []byte {
	fields, err := splitObject(b)
	if err != nil || find(fields, key) == nil {
		return b
	}
	kept := fields[:0]
	for _, f := range fields {
		if f.key != key {
			kept = append(kept, f)
		}
	}
	return joinObject(kept)
}

// parseHeader reads the first line of the journal.
func parseHeader(b []byte) (Header, error) {
	if _, has, ok := splitSum(b); !has || !ok {
		return Header{}, errSum
	}
	h, ok := scanHeader(b)
	if !ok {
		h = Header{}
		if json.Unmarshal(b, &h) != nil {
			return Header{}, errSyntax
		}
	}
	h.raw = b
	if h.Generation <= 0 || h.Tx < 0 {
		return Header{}, errSyntax
	}
	for _, l := range h.Ledgers {
		if !ValidName(l.Name) || l.Seq < 0 || l.Size < 0 || l.File != "" && l.File != packedName(l.Name, h.Generation) {
			return Header{}, errSyntax
		}
	}
	return h, nil
}
