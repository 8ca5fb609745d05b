package session_test

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claw/state/session"
)

// world is a session, its cycle, and a log of what was done to it by which the
// invariants are judged: nothing of it is read from the cycle.
type world struct {
	t       *rapid.T
	c       session.Cycle
	now     time.Time
	id      string // of the transcript
	serial  int
	seen    []session.View // somebody may act by an old look
	attempt string         // the turn that has the cycle
	front   string         // the turn of a person in the session

	open       bool // something waits, or an attempt is at work
	dispatched int  // in this cycle, not given back
	first      string
	tombstoned bool
}

func (w *world) turn() string {
	w.serial++
	return "turn" + strconv.Itoa(w.serial)
}

// did notes a command and what came of it.
func (w *world) did(name string, after session.Cycle, no *session.Rejection) bool {
	w.t.Helper()
	before := w.c
	switch {
	case no != nil && after != before:
		w.t.Fatalf("%s: rejected (%s), and changed %+v to %+v", name, no.Code, before, after)
	case no != nil || after == before:
	case after.ID == before.ID && after.Revision != before.Revision+1, after.ID != before.ID && after.Revision != 1:
		w.t.Fatalf("%s: revision %d after %d", name, after.Revision, before.Revision)
	case w.tombstoned && after.SessionID == before.SessionID:
		w.t.Fatalf("%s: a tombstone has become %+v", name, after)
	}
	w.c = after
	return no == nil && after != before
}

// check compares the cycle with the log.
func (w *world) check() {
	w.t.Helper()
	c := w.c
	if err := c.Check(); err != nil {
		w.t.Fatalf("%+v: %v", c, err)
	}
	switch {
	case c.Charged != w.dispatched || w.dispatched > 3:
		w.t.Fatalf("%d charged, by the log %d: %+v", c.Charged, w.dispatched, c)
	case w.first != "" && c.DispatchID != w.first:
		w.t.Fatalf("dispatch %s, the first was %s", c.DispatchID, w.first)
	case (c.Phase == session.CycleTombstoned) != w.tombstoned:
		w.t.Fatalf("%s, by the log tombstoned %v", c.Phase, w.tombstoned)
	case (c.Phase == session.CycleReserved) != (w.attempt != ""):
		w.t.Fatalf("%s, by the log at work: %q", c.Phase, w.attempt)
	case (c.Phase == session.CycleInterrupted || c.Phase == session.CycleReserved) != w.open:
		w.t.Fatalf("%s, by the log open %v", c.Phase, w.open)
	case c.Foreground != w.front:
		w.t.Fatalf("foreground %q, by the log %q", c.Foreground, w.front)
	}
	v := c.View(session.Sighting{SessionID: w.id})
	if want := w.view(); v.State != want {
		w.t.Fatalf("%s, by the log %s", v.State, want)
	}
}

func (w *world) view() session.ViewState {
	switch {
	case w.tombstoned:
		return session.ViewTombstoned
	case !w.open:
		return session.ViewInactive
	case w.attempt != "" || w.front != "":
		return session.ViewBlocked
	case w.dispatched == 3:
		return session.ViewExhausted
	}
	return session.ViewRecoverable
}

func (w *world) begin() {
	w.open, w.dispatched, w.first, w.front, w.attempt = true, 0, "", "", ""
}

func (w *world) over() { w.open, w.attempt, w.front = false, "", "" }

// ticket is one that somebody has seen, which need not be the last.
func (w *world) ticket() session.View {
	if len(w.seen) == 0 || rapid.Bool().Draw(w.t, "fresh") {
		return w.c.View(session.Sighting{SessionID: w.id})
	}
	return rapid.SampledFrom(w.seen).Draw(w.t, "look")
}

// TestCycleAgainstALog: no sequence of commands, fresh or late, right or wrong,
// charges more than three times, moves a tombstone, dispatches under two ids,
// or changes anything by a rejection; each accepted one is one revision.
func TestCycleAgainstALog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, now: at, id: "S0"}
		someone := func() string {
			return rapid.SampledFrom([]string{w.attempt, w.front, "turn0", "turn" + strconv.Itoa(w.serial)}).Draw(t, "who")
		}
		t.Repeat(map[string]func(*rapid.T){
			"interrupt": func(*rapid.T) {
				id := w.turn()
				after, no := w.c.Interrupt(session.Loss{SessionID: w.id, TurnID: id, At: w.now})
				was := w.open
				if w.did("interrupt", after, no) {
					if was {
						w.front = ""
					} else {
						w.begin()
					}
				} else if !w.tombstoned && w.attempt == "" {
					t.Fatalf("rejected: %+v", no)
				}
			},
			"look": func(*rapid.T) { w.seen = append(w.seen, w.c.View(session.Sighting{SessionID: w.id})) },
			"reserve": func(*rapid.T) {
				v, id := w.ticket(), w.turn()
				free := w.view() == session.ViewRecoverable && v.Ticket == w.c.Ticket()
				after, no := w.c.Reserve(v.Ticket, id, max(v.NextAttempt, 1), w.now)
				done := w.did("reserve", after, no)
				if done != free {
					t.Fatalf("reserved %v, by the log %v (%+v)", done, free, no)
				}
				if done {
					w.attempt, w.dispatched = id, w.dispatched+1
					if w.first == "" {
						w.first = id
					}
				}
			},
			"end": func(*rapid.T) {
				id := someone()
				how := rapid.SampledFrom([]session.AttemptEnd{
					session.AttemptAnswered, session.AttemptRefused, session.AttemptUncertain, session.AttemptUnstarted, session.AttemptBroke, session.AttemptStopped,
				}).Draw(t, "how")
				mine := id != "" && id == w.attempt
				after, no := w.c.End(id, how, "", w.now)
				if done := w.did("end", after, no); done != mine {
					t.Fatalf("the end by %q: %v, by the log %v", id, done, mine)
				} else if !done {
					return
				}
				switch w.attempt = ""; how {
				case session.AttemptRefused:
					w.dispatched--
				case session.AttemptUncertain, session.AttemptUnstarted:
				default:
					w.over()
				}
			},
			"claim": func(*rapid.T) {
				id := w.turn()
				v := w.view()
				after, no := w.c.Claim(w.id, id, w.now)
				if w.did("claim", after, no) {
					if v != session.ViewRecoverable {
						t.Fatalf("claimed what is %s", v)
					}
					w.front = id
				} else if v == session.ViewRecoverable || no == nil && v != session.ViewInactive {
					t.Fatalf("not claimed: %s, %+v", v, no)
				}
			},
			"release": func(*rapid.T) {
				id, done := someone(), rapid.Bool().Draw(t, "done")
				mine := id != "" && id == w.front
				after, no := w.c.Release(id, done, w.now)
				if did := w.did("release", after, no); did != mine {
					t.Fatalf("released by %q: %v, by the log %v", id, did, mine)
				} else if did && done {
					w.over()
				} else if did {
					w.front = ""
				}
			},
			"observe": func(*rapid.T) {
				gone := rapid.Bool().Draw(t, "gone")
				owner := session.OwnerUnknown
				if gone {
					owner = session.OwnerGone
				}
				after, v := w.c.Observe(session.Sighting{SessionID: w.id, Owner: owner}, w.now)
				if w.did("observe", after, nil) && !gone {
					t.Fatal("what is not known was let go of")
				}
				if gone {
					w.attempt, w.front = "", ""
				}
				w.seen = append(w.seen, v)
			},
			"tombstone": func(*rapid.T) {
				v := w.ticket()
				due := w.view() == session.ViewExhausted && v.Ticket == w.c.Ticket()
				after, no := w.c.Tombstone(v.Ticket, w.now)
				done := w.did("tombstone", after, no)
				if done != due {
					t.Fatalf("tombstoned %v, by the log %v (%+v)", done, due, no)
				}
				if done {
					w.over()
					w.tombstoned = true
				}
			},
			"close": func(*rapid.T) {
				after, no := w.c.Close(w.ticket().Ticket, session.EndDismissed, "", w.now)
				if w.did("close", after, no) {
					w.over()
				}
			},
			"dismiss": func(*rapid.T) {
				may := w.view() == session.ViewRecoverable
				after, no := w.c.Dismiss(w.now)
				done := w.did("dismiss", after, no)
				if done != may {
					t.Fatalf("dismissed %v, by the log %v (%+v)", done, may, no)
				}
				if done {
					w.over()
				}
			},
			"retry": func(*rapid.T) {
				after, no := w.c.Retry(w.now)
				w.did("retry", after, no)
			},
			"a new conversation": func(*rapid.T) {
				if w.attempt != "" || w.front != "" {
					return // the lane is taken
				}
				s := session.Session{ID: w.id, Recovery: w.c}.Renewed("S"+w.turn(), w.now)
				w.id, w.c = s.ID, s.Recovery
				w.tombstoned, w.dispatched, w.first = false, 0, ""
				w.over()
			},
			"time": func(*rapid.T) {
				w.now = w.now.Add(time.Duration(rapid.IntRange(-7200, 7200).Draw(t, "seconds")) * time.Second)
			},
			"": func(*rapid.T) { w.check() },
		})
	})
}
