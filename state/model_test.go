package state_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"claw/state"
	"claw/state/process"
	"claw/state/statetest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// machine is a store beside a map that should agree with it: what Find sees.
type machine struct {
	t     *testing.T
	dir   string
	boot  int
	now   time.Time
	store *state.Store
	want  map[string]string // id -> label
}

func (m *machine) open(rt *rapid.T) {
	if m.store != nil {
		m.store.Close()
	}
	s, err := state.Open(m.dir, state.Options{FS: statetest.Fast(m.dir), Boot: strconv.Itoa(m.boot), Now: func() time.Time { return m.now }})
	if err != nil {
		rt.Fatal(err)
	}
	m.store = s
}

// Any order of puts, removals, checkpoints, reboots and passing hours leaves
// the store equal to a map, and consistent.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("/dev/shm", "claw-model") // no power is cut here
		if err != nil {
			dir, err = os.MkdirTemp("", "claw-model")
		}
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := &machine{t: t, dir: filepath.Join(dir, "s"), now: epoch, want: map[string]string{}}
		m.open(rt)
		defer func() { m.store.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"":           m.check,
			"put":        m.put,
			"remove":     m.remove,
			"checkpoint": func(rt *rapid.T) { must(rt, m.store.Checkpoint(context.Background())) },
			"repair":     func(rt *rapid.T) { _, err := m.store.Repair(context.Background()); must(rt, err) },
			"reopen":     m.open,
			"reboot":     func(rt *rapid.T) { m.boot++; m.open(rt) },
			"later":      func(rt *rapid.T) { m.now = m.now.Add(time.Hour) },
		})
	})
}

func must(rt *rapid.T, err error) {
	if err != nil {
		rt.Fatal(err)
	}
}

func drawID(rt *rapid.T) string { return ulid(epoch, rapid.IntRange(1, 6).Draw(rt, "id")) }

// put writes one to three records in one transaction: new ones, or the next
// revision of live and of archived ones.
func (m *machine) put(rt *rapid.T) {
	label := rapid.StringN(0, 8, -1).Draw(rt, "label")
	ids := map[string]bool{}
	for range rapid.IntRange(1, 3).Draw(rt, "n") {
		ids[drawID(rt)] = true
	}
	phase := rapid.SampledFrom([]process.Phase{process.Running, process.Exited}).Draw(rt, "phase")
	must(rt, m.store.Update(context.Background(), func(tx *state.Tx) error {
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			r, _, err := state.Processes.Find(tx, id)
			p := process.Process{Label: label, Phase: phase, Background: true, EndedAt: m.now}
			if err := errors.Join(err, state.Processes.Put(tx, id, r.Rev, p)); err != nil {
				return err
			}
		}
		return nil
	}))
	for id := range ids {
		m.want[id] = label
	}
}

func (m *machine) remove(rt *rapid.T) {
	id := drawID(rt)
	must(rt, m.store.Update(context.Background(), func(tx *state.Tx) error {
		r, ok, err := state.Processes.Find(tx, id)
		if _, want := m.want[id]; ok != want || err != nil || !ok {
			return err
		}
		return state.Processes.Delete(tx, id, r.Rev)
	}))
	delete(m.want, id)
}

func (m *machine) check(rt *rapid.T) {
	got := map[string]string{}
	must(rt, m.store.View(func(tx *state.Tx) error {
		rows, err := state.Processes.All(tx)
		for _, r := range rows {
			got[r.ID] = r.Rec.Label
		}
		for r, err := range state.Processes.Archived(tx) {
			if _, twice := got[r.ID]; twice || err != nil {
				rt.Fatalf("%s is seen twice: %v", r.ID, err)
			}
			got[r.ID] = r.Rec.Label
		}
		for id, label := range m.want {
			if r, ok, err := state.Processes.Find(tx, id); !ok || err != nil || r.Rec.Label != label {
				rt.Fatalf("%s: %+v %v %v, want %q", id, r, ok, err, label)
			}
		}
		return err
	}))
	if diff := cmp.Diff(m.want, got); diff != "" {
		rt.Fatal(diff)
	}
	problems, err := m.store.Check()
	if len(problems) > 0 || err != nil {
		rt.Fatalf("%+v %v", problems, err)
	}
}
