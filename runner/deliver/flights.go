package deliver

import "sync"

// flying are the attempts of this process that have no result in the ledger
// yet. A result that could not be written, on a full disk, is kept for the
// next Flush.
var flying flights

type flights struct {
	mu  sync.Mutex
	all map[string]*flight
}

type flight struct {
	up     bool // somebody waits for the result
	result *outcome
}

// start is false when the attempt of somebody else in this process is not
// over.
func (f *flights) start(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[id] != nil {
		return false
	}
	if f.all == nil {
		f.all = map[string]*flight{}
	}
	f.all[id] = &flight{up: true}
	return true
}

func (f *flights) arrived(id string, o outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a := f.all[id]; a != nil {
		a.result = &o
	}
}

// land ends the wait; what has no result is forgotten.
func (f *flights) land(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a := f.all[id]; a != nil {
		a.up = false
		if a.result == nil {
			delete(f.all, id)
		}
	}
}

// Forget has this process know nothing of the attempts at a delivery, as if
// another one had made them. It is for tests that have several lives in one
// process.
func Forget(id string) { flying.forget(id) }

func (f *flights) forget(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, id)
}

// has tells an attempt that goes on.
func (f *flights) has(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all[id] != nil && f.all[id].up
}

func (f *flights) result(id string) (outcome, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a := f.all[id]; a != nil && a.result != nil {
		return *a.result, true
	}
	return outcome{}, false
}
