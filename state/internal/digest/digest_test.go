package digest_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"claw/state/internal/digest"
)

func TestPrefix256(t *testing.T) {
	for n := range 200 {
		text := strings.Repeat("job-1 ü", n)[:n]
		sum := sha256.Sum256([]byte(text))
		if got, want := digest.Prefix256(text), binary.BigEndian.Uint32(sum[:4]); got != want {
			t.Errorf("of %d bytes: %x, not %x", n, got, want)
		}
		if got, want := digest.Hex(text), hex.EncodeToString(sum[:16]); got != want {
			t.Errorf("of %d bytes: %s, not %s", n, got, want)
		}
	}
}
