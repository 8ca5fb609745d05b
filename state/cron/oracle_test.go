package cron_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"claw/state/cron"
)

// The oracle knows an expression as predicates, not as text, and finds
// occurrences by looking at every minute. It shares nothing with the package.
type oracle struct {
	expr                  string
	minute, hour, month   map[int]bool
	dom, dow              func(y, m, d int) bool
	domWild, dowWild, and bool
	clockWild             bool
	domText, dowText      string
}

// wall tells whether a reading of a clock matches.
func (o *oracle) wall(w time.Time) bool {
	if !o.minute[w.Minute()] || !o.hour[w.Hour()] || w.Second() != 0 || !o.month[int(w.Month())] {
		return false
	}
	y, m, d := w.Date()
	dom, dow := o.dom(y, int(m), d), o.dow(y, int(m), d)
	if !o.domWild && !o.dowWild && !o.and {
		return dom || dow
	}
	return dom && dow
}

func offset(t time.Time) time.Duration {
	_, s := t.Zone()
	return time.Duration(s) * time.Second
}

const threeHours = 3 * time.Hour

// occurs is the rule of design.md 7, word by word.
func (o *oracle) occurs(t time.Time) bool {
	reading := t.UTC().Add(offset(t))
	if o.clockWild {
		return o.wall(reading)
	}
	if jump := offset(t) - offset(t.Add(-time.Second)); jump > 0 && jump <= threeHours {
		for w := reading.Add(-jump); w.Before(reading); w = w.Add(time.Minute) {
			if o.wall(w) {
				return true // its time is in the gap that ends here
			}
		}
	}
	if !o.wall(reading) {
		return false
	}
	for ago := time.Minute; ago <= threeHours; ago += time.Minute {
		if offset(t.Add(-ago))-offset(t) == ago {
			return false // the clock has shown this before
		}
	}
	return true
}

// next looks at every minute after t, up to a horizon.
func (o *oracle) next(t time.Time, horizon time.Duration) (time.Time, bool) {
	end := t.Add(horizon)
	for at := t.Truncate(time.Minute).Add(time.Minute); at.Before(end); at = at.Add(time.Minute) {
		if o.occurs(at) {
			return at, true
		}
	}
	return time.Time{}, false
}

func (o *oracle) previous(t time.Time, horizon time.Duration) (time.Time, bool) {
	end := t.Add(-horizon)
	at := t.Truncate(time.Minute)
	if at.Equal(t) {
		at = at.Add(-time.Minute)
	}
	for ; at.After(end); at = at.Add(-time.Minute) {
		if o.occurs(at) {
			return at, true
		}
	}
	return time.Time{}, false
}

// values draws a list of values, ranges and steps, and says what is in it.
func values(r *rand.Rand, low, high int) (string, map[int]bool, bool) {
	in := map[int]bool{}
	var parts []string
	for range 1 + r.IntN(3) {
		a := low + r.IntN(high-low+1)
		b := a + r.IntN(high-a+1)
		step, text := 1, ""
		switch r.IntN(6) {
		case 0:
			a, b, text = low, high, "*"
			if r.IntN(2) == 0 {
				step = 1 + r.IntN(high-low)
				text = fmt.Sprintf("*/%d", step)
			}
		case 1:
			text = fmt.Sprintf("%d-%d", a, b)
		case 2:
			step = 1 + r.IntN(high-low)
			text = fmt.Sprintf("%d-%d/%d", a, b, step)
		default:
			b, text = a, fmt.Sprintf("%02d", a)
		}
		for v := a; v <= b; v += step {
			in[v] = true
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ","), in, strings.HasPrefix(parts[0], "*")
}

func lastDay(y, m int) int { return time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() }

func weekday(y, m, d int) int {
	return int(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Weekday())
}

// workdayNear walks outwards from a day to the nearest Monday to Friday.
func workdayNear(y, m, d int) int {
	if d > lastDay(y, m) {
		return 0
	}
	for _, by := range []int{0, -1, 1, -2, 2} {
		if at := d + by; at >= 1 && at <= lastDay(y, m) && weekday(y, m, at)%6 != 0 {
			return at
		}
	}
	return 0
}

func (o *oracle) days(r *rand.Rand) {
	day := 1 + r.IntN(31)
	switch r.IntN(8) {
	case 0:
		o.domText, o.dom = "L", func(y, m, d int) bool { return d == lastDay(y, m) }
	case 1:
		o.domText, o.dom = "LW", func(y, m, d int) bool { return d == workdayNear(y, m, lastDay(y, m)) }
	case 2:
		o.domText = fmt.Sprintf("%dW", day)
		o.dom = func(y, m, d int) bool { return d == workdayNear(y, m, day) }
	case 3, 4:
		text, in, wild := values(r, 1, 31)
		o.domText, o.domWild = text, wild
		o.dom = func(_, _, d int) bool { return in[d] }
	default:
		o.domText, o.domWild = []string{"*", "?"}[r.IntN(2)], true
		o.dom = func(_, _, _ int) bool { return true }
	}
}

var dayNames = []string{"sun", "MON", "Tue", "WED", "THU", "FRI", "SAT"}

func (o *oracle) weekdays(r *rand.Rand) {
	day, n := r.IntN(7), 1+r.IntN(5)
	shown := []string{fmt.Sprint(day), dayNames[day]}[r.IntN(2)]
	switch r.IntN(8) {
	case 0:
		o.dowText = fmt.Sprintf("%s#%d", shown, n)
		o.dow = func(y, m, d int) bool { return weekday(y, m, d) == day && (d-1)/7+1 == n }
	case 1:
		o.dowText = []string{shown + "#L", shown + "L", "L" + shown}[r.IntN(3)]
		o.dow = func(y, m, d int) bool { return weekday(y, m, d) == day && d+7 > lastDay(y, m) }
	case 2, 3:
		text, in, wild := values(r, 0, 6)
		o.dowText, o.dowWild = text, wild
		o.dow = func(y, m, d int) bool { return in[weekday(y, m, d)] }
	case 4:
		o.dowText, o.dow = "5-7", func(y, m, d int) bool { w := weekday(y, m, d); return w >= 5 || w == 0 }
	default:
		o.dowText, o.dowWild = "*", true
		o.dow = func(_, _, _ int) bool { return true }
	}
	if r.IntN(4) == 0 {
		o.dowText, o.and = "+"+o.dowText, true
	}
}

func draw(r *rand.Rand) *oracle {
	o := &oracle{}
	minute, minutes, minuteWild := values(r, 0, 59)
	hour, hours, hourWild := values(r, 0, 23)
	if r.IntN(3) > 0 { // where the clocks change
		h := r.IntN(5)
		hour, hours, hourWild = fmt.Sprint(h), map[int]bool{h: true}, false
	}
	month, months, _ := values(r, 1, 12)
	if r.IntN(3) > 0 {
		month, months = "*", map[int]bool{}
		for m := range 12 {
			months[m+1] = true
		}
	}
	o.minute, o.hour, o.month = minutes, hours, months
	o.clockWild = minuteWild || hourWild
	o.days(r)
	o.weekdays(r)
	o.expr = strings.Join([]string{minute, hour, o.domText, month, o.dowText}, " ")
	if r.IntN(4) == 0 {
		o.expr = "0 " + o.expr
	}
	return o
}

// zones: every kind of change there has been since 1980.
var zones = []string{
	"UTC", "America/New_York", "Europe/Berlin", "Europe/London", "Europe/Dublin", "Australia/Lord_Howe", "America/Sao_Paulo",
	"Antarctica/Troll", "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca", "Asia/Tehran", "America/Havana",
	"America/Santiago", "Pacific/Chatham", "Asia/Gaza", "Asia/Amman", "Pacific/Kwajalein", "Asia/Pyongyang", "America/Caracas",
	"America/St_Johns", "Pacific/Norfolk", "Asia/Kolkata", "Africa/Cairo",
}

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// near draws an instant, most often close to a change of the clocks.
func near(r *rand.Rand, loc *time.Location) time.Time {
	t := time.Date(1980+r.IntN(70), 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(366*24*3600)) * time.Second).In(loc)
	if _, end := t.ZoneBounds(); r.IntN(5) > 0 && !end.IsZero() && end.After(t) {
		t = end.Add(time.Duration(r.IntN(12*3600)-9*3600) * time.Second)
	}
	switch r.IntN(3) {
	case 0:
		t = t.Truncate(time.Minute)
	case 1:
		t = t.Add(time.Duration(r.IntN(1e9)))
	}
	return t.In(loc)
}

// rounds is how many expressions are tried; the environment asks for more.
func rounds(t *testing.T, normal int) int {
	if s := os.Getenv("CLAW_CRON_ROUNDS"); s != "" {
		if _, err := fmt.Sscan(s, &normal); err != nil {
			t.Fatal(err)
		}
	}
	return normal
}

const oracleHorizon = 30 * time.Hour

func TestNextAndPreviousAgreeWithAMinuteScan(t *testing.T) {
	var locs []*time.Location
	for _, z := range zones {
		locs = append(locs, location(t, z))
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	found := 0
	for range rounds(t, 1000) {
		o := draw(r)
		s, err := cron.Parse(o.expr)
		if err != nil {
			if never := strings.Contains(err.Error(), "would never fire"); !never {
				t.Fatalf("%q: %v", o.expr, err)
			}
			continue
		}
		loc := locs[r.IntN(len(locs))]
		at := near(r, loc)
		got, ok := s.Next(at, loc)
		want, within := o.next(at, oracleHorizon)
		if within {
			found++
		}
		compare(t, o, "Next", at, got, ok, want, within, got.Sub(at) < oracleHorizon)
		got, ok = s.Previous(at, loc)
		want, within = o.previous(at, oracleHorizon)
		compare(t, o, "Previous", at, got, ok, want, within, at.Sub(got) < oracleHorizon)
	}
	if found < 50 {
		t.Errorf("only %d rounds had an occurrence within the horizon", found)
	}
}

// compare: within the horizon the two are equal; beyond it the answer must at
// least be an occurrence.
func compare(t *testing.T, o *oracle, what string, at, got time.Time, ok bool, want time.Time, within, gotWithin bool) {
	t.Helper()
	switch {
	case within && (!ok || !got.Equal(want)):
		t.Fatalf("%q in %s: %s of %s is %s, %v; the scan finds %s", o.expr, at.Location(), what, at, got, ok, want)
	case !within && ok && gotWithin:
		t.Fatalf("%q in %s: %s of %s is %s; the scan finds nothing", o.expr, at.Location(), what, at, got)
	case ok && !o.occurs(got):
		t.Fatalf("%q in %s: %s of %s is %s, which is no occurrence", o.expr, at.Location(), what, at, got)
	}
}

// The whole calendar, day by day, for the rules about days.
func TestDaysAgreeWithADayScan(t *testing.T) {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	for range rounds(t, 1000) / 50 {
		o := draw(r)
		o.minute, o.hour = map[int]bool{0: true}, map[int]bool{12: true}
		fields := strings.Fields(o.expr)
		o.expr = "0 12 " + strings.Join(fields[len(fields)-3:], " ")
		s, err := cron.Parse(o.expr)
		first := time.Date(1999, 12, 31, 12, 0, 0, 0, time.UTC)
		at, ok := s.Next(first, time.UTC)
		for d := first.AddDate(0, 0, 1); d.Year() < 2041; d = d.AddDate(0, 0, 1) {
			if !o.wall(d) {
				continue
			}
			if err != nil || !ok || !at.Equal(d) {
				t.Fatalf("%q: %s, %v, %v; the scan finds %s", o.expr, at, ok, err, d)
			}
			if back, ok := s.Previous(d.Add(time.Second), time.UTC); !ok || !back.Equal(d) {
				t.Fatalf("%q: Previous finds %s, %v instead of %s", o.expr, back, ok, d)
			}
			at, ok = s.Next(at, time.UTC)
		}
		if ok && at.Year() < 2041 {
			t.Fatalf("%q: %s is no occurrence", o.expr, at)
		}
	}
}

// Seconds: the same walk, second by second, against the definition of a field.
func TestSecondsAgreeWithASecondScan(t *testing.T) {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 3))
	for range rounds(t, 2000) / 10 {
		second, seconds, _ := values(r, 0, 59)
		minute, minutes, _ := values(r, 0, 59)
		s, err := cron.Parse(second + " " + minute + " * * * *")
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 3, 29, r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(2)*500, time.UTC)
		match := func(t time.Time) bool { return seconds[t.Second()] && minutes[t.Minute()] }
		want := at.Truncate(time.Second).Add(time.Second)
		for ; !match(want); want = want.Add(time.Second) {
		}
		if got, ok := s.Next(at, time.UTC); !ok || !got.Equal(want) {
			t.Fatalf("%q: Next of %s is %s, not %s", s, at, got, want)
		}
		back := at.Add(-1).Truncate(time.Second)
		for ; !match(back); back = back.Add(-time.Second) {
		}
		if got, ok := s.Previous(at, time.UTC); !ok || !got.Equal(back) {
			t.Fatalf("%q: Previous of %s is %s, not %s", s, at, got, back)
		}
	}
}
