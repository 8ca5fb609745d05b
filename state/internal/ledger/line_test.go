package ledger_test

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"claw/state/internal/ledger"

	"pgregory.net/rapid"
)

// sum closes a line as the format says: CRC-32 in hexadecimal over what
// stands before it.
func sum(s string) string {
	crc := crc32.ChecksumIEEE([]byte(s))
	const digits = "0123456789abcdef"
	hex := make([]byte, 8)
	for i := range hex {
		hex[i] = digits[crc>>(28-4*i)&15]
	}
	return s + `,"sum":"` + string(hex) + `"}`
}

const envelope = `{"seq":7,"tx":12,"id":"01J","rev":3,"time":"2026-12-01T08:00:00.5Z"`

// The check value of CRC-32 (ITU-T V.42), as zlib and gzip compute it.
func TestSumIsCRC32(t *testing.T) {
	if got := crc32.ChecksumIEEE([]byte("123456789")); got != 0xcbf43926 {
		t.Fatalf("%08x", got)
	}
}

func TestParseLine(t *testing.T) {
	spaced := `{ "id": "01J", "seq": 7, "rev": 3, "tx": 12, "record": {"a": 1}, "time": "2026-12-01T08:00:00.5Z" }`
	tests := []struct {
		name, line    string
		record, extra string
		err           string
	}{
		{"claw's own", sum(envelope + `,"record":{"a":1}`), `{"a":1}`, "", ""},
		{"braces and quotes in strings", sum(envelope + `,"record":{"a":"}\"{","b":{"c":[{}]}}`), `{"a":"}\"{","b":{"c":[{}]}}`, "", ""},
		{"an unknown field before the record", sum(envelope + `,"by":"x","record":{}`), `{}`, `,"by":"x"`, ""},
		{"an unknown field after the record", sum(envelope + `,"record":{},"by":{"n":1}`), `{}`, `,"by":{"n":1}`, ""},
		{"by hand, without a sum", spaced, `{"a": 1}`, "", ""},
		{"removed", sum(envelope + `,"deleted":true`), "", "", ""},
		{"archived", sum(envelope + `,"archived":"2026-12-01"`), "", "", ""},
		{"a wrong sum", envelope + `,"record":{},"sum":"00000000"}`, "", "", "checksum"},
		{"edited, the sum left in", strings.Replace(sum(envelope+`,"record":{"a":1}`), `"a":1`, `"a":2`, 1), "", "", "checksum"},
		{"reformatted, the sum left in", strings.Replace(sum(envelope+`,"record":{}`), `,"sum":"`, `, "sum": "`, 1), "", "", "checksum"},
		{"no record", sum(envelope), "", "", "not a ledger line"},
		{"a record that is a number", sum(envelope + `,"record":1`), "", "", "object"},
		{"no id", `{"seq":1,"tx":1,"rev":1,"time":"","record":{}}`, "", "", "not a ledger line"},
		{"revision 0", `{"seq":1,"tx":1,"id":"a","rev":0,"time":"","record":{}}`, "", "", "not a ledger line"},
		{"an array", `[]`, "", "", "not a ledger line"},
		{"null", `null`, "", "", "not a ledger line"},
		{"nothing", ``, "", "", "not a ledger line"},
		{"zero bytes", "\x00\x00\x00", "", "", "not a ledger line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := ledger.ParseLine([]byte(tt.line), false)
			var record, extra []byte
			if err == nil {
				record, extra, err = l.Open()
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(record) != tt.record || string(extra) != tt.extra {
				t.Errorf("record %s extra %s", record, extra)
			}
			if l.Seq != 7 || l.Tx != 12 || l.ID != "01J" || l.Rev != 3 || !l.Time().Equal(time.Date(2026, 12, 1, 8, 0, 0, 5e8, time.UTC)) {
				t.Errorf("%+v", l)
			}
			if l.Live() != (tt.record != "") {
				t.Errorf("live %v", l.Live())
			}
		})
	}
}

// Every line that is written is read back as it was, is JSON with the fields
// the format names, and says so when a single byte of it is changed.
func TestLineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := ledger.Draft{ID: rapid.StringN(1, 20, -1).Draw(t, "id"), Rev: rapid.Int64Range(1, 1<<40).Draw(t, "rev")}
		seq := rapid.Int64Range(1, 1<<50).Draw(t, "seq")
		if rapid.Bool().Draw(t, "live") {
			d.Record, _ = json.Marshal(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
		}
		raw := ledger.AppendLine(nil, seq, 9, "2026-12-01T08:00:00Z", d)
		l, err := ledger.ParseLine(raw, false)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		record, extra, err := l.Open()
		if err != nil || !bytes.Equal(record, d.Record) || len(extra) > 0 {
			t.Fatalf("record %s, extra %s, %v", record, extra, err)
		}
		var id string
		_ = json.Unmarshal([]byte(mustJSON(d.ID)), &id) // as JSON keeps it: invalid UTF-8 is replaced
		if l.Seq != seq || l.Tx != 9 || l.ID != id || l.Rev != d.Rev {
			t.Fatalf("%+v", l)
		}
		at := rapid.IntRange(0, len(raw)-1).Draw(t, "at")
		flip := byte(1) << rapid.IntRange(0, 7).Draw(t, "bit")
		broken := bytes.Clone(raw)
		broken[at] ^= flip
		got, err := ledger.ParseLine(broken, false)
		if err != nil {
			return
		}
		if again, _, err := got.Open(); err == nil && (!bytes.Equal(again, record) || got.ID != l.ID || got.Rev != l.Rev) {
			t.Fatalf("byte %d: %s became %s unnoticed", at, raw, broken)
		}
	})
}

func mustJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// Unknown fields survive; what the program knows is as the program says.
func TestCarry(t *testing.T) {
	type inner struct {
		N int `json:"n,omitempty"`
	}
	type rec struct {
		A string  `json:"a"`
		B int     `json:"b,omitempty"`
		I inner   `json:"i"`
		P *inner  `json:"p,omitempty"`
		L []inner `json:"l,omitempty"`
	}
	tests := []struct{ name, prev, next, want string }{
		{"nothing unknown", `{"a":"x","i":{}}`, `{"a":"y","i":{}}`, `{"a":"y","i":{}}`},
		{"at the top", `{"a":"x","i":{},"new":[1,{"z":2}]}`, `{"a":"y","i":{}}`, `{"a":"y","i":{},"new":[1,{"z":2}]}`},
		{"nested", `{"a":"x","i":{"n":1,"m":"keep"}}`, `{"a":"x","i":{"n":2}}`, `{"a":"x","i":{"n":2,"m":"keep"}}`},
		{"nested in an object that went", `{"a":"x","i":{},"p":{"n":1,"m":2}}`, `{"a":"x","i":{}}`, `{"a":"x","i":{}}`},
		{"a known field that was cleared", `{"a":"x","b":3,"i":{},"q":1}`, `{"a":"x","i":{}}`, `{"a":"x","i":{},"q":1}`},
		{"a large number", `{"a":"x","i":{},"q":12345678901234567890123}`, `{"a":"x","i":{}}`, `{"a":"x","i":{},"q":12345678901234567890123}`},
		{"an array is one value", `{"a":"x","i":{},"l":[{"n":1,"m":2}]}`, `{"a":"x","i":{},"l":[{"n":3}]}`, `{"a":"x","i":{},"l":[{"n":3}]}`},
	}
	for _, tt := range tests {
		if got := ledger.Carry[rec]([]byte(tt.prev), []byte(tt.next)); string(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// 01ARZ3NDEK…, from the ULID specification, was made in 2016-07-30 (UTC);
// 7ZZZZZZZZZ is the greatest time.
func TestDay(t *testing.T) {
	for id, want := range map[string]string{
		"01ARZ3NDEKTSV4RRFFQ69G5FAV": time.UnixMilli(1469922850259).UTC().Format("2006-01-02"),
		"00000000000000000000000000": "1970-01-01",
		"agent:main":                 "2026-12-01",
		"8ZZZZZZZZZZZZZZZZZZZZZZZZZ": "2026-12-01",
		"01arz3ndektsv4rrffq69g5fav": "2026-12-01",
	} {
		l, err := ledger.ParseLine([]byte(`{"seq":1,"tx":1,"rev":1,"time":"2026-12-01T23:59:59Z","id":"`+id+`","record":{}}`), false)
		if err != nil || l.Day() != want {
			t.Errorf("%s: %s, want %s (%v)", id, l.Day(), want, err)
		}
	}
}
