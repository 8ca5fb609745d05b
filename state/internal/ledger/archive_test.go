package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claw/state/internal/ledger"
	"claw/state/internal/vfs"
)

// An archive is read from its end; what is found is the last line of the id
// that is whole and sound, wherever the reads begin.
func TestFindBackFindsTheLastSoundLineOfAnID(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		last := map[string]int64{}
		for i := range rapid.IntRange(0, 12).Draw(t, "lines") {
			id := fmt.Sprintf("id%d", rapid.IntRange(0, 3).Draw(t, "id"))
			text := strings.Repeat("x", rapid.IntRange(0, 90).Draw(t, "length"))
			mention := fmt.Sprintf("id%d", rapid.IntRange(0, 3).Draw(t, "mention"))
			line := string(ledger.AppendLine(nil, int64(i+1), 1, "2026-12-01T08:00:00Z", ledger.Draft{ID: id, Rev: int64(i + 1), Record: []byte(fmt.Sprintf("{\"a\":%q,\"b\":%q}", text, mention))}))
			switch rapid.IntRange(0, 9).Draw(t, "fault") {
			case 0:
				line = strings.Replace(line, "\"a\"", "\"c\"", 1) // its sum is wrong
			default:
				last[id] = int64(i + 1)
			}
			file.WriteString(line + "\n")
		}
		file.WriteString(rapid.SampledFrom([]string{"", "{\"seq\":99,\"tx\":1,\"id\":\"id1\",\"re"}).Draw(t, "torn"))
		path := filepath.Join(dir, "day")
		if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := vfs.OS{}.OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		step := int64(rapid.IntRange(1, 400).Draw(t, "step"))
		for n := range 5 {
			id := fmt.Sprintf("id%d", n)
			l, ok, err := ledger.FindBack(f, step, id)
			if err != nil || ok != (last[id] > 0) || l.Rev != last[id] {
				t.Fatalf("%s in steps of %d: revision %d, %v, %v; want revision %d of\n%s", id, step, l.Rev, ok, err, last[id], file.String())
			}
		}
	})
}
