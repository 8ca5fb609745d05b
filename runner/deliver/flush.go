package deliver

import (
	"context"
	"slices"
	"sync"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/settle"
	"claw/state"
	"claw/state/delivery"
	"claw/state/process"
)

// The bounds of one Flush, for each channel; spec/tasks-recovery.md 2.6.
const (
	budget = 60 * time.Second       // after this no further attempt is begun
	pacing = 250 * time.Millisecond // before an attempt that repeats one
)

// Flushed is what one Flush did.
type Flushed struct {
	Delivered, Failed, Unknown, Deferred int
	Next                                 time.Time // when the earliest of what waits is due; zero: nothing waits
}

// Flush settles attempts whose sender died and sends what is due, oldest
// first, each channel in its own goroutine so that a slow one holds up nobody.
// When ctx ends no further attempt is begun; one that goes on is waited for,
// at most as long as its channel may take. An error is one of the state
// directory: what was being sent then is settled by the next Flush.
func (p *Post) Flush(ctx context.Context) (Flushed, error) {
	f := &flush{Post: p, self: Self()}
	lanes, abandoned, err := f.look()
	if err != nil {
		return Flushed{}, err
	}
	if len(abandoned) > 0 {
		if err := f.abandon(ctx, abandoned); err != nil {
			return f.done, err
		}
		if lanes, _, err = f.look(); err != nil {
			return f.done, err
		}
	}
	var channels sync.WaitGroup
	for channel, rows := range lanes {
		channels.Go(func() { f.lane(ctx, channel, rows) })
	}
	channels.Wait()
	next, err := f.next()
	f.done.Next = next
	if f.failed != nil {
		err = f.failed
	}
	return f.done, err
}

// Self is this process as the sender of an attempt.
func Self() delivery.Sender { return delivery.Sender(proc.Self()) }

// flush is one Flush, or one attempt by hand.
type flush struct {
	*Post
	self delivery.Sender

	mu     sync.Mutex // the following, for the lanes
	done   Flushed
	failed error
}

// rows are the deliveries that are not over. With none, which is usual, no
// record is decoded.
func (f *flush) rows() ([]delivery.Delivery, error) {
	var live []delivery.Delivery
	err := f.Store.View(func(tx *state.Tx) error {
		live = nil
		any := false
		for _, s := range []delivery.State{delivery.Pending, delivery.Sending, delivery.Unknown} {
			has, err := state.Deliveries.Mentions(tx, `"state":"`+string(s)+`"`)
			if err != nil {
				return err
			}
			any = any || has
		}
		if !any {
			return nil
		}
		all, err := state.Deliveries.All(tx)
		for _, r := range all {
			if s := r.Rec.State; s == delivery.Pending || s == delivery.Sending || s == delivery.Unknown {
				live = append(live, r.Rec)
			}
		}
		return err
	})
	return live, err
}

// look sorts what is to be done now: by channel what is due, and the attempts
// of which nobody will write the result.
func (f *flush) look() (lanes map[string][]delivery.Delivery, abandoned []delivery.Delivery, err error) {
	live, err := f.rows()
	if err != nil {
		return nil, nil, err
	}
	now := f.Clock.Now()
	lanes = map[string][]delivery.Delivery{}
	for _, d := range live {
		switch {
		case d.State == delivery.Sending && f.orphaned(d):
			abandoned = append(abandoned, d)
		case d.State != delivery.Sending && f.due(d, now):
			lanes[d.Route.Channel] = append(lanes[d.Route.Channel], d)
		}
	}
	return lanes, abandoned, nil
}

// orphaned tells an attempt whose sender provably is no more, or is we and
// knows nothing of it.
func (f *flush) orphaned(d delivery.Delivery) bool {
	if d.Sender == f.self {
		return !flying.has(d.ID)
	}
	return !proc.Alive(process.Identity(d.Sender))
}

func (f *flush) due(d delivery.Delivery, now time.Time) bool {
	at, waits := f.When(d)
	return waits && !at.After(now)
}

// When is delivery.Next with what the channel has to do with it: an unknown
// outcome waits for nothing where nobody can be asked, and what only waited
// for a foreground need not wait once there is one.
func (p *Post) When(d delivery.Delivery) (at time.Time, waits bool) {
	ch, known := p.Channel(d.Route.Channel)
	at, waits = delivery.Next(d)
	switch {
	case d.State == delivery.Unknown:
		return at, waits && known && len(ch.Reconcile) > 0
	case waits && known && ch.Type == Stdout && p.Stdout != nil && d.Attempts == 0:
		return time.Time{}, true
	}
	return at, waits
}

// next is when the earliest of what waits is due: now for what could have been
// done and was not.
func (f *flush) next() (time.Time, error) {
	live, err := f.rows()
	var next time.Time
	for _, d := range live {
		at, waits := f.When(d)
		if !waits {
			continue
		}
		if now := f.Clock.Now(); at.Before(now) {
			at = now
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next, err
}

// abandon settles attempts that nobody will settle otherwise. One whose result
// is known here, and only could not be written when it came, gets that.
func (f *flush) abandon(ctx context.Context, rows []delivery.Delivery) error {
	var lost int
	err := f.Store.Update(ctx, func(tx *state.Tx) error {
		lost = 0
		for _, seen := range rows {
			row, ok, err := state.Deliveries.Get(tx, seen.ID)
			if err != nil {
				return err
			}
			if !ok || row.Rec.State != delivery.Sending || !row.Rec.AttemptedAt.Equal(seen.AttemptedAt) || row.Rec.Sender != seen.Sender {
				continue
			}
			next, err := f.belated(row.Rec, tx.Now())
			if err != nil {
				return err
			}
			if next.State == delivery.Unknown {
				lost++
			}
			if err := f.put(tx, row.Rev, next); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		f.done.Unknown += lost
		for _, seen := range rows {
			flying.forget(seen.ID)
		}
	}
	return err
}

// DiedText is what is known of an attempt whose sender died.
const DiedText = "claw ended while it was being sent; it may or may not have arrived"

func (f *flush) belated(d delivery.Delivery, now time.Time) (delivery.Delivery, error) {
	if o, known := flying.result(d.ID); known && d.Sender == f.self {
		return after(d, o, now)
	}
	return delivery.Lose(d, DiedText, now)
}

// put writes d and what follows from it for its task and for others.
func (p *Post) put(tx *state.Tx, rev int64, d delivery.Delivery) error {
	if err := state.Deliveries.Put(tx, d.ID, rev, d); err != nil {
		return err
	}
	if err := settle.Told(tx, d); err != nil || p.OnEnd == nil || d.State == delivery.Pending || d.State == delivery.Sending {
		return err
	}
	return p.OnEnd(tx, d)
}

// lane works off one channel.
func (f *flush) lane(ctx context.Context, channel string, rows []delivery.Delivery) {
	slices.SortFunc(rows, func(a, b delivery.Delivery) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return compare(a.ID, b.ID)
	})
	watch := clock.New()
	for i, d := range rows {
		if ctx.Err() != nil || watch.Elapsed() >= budget {
			return
		}
		if i > 0 && d.Attempts > 0 && clock.Sleep(ctx, watch, pacing) != nil {
			return
		}
		if _, err := f.one(ctx, d); err != nil {
			f.mu.Lock()
			f.failed = err
			f.mu.Unlock()
			return
		}
	}
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// count adds one result to the summary, if it is one.
func (f *flush) count(d delivery.Delivery, changed bool) {
	if !changed {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch d.State {
	case delivery.Delivered:
		f.done.Delivered++
	case delivery.Failed:
		f.done.Failed++
	case delivery.Unknown:
		f.done.Unknown++
	case delivery.Pending:
		f.done.Deferred++
	}
}
