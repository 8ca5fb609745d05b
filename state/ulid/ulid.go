// Package ulid makes and reads the ids of records: 26 characters that sort by
// the millisecond they were made in, ten of time and sixteen at random
// (github.com/ulid/spec). The library for it costs every program that starts
// more than all the rest of this one's own start: it brings databases, big
// numbers and cryptography with it.
package ulid

import (
	"math/rand/v2"
	"time"
)

const (
	alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // Crockford's base 32: no I, L, O, U
	length   = 26
	timeLen  = 10
	maxTime  = 1<<48 - 1
)

// New is a new id for a moment; 80 bits of it are random. A moment before
// 1970 or after the year 10889 counts as the nearest one that can be written.
func New(now time.Time) string {
	ms := uint64(max(0, min(now.UnixMilli(), maxTime)))
	var id [length]byte
	for i := timeLen - 1; i >= 0; i-- {
		id[i] = alphabet[ms&31]
		ms >>= 5
	}
	hi, lo := rand.Uint64(), rand.Uint64()
	for i := range 8 {
		id[timeLen+i] = alphabet[hi>>(5*i)&31]
		id[timeLen+8+i] = alphabet[lo>>(5*i)&31]
	}
	return string(id[:])
}

// Time is the millisecond an id was made in; false for what is no id; ours are
// upper case.
func Time(id string) (time.Time, bool) {
	if len(id) != length || id[0] > '7' {
		return time.Time{}, false
	}
	ms := int64(0)
	for i := range length {
		v := value(id[i])
		if v < 0 {
			return time.Time{}, false
		}
		if i < timeLen {
			ms = ms<<5 | int64(v)
		}
	}
	return time.UnixMilli(ms), true
}

// value is the number behind a character; -1 for none.
func value(c byte) int {
	for i := range len(alphabet) {
		if alphabet[i] == c {
			return i
		}
	}
	return -1
}
