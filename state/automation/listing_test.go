package automation_test

import (
	"strconv"
	"testing"
	"time"

	"claw/state/automation"
)

// What a source keeps of a directory, so that a tick can say what has changed
// since the tick before: also what is gone, and what was moved there with an
// older time (pains B30).
func TestSourceKeeps(t *testing.T) {
	file := func(name, clock string) automation.Entry {
		return automation.Entry{Name: name, Size: 3, ModTime: day(clock)}
	}
	base := []automation.Entry{file("b", "08:00"), file("a \"\n", "08:00"), {Name: "dir", Dir: true}}
	long := make([]automation.Entry, 0, 400)
	for i := range 400 {
		long = append(long, file("a file with a name that is somewhat long "+strconv.Itoa(i), "08:00"))
	}
	of := func(entries []automation.Entry) automation.Source {
		return automation.Source{Seen: automation.Scan(entries), SeenAt: day("09:00")}.Keeping(entries)
	}
	stale := of(base)
	stale.Seen = automation.Scan(base[1:])
	for _, tt := range []struct {
		rule string
		src  automation.Source
		now  []automation.Entry
		want string
	}{
		{"nothing", of(base), base, ""},
		{"moved there, and older than the last look", of(base), append(base[:3:3], file("c", "07:00")), "c"},
		{"gone", of(base), base[1:], "deleted: b"},
		{"a directory", of(base[:2]), base, "dir"},
		{"all of what was empty", of(nil), base[:1], "b"},
		{"too long to be kept: what was written since", of(long), append(long[1:], file("new", "09:01"), file("old", "07:00")), "new"},
		{"never kept", automation.Source{Seen: "x", SeenAt: day("09:00")}, append(base[:3:3], file("c", "09:01")), "c"},
		{"of another time", stale, append(base[:3:3], file("c", "09:01")), "c"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := automation.WatchText(tt.src.Changed(tt.now)); got != tt.want {
				t.Errorf("%q; want %q", got, tt.want)
			}
		})
	}
	if n := len(of(long).Listing); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
}

// Whatever is there can be kept, and what is kept is what was there.
func FuzzListing(f *testing.F) {
	f.Add("a\n", "b \xff", int64(3), int64(-1), "\"x\" 1 2\n")
	f.Add("", "\"", int64(0), int64(1796112000000000000), "\"x\" 1\n")
	f.Fuzz(func(t *testing.T, one, two string, size, nanos int64, text string) {
		entries := []automation.Entry{{Name: one, Size: size, ModTime: time.Unix(0, nanos)}, {Name: two + "/", Dir: true}}
		if time.Unix(0, nanos).IsZero() {
			return // no time at all is what a directory has
		}
		src := automation.Source{Seen: automation.Scan(entries)}.Keeping(entries)
		if changed := src.Changed(entries); len(changed) > 0 && src.Listing != "" {
			t.Errorf("%q: %+v", src.Listing, changed)
		}
		automation.Source{Listing: text}.Changed(entries) // whatever stands there, it ends
	})
}
