package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// row is one line of the table. A value that is 0 has not been measured.
type row struct {
	Measure string  `json:"measure"`
	Unit    string  `json:"unit"`
	Claw    float64 `json:"claw"`
	Beside  []value `json:"beside"`
	Ratio   float64 `json:"ratio,omitempty"` // claw to the first of Beside
	Bar     string  `json:"bar"`
	Verdict string  `json:"verdict"` // "ok", "over", or "-" when nothing can be said
	Note    string  `json:"note,omitempty"`
	Busy    string  `json:"busy"` // how busy the machine was before
}

// value is what somebody else took for the same.
type value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// newRow fills a row from medians: claw's, and those of the named others that
// were measured. The first of them is what the ratio is to.
func newRow(measure, unit string, medians map[string]float64, claw string, others ...string) row {
	r := row{Measure: measure, Unit: unit, Claw: medians[claw], Verdict: "-"}
	for _, name := range others {
		if v, ok := medians[name]; ok {
			r.Beside = append(r.Beside, value{name, v})
		}
	}
	if first := medians[others[0]]; first > 0 {
		r.Ratio = r.Claw / first
	}
	return r
}

// judge sets the bar and whether claw keeps it. Without a measurement there is
// no verdict.
func (r row) judge(bar string, measured, ok bool) row {
	r.Bar = bar
	switch {
	case r.Claw == 0 && r.Unit != "ticks" && r.Unit != "/s", !measured:
		r.Verdict = "-"
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

func table(w io.Writer, rows []row) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measure\tclaw (median)\tbeside it\tratio\tbar\t\tnotes")
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join([]string{r.Measure, r.claw(), r.beside(), r.ratio(), r.Bar, r.Verdict, r.notes()}, "\t"))
	}
	t.Flush()
}

func (r row) claw() string {
	if r.Unit == "" {
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
