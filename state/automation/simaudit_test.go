package automation_test

import (
	"cmp"
	"time"

	"claw/state/automation"
)

// checkNew: what each policy promises, when a row appears.
func (w *world) checkNew(r automation.Run, p automation.Plan) {
	if _, ok := w.runs[r.ID]; ok || r.Manual || r.Attempt > 1 {
		return
	}
	a, ok := w.autos[r.AutomationID]
	if !ok {
		w.t.Fatalf("a run of nothing: %+v", r)
	}
	late := w.now.Sub(r.Slot)
	runs := r.Status == automation.Queued || r.Status == automation.Running
	policy := a.MissedPolicy()
	switch {
	case !runs && r.Why == "":
		w.t.Fatalf("no reason: %+v", r)
	case runs && policy == automation.MissedSkip && late > automation.Grace:
		w.t.Fatalf("missed=skip, and %s late it runs: %+v", late, r)
	case runs && a.Missed.WindowMs > 0 && late > time.Duration(a.Missed.WindowMs)*time.Millisecond:
		w.t.Fatalf("outside its window: %+v", r)
	case r.Code == automation.CodeOverlap && r.Status == automation.Skipped && a.Overlap != automation.OverlapSkip:
		w.t.Fatalf("skipped with overlap=%s: %+v", a.Overlap, r)
	}
	same := 0
	for _, o := range p.Runs {
		if _, known := w.runs[o.ID]; !known && o.AutomationID == r.AutomationID && (o.Status.Open() || o.Status == automation.Replaced) && o.Attempt == 1 && !o.Manual {
			same++
		}
	}
	most := 1
	if policy == automation.MissedAll {
		most = cmp.Or(a.Missed.Limit, automation.DefaultMissedLimit) + 1
	}
	if same > most {
		w.t.Fatalf("%d slots of %s run at once with missed=%s", same, a.ID, policy)
	}
}

func (w *world) checkRunning() {
	n, each := map[bool]int{}, map[string]int{}
	for _, r := range w.open() {
		if r.Status != automation.Running {
			continue
		}
		if a, ok := w.autos[r.AutomationID]; ok { // turns and commands have a limit of their own
			n[a.Payload.Kind == automation.PayloadTurn]++
		}
		if !r.Manual {
			each[r.AutomationID]++
		}
	}
	if w.limit > 0 && max(n[true], n[false]) > w.limit {
		w.t.Fatalf("%d turns and %d commands at once", n[true], n[false])
	}
	for id, n := range each {
		if a, ok := w.autos[id]; ok && n > 1 && a.Overlap != automation.OverlapAllow {
			w.t.Fatalf("%d runs of %s at once with overlap=%s", n, id, a.Overlap)
		}
	}
}

// audit compares the records with the oracle.
func (w *world) audit() (slots int) {
	for _, id := range w.ids {
		if w.current[id] != nil {
			w.close(id)
		}
		records := map[time.Time]int{}
		spans := 0
		var expected []time.Time
		for _, e := range w.epochs[id] {
			expected = append(expected, e.slots(e.from, e.to)...)
		}
		for _, r := range w.runs {
			if r.AutomationID != id || r.Manual || r.Attempt > 1 {
				continue
			}
			last := latest(r.Slot, r.Through)
			n := 0
			for _, s := range expected {
				if !s.Before(r.Slot) && !s.After(last) {
					records[s.UTC()]++
					n++
				}
			}
			if n != max(1, r.Count) {
				w.t.Errorf("%s: a record for %d slots, of which the oracle knows %d: %+v", id, max(1, r.Count), n, r)
			}
			spans++
		}
		for _, s := range expected {
			slots++
			if n := records[s.UTC()]; n != 1 {
				w.t.Errorf("%s: %d records for the slot %s\n%+v", id, n, s, w.autos[id])
			}
		}
	}
	for id, n := range w.begun {
		if n != 1 {
			w.t.Errorf("%s was carried out %d times", id, n)
		}
	}
	return slots
}
