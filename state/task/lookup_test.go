package task_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claw/state/process"
	"claw/state/task"
)

// TestLookup: spec/tasks-recovery.md 1.6.
func TestLookup(t *testing.T) {
	rows := []task.Task{
		0: {ID: "01JE8AAAAAAA", Slug: "tide-orbit", RunID: "01JE8PPPPPPP", Runtime: "cli", OwnerKey: "agent:main:main", CreatedAt: at(1)},
		1: {ID: "01JE8BBBBBBB", Slug: "amber-reef", RunID: "01JE8QQQQQQQ", Runtime: "cli", OwnerKey: "agent:main:main", CreatedAt: at(3)},
		2: {ID: "01JE9CCCCCCC", Slug: "tide-orbit", RunID: "01JE9RRRRRRR", Runtime: "cli", OwnerKey: "agent:ops:main", CreatedAt: at(2)},
		3: {ID: "01JEADDDDDDD", RunID: "daily@20261201T090000Z", Runtime: "cron", ChildSessionKey: "cron:daily", CreatedAt: at(4)},
		4: {ID: "01JEAEEEEEEE", RunID: "shared", Runtime: "cli", CreatedAt: at(5)},
		5: {ID: "01JEAFFFFFFF", RunID: "shared", Runtime: "acp", CreatedAt: at(7)},
		6: {ID: "01JEAGGGGGGG", RunID: "shared", Runtime: "subagent", CreatedAt: at(6)},
		7: {ID: "01JEAHHHHHHH", RunID: "twins", Runtime: "acp", CreatedAt: at(8)},
		8: {ID: "01JEAHHHHHHG", RunID: "twins", Runtime: "acp", CreatedAt: at(8)},
	}
	for query, want := range map[string]int{
		"01JE8AAAAAAA": 0, "01je8aaaaaaa": 0, // its id
		"amber-reef": 1, "tide-orbit": 2, // its slug, the newest
		"01JE8PPPPPPP": 0, "daily@20261201T090000Z": 3, // its run
		"shared": 6, "twins": 8, // not the command; then the oldest, then the least id
		"01JE8A": 0, "01je8q": 1, "dail": 3, "ambe": 1, // a beginning
		"tide":            2,                                       // of one name
		"agent:main:main": 1, "agent:ops:main": 2, "cron:daily": 3, // whose it is, or where it runs
		" amber-reef\n": 1,
	} {
		got, err := task.Lookup(rows, query)
		if got != want || err != nil {
			t.Errorf("%q: %d, %v; want %d", query, got, err, want)
		}
	}
	for _, query := range []string{"", "  ", "01J", "nothing", "tide-orbit-2", "agent:main"} {
		_, err := task.Lookup(rows, query)
		var missing *process.NotFoundError
		if !errors.As(err, &missing) || missing.Remedy() == "" {
			t.Errorf("%q: %v", query, err)
		}
	}
	for query, names := range map[string]string{"01JE8": "amber-reef tide-orbit", "01JEA": "01JEADDDDDDD 01JEAEEEEEEE 01JEAFFFFFFF 01JEAGGGGGGG 01JEAHHHHHHG 01JEAHHHHHHH"} {
		_, err := task.Lookup(rows, query)
		var many *process.AmbiguousError
		if !errors.As(err, &many) || strings.Join(many.Candidates, " ") != names {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// TestNewest: lists are newest first, ties by id, the greatest first.
func TestNewest(t *testing.T) {
	rows := []task.Task{{ID: "b", CreatedAt: at(1)}, {ID: "c", CreatedAt: at(1)}, {ID: "a", CreatedAt: at(2)}, {ID: "d", CreatedAt: at(0)}}
	task.SortNewest(rows)
	var got string
	for _, r := range rows {
		got += r.ID
	}
	if got != "acbd" {
		t.Error(got)
	}
}

// TestLookupFindsWhatIsThere: the id of any task, whole, finds it, whatever
// else there is.
func TestLookupFindsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`01[A-E]{4}`), 1, 12, rapid.ID[string]).Draw(rt, "ids")
		var rows []task.Task
		for _, id := range ids {
			rows = append(rows, task.Task{ID: id, Slug: rapid.SampledFrom([]string{"", "tide-orbit", "tide-orbit-2"}).Draw(rt, "slug"), CreatedAt: at(rapid.IntRange(0, 3).Draw(rt, "at"))})
		}
		for i, id := range ids {
			if got, err := task.Lookup(rows, id); got != i || err != nil {
				rt.Fatalf("%s: %d, %v", id, got, err)
			}
		}
	})
}

func FuzzLookup(f *testing.F) {
	for _, s := range []string{"", "01JE8", "tide-orbit", "tide", "agent:main:main", "\x00", "ſſſſ"} {
		f.Add(s)
	}
	rows := []task.Task{{ID: "01JE8AAAAAAA", Slug: "tide-orbit"}, {ID: "01JE8BBBBBBB", RunID: "daily@1"}, {ID: "01JE9", OwnerKey: "agent:main:main"}}
	f.Fuzz(func(t *testing.T, s string) {
		i, err := task.Lookup(rows, s)
		if (err == nil) != (i >= 0) || i >= len(rows) {
			t.Fatalf("%q: %d, %v", s, i, err)
		}
		again, _ := task.Lookup(slices.Clone(rows), s)
		if again != i {
			t.Fatalf("%q: %d, then %d", s, i, again)
		}
	})
}
