package ulid_test

import (
	"slices"
	"testing"
	"time"

	"claw/state/ulid"
)

// The vector of github.com/ulid/spec: 01ARYZ6S41… is made at 1469918176385.
func TestTime(t *testing.T) {
	for _, tt := range []struct {
		id string
		ms int64
		ok bool
	}{
		{"01ARYZ6S41TSV4RRFFQ69G5FAV", 1469918176385, true},
		{"01aryz6s41tsv4rrffq69g5fav", 0, false},
		{"00000000000000000000000000", 0, true},
		{"7ZZZZZZZZZZZZZZZZZZZZZZZZZ", 1<<48 - 1, true},
		{"8ZZZZZZZZZZZZZZZZZZZZZZZZZ", 0, false},
		{"01ARYZ6S41TSV4RRFFQ69G5FA", 0, false},
		{"01ARYZ6S41TSV4RRFFQ69G5FAVV", 0, false},
		{"01ARYZ6S41TSV4RRFFQ69G5FAU", 0, false}, // U is not in the alphabet
		{"", 0, false},
	} {
		at, ok := ulid.Time(tt.id)
		if ok != tt.ok || (ok && at.UnixMilli() != tt.ms) {
			t.Errorf("Time(%q) = %v %v, want %d %v", tt.id, at.UnixMilli(), ok, tt.ms, tt.ok)
		}
	}
}

func TestNew(t *testing.T) {
	seen := map[string]bool{}
	var ids []string
	for ms := range int64(2000) {
		at := time.UnixMilli(1469918176385 + ms)
		id := ulid.New(at)
		if got, ok := ulid.Time(id); !ok || !got.Equal(at) {
			t.Fatalf("New(%v) = %s, read as %v %v", at, id, got, ok)
		}
		if seen[id] {
			t.Fatalf("%s twice", id)
		}
		seen[id] = true
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) {
		t.Error("ids of later moments sort before earlier ones")
	}
	for _, at := range []time.Time{time.Unix(-5, 0), time.UnixMilli(1 << 60)} {
		if _, ok := ulid.Time(ulid.New(at)); !ok {
			t.Errorf("New(%v) is no id", at)
		}
	}
}

func FuzzTime(f *testing.F) {
	f.Add("01ARYZ6S41TSV4RRFFQ69G5FAV")
	f.Fuzz(func(t *testing.T, id string) {
		if at, ok := ulid.Time(id); ok && (len(id) != 26 || at.UnixMilli() < 0) {
			t.Errorf("%q is read as %v", id, at)
		}
	})
}
