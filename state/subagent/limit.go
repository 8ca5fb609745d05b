package subagent

import (
	"strconv"
	"time"
)

// The defaults and the most of what an agent may start; spec/tasks-recovery.md
// 6.5.
const (
	DefaultDepth      = 1
	MaxDepth          = 5
	DefaultChildren   = 5
	DefaultConcurrent = 8
	DefaultArchive    = time.Hour

	CompletionTimeout = 30 * time.Second
	CompletionsCaller = 3
	CompletionsAll    = 3
)

// Limits are those of whoever asks.
type Limits struct {
	Depth      int // how deep agents may start agents
	Children   int // active runs of one session
	Concurrent int // of these, that are carried out at once
	Archive    time.Duration
}

// Admit says why a run of caller ("": a person) does not come to be; nil: it may,
// at that depth. all are the runs there are.
func (l Limits) Admit(caller string, all []Run, now time.Time) (depth int, no *Refusal) {
	depth = 1
	if caller == "" {
		return depth, nil
	}
	active := 0
	for _, r := range all {
		if r.Kind != Detached {
			continue
		}
		if r.SessionKey == caller {
			depth = max(depth, r.Depth+1)
		}
		if r.Caller == caller && r.Active(now) {
			active++
		}
	}
	switch {
	case depth > l.Depth:
		return depth, &Refusal{TooDeep, "sub-agents of depth " + strconv.Itoa(depth) + " are not allowed; the limit is " + strconv.Itoa(l.Depth), "subagents.maxSpawnDepth of the agent that asks sets it, at most " + strconv.Itoa(MaxDepth)}
	case active >= l.Children:
		return depth, &Refusal{TooMany, "the session has " + strconv.Itoa(active) + " active sub-agents; the limit is " + strconv.Itoa(l.Children), "claw agent wait RUNID waits for one, claw agent cancel RUNID ends one"}
	}
	return depth, nil
}

// leftBehind is how long the claw that waits for a completion has to take its
// session away itself.
const leftBehind = time.Minute

// Plan is what a pass has to do.
type Plan struct {
	Start  []string  // runs, the first asked for first
	Tell   []string  // runs whose end is to be told
	Aside  []string  // runs whose sessions are to be put aside
	Orphan []string  // runs that say they run: whether their turns do is to be looked at
	Next   time.Time // when there is something to do by the clock; zero: never
}

// Make says what is to be done about all, which are in the order in which they
// were asked for. of are the limits of a caller's runs. inHand tells those that
// are being started.
func Make(all []Run, of func(r Run) Limits, inHand func(id string) bool, now time.Time) Plan {
	var p Plan
	running := map[string]int{} // by caller
	for _, r := range all {
		if r.Kind == Detached && (r.Status == Running || r.Status == Queued && inHand(r.ID)) {
			running[r.Caller]++
		}
	}
	for _, r := range all {
		switch {
		case r.Status == Running && r.Kind == Detached && !inHand(r.ID):
			p.Orphan = append(p.Orphan, r.ID)
		case r.Status == Queued && r.Kind == Detached && !inHand(r.ID):
			if r.NotBefore.After(now) {
				p.wakeAt(r.NotBefore)
			} else if running[r.Caller] < of(r).Concurrent {
				running[r.Caller]++
				p.Start = append(p.Start, r.ID)
			}
		case r.Ended():
			p.after(r, of(r), now)
		}
	}
	return p
}

// after is what is left to be done about a run that has ended.
func (p *Plan) after(r Run, l Limits, now time.Time) {
	switch at := r.Announce.NextAt; {
	case r.Announce.Due() && at.After(now):
		p.wakeAt(at)
	case r.Announce.Due():
		p.Tell = append(p.Tell, r.ID)
	case r.Announce.State == Suspended:
		p.Tell = append(p.Tell, r.ID) // perhaps it can be told again
		p.wakeAt(r.Announce.EndedAt.Add(KeepSuspended))
	}
	if r.SessionKey == "" || !r.ArchivedAt.IsZero() || r.Announce.Due() {
		return
	}
	at := r.EndedAt
	switch {
	case r.Kind == Completion:
		at = at.Add(leftBehind)
	case r.Cleanup == Delete:
	case l.Archive <= 0:
		return
	default:
		at = at.Add(l.Archive)
	}
	if at.After(now) {
		p.wakeAt(at)
		return
	}
	p.Aside = append(p.Aside, r.ID)
}

func (p *Plan) wakeAt(at time.Time) {
	if !at.IsZero() && (p.Next.IsZero() || at.Before(p.Next)) {
		p.Next = at
	}
}

// Turn tells that a completion may begin: it is queued, there is a place for it,
// and none that was asked for earlier could take that place.
func Turn(all []Run, id string) bool {
	total, by := 0, map[string]int{}
	for _, r := range all {
		if r.Kind == Completion && r.Status == Running {
			total++
			by[r.Caller]++
		}
	}
	for _, r := range all {
		if r.Kind != Completion || r.Status != Queued {
			continue
		}
		fits := total < CompletionsAll && by[r.Caller] < CompletionsCaller
		if r.ID == id {
			return fits
		}
		if fits {
			total++
			by[r.Caller]++
		}
	}
	return false
}

// Descendants are the runs that one of these has asked for, and so on down, that
// have not ended: they end with it.
func Descendants(all []Run, of Run) (down []Run) {
	keys := map[string]bool{of.SessionKey: true}
	for again := of.SessionKey != ""; again; {
		again = false
		for _, r := range all {
			if !keys[r.Caller] || r.Caller == "" || r.SessionKey == "" || keys[r.SessionKey] {
				continue
			}
			keys[r.SessionKey], again = true, true
			if !r.Ended() {
				down = append(down, r)
			}
		}
	}
	return down
}
