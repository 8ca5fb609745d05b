package scheduler_test

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"

	"claw/state/automation"
)

// The oracle finds the slots of a schedule by looking at every minute of real
// time, as a person would with a wall clock in his hand: design.md section 7
// and spec/heartbeat-automations.md 2.3 to 2.6 again. It shares nothing with
// state/cron.

// fields are those of an expression; nil is any.
type fields struct {
	second                 int // after the minute
	minutes, hours         []int
	days, months, weekdays []int
	lastDay                bool // of the month
	wild                   bool // the minute or the hour begins with *
	staggered              bool // by the default of 2.6
}

// oracle is one schedule: fields with a zone, an interval, or an instant.
type oracle struct {
	*fields
	zone   string
	id     string // of the automation: staggering goes by it
	every  time.Duration
	anchor time.Time // of every, or the instant of at
}

// The minutes that are looked at.
var (
	firstMinute = time.Date(2048, 11, 20, 0, 0, 0, 0, time.UTC)
	minutesSeen = 390 * 24 * 60
)

// readings are what the clocks of a zone read at every minute, in minutes since
// firstMinute.
var readings sync.Map

func readingsOf(zone string) []int32 {
	if list, ok := readings.Load(zone); ok {
		return list.([]int32)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	list := make([]int32, minutesSeen)
	for i := range list {
		_, east := firstMinute.Add(time.Duration(i) * time.Minute).In(loc).Zone()
		list[i] = int32(i + east/60)
	}
	readings.Store(zone, list)
	return list
}

// at tells that the fields name what a clock reads.
func (f *fields) at(reading int32) bool {
	minute := int(reading) % 60
	if f.minutes != nil && !slices.Contains(f.minutes, minute) || f.hours != nil && !slices.Contains(f.hours, int(reading)/60%24) {
		return false
	}
	date := firstMinute.Add(time.Duration(reading) * time.Minute)
	if f.months != nil && !slices.Contains(f.months, int(date.Month())) || f.lastDay && date.AddDate(0, 0, 1).Day() != 1 {
		return false
	}
	if f.days == nil && f.weekdays == nil {
		return true
	}
	return slices.Contains(f.days, date.Day()) || slices.Contains(f.weekdays, int(date.Weekday())) // both: either
}

// jump is the largest change of the clocks that is one of the seasons: a larger
// one is a correction, and nothing is made up.
const jump = 3 * 60

// minutes are the minutes, counted from firstMinute, at which the fields are
// due, from one on and before another.
func (f *fields) minutesDue(zone string, from, to int) []int {
	var due []int
	read := readingsOf(zone)
	begin := max(1, from-2*24*60)
	highest := read[begin-1] // what the clocks have shown already
	for i := begin; i < min(to, len(read)); i++ {
		now := read[i]
		is := f.at(now)
		if !f.wild {
			if behind := highest - now; behind >= 0 && behind < jump {
				is = false // it was this late before
			}
			if now > highest+1 && now-highest-1 <= jump {
				for skipped := highest + 1; skipped < now; skipped++ {
					is = is || f.at(skipped)
				}
			}
		}
		if highest < now || highest-now >= jump {
			highest = now
		}
		if is && i >= from {
			due = append(due, i)
		}
	}
	return due
}

// slots are those after one instant and not after another.
func (o oracle) slots(after, until time.Time) []time.Time {
	if !until.After(after) {
		return nil
	}
	var all []time.Time
	switch {
	case o.fields != nil:
		late := time.Duration(o.second)*time.Second + o.stagger()
		from := int(after.Add(-late).Sub(firstMinute)/time.Minute) - 1
		to := int(until.Add(-late).Sub(firstMinute)/time.Minute) + 2
		for _, minute := range o.minutesDue(o.zone, from, to) {
			all = append(all, firstMinute.Add(time.Duration(minute)*time.Minute+late))
		}
	case o.every > 0:
		for at := o.anchor; !at.After(until); at = at.Add(o.every) {
			all = append(all, at)
		}
	default:
		all = append(all, o.anchor)
	}
	return slices.DeleteFunc(all, func(at time.Time) bool { return !at.After(after) || at.After(until) })
}

// stagger is 2.6: the first four bytes of the digest of the id, modulo five
// minutes.
func (o oracle) stagger() time.Duration {
	if !o.staggered {
		return 0
	}
	sum := sha256.Sum256([]byte(o.id))
	return time.Duration(binary.BigEndian.Uint32(sum[:4])%300000) * time.Millisecond
}

// The oracle itself, by the transitions that the specification computes (2.5;
// design.md section 7).
func TestOracle(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, tt := range []struct {
		name, zone string
		f          fields
		from, to   string
		want       []string
	}{
		{"the gap: once, at its end", "America/New_York", fields{minutes: []int{0, 30}, hours: []int{2}}, "2049-03-14T05:00:00Z", "2049-03-14T12:00:00Z", []string{"2049-03-14T07:00:00Z"}},
		{"the repeat: once, the first time", "America/New_York", fields{minutes: []int{30}, hours: []int{1}}, "2049-11-07T04:00:00Z", "2049-11-07T12:00:00Z", []string{"2049-11-07T05:30:00Z"}},
		{
			"every half hour goes by real time", "Europe/Berlin",
			fields{minutes: []int{0, 30}, wild: true},
			"2049-10-30T23:45:00Z", "2049-10-31T02:00:00Z",
			[]string{"2049-10-31T00:00:00Z", "2049-10-31T00:30:00Z", "2049-10-31T01:00:00Z", "2049-10-31T01:30:00Z", "2049-10-31T02:00:00Z"},
		},
		{"half an hour is missing", "Australia/Lord_Howe", fields{minutes: []int{10}, hours: []int{2}}, "2049-10-02T12:00:00Z", "2049-10-03T12:00:00Z", []string{"2049-10-02T15:30:00Z"}},
		{"midnight is missing", "America/Santiago", fields{minutes: []int{0}, hours: []int{0}}, "2049-09-04T12:00:00Z", "2049-09-05T12:00:00Z", []string{"2049-09-05T04:00:00Z"}},
		{"either day", "UTC", fields{minutes: []int{0}, hours: []int{0}, days: []int{13}, weekdays: []int{5}}, "2049-08-05T12:00:00Z", "2049-08-20T00:00:00Z", []string{"2049-08-06T00:00:00Z", "2049-08-13T00:00:00Z", "2049-08-20T00:00:00Z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := oracle{fields: &tt.f, zone: tt.zone}.slots(at(tt.from), at(tt.to))
			want := make([]time.Time, len(tt.want))
			for i, text := range tt.want {
				want[i] = at(text)
			}
			if !slices.EqualFunc(got, want, time.Time.Equal) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	t.Run("stagger", func(t *testing.T) { // vectors of 2.6
		for id, ms := range map[string]int64{"job-1": 47897, "job-2": 162183, "daily-report": 122429, "a": 226610} {
			if got := (oracle{id: id, fields: &fields{staggered: true}}).stagger().Milliseconds(); got != ms {
				t.Errorf("%s: %d, want %d", id, got, ms)
			}
		}
	})
	if automation.DefaultStagger != 300*time.Second {
		t.Error("the window of 2.6 is five minutes")
	}
}
