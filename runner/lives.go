package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"claw/runner/internal/proc"
	"claw/state"
	"claw/state/boot"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/ulid"
)

// lives is what the ledger of boots says at one instant.
type lives struct {
	boots   []state.Row[boot.Boot]
	alive   string // id of the boot that lives; "" when none does
	breaker boot.Breaker
	waiting []state.Row[boot.Continuation]
}

// readLives reads them in one transaction. self is the boot of this runner; a
// tick has none and asks who holds the lock. It does so after it has read the
// rows: whoever wrote a row held the lock then, and writes how it ended before
// it lets go.
func readLives(tx *state.Tx, dir, self string, now time.Time) (lives, error) {
	var v lives
	var err error
	if v.boots, err = state.Boots.All(tx); err != nil {
		return v, err
	}
	if v.alive = self; self == "" && len(v.boots) > 0 && isUp(dir) {
		v.alive = living(v.boots)
	}
	rows := make([]boot.Boot, len(v.boots))
	for i, row := range v.boots {
		rows[i] = row.Rec
	}
	v.breaker = boot.Assess(rows, v.alive, now)
	v.waiting, err = state.Continuations.All(tx)
	return v, err
}

// living is the boot of the runner that holds the lock: the newest open row
// whose process is there. Where processes cannot be told apart, the newest.
func living(rows []state.Row[boot.Boot]) string {
	for i := len(rows) - 1; i >= 0; i-- {
		b := rows[i].Rec
		if b.Outcome == boot.Open && (b.Owner.IsZero() || proc.Alive(b.Owner)) {
			return b.ID
		}
	}
	return ""
}

// row is the row of a boot.
func (v lives) row(id string) (state.Row[boot.Boot], bool) {
	for _, row := range v.boots {
		if row.ID == id && id != "" {
			return row, true
		}
	}
	return state.Row[boot.Boot]{}, false
}

// untold are the boots whose row has to be changed, as it is to be: those that
// died and of which nobody has said so, and those whose safe mode is over.
func (v lives) untold(now time.Time) []state.Row[boot.Boot] {
	over := map[string]bool{}
	for _, id := range v.breaker.Recovered {
		over[id] = true
	}
	var changed []state.Row[boot.Boot]
	for _, row := range v.boots {
		b := row.Rec.Note(boot.FateOf(row.Rec, row.ID == v.alive, proc.Boot()), now)
		if over[row.ID] {
			b = b.Recover(now)
		}
		if b != row.Rec {
			changed = append(changed, state.Row[boot.Boot]{ID: row.ID, Rev: row.Rev, Rec: b})
		}
	}
	return changed
}

// due are the continuations that may be carried out in a mode.
func (v lives) due(m boot.Mode) []state.Row[boot.Continuation] {
	if !m.Allows(boot.Continue) {
		return nil
	}
	var due []state.Row[boot.Continuation]
	for _, row := range v.waiting {
		if row.Rec.Due(v.alive) {
			due = append(due, row)
		}
	}
	return due
}

// review looks at the boots before a pass: how much may begin by itself, and
// what this runner was told to do. It writes what became of runners that died,
// and queues what sessions are to go on with after a restart. Where the boots
// cannot be read nothing is held back: what is damaged there must not stop
// everything (spec/tasks-recovery.md 4.11).
func (s *shift) review(ctx context.Context) {
	now := s.clock.Now()
	var v lives
	err := s.r.Store.View(func(tx *state.Tx) (err error) {
		v, err = readLives(tx, s.dir, s.self, now)
		return err
	})
	if err != nil {
		s.fail(fmt.Errorf("the boots of runners cannot be read, so that nothing is held back: %w", err))
		s.setMode(boot.Normal, boot.Breaker{})
		return
	}
	s.follow(v)
	if len(v.untold(now))+len(v.due(s.mode)) == 0 {
		return
	}
	err = s.r.Store.Update(ctx, func(tx *state.Tx) error { return s.settleLives(tx, now) })
	s.fail(err)
}

// follow takes over the mode, and the order of this runner.
func (s *shift) follow(v lives) {
	m := v.breaker.Mode
	if s.r.NoSafeMode {
		m = boot.Normal
	}
	if s.askedSafe {
		m = boot.Safe
	}
	if row, ok := v.row(s.self); ok {
		s.order = row.Rec.Order
	}
	if !s.order.IsZero() {
		m = boot.Draining
	}
	s.setMode(m, v.breaker)
}

func (s *shift) setMode(m boot.Mode, b boot.Breaker) {
	was := s.mode
	s.mode, s.safeUntil = m, b.Until
	if m != boot.Safe || s.askedSafe {
		s.safeUntil = time.Time{}
	}
	switch {
	case m == was:
	case m == boot.Safe:
		s.done("safe mode: %s", s.safeWords())
	case was == boot.Safe && m == boot.Normal:
		s.done("safe mode is over; what has waited begins")
	}
	s.report.Mode = ""
	if m != boot.Normal {
		s.report.Mode = m
	}
}

// safeWords is why there is safe mode.
func (s *shift) safeWords() string {
	if s.askedSafe {
		return "it was asked for with --safe, so that nothing begins by itself"
	}
	return boot.Safe.Why()
}

// settleLives is what review writes, by what is there then.
func (s *shift) settleLives(tx *state.Tx, now time.Time) error {
	v, err := readLives(tx, s.dir, s.self, now)
	if err != nil {
		return err
	}
	for _, row := range v.untold(now) {
		if err := state.Boots.Put(tx, row.ID, row.Rev, row.Rec); err != nil {
			return err
		}
	}
	for _, row := range v.due(s.mode) {
		if err := goOn(tx, row); err != nil {
			return err
		}
	}
	return nil
}

// goOn makes an event of a continuation, in one transaction: it is queued once,
// and what is true of every event is true of it from then on.
func goOn(tx *state.Tx, row state.Row[boot.Continuation]) error {
	c := row.Rec
	if err := state.Continuations.Delete(tx, row.ID, row.Rev); err != nil {
		return err
	}
	_, there, err := state.Events.Find(tx, c.ID)
	if there || err != nil {
		return err
	}
	return state.Events.Put(tx, c.ID, 0, event.Event{
		ID: c.ID, State: event.Queued, Kind: event.KindRestart, SessionKey: c.SessionKey, Agent: c.Agent,
		Text: "The runner has been restarted, as was asked. Go on with this: " + c.Text, Route: c.Route, CreatedAt: tx.Now(),
	})
}

// Assess says how much begins by itself on a state directory, as the next pass
// will find it. It writes nothing.
func Assess(store *state.Store, now time.Time) (boot.Breaker, error) {
	var v lives
	err := store.View(func(tx *state.Tx) (err error) {
		v, err = readLives(tx, store.Dir(), "", now)
		return err
	})
	return v.breaker, err
}

// beginBoot writes the row of this life, before anything else is done. Where
// the rows cannot be read it goes on without one, and says so; where nothing can
// be written that is the error. The note comes first: whoever sees the lock
// wants to know who holds it, and the disk need not be waited for.
func (l *life) beginBoot(ctx context.Context) error {
	s := l.shift
	now := l.Clock.Now()
	id := ulid.New(now)
	seen, _ := Assess(s.r.Store, now)
	l.note.BootID, l.note.Mode = id, string(boot.Normal)
	if l.Safe || seen.Mode == boot.Safe && !s.r.NoSafeMode {
		l.note.Mode, l.note.Why, l.note.Until = string(boot.Safe), s.safeWords(), seen.Until
	}
	l.write()
	v, untold, err := l.putRow(ctx, id, now, true)
	if untold != nil && !unwritable(err) {
		l.Log("error: that claw is in safe mode cannot be told in the inbox: " + untold.Error())
		v, _, err = l.putRow(ctx, id, now, false)
	}
	switch {
	case err == nil:
		s.self = id
		l.tellLives(v, now)
	case unwritable(err) || ctx.Err() != nil:
		return err
	default:
		l.note.BootID = ""
		l.Log("error: the boots of runners cannot be read, so that nothing is held back: " + err.Error())
	}
	return nil
}

// putRow writes the row of this life, and what this life has found of those before
// it. With tell it leaves the message of the first trip; untold is why that could
// not be done, and then nothing is written. A ledger of messages that is damaged is
// no reason to forget who has died.
func (l *life) putRow(ctx context.Context, id string, now time.Time, tell bool) (v lives, untold, err error) {
	err = l.shift.r.Store.Update(ctx, func(tx *state.Tx) (err error) {
		untold = nil
		if v, err = readLives(tx, l.Dir, "none", now); err != nil {
			return err
		}
		for _, row := range v.untold(now) {
			if err := state.Boots.Put(tx, row.ID, row.Rev, row.Rec); err != nil {
				return err
			}
		}
		if tell {
			if untold = l.tellTrip(tx, v); untold != nil {
				return untold
			}
		}
		return state.Boots.Add(tx, id, l.firstRow(id, v, now))
	})
	return v, untold, err
}

// tellTrip leaves a message in the inbox when runners have died so often that
// nothing begins by itself from now on: channels wait as well, and whoever asks
// in the morning why nothing was done is to find it. The row of this life is
// written in the same transaction, so that it is told once.
func (l *life) tellTrip(tx *state.Tx, v lives) error {
	post := l.shift.r.Post
	if !v.breaker.Trip || l.shift.r.NoSafeMode || l.Safe || post == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("The runner has failed " + itoa(len(v.breaker.Unclean)) + " times within five minutes, so that turns, automations and messages wait (safe mode) until " +
		v.breaker.Until.Local().Format(time.RFC3339) + ", or longer if it fails again:\n")
	for _, id := range v.breaker.Unclean {
		row, _ := v.row(id)
		b.WriteString("\n  " + bootWords(row.Rec))
	}
	b.WriteString("\n\nclaw doctor says what is wrong; by hand everything can be started.")
	return post.IntoInbox(tx, delivery.Delivery{
		IdempotencyKey: "safe:" + v.breaker.Unclean[len(v.breaker.Unclean)-1], Title: "claw is in safe mode", Text: b.String(),
		Source: delivery.Source{Kind: "runner"},
	})
}

// firstRow is the row of this life.
func (l *life) firstRow(id string, v lives, now time.Time) boot.Boot {
	seen := v.breaker
	if l.shift.r.NoSafeMode {
		seen.Mode = boot.Normal
	}
	b := boot.Begin(id, proc.Self(), l.Version, seen, now)
	switch {
	case b.StartupReason != "":
	case l.Safe:
		b.StartupReason = boot.AskedSafe
	case l.Restarted:
		b.StartupReason = boot.Restarted
	}
	return b
}

// tellLives says of which runners this one has found that they died, and, when
// they were too many, all that is known of them.
func (l *life) tellLives(v lives, now time.Time) {
	for _, row := range v.untold(now) {
		if row.Rec.FoundAt.Equal(now) {
			l.Log("the runner of " + row.Rec.StartedAt.Local().Format(time.RFC3339) + foundWords(row.Rec.Found))
		}
	}
	if !v.breaker.Trip || l.shift.r.NoSafeMode {
		return
	}
	for _, id := range v.breaker.Unclean {
		row, _ := v.row(id)
		l.Log("  " + bootWords(row.Rec))
	}
}

func foundWords(f boot.Fate) string {
	switch f {
	case boot.Outage:
		return " went down with the machine"
	case boot.Unknown:
		return " did not end in order; why is not known"
	}
	return " died without a word"
}

// bootWords is one life in a line.
func bootWords(b boot.Boot) string {
	words := "boot " + b.ID + " of " + b.StartedAt.Local().Format(time.RFC3339) + ", pid " + itoa(b.Owner.PID)
	if b.Outcome == boot.StartupFailed {
		return words + ": could not begin: " + b.Reason
	}
	return words + foundWords(b.Found)
}

// readyBoot notes that it works.
func (l *life) readyBoot(ctx context.Context) {
	l.changeBoot(ctx, func(b boot.Boot) (boot.Boot, error) { return b.Ready(l.Clock.Now()), nil })
}

// endBoot writes how this life ended.
func (l *life) endBoot(o boot.Outcome, reason string) {
	l.changeBoot(context.Background(), func(b boot.Boot) (boot.Boot, error) { return b.End(o, reason, l.Clock.Now()) })
}

// changeBoot changes the row of this life. An error is said and is nothing to
// stop for: a row that stays open is found by whoever comes next.
func (l *life) changeBoot(ctx context.Context, change func(boot.Boot) (boot.Boot, error)) {
	s := l.shift
	if s.self == "" || l.outdated() {
		return
	}
	if s.r == nil && l.load(false) != nil {
		return
	}
	err := s.r.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Boots.Get(tx, s.self)
		if err != nil || !ok {
			return err
		}
		b, err := change(row.Rec)
		if err != nil || b == row.Rec {
			return err
		}
		return state.Boots.Put(tx, row.ID, row.Rev, b)
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		l.Log("error: what is remembered of this runner: " + err.Error())
	}
}
