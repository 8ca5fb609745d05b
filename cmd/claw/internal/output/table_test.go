package output_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"

	"claw/cmd/claw/internal/output"
)

// processes is the list of tour.md.
func processes() output.Table {
	return output.Table{
		Columns: []output.Column{{Name: "PROCESS"}, {Name: "STATE", State: true}, {Name: "TOOK", Right: true}, {Name: "COMMAND", Flex: true}, {Name: "LAST LINE", Flex: true}},
		Rows: [][]string{
			{"tide-orbit", "succeeded", "1m04s", "npm run build", "built in 61.2s"},
			{"amber-reef", "running", "12s", "make -j2 check", "[3/7] bundling client, the second of seven"},
		},
	}
}

// Drawn by hand: what a person sees at each width.
func TestTableWidths(t *testing.T) {
	for _, row := range []struct {
		width int
		want  string
	}{
		{120, `
PROCESS     STATE       TOOK  COMMAND         LAST LINE
tide-orbit  succeeded  1m04s  npm run build   built in 61.2s
amber-reef  running      12s  make -j2 check  [3/7] bundling client, the second of seven
`},
		{80, `
PROCESS     STATE       TOOK  COMMAND         LAST LINE
tide-orbit  succeeded  1m04s  npm run build   built in 61.2s
amber-reef  running      12s  make -j2 check  [3/7] bundling client, the second…
`},
		{60, `
PROCESS     STATE       TOOK  COMMAND         LAST LINE
tide-orbit  succeeded  1m04s  npm run build   built in 61.2s
amber-reef  running      12s  make -j2 check  [3/7] bundlin…
`},
		{50, `
PROCESS     STATE       TOOK  COMMAND    LAST LINE
tide-orbit  succeeded  1m04s  npm run …  built in…
amber-reef  running      12s  make -j2…  [3/7] bu…
`},
		{40, `
PROCESS     STATE       TOOK  COMMAND
tide-orbit  succeeded  1m04s  npm run b…
amber-reef  running      12s  make -j2 …
`},
		{30, `
PROCESS     STATE       TOOK
tide-orbit  succeeded  1m04s
amber-reef  running      12s
`},
		{20, `
PROCESS
tide-orbit
amber-reef
`},
		{5, `
PROCESS
tide-orbit
amber-reef
`},
	} {
		s, out, _ := terminal(row.width)
		must(t, s.Table(processes()))
		if diff := cmp.Diff(row.want[1:], out.String()); diff != "" {
			t.Errorf("width %d:\n%s", row.width, diff)
		}
	}
}

// Two cells a rune: columns stand under one another and nothing is cut in half.
func TestWideRunes(t *testing.T) {
	if runewidth.DefaultCondition.EastAsianWidth {
		t.Skip("the locale makes … two cells wide")
	}
	table := output.Table{
		Columns: []output.Column{{Name: "名前"}, {Name: "COMMAND", Flex: true}, {Name: "X"}},
		Rows:    [][]string{{"日本", "echo 日本語テキスト", "1"}, {"a", "echo é🎉 e\u0301", "2"}},
	}
	s, out, _ := terminal(80)
	must(t, s.Table(table))
	want := "" +
		"名前  COMMAND              X\n" +
		"日本  echo 日本語テキスト  1\n" +
		"a     echo é🎉 e\u0301           2\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	s.Width = 21 // 12 are left for COMMAND: "echo 日本語" is 11 and … one more
	must(t, s.Table(table))
	want = "" +
		"名前  COMMAND       X\n" +
		"日本  echo 日本語…  1\n" +
		"a     echo é🎉 e\u0301    2\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// Off a terminal: full values, tabs, no header, no colour, one line a row.
func TestTableInAPipe(t *testing.T) {
	s, out, _ := terminal(20)
	s.OutTTY, s.Color = false, output.Always
	table := processes()
	table.Rows = append(table.Rows, []string{"odd", "failed"}, []string{"a\tb", "lost", `c:\d`, "l1\nl2\r", "\x1b[31m\xff\u2028", "ignored"})
	must(t, s.Table(table))
	want := "tide-orbit\tsucceeded\t1m04s\tnpm run build\tbuilt in 61.2s\n" +
		"amber-reef\trunning\t12s\tmake -j2 check\t[3/7] bundling client, the second of seven\n" +
		"odd\tfailed\t\t\t\n" +
		`a\tb` + "\tlost\t" + `c:\\d` + "\t" + `l1\nl2\r` + "\t" + `\x1b[31m\xff\u2028` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyTable(t *testing.T) {
	s, out, _ := terminal(80)
	must(t, s.Table(output.Table{Columns: []output.Column{{Name: "A"}, {Name: "B"}}}))
	if out.String() != "A  B\n" {
		t.Errorf("%q", out)
	}
	out.Reset()
	s.OutTTY = false
	must(t, s.Table(output.Table{Columns: []output.Column{{Name: "A"}}}))
	if out.Len() != 0 {
		t.Errorf("%q", out)
	}
}

// Marks of state are colour only, and only where colour is wanted.
func TestStateColours(t *testing.T) {
	for state, code := range map[string]string{
		"running": "36", "succeeded": "32", "failed": "31", "failed (exit 2)": "31", "lost": "35", "timed_out": "33",
		"cancelled": "2", "queued": "2", "starting": "36", "completed": "32", "something": "",
	} {
		table := output.Table{Columns: []output.Column{{Name: "ID"}, {Name: "STATE", State: true}}, Rows: [][]string{{"failed", state}}}
		s, out, _ := terminal(80)
		s.Color = output.Auto
		must(t, s.Table(table))
		marked := state
		if code != "" {
			marked = "\x1b[" + code + "m" + state + "\x1b[0m"
		}
		if want := "\x1b[1mID\x1b[0m      \x1b[1mSTATE\x1b[0m\nfailed  " + marked + "\n"; out.String() != want {
			t.Errorf("%s: %q, want %q", state, out, want)
		}
		out.Reset()
		s.Color = output.Never // NO_COLOR, TERM=dumb, --color=never
		must(t, s.Table(table))
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q", out)
		}
	}
}

// Control sequences of other programs do not reach the terminal.
func TestCellsAreSafe(t *testing.T) {
	table := output.Table{Columns: []output.Column{{Name: "A"}, {Name: "B"}}, Rows: [][]string{{"\x1b]0;title\x07x\x1b[2J", "a\nb\tc\rd\n"}}}
	s, out, _ := terminal(80)
	must(t, s.Table(table))
	if want := "A  B\nx  a⏎b c\\x0dd\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
}

func TestPairs(t *testing.T) {
	pairs := [][2]string{{"task", "01JE8"}, {"command", "printf 'a\n\x1b[1mb'"}, {"名", "x"}, {"error", ""}}
	s, out, _ := terminal(80)
	must(t, s.Pairs(pairs))
	want := "task     01JE8\ncommand  printf 'a\n         b'\n名       x\nerror\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	s.OutTTY = false
	must(t, s.Pairs(pairs))
	want = "task\t01JE8\ncommand\tprintf 'a\\n\\x1b[1mb'\n名\tx\nerror\t\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// One long name does not take the other columns away from all rows, nor does it
// make lines that are longer than the terminal; 26 characters of it are left.
func TestLongName(t *testing.T) {
	long := "session:" + strings.Repeat("a", 100)
	table := output.Table{
		Columns: []output.Column{{Name: "SESSION"}, {Name: "AGENT"}, {Name: "STATUS", State: true}, {Name: "LANE", Flex: true}},
		Rows: [][]string{
			{"agent:main:main", "main", "running", "pid 6894, since 00:14, another waits"},
			{long, "main", "done", ""},
		},
	}
	for _, row := range []struct {
		width int
		want  string
	}{
		{80, `
SESSION                          AGENT  STATUS   LANE
agent:main:main                  main   running  pid 6894, since 00:14, another…
session:aaaaaaaaaaaaaaaaaaaaaa…  main   done
`},
		{45, `
SESSION                        AGENT  STATUS
agent:main:main                main   running
session:aaaaaaaaaaaaaaaaaaaa…  main   done
`},
		{10, `
SESSION
agent:main:main
session:aaaaaaaaaaaaaaaaa…
`},
	} {
		s, out, _ := terminal(row.width)
		must(t, s.Table(table))
		if diff := cmp.Diff(row.want[1:], out.String()); diff != "" {
			t.Errorf("width %d:\n%s", row.width, diff)
		}
	}
}

// Whatever stands in a table, on a terminal no line is wider than it is, unless
// the first column alone is, with not more than 26 characters; so much of the
// first column stays whole; lines are as many as rows and a header.
func TestTableAlwaysFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 120).Draw(t, "width")
		columns := rapid.IntRange(1, 6).Draw(t, "columns")
		var table output.Table
		for range columns {
			table.Columns = append(table.Columns, output.Column{
				Name: rapid.StringMatching(`[A-Z]{1,9}`).Draw(t, "name"), Flex: rapid.Bool().Draw(t, "flex"), Right: rapid.Bool().Draw(t, "right"),
			})
		}
		table.Columns[0].Flex, table.Columns[0].Right = false, false
		cell := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z日🎉 ]{0,60}`))
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			row := rapid.SliceOfN(cell, columns, columns).Draw(t, "row")
			row[0] = rapid.StringMatching(`[a-z]{1,60}`).Draw(t, "id")
			table.Rows = append(table.Rows, row)
		}
		s, out, _ := terminal(width)
		if err := s.Table(table); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != len(table.Rows)+1 {
			t.Fatalf("%d lines for %d rows", len(lines), len(table.Rows))
		}
		for i, line := range lines {
			if w := runewidth.StringWidth(line); w > width && (w > 26 || strings.Contains(line, " ")) {
				t.Errorf("%d wide in %d: %q", w, width, line)
			}
			if i == 0 {
				continue
			}
			id := table.Rows[i-1][0]
			if len(id) > 26 {
				id = id[:25] // and the ellipsis
			}
			if !strings.HasPrefix(line, id) {
				t.Errorf("%q does not begin with %q", line, id)
			}
		}
	})
}
