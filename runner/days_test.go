package runner_test

import (
	"context"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"claw/runner/heartbeat"
	"claw/state"
	hb "claw/state/heartbeat"
	"claw/state/session"
)

func fds(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("descriptors cannot be counted here")
	}
	return len(entries)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Two days of an idle runner with a heartbeat every half hour: it beats 96
// times, wakes up once a minute and not much more, and nothing grows.
func TestRunForTwoDays(t *testing.T) {
	h := newHouse(t)
	const every = 30 * time.Minute
	var beats []time.Time
	h.script.Plan = func(now time.Time) (heartbeat.Plan, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		slot := now.Truncate(every)
		p := heartbeat.Plan{Next: slot.Add(every)}
		if slot.After(noon) && !slices.Contains(beats, slot) {
			p.Wakes = []heartbeat.Planned{{Wake: heartbeat.Wake{Agent: "main", Intent: "scheduled", Due: slot}, Run: true, Status: "run"}}
		}
		return p, nil
	}
	h.script.Do = func(ctx context.Context, w heartbeat.Planned) (session.Turn, error) {
		store := h.open()
		defer store.Close()
		err := store.Update(ctx, func(tx *state.Tx) error {
			row, _, err := state.Heartbeats.Get(tx, "heartbeat:main")
			if err != nil {
				return err
			}
			row.Rec.Key, row.Rec.NextDue = "heartbeat:main", w.Due.Add(every)
			row.Rec.Last = &hb.Event{At: tx.Now(), Status: "ok-checks"}
			return state.Heartbeats.Put(tx, "heartbeat:main", row.Rev, row.Rec)
		})
		h.mu.Lock()
		defer h.mu.Unlock()
		beats = append(beats, w.Due)
		return session.Turn{}, err
	}
	h.start()
	beaten := func() bool { // as often as it should by now
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(beats) == int(h.clock.Now().Sub(noon)/every)
	}
	day := func(hours int) {
		for range hours * 60 {
			h.minute()
			h.until("the heartbeat that is due", beaten)
		}
	}
	day(2)
	heap0, fds0, routines0, armed0 := heap(), fds(t), runtime.NumGoroutine(), h.clock.count()
	day(48)
	armed := h.clock.count() - armed0
	h.until("as many descriptors and goroutines, and about as much memory, as before", func() bool {
		h.settle() // what an open store holds goes when it rests
		return fds(t) <= fds0 && runtime.NumGoroutine() <= routines0 && heap() <= heap0+128<<10
	})
	h.finish()
	if len(beats) != 100 {
		t.Errorf("%d heartbeats in 50 hours, want 100", len(beats))
	}
	for i, b := range beats {
		if want := noon.Add(time.Duration(i+1) * every); !b.Equal(want) {
			t.Fatalf("heartbeat %d is of %s, want %s: one was left out or repeated", i, b, want)
		}
	}
	// A sleep for each minute; for each heartbeat some: it begins, it ends, it
	// is followed by a rest.
	if most := 48*60 + 96*12 + 48*8; armed > most {
		t.Errorf("%d sleeps in 48 hours, want at most %d", armed, most)
	}
	t.Logf("%d sleeps, %d loads, %d passes", armed, h.loads, h.passes)
}
