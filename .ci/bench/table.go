package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// row is one line of the table.
type row struct {
	Measure string  `json:"measure"`
	Unit    string  `json:"unit"`
	Claw    float64 `json:"claw"`
	Beside  []value `json:"beside"`
	Ratio   float64 `json:"ratio,omitempty"` // claw to what the bar is relative to, the first of Beside; 0 without
	Bar     string  `json:"bar"`
	Verdict string  `json:"verdict"` // "ok", "over", or "-" when nothing can be said
	Note    string  `json:"note,omitempty"`
	Busy    string  `json:"busy"` // how busy the machine was before

	measured bool // claw itself was
}

// value is what somebody else took for the same.
type value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// newRow fills a row from medians: claw's, and those of the named others that
// were measured. The first of them is what the ratio is to.
func newRow(measure, unit string, medians map[string]float64, claw string, others ...string) row {
	r := row{Measure: measure, Unit: unit, Verdict: "-"}
	r.Claw, r.measured = medians[claw]
	for _, name := range others {
		if v, ok := medians[name]; ok {
			r.Beside = append(r.Beside, value{name, v})
		}
	}
	if len(r.Beside) > 0 && r.Beside[0].Name == others[0] && r.Beside[0].Value > 0 && r.measured {
		r.Ratio = r.Claw / r.Beside[0].Value
	}
	return r
}

// judge sets the bar and whether claw keeps it. There is no verdict when claw,
// or what the bar is relative to, has not been measured.
func (r row) judge(bar string, comparable, ok bool) row {
	r.Bar = bar
	switch {
	case !r.measured || !comparable:
	case ok:
		r.Verdict = "ok"
	default:
		r.Verdict = "over"
	}
	return r
}

// atMost demands that the ratio be no higher.
func (r row) atMost(ratio float64) row {
	return r.judge(fmt.Sprintf("≤ %g ×", ratio), r.Ratio > 0, r.Ratio <= ratio)
}

// skipped is a row that says why there is nothing in it.
func skipped(measure, why string) row {
	return row{Measure: measure, Verdict: "-", Note: "not measured: " + why}
}

// table prints rows for people.
func table(w io.Writer, rows []row) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measure\tclaw (median)\tbeside it\tratio\tbar\t\tnotes")
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join([]string{r.Measure, r.claw(), r.beside(), r.ratio(), r.Bar, r.Verdict, r.notes()}, "\t"))
	}
	t.Flush()
}

func (r row) claw() string {
	if !r.measured {
		return "-"
	}
	return number(r.Claw) + " " + r.Unit
}

func (r row) beside() string {
	var all []string
	for _, v := range r.Beside {
		all = append(all, v.Name+" "+number(v.Value))
	}
	return strings.Join(all, ", ")
}

func (r row) ratio() string {
	if r.Ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", r.Ratio)
}

func (r row) notes() string {
	if r.Note == "" {
		return r.Busy
	}
	return r.Busy + "; " + r.Note
}

// number has three digits that mean something.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
