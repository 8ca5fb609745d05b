package ledger

// AppendLine lets tests write lines.
var AppendLine = appendLine

// AppendTxn lets tests write transactions.
var AppendTxn = appendTxn

// ParseTxn lets tests read one.
var ParseTxn = parseTxn

// ParseHeader lets tests read a header.
var ParseHeader = parseHeader

// Encode lets tests write one.
func (h Header) Encode() []byte { return h.encode() }

// FindBack lets tests read an archive in steps.
var FindBack = findBack

// Scan lets tests read a journal's bytes without a file.
func Scan(b []byte) (j *Journal, headerLost bool) {
	j = Empty()
	j.scan(b)
	return j, j.Rebuilt || j.lines == 0
}

// Survey is what rebuild and readRows make of a ledger's bytes.
func Survey(b []byte) *Rows {
	base, _ := survey("x", b)
	return readRows(b, base, false)
}
