package man_test

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"claw/man"
)

// boat is a grammar with one of everything.
type boat struct {
	Row row `cmd:"" aliases:"r" help:"Row. It's slow ~ really."`
	Sea struct {
		In struct{} `cmd:"" help:"Drop it."`
	} `cmd:"" help:"Anchor."`
}

type row struct {
	Fast  bool     `short:"f" help:"Pull -- hard."`
	Oars  int      `help:"How many." placeholder:"N"`
	Wet   bool     `negatable:"" help:"Splash."`
	Debug bool     `hidden:""`
	To    string   `arg:"" help:"Where."`
	Via   []string `arg:"" optional:"" help:"By." placeholder:"PLACE"`
}

// Help has prose and examples.
func (row) Help() string { return "Two\nlines.\n\nExamples:\n\n  boat row 'x-y'   # ~\n  .hidden\n" }

func grammar(t testing.TB) *kong.Application {
	t.Helper()
	k, err := kong.New(&boat{}, kong.Name("boat"), kong.Description("A boat."))
	if err != nil {
		t.Fatal(err)
	}
	return k.Model
}

var tables = man.Tables{
	Exit:   [][2]string{{"0", "dry"}, {"1", "wet"}},
	ExitOf: func(path string) [][2]string { return [][2]string{{"2", path}} },
	Keys: []man.Key{
		{Name: "hull.paint", Type: "string", Default: `"red"`, Range: "red, blue", Help: "Its colour. Blue is slow."},
		{Name: "mast.tall", Type: "size", Help: "How tall."},
	},
}

// The expected pages are written by hand, from man(7).
func TestFill(t *testing.T) {
	for part, want := range map[string]string{
		"name row":  "boat\\-row \\- row\n",
		"usage row": ".HP\n\\fBboat row\\fR [\\fIflags\\fR] \\fITO\\fR [\\fIPLACE\\fR\\fI...\\fR]\n",
		"usage sea": ".HP\n\\fBboat sea in\\fR\n",
		"about row": "Row.\nIt's slow \\(ti really.\n.PP\nTwo lines.\n",
		"commands":  ".TP\n\\fBboat row\\fR (\\fBr\\fR)\nRow.\nIt's slow \\(ti really.\n.TP\n\\fBboat sea\\fR\nAnchor.\n",
		"options row": ".TP\n\\fITO\\fR\nWhere.\n.TP\n\\fIPLACE\\fR\nBy.\n" +
			".TP\n\\fB\\-f\\fR, \\fB\\-\\-fast\\fR\nPull \\-\\- hard.\n" +
			".TP\n\\fB\\-\\-oars\\fR=\\fIN\\fR\nHow many.\n" +
			".TP\n\\fB\\-\\-wet\\fR, \\fB\\-\\-no\\-wet\\fR\nSplash.\n",
		"examples row": ".EX\nboat row \\(aqx\\-y\\(aq   # \\(ti\n\\&.hidden\n.EE\n",
		"actions sea":  ".SS in\n\\fBboat sea in\\fR\n.PP\nDrop it.\n",
		"actions": ".SS row\n\\fBboat row\\fR [\\fIflags\\fR] \\fITO\\fR [\\fIPLACE\\fR\\fI...\\fR]\n" +
			".PP\nRow.\nIt's slow \\(ti really.\n.PP\nShort for it: \\fBr\\fR.\n.PP\nTwo lines.\n" +
			".TP\n\\fITO\\fR\nWhere.\n.TP\n\\fIPLACE\\fR\nBy.\n" +
			".TP\n\\fB\\-f\\fR, \\fB\\-\\-fast\\fR\nPull \\-\\- hard.\n" +
			".TP\n\\fB\\-\\-oars\\fR=\\fIN\\fR\nHow many.\n" +
			".TP\n\\fB\\-\\-wet\\fR, \\fB\\-\\-no\\-wet\\fR\nSplash.\n" +
			".PP\n.EX\nboat row \\(aqx\\-y\\(aq   # \\(ti\n\\&.hidden\n.EE\n" +
			".SS sea\nAnchor.\n.SS sea in\n\\fBboat sea in\\fR\n.PP\nDrop it.\n",
		"exit row":                ".TP\n\\fB2\\fR\nrow\n",
		"exit":                    ".TP\n\\fB0\\fR\ndry\n.TP\n\\fB1\\fR\nwet\n",
		"keys hull.":              ".TP\n\\fBhull.paint\\fR = \"red\"\nString (red, blue).\nIts colour.\nBlue is slow.\n",
		"keys mast. hull. -hull.": ".TP\n\\fBmast.tall\\fR\nSize.\nHow tall.\n",
	} {
		page := ".TH X 1\n.SH Y\n.\\\" generated: " + part + "\nstale\n.\\\" end\nkept\n"
		got, err := man.Fill([]byte(page), grammar(t), tables)
		if err != nil {
			t.Errorf("%s: %v", part, err)
			continue
		}
		full := ".TH X 1\n.SH Y\n.\\\" generated: " + part + "\n" + want + ".\\\" end\nkept\n"
		if diff := cmp.Diff(full, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part, diff)
		}
	}
}

func TestFillSaysWhatIsWrong(t *testing.T) {
	for page, want := range map[string]string{
		".\\\" generated: exit\n":                           `"exit" has no end`,
		".\\\" generated: exit\n.\\\" generated: exit\n":    `"exit" begins inside "exit"`,
		".\\\" generated: sails\n.\\\" end\n":               `"sails": there is no such part`,
		".\\\" generated: options row up\n.\\\" end\n":      `"options row up": there is no command "row up"`,
		".\\\" generated: options --fast\n.\\\" end\n":      `"options --fast": there is no command "--fast"`,
		".\\\" generated: name row\n.\\\" end\n.\\\" end\n": "",
	} {
		_, err := man.Fill([]byte(page), grammar(t), tables)
		if got := message(err); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Whatever a page is: filling it twice is filling it once, and what is not
// generated stays.
func FuzzFill(f *testing.F) {
	f.Add("a\n.\\\" generated: exit\nb\n.\\\" end\nc")
	f.Add(".SH X\n.\\\" generated: about row\n.\\\" end\n")
	f.Add(".\\\" generated: keys hull.\n.\\\" generated: \n")
	f.Add("\\\n'\n.\n")
	app := grammar(f)
	f.Fuzz(func(t *testing.T, page string) {
		once, err := man.Fill([]byte(page), app, tables)
		if err != nil {
			return
		}
		twice, err := man.Fill(once, app, tables)
		if err != nil || string(twice) != string(once) {
			t.Errorf("filling again: %v\n%s", err, cmp.Diff(string(once), string(twice)))
		}
		if !strings.Contains(page, "generated: ") && string(once) != page {
			t.Errorf("%q became %q", page, once)
		}
	})
}
