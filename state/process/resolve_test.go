package process_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/state/process"
)

var refs = []process.Ref{
	{ID: "01JE8A0000000000000000000A", Slug: "tide-orbit"},
	{ID: "01JE8B0000000000000000000B", Slug: "tide-orchid"},
	{ID: "01JE8C0000000000000000000C", Slug: "amber-reef"},
	{ID: "01JE9D0000000000000000000D", Slug: "amber-reef-2"},
	{ID: "01JE7E0000000000000000000E", Slug: "gull"},
	{ID: "01JE6F0000000000000000000F", Slug: "coral-inlet"}, // gone
	{ID: "01JE9G0000000000000000000G", Slug: "coral-inlet"}, // the same name again
	{ID: "01JE9H0000000000000000000H", Slug: "silver-gull-2"},
}

func TestResolve(t *testing.T) {
	tests := []struct {
		query string
		want  int
	}{
		{"tide-orbit", 0},
		{"tide-orb", 0}, // the seeds' eight characters
		{"tide-orc", 1},
		{" tide-orbit\n", 0},
		{"amber-reef", 2}, // exact wins over being a beginning
		{"amber-reef-2", 3},
		{"amber-reef-", 3},
		{"gull", 4},
		{"coral-inlet", 6}, // the newest of that name
		{"cora", 6},
		{"01JE8A0000000000000000000A", 0},
		{"01je8a0000000000000000000a", 0},
		{"01JE6F0000000000000000000F", 5}, // the instance, not the name
		{"01je8b", 1},
		{"silver-", 7},
		{"silv", 7},
	}
	for _, tt := range tests {
		if got, err := process.Resolve(tt.query, refs); got != tt.want || err != nil {
			t.Errorf("Resolve(%q) = %d, %v; want %d", tt.query, got, err, tt.want)
		}
	}
}

func TestResolveNotFound(t *testing.T) {
	for _, query := range []string{
		"", " ", "g", "gul", "01J", "nothing", "TIDE-ORBIT", "tide-orbit-2", "tide-orbitt",
		"silver-gull", // the expired namesake of silver-gull-2
	} {
		_, err := process.Resolve(query, refs)
		var nf *process.NotFoundError
		if !errors.As(err, &nf) || nf.Remedy() == "" {
			t.Errorf("Resolve(%q): %v", query, err)
		}
		if err != nil && err.Error() != "No session found for "+strings.TrimSpace(query) {
			t.Errorf("text %q", err)
		}
	}
}

func TestResolveAmbiguous(t *testing.T) {
	tests := map[string][]string{
		"tide":     {"tide-orbit", "tide-orchid"},
		"tide-or":  {"tide-orbit", "tide-orchid"},
		"ambe":     {"amber-reef", "amber-reef-2"},
		"01JE8":    {"amber-reef", "tide-orbit", "tide-orchid"},
		"amber-re": {"amber-reef", "amber-reef-2"},
	}
	for query, want := range tests {
		_, err := process.Resolve(query, refs)
		var amb *process.AmbiguousError
		if !errors.As(err, &amb) || amb.Remedy() == "" {
			t.Errorf("Resolve(%q): %v", query, err)
			continue
		}
		if diff := cmp.Diff(want, amb.Candidates); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		for _, c := range want {
			if !strings.Contains(err.Error(), c) {
				t.Errorf("%q does not list %s", err, c)
			}
		}
	}
}

func TestAmbiguousErrorIsShort(t *testing.T) {
	var many []process.Ref
	for i := range 30 {
		many = append(many, process.Ref{ID: "01" + itoa(i), Slug: "tide-" + itoa(100+i)})
	}
	_, err := process.Resolve("tide", many)
	if err == nil || !strings.HasSuffix(err.Error(), "tide-107 and 22 more") {
		t.Errorf("%v", err)
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"tide", "tide-orbit", "01JE8", "", "ſilver", "\xff\xff\xff\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		i, err := process.Resolve(query, refs)
		if (i >= 0) != (err == nil) || i >= len(refs) {
			t.Fatalf("%d, %v", i, err)
		}
		if err == nil && len(strings.TrimSpace(query)) < process.MinPrefix {
			t.Fatalf("%q is too short for %s", query, refs[i].Slug)
		}
	})
}
