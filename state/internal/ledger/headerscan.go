package ledger

import "time"

// scanHeader reads a header as encode writes it, and only that: every program
// reads one, and the decoder of encoding/json takes longer to get ready than
// all the rest of a small journal takes to read. Anything else is for the
// decoder.
func scanHeader(b []byte) (Header, bool) {
	rest, _, _ := splitSum(b)
	c := cursor{b: rest}
	var h Header
	c.lit(`{"journal":`)
	h.Journal = int(c.num())
	c.lit(`,"generation":`)
	h.Generation = c.num()
	c.lit(`,"boot":"`)
	h.Boot = string(c.str())
	c.lit(`,"tx":`)
	h.Tx = c.num()
	c.lit(`,"time":"`)
	at := string(c.str())
	c.lit(`,"ledgers":`)
	h.Ledgers = c.basesOf()
	if c.bad || c.i != len(rest) {
		return Header{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, at)
	h.Time = t
	return h, err == nil
}

// basesOf takes the array of checkpointed ledgers, or null.
func (c *cursor) basesOf() []Base {
	if c.has(`null`) || c.has(`[]`) {
		return nil
	}
	var all []Base
	c.lit(`[`)
	for !c.bad {
		var b Base
		c.lit(`{"name":"`)
		b.Name = string(c.str())
		c.lit(`,"seq":`)
		b.Seq = c.num()
		c.lit(`,"packed":`)
		b.Packed = c.num()
		c.lit(`,"size":`)
		b.Size = c.num()
		c.lit(`,"crc":`)
		crc := c.num()
		if c.bad = c.bad || crc > 1<<32-1; c.has(`,"file":"`) {
			b.File = string(c.str())
		}
		if c.has(`,"swept":`) {
			b.Swept = c.num()
		}
		b.CRC = uint32(crc)
		c.lit(`}`)
		all = append(all, b)
		if !c.has(`,`) {
			break
		}
	}
	c.lit(`]`)
	return all
}

// has takes s if it is next.
func (c *cursor) has(s string) bool {
	if c.bad || len(c.b)-c.i < len(s) || string(c.b[c.i:c.i+len(s)]) != s {
		return false
	}
	c.i += len(s)
	return true
}
