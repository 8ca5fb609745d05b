package session

import (
	"encoding/hex"
	"hash/fnv"
	"time"
)

// maxFileName leaves room for what follows the name, in a file system that
// allows 255 bytes: ".reset.20261130T221000.000000000Z.jsonl".
const maxFileName = 200

// FileName is the name, without an extension, of the files that belong to a
// session: sessions/NAME.jsonl is its transcript, sessions/NAME.lock its lane.
//
// Two keys never share a name, also where case does not count and where names
// are normalised: lower-case letters, digits, "-" and "_" stay, ":" becomes
// "+", every other byte is %xx. A dot is encoded too, so that what follows the
// first dot of a file is never a part of a key. Of a name that would be longer
// than 200 bytes, the beginning is kept and a hash of the whole key follows
// after "~", which occurs in no other name.
func FileName(key string) string {
	name := encodeName(key)
	if len(name) <= maxFileName {
		return name
	}
	h := fnv.New128a()
	h.Write([]byte(key))
	tail := "~" + hex.EncodeToString(h.Sum(nil))
	return cutEncoded(name, maxFileName-len(tail)) + tail
}

func encodeName(key string) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, len(key)+16)
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
			b = append(b, c)
		case c == ':':
			b = append(b, '+')
		default:
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}

// cutEncoded is at most n bytes of name, not cut inside a %xx.
func cutEncoded(name string, n int) string {
	for back := 1; back <= 2; back++ {
		if name[n-back] == '%' {
			return name[:n-back]
		}
	}
	return name[:n]
}

// The reasons for which a transcript is put aside.
const (
	ArchiveReset   = "reset"   // a new transcript took its place
	ArchiveDeleted = "deleted" // the session was removed
)

// ArchiveName is the whole name under which the transcript of a session is put
// aside: NAME.reset.20261130T221000.000000000Z.jsonl.
func ArchiveName(key, why string, now time.Time) string {
	return FileName(key) + "." + why + "." + now.UTC().Format("20060102T150405.000000000Z") + ".jsonl"
}
