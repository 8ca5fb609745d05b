package ledger_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"claw/state/internal/ledger"
)

// lines is what a fuzzed parser starts from.
func lines() []string {
	own := sum(envelope + `,"record":{"a":"}\"{","b":{}}`)
	return []string{
		own, sum(envelope + `,"deleted":true`), sum(envelope + `,"archived":"2026-12-01"`),
		sum(envelope + `,"by":1,"record":{}`), `{"seq":1,"tx":1,"id":"a","rev":1,"record":{}}`, own[:40], "", "{}", "\x00", strings.Repeat("{", 1000),
	}
}

// resum gives a line the right checksum, so that a fuzzer gets behind it.
func resum(b []byte) []byte {
	if n := len(b) - len(`,"sum":"00000000"}`); n > 0 && bytes.HasPrefix(b[n:], []byte(`,"sum":"`)) {
		b = b[:n]
	}
	return []byte(sum(string(b)))
}

// Whatever is accepted is one record that can be written and read again.
func FuzzParseLine(f *testing.F) {
	for _, s := range lines() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ledger.ParseLine(b, false)
		if err != nil {
			b = resum(b)
			l, err = ledger.ParseLine(b, false)
		}
		if err != nil {
			return
		}
		record, extra, err := l.Open()
		if err != nil {
			return
		}
		if l.Seq <= 0 || l.Rev <= 0 || l.ID == "" || l.Live() != (record != nil) {
			t.Fatalf("%+v", l)
		}
		if !l.Live() || bytes.ContainsAny(b, "\n\r") {
			return
		}
		raw := ledger.AppendLine(nil, l.Seq, l.Tx, "", ledger.Draft{ID: l.ID, Rev: l.Rev, Record: record, Extra: extra})
		again, err := ledger.ParseLine(raw, false)
		if err != nil || again.ID != l.ID {
			t.Fatalf("%s: %v", raw, err)
		}
		rec, ex, err := again.Open()
		if err != nil || !bytes.Equal(rec, record) || len(ex) != len(extra) {
			t.Fatalf("%s, %s: %v", rec, ex, err)
		}
	})
}

func journal() []byte {
	at := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	b := append(ledger.Header{Journal: 1, Generation: 3, Boot: "b", Tx: 11, Time: at, Ledgers: []ledger.Base{{Name: "tasks", Seq: 6}}}.Encode(), '\n')
	for tx := int64(12); tx < 15; tx++ {
		raw := ledger.AppendLine(nil, tx-5, tx, "2026-12-01T08:00:00Z", ledger.Draft{ID: "01J", Rev: tx - 11, Record: []byte(`{"a":1}`)})
		b = append(ledger.AppendTxn(b, tx, "2026-12-01T08:00:00Z", []ledger.Op{{Ledger: "tasks", Line: ledger.Line{Raw: raw}}}), '\n')
	}
	return b
}

// Cut anywhere, a journal is its whole transactions.
func TestJournalCutAnywhere(t *testing.T) {
	whole := journal()
	for n := range len(whole) + 1 {
		j, lost := ledger.Scan(whole[:n])
		whole := bytes.Count(whole[:n], []byte("\n"))
		if lost != (whole == 0) || len(j.Overlay("tasks")) != max(0, whole-1) || len(j.Bad) > 0 {
			t.Fatalf("%d bytes: %d transactions of %d, lost %v, bad %v", n, len(j.Overlay("tasks")), whole-1, lost, j.Bad)
		}
		if int(j.End)+len(j.Tail) != n {
			t.Fatalf("%d bytes: end %d, tail %d", n, j.End, len(j.Tail))
		}
	}
}

// A damaged line in the middle takes only itself away.
func TestJournalDamagedLine(t *testing.T) {
	b := bytes.Replace(journal(), []byte(`"tx":13`), []byte(`"tx":10`), 1)
	j, _ := ledger.Scan(b)
	if got := j.Overlay("tasks"); len(got) != 2 || got[0].Tx != 12 || got[1].Tx != 14 {
		t.Errorf("%+v", got)
	}
	if len(j.Bad) != 1 || j.Bad[0].Line != 3 || !strings.Contains(j.Bad[0].Why, "checksum") || len(j.Tail) > 0 || j.Tx != 14 {
		t.Errorf("%+v, tail %q, tx %d", j.Bad, j.Tail, j.Tx)
	}
}

// Whatever follows a good beginning, the beginning is read.
func FuzzJournalTail(f *testing.F) {
	whole := journal()
	f.Add([]byte(""))
	f.Add(whole[:50])
	f.Add(whole[bytes.IndexByte(whole, '\n')+1:])
	f.Add(bytes.Repeat([]byte{0}, 100))
	f.Add([]byte("\n\n{}\n"))
	f.Fuzz(func(t *testing.T, tail []byte) {
		j, lost := ledger.Scan(append(bytes.Clone(whole), tail...))
		if lost || len(j.Overlay("tasks")) < 3 || j.Tx < 14 {
			t.Fatalf("lost what stood before: %+v", j)
		}
		for _, l := range j.Overlay("tasks") {
			_, _, _ = l.Open()
		}
		for _, name := range j.Names() {
			if !ledger.ValidName(name) {
				t.Fatalf("name %q", name)
			}
		}
	})
}

func FuzzParseTxn(f *testing.F) {
	for l := range bytes.Lines(journal()) {
		f.Add(bytes.TrimSpace(l))
	}
	f.Add([]byte(sum(`{"tx":1,"time":"","ops":[{"ledger":"a","len":99999999999,"line":{}}]`)))
	f.Add([]byte(sum(`{"tx":1,"why":"x","ops":[{"ledger":"tasks","line":{"seq":1,"tx":1,"id":"a","rev":1,"record":{}}}]`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, resum(b)} {
			_, ops, err := ledger.ParseTxn(b)
			for _, op := range ops {
				if err == nil && !ledger.ValidName(op.Ledger) {
					t.Fatalf("ledger %q", op.Ledger)
				}
				_, _, _ = op.Line.Open()
			}
		}
	})
}

func FuzzParseHeader(f *testing.F) {
	f.Add(bytes.Split(journal(), []byte("\n"))[0])
	f.Add([]byte(sum(`{"journal":9,"generation":1,"new":{"x":[1]},"ledgers":[{"name":"../../x","size":5}]`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ledger.ParseHeader(resum(b))
		if err != nil {
			return
		}
		for _, l := range h.Ledgers {
			if !ledger.ValidName(l.Name) || l.Size < 0 || strings.Contains(l.File, "/") {
				t.Fatalf("%+v", l)
			}
		}
		again, err := ledger.ParseHeader(h.Encode())
		if err != nil || again.Generation != h.Generation || again.Tx != h.Tx || len(again.Ledgers) != len(h.Ledgers) {
			t.Fatalf("%s: %v", h.Encode(), err)
		}
	})
}

// A ledger with anything in it is read without a panic, and every line is
// either a row or a problem.
func FuzzReadLedger(f *testing.F) {
	f.Add([]byte(strings.Join(lines(), "\n")))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ledger.Survey(b)
		if len(r.Lines)+len(r.Bad) > bytes.Count(b, []byte("\n"))+1 {
			t.Fatalf("%d rows and %d problems out of %d lines", len(r.Lines), len(r.Bad), bytes.Count(b, []byte("\n"))+1)
		}
	})
}
