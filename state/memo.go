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
	kept map[string]map[string]memory // by ledger and id
}

type memory struct {
	rev  int64
	sum  [sumBytes]byte
	when time.Time
	rec  any // a pointer to the record
}

// memoMost bounds what a memo holds of one ledger; beyond, it begins anew.
const memoMost = 4096

const sumBytes = 10

// sumOf is what closes a line: its checksum, or what else stands there.
func sumOf(raw []byte) (sum [sumBytes]byte) {
	copy(sum[:], raw[max(0, len(raw)-sumBytes):])
	return sum
}

func (m *memo) get(ledger, id string, e entry) (memory, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.kept[ledger][id]
	return k, ok && k.rev == e.line.Rev && k.sum == sumOf(e.line.Raw)
}

func (m *memo) put(ledger, id string, e entry, when time.Time, rec any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = make(map[string]map[string]memory)
	}
	if m.kept[ledger] == nil || len(m.kept[ledger]) >= memoMost {
		m.kept[ledger] = make(map[string]memory)
	}
	m.kept[ledger][id] = memory{e.line.Rev, sumOf(e.line.Raw), when, rec}
}
