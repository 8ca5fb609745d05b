package state

import (
	"sync"
	"time"
)

// memo keeps records that have been decoded, so that a long queue is not
// decoded anew by every View. A revision never changes, but a person can edit
// its line; then the sum is another, or missing.
type memo struct {
	mu   sync.Mutex
	kept map[string]memory // by LEDGER/ID
}

type memory struct {
	rev  int64
	sum  string
	when time.Time
	rec  any
}

// memoMost bounds what a memo holds; beyond, it begins anew.
const memoMost = 4096

// sumOf is what closes a line: its checksum, or what else stands there.
func sumOf(raw []byte) string {
	return string(raw[max(0, len(raw)-10):])
}

func (m *memo) get(key string, e entry) (memory, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.kept[key]
	return k, ok && k.rev == e.line.Rev && k.sum == sumOf(e.line.Raw)
}

func (m *memo) put(key string, e entry, when time.Time, rec any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= memoMost {
		m.kept = make(map[string]memory)
	}
	m.kept[key] = memory{e.line.Rev, sumOf(e.line.Raw), when, rec}
}
