package proc_test

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/runner/internal/proc"
	"claw/state/process"
)

// family is a table written by hand: {pid, parent, group, session, start}.
func family(rows ...[5]int) proc.Table {
	t := proc.Table{}
	for _, r := range rows {
		t[r[0]] = proc.Row{
			Identity: process.Identity{Boot: proc.Boot(), PID: r[0], Start: uint64(r[4])},
			Parent:   r[1], Group: r[2], Session: r[3],
		}
	}
	return t
}

func pids(rows []proc.Row) []int {
	var out []int
	for _, r := range rows {
		out = append(out, r.PID)
	}
	slices.Sort(out)
	return out
}

func idPIDs(ids []process.Identity) []int {
	var out []int
	for _, id := range ids {
		out = append(out, id.PID)
	}
	slices.Sort(out)
	return out
}

func TestDescendants(t *testing.T) {
	table := family(
		[5]int{10, 1, 10, 10, 1}, [5]int{11, 10, 10, 10, 2}, [5]int{12, 11, 10, 10, 3},
		[5]int{13, 10, 13, 13, 3}, [5]int{14, 13, 13, 13, 4}, [5]int{20, 1, 20, 20, 1},
		[5]int{30, 31, 1, 1, 1}, [5]int{31, 30, 1, 1, 1}, // a loop, as a torn read may show
	)
	spare13 := func(r proc.Row) bool { return r.PID == 13 }
	for _, tt := range []struct {
		name  string
		pid   int
		spare func(proc.Row) bool
		want  []int
	}{
		{"all", 10, nil, []int{11, 12, 13, 14}},
		{"spared with all below", 10, spare13, []int{11, 12}},
		{"leaf", 12, nil, nil},
		{"unknown", 99, nil, nil},
		{"loop", 30, nil, []int{31}},
	} {
		if diff := cmp.Diff(tt.want, pids(table.Descendants(tt.pid, tt.spare))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}

	// A zombie runs nothing, but what hangs below it in a torn read still counts.
	z := table[11]
	z.Zombie = true
	table[11] = z
	if diff := cmp.Diff([]int{12, 13, 14}, pids(table.Descendants(10, nil))); diff != "" {
		t.Errorf("with a zombie (-want +got):\n%s", diff)
	}
}

func TestMembers(t *testing.T) {
	table := family(
		[5]int{10, 1, 10, 10, 5}, [5]int{11, 1, 10, 10, 6}, [5]int{12, 1, 12, 10, 6},
		[5]int{13, 1, 10, 10, 4}, [5]int{14, 1, 14, 14, 9},
	)
	leader := process.Identity{PID: 10, Start: 5}
	if diff := cmp.Diff([]int{10, 11, 12}, pids(table.Members(leader))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFind: what may be touched, over tables written by hand. Our own pid
// stands for the supervisor.
func TestFind(t *testing.T) {
	me := os.Getpid()
	boot := proc.Boot()
	root := process.Identity{Boot: boot, PID: 4_000_010, Start: 50}
	under := process.Identity{Boot: boot, PID: me, Start: 40}
	const r = 4_000_010
	tests := []struct {
		name   string
		table  proc.Table
		target proc.Target
		want   []int
	}{
		{
			"root, children, escapee under the supervisor",
			family([5]int{me, 1, 1, 1, 40}, [5]int{r, me, r, r, 50}, [5]int{r + 1, r, r, r, 51}, [5]int{r + 2, me, r + 2, r + 2, 52}, [5]int{r + 3, 1, 9, 9, 53}),
			proc.Target{Root: root, Under: under},
			[]int{r, r + 1, r + 2},
		},
		{
			"root reaped: only descendants are proven",
			family([5]int{me, 1, 1, 1, 40}, [5]int{r + 1, me, r, r, 51}, [5]int{r + 2, 1, r, r, 52}),
			proc.Target{Root: root, Under: under},
			[]int{r + 1},
		},
		{
			"root's pid given away",
			family([5]int{r, 1, r, r, 90}, [5]int{r + 1, r, r, r, 91}),
			proc.Target{Root: root},
			nil,
		},
		{
			"no supervisor, root alive",
			family([5]int{r, 1, r, r, 50}, [5]int{r + 1, r, r, r, 51}, [5]int{r + 2, 1, r + 2, r, 52}),
			proc.Target{Root: root},
			[]int{r, r + 1, r + 2},
		},
		{
			"no supervisor, root gone, nothing proves the rest",
			family([5]int{r + 1, 1, r, r, 51}),
			proc.Target{Root: root},
			nil,
		},
		{
			"ungrouped: the group is ours and is not searched",
			family([5]int{me, 1, me, me, 40}, [5]int{r, me, me, me, 50}, [5]int{r + 1, r, me, me, 51}, [5]int{r + 2, 1, me, me, 52}),
			proc.Target{Root: root, Under: under, Ungrouped: true},
			[]int{r, r + 1},
		},
		{
			"supervisor's pid given away",
			family([5]int{me, 1, 1, 1, 41}, [5]int{r + 2, me, r + 2, r + 2, 52}),
			proc.Target{Root: root, Under: under},
			nil,
		},
		{
			"another boot",
			family([5]int{r, 1, r, r, 50}, [5]int{r + 1, r, r, r, 51}),
			proc.Target{Root: process.Identity{Boot: "before", PID: r, Start: 50}},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := proc.Faults{Scan: func() (proc.Table, error) { return tt.table, nil }}
			if diff := cmp.Diff(tt.want, idPIDs(f.Find(tt.target))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestScanFindsUs(t *testing.T) {
	id, _ := sleeper(t)
	table, err := proc.Scan()
	if err != nil {
		t.Fatal(err)
	}
	if !table.Has(id) || !table.Has(proc.Self()) || table[id.PID].Parent != os.Getpid() || table[id.PID].Session != id.PID {
		t.Errorf("child %+v", table[id.PID])
	}
	if !slices.Contains(pids(table.Descendants(os.Getpid(), nil)), id.PID) {
		t.Error("a child is no descendant")
	}
}

func BenchmarkScan(b *testing.B) {
	n := 0
	for b.Loop() {
		table, err := proc.Scan()
		if err != nil {
			b.Fatal(err)
		}
		n = len(table)
	}
	b.ReportMetric(float64(n), "processes")
}

func BenchmarkIdentify(b *testing.B) {
	for b.Loop() {
		proc.Identify(os.Getpid())
	}
}
