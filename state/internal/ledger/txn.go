package ledger

import (
	"encoding/json"
	"strconv"
)

// Op is one line of one ledger inside a transaction.
type Op struct {
	Ledger string
	Line   Line
}

// appendTxn encodes one transaction as one line of the journal, without a
// newline. Each op holds the ledger's line as it stands in the ledger; len is
// its length, so that a reader need not look into it.
//
//	{"tx":12,"time":"…","ops":[{"ledger":"tasks","len":312,"line":{…}}],"sum":"…"}
func appendTxn(dst []byte, tx int64, at string, ops []Op) []byte {
	start := len(dst)
	dst = strconv.AppendInt(append(dst, `{"tx":`...), tx, 10)
	dst = appendString(append(dst, `,"time":`...), at)
	dst = append(dst, `,"ops":[`...)
	for i, op := range ops {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"ledger":`...), op.Ledger)
		dst = strconv.AppendInt(append(dst, `,"len":`...), int64(len(op.Line.Raw)), 10)
		dst = append(append(append(dst, `,"line":`...), op.Line.Raw...), '}')
	}
	return appendSum(append(dst, ']'), start)
}

// parseTxn reads one line of the journal after the first. Nothing without its
// right checksum is a transaction.
func parseTxn(b []byte) (tx int64, ops []Op, err error) {
	rest, has, ok := splitSum(b)
	if !has {
		return 0, nil, errSyntax
	}
	if !ok {
		return 0, nil, errSum
	}
	c := cursor{b: rest}
	c.lit(`{"tx":`)
	tx = c.num()
	c.lit(`,"time":"`)
	c.str()
	c.lit(`,"ops":[`)
	for more := true; more && !c.bad; {
		var op Op
		op, more = c.op()
		ops = append(ops, op)
	}
	if !c.bad && c.i == len(rest) {
		return tx, ops, nil
	}
	return parseTxnLoose(b)
}

// op takes one op and the comma or bracket after it.
func (c *cursor) op() (op Op, more bool) {
	c.lit(`{"ledger":"`)
	op.Ledger = ledgerName(c.str())
	c.lit(`,"len":`)
	n := c.num()
	c.lit(`,"line":`)
	raw := c.take(n)
	c.lit(`}`)
	if c.bad || !ValidName(op.Ledger) {
		c.bad = true
		return op, false
	}
	var err error
	if op.Line, err = ParseLine(raw, true); err != nil {
		c.bad = true
		return op, false
	}
	if c.i < len(c.b) && c.b[c.i] == ',' {
		c.i++
		return op, true
	}
	c.lit(`]`)
	return op, false
}

// ledgerName spares an allocation for the names every transaction has.
func ledgerName(b []byte) string {
	switch string(b) {
	case "processes":
		return "processes"
	case "tasks":
		return "tasks"
	case "events":
		return "events"
	}
	return string(b)
}

// parseTxnLoose reads a transaction that a newer claw wrote with more fields.
func parseTxnLoose(b []byte) (int64, []Op, error) {
	var t struct {
		Tx  int64 `json:"tx"`
		Ops []struct {
			Ledger string          `json:"ledger"`
			Line   json.RawMessage `json:"line"`
		} `json:"ops"`
	}
	if json.Unmarshal(b, &t) != nil || t.Tx <= 0 {
		return 0, nil, errSyntax
	}
	ops := make([]Op, 0, len(t.Ops))
	for _, o := range t.Ops {
		l, err := ParseLine(o.Line, false)
		if err != nil {
			return 0, nil, err
		}
		if !ValidName(o.Ledger) {
			return 0, nil, errSyntax
		}
		ops = append(ops, Op{o.Ledger, l})
	}
	return t.Tx, ops, nil
}

// ValidName tells a name that may become a file name: lower-case letters,
// digits and hyphens, at most 64.
func ValidName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 64
}
