package state

import "bytes"

// Mentions tells whether the JSON of any live record contains text as it is
// written, without decoding a record: `"slug":"tide-orbit"`. A record that was
// edited by hand may be spelt otherwise.
func (l Ledger[T]) Mentions(tx *Tx, text string) (bool, error) {
	t, err := tx.table(l.name)
	if err != nil {
		return false, err
	}
	needle := []byte(text)
	for _, e := range t.rows {
		raw := e.line.Raw
		if e.draft != nil {
			raw = e.draft.Record
		}
		if e.live() && bytes.Contains(raw, needle) {
			return true, nil
		}
	}
	return false, nil
}
