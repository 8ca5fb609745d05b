package ledger

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// TestScanHeaderAgreesWithTheDecoder: what encode writes is read by the scan,
// and read as encoding/json reads it.
func TestScanHeaderAgreesWithTheDecoder(t *testing.T) {
	at := time.Date(2026, 11, 30, 20, 0, 0, 123456789, time.UTC)
	for _, h := range []Header{
		{Journal: 1, Generation: 1, Boot: "b", Time: at},
		{Journal: 1, Generation: 7, Boot: "b87265e5-bf73", Tx: 99, Time: at, Ledgers: []Base{{Name: "tasks", Seq: 3, Size: 10, CRC: 1<<32 - 1}}},
		{Journal: 2, Generation: 8, Tx: 1, Time: at, Ledgers: []Base{{Name: "events"}, {Name: "tasks", Seq: 1, Packed: 2, File: "tasks.8.jsonl"}}},
	} {
		b := h.encode()
		got, ok := scanHeader(b)
		if !ok {
			t.Fatalf("not read: %s", b)
		}
		var want Header
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("scan %+v, decoder %+v", got, want)
		}
	}
}

// TestScanHeaderLeavesTheRest: anything that encode does not write is the
// decoder's business.
func TestScanHeaderLeavesTheRest(t *testing.T) {
	for _, s := range []string{
		`{"journal":1,"generation":1,"boot":"a\"b","tx":0,"time":"2026-11-30T20:00:00Z","ledgers":null`,
		`{"journal":1,"generation":1,"boot":"b","tx":0,"time":"yesterday","ledgers":null`,
		`{"journal":1,"generation":1,"boot":"b","tx":0,"time":"2026-11-30T20:00:00Z","ledgers":[],"new":1`,
		`{"journal":1,"generation":1,"boot":"b","tx":0,"time":"2026-11-30T20:00:00Z","ledgers":[{"name":"t","seq":1,"packed":0,"size":0,"crc":4294967296}]`,
	} {
		if _, ok := scanHeader(appendSum([]byte(s), 0)); ok {
			t.Errorf("read: %s", s)
		}
	}
}
