package automation

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/state/internal/digest"
)

// maxListing is how long a listing may be that is kept: some two hundred names.
const maxListing = 16 << 10

// listing writes down what there is, a line each in the order of the names: the
// quoted name, and of what is no directory its size in bytes and the time of its
// last change in nanoseconds since 1970.
func listing(entries []Entry) string {
	entries = slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	var b []byte
	for _, e := range entries {
		b = strconv.AppendQuote(b, e.Name)
		if !e.Dir && !e.ModTime.IsZero() {
			b = strconv.AppendInt(append(b, ' '), e.Size, 10)
			b = strconv.AppendInt(append(b, ' '), e.ModTime.UnixNano(), 10)
		}
		b = append(b, '\n')
	}
	return string(b)
}

// listed reads what listing has written; false: that is no listing.
func listed(text string) ([]Entry, bool) {
	var entries []Entry
	for line := range strings.Lines(text) {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return nil, false
		}
		name, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, false
		}
		e := Entry{Name: name, Dir: true}
		switch f := strings.Fields(line[len(quoted):]); len(f) {
		case 0:
		case 2:
			size, err1 := strconv.ParseInt(f[0], 10, 64)
			nanos, err2 := strconv.ParseInt(f[1], 10, 64)
			if err1 != nil || err2 != nil {
				return nil, false
			}
			e = Entry{Name: name, Size: size, ModTime: time.Unix(0, nanos)}
		default:
			return nil, false
		}
		entries = append(entries, e)
	}
	return entries, true
}

// Keeping is the source with what a scan has found written down beside its
// digest, if that is Seen and not too long: whoever looks next, also another
// program, can say what has changed since.
func (s Source) Keeping(entries []Entry) Source {
	s.Listing = ""
	if text := listing(entries); len(text) <= maxListing && digest.Hex(text) == s.Seen {
		s.Listing = text
	}
	return s
}

// Changed are the entries that have changed since what the source has seen. Of a
// directory that is too long to be kept those that were written since are told,
// and not those that are gone or were moved there.
func (s Source) Changed(entries []Entry) []Entry {
	if before, ok := listed(s.Listing); ok && digest.Hex(s.Listing) == s.Seen {
		return Changes(before, entries)
	}
	return newer(entries, s.SeenAt)
}

// newer are the entries that were written since.
func newer(entries []Entry, since time.Time) []Entry {
	var out []Entry
	for _, e := range entries {
		if !e.Dir && e.ModTime.After(since) {
			out = append(out, e)
		}
	}
	return out
}
