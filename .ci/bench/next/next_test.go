// Package next measures state/cron beside the parsers of others, which claw does
// not depend on: this is a module of its own.
package next

import (
	"fmt"
	"testing"
	"time"

	"github.com/adhocore/gronx"
	"github.com/robfig/cron/v3"

	clawcron "claw/state/cron"
)

// expressions are what crontabs have, and what is hard to find.
var expressions = []string{"* * * * *", "*/5 * * * *", "30 4 * * *", "0 9 * * 1-5", "0 0 1 * *", "15 10,14 * 3,9 *", "0 0 29 2 *"}

// from is where every search begins: in winter, at no full minute.
var from = time.Date(2026, 12, 1, 3, 14, 15, 0, time.UTC)

// Everybody means the same by these, so that speed can be compared; the oracle
// is a scan minute by minute.
func TestAllAgree(t *testing.T) {
	for _, e := range expressions {
		ours, err := clawcron.Parse(e)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := ours.Next(from, time.UTC)
		theirs, err := cron.ParseStandard(e)
		if err != nil {
			t.Fatal(err)
		}
		if want := theirs.Next(from); !got.Equal(want) {
			t.Errorf("%s: claw %v, robfig %v", e, got, want)
		}
		if want, err := gronx.NextTickAfter(e, from, false); err != nil || !got.Equal(want) {
			t.Errorf("%s: claw %v, gronx %v %v", e, got, want, err)
		}
	}
}

func berlin(b *testing.B) *time.Location {
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		b.Skip(err)
	}
	return loc
}

// Next finds the next time of one that has been parsed. gronx parses each time.
func BenchmarkNext(b *testing.B) {
	loc := berlin(b)
	for _, e := range expressions {
		ours, _ := clawcron.Parse(e)
		theirs, _ := cron.ParseStandard(e)
		at := from.In(loc)
		b.Run(fmt.Sprintf("claw/%s", e), func(b *testing.B) {
			for b.Loop() {
				ours.Next(at, loc)
			}
		})
		b.Run(fmt.Sprintf("robfig/%s", e), func(b *testing.B) {
			for b.Loop() {
				theirs.Next(at)
			}
		})
		b.Run(fmt.Sprintf("gronx/%s", e), func(b *testing.B) {
			for b.Loop() {
				gronx.NextTickAfter(e, at, false)
			}
		})
	}
}

// Parse reads an expression and finds the next time once.
func BenchmarkParseAndNext(b *testing.B) {
	loc := berlin(b)
	for _, e := range expressions {
		at := from.In(loc)
		b.Run(fmt.Sprintf("claw/%s", e), func(b *testing.B) {
			for b.Loop() {
				s, _ := clawcron.Parse(e)
				s.Next(at, loc)
			}
		})
		b.Run(fmt.Sprintf("robfig/%s", e), func(b *testing.B) {
			for b.Loop() {
				s, _ := cron.ParseStandard(e)
				s.Next(at)
			}
		})
		b.Run(fmt.Sprintf("gronx/%s", e), func(b *testing.B) {
			for b.Loop() {
				gronx.NextTickAfter(e, at, false)
			}
		})
	}
}
