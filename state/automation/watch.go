package automation

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/state/internal/digest"
)

// The rules of watches (pains B30).
const (
	WatchQuiet   = 500 * time.Millisecond // without a change, and it is told
	WatchCeiling = 5 * time.Second        // from the first change on; then it is told however busy it is
	LoopsFree    = 2                      // firings in a row that may be of its own making and are told at once
	LoopsToStop  = 7                      // with so many it is a loop
	// leastAlone is how long it is left alone to see whether others change
	// something, if its runs are short.
	leastAlone = 2 * time.Second
	// clockSlack is how far the time of a file may be beside the clock: file
	// systems take theirs from a coarser one.
	clockSlack = 100 * time.Millisecond
	// maxNamed is how many changed names a run is told.
	maxNamed = 100
)

// Debounce waits until a directory is quiet. The zero value has seen nothing.
type Debounce struct {
	First, Last time.Time
}

// Saw is the debounce after a change.
func (d Debounce) Saw(at time.Time) Debounce {
	if d.First.IsZero() || at.Before(d.First) { // or the clock was set back
		return Debounce{at, at}
	}
	d.Last = at
	return d
}

// At is when the changes are to be told; false: there are none.
func (d Debounce) At() (time.Time, bool) {
	quiet, ceiling := d.Last.Add(WatchQuiet), d.First.Add(WatchCeiling)
	if ceiling.Before(quiet) {
		quiet = ceiling
	}
	return quiet, !d.First.IsZero()
}

// Entry is a file or a directory as a scan found it.
type Entry struct {
	Name    string // below the directory that is watched, with slashes
	Size    int64
	ModTime time.Time
	Gone    bool // it was there before; only in Changes
	Dir     bool // of a directory only the name counts: its time changes with files that are not watched
}

// Scan is the digest of what there is, in any order; it is never empty.
func Scan(entries []Entry) string { return digest.Hex(listing(entries)) }

// Changes are the entries of a scan that differ from an earlier one; those that
// are gone are there with ModTime zero.
func Changes(before, after []Entry) []Entry {
	old := make(map[string]Entry, len(before))
	for _, e := range before {
		old[e.Name] = e
	}
	var out []Entry
	for _, e := range after {
		was, known := old[e.Name]
		if !known || was.Dir != e.Dir || !e.Dir && (was.Size != e.Size || !was.ModTime.Equal(e.ModTime)) {
			out = append(out, e)
		}
		delete(old, e.Name)
	}
	for _, e := range old {
		out = append(out, Entry{Name: e.Name, Dir: e.Dir, Gone: true})
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Watched is what follows from a scan: seen is its digest, see Scan, and
// changed the entries that have changed since the last one, as far as known.
// last is the latest run that the watch has fired, which must have ended; nil:
// none. A scan like the last one, and the first, fire nothing.
//
// A run that writes what it is started by would go on for ever. A person who
// saves files all the time looks the same while a run goes on, and only then:
// so after two firings whose changes were all made during the run before, the
// watch is left alone for twice as long as that run took, see Source.Alone. If
// something changes meanwhile it is told at once, and there is no loop. If
// nothing does, five times in a row, and each run changes something, the
// automation is switched off, and a person is told which file it was. Whoever
// saves at any rate, evenly, is taken for a loop once in ten thousand times.
func Watched(a Automation, src Source, seen string, changed []Entry, last *Run, id string, now time.Time) Fired {
	first := src.Seen == ""
	if seen == src.Seen || first {
		src.Seen, src.Held = seen, ""
		if first {
			src.SeenAt = now
		}
		return Fired{Automation: a, Source: src}
	}
	own := ownMaking(changed, last) && (src.Held == "" || src.Held == seen)
	if own && src.Loops >= LoopsFree {
		if src.Held = seen; alone(last, now) > 0 {
			return Fired{Automation: a, Source: src}
		}
	}
	src.Seen, src.SeenAt, src.Held = seen, now, ""
	if src.Loops++; !own {
		src.Loops = 0
	}
	if src.Loops >= LoopsToStop {
		return looping(a, src, written(changed), now)
	}
	src.FiredAt = now
	run := Fire(a, id, now)
	run.Input = WatchText(changed)
	return Fired{Automation: a, Source: src, Run: &run}
}

// Alone is when a watch has been left alone for long enough: it waits whether
// others than its own last run change something. False: it does not wait.
func (s Source) Alone(last *Run, now time.Time) (time.Time, bool) {
	if s.Held == "" || last == nil {
		return time.Time{}, false
	}
	return now.Add(alone(last, now)), true
}

// alone is how long it is still to be left alone after its last run.
func alone(last *Run, now time.Time) time.Duration {
	most := max(leastAlone, 2*last.EndedAt.Sub(last.StartedAt))
	if left := last.EndedAt.Add(most).Sub(now); left <= most {
		return max(0, left)
	}
	return 0 // the clock was set back
}

// ownMaking tells that all changes were made during a run. Of what is gone
// nobody knows when it went.
func ownMaking(changed []Entry, last *Run) bool {
	if last == nil || last.StartedAt.IsZero() || last.Status.Open() {
		return false
	}
	from, to := last.StartedAt.Add(-clockSlack), last.EndedAt.Add(clockSlack)
	files := 0
	for _, e := range changed {
		if e.ModTime.IsZero() || e.Dir {
			continue
		}
		if e.ModTime.Before(from) || e.ModTime.After(to) {
			return false
		}
		files++
	}
	return files > 0
}

// written names a file that was written.
func written(changed []Entry) string {
	for _, e := range changed {
		if !e.ModTime.IsZero() && !e.Dir {
			return e.Name
		}
	}
	return ""
}

// looping is a watch that is switched off.
func looping(a Automation, src Source, name string, now time.Time) Fired {
	src.Status, src.Exhausted, src.Error = SourceError, true, "its runs change what it watches: "+clip(name)
	a.Enabled = false
	a.State.AutoDisabled = &AutoDisabled{Reason: ReasonLoop, At: now}
	notice := Notice{
		AutomationID: a.ID, Name: a.Name, Code: ReasonLoop,
		Text: a.Name + " is switched off: " + itoa(LoopsToStop) + " times in a row its own run had changed what it watches, such as " + clip(name) + ", and nobody else had",
		Hint: "watch another directory or --glob, or write elsewhere, then: claw cron enable " + a.Name,
	}
	return Fired{Automation: a, Source: src, Notices: []Notice{notice}}
}

// WatchText is what a run is told of changed files: their names, one a line,
// those that are gone with "deleted: " before them, and how many more there are.
// A name that could be read as something else is quoted.
func WatchText(changed []Entry) string {
	var b strings.Builder
	for i, e := range changed {
		if i == maxNamed {
			b.WriteString("and " + itoa(len(changed)-maxNamed) + " more\n")
			break
		}
		if e.Gone {
			b.WriteString(deleted)
		}
		b.WriteString(named(e.Name) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// deleted stands before the name of what is gone.
const deleted = "deleted: "

// named is a name on a line of its own: quoted when it would break it.
func named(name string) string {
	if strings.ContainsAny(name, "\n\r") || strings.HasPrefix(name, deleted) {
		return strconv.Quote(name)
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}
