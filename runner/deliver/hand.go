package deliver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/state"
	"claw/state/delivery"
	"claw/state/process"
)

// RefusedError is a wish about a delivery that is not granted; nothing has
// changed.
type RefusedError struct {
	Text string
	Hint string
}

func (e *RefusedError) Error() string { return e.Text }

// Remedy says what can be done instead.
func (e *RefusedError) Remedy() string { return e.Hint }

// Seen is d as it really is: an attempt whose sender is gone is shown as
// unknown without anything being written.
func Seen(d delivery.Delivery, now time.Time) delivery.Delivery {
	if d.State != delivery.Sending || proc.Alive(process.Identity(d.Sender)) {
		return d
	}
	lost, err := delivery.Lose(d, DiedText, now)
	if err != nil {
		return d
	}
	return lost
}

// List are the deliveries as they really are: first what needs a person's
// look, then what goes on, then the rest; within each the newest first.
// archived adds those that have left the ledger.
func List(store *state.Store, now time.Time, archived bool) ([]delivery.Delivery, error) {
	var all []delivery.Delivery
	err := store.View(func(tx *state.Tx) error {
		all = nil
		rows, err := state.Deliveries.All(tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			all = append(all, Seen(r.Rec, now))
		}
		if !archived {
			return nil
		}
		for r, err := range state.Deliveries.Archived(tx) {
			if err != nil {
				return err
			}
			all = append(all, r.Rec)
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b delivery.Delivery) int {
		if r := rank(a.State) - rank(b.State); r != 0 {
			return r
		}
		return strings.Compare(b.ID, a.ID)
	})
	return all, err
}

func rank(s delivery.State) int {
	switch {
	case s.NeedsLook():
		return 0
	case !s.Ended():
		return 1
	}
	return 2
}

// Find is the one delivery that a person means, wherever it is kept. The error
// is one of delivery.Resolve, or of the state directory.
func Find(store *state.Store, now time.Time, query string) (delivery.Delivery, error) {
	for _, archived := range []bool{false, true} {
		all, err := List(store, now, archived)
		if err != nil {
			return delivery.Delivery{}, err
		}
		ids := make([]string, len(all))
		for i, d := range all {
			ids[i] = d.ID
		}
		i, err := delivery.Resolve(query, ids)
		if err == nil {
			return all[i], nil
		}
		if _, missing := err.(*delivery.NotFoundError); !missing || archived {
			return delivery.Delivery{}, err
		}
	}
	return delivery.Delivery{}, nil // not reached
}

// Retry sends a delivery now because a person says so: one that waits, has
// failed, or may have arrived. The idempotency key is the same. It returns the
// delivery as the attempt left it. One that somebody else is sending is waited
// for: what that comes to counts. The error is a *RefusedError for one that
// has arrived or was dismissed, and for a send that does not end.
func (p *Post) Retry(ctx context.Context, id string) (delivery.Delivery, error) {
	f := &flush{Post: p, self: Self()}
	d, err := f.current(ctx, id)
	if err != nil {
		return d, err
	}
	d, made, err := f.attempt(ctx, d, func(tx *state.Tx) (delivery.Delivery, int64, bool, error) {
		row, ok, err := state.Deliveries.Get(tx, id)
		if err != nil || !ok || row.Rec.State == delivery.Sending {
			return row.Rec, row.Rev, false, err
		}
		d, err := delivery.Retry(row.Rec, tx.Now())
		return d, row.Rev, err == nil, err
	})
	if err == nil && !made {
		d, err = f.await(ctx, d)
	}
	return d, refused(d, "retried", err)
}

// current is a live delivery. An attempt that nobody will finish is settled
// first.
func (f *flush) current(ctx context.Context, id string) (delivery.Delivery, error) {
	d, err := f.read(id)
	if err != nil || d.State != delivery.Sending || !f.orphaned(d) {
		return d, err
	}
	if err := f.abandon(ctx, []delivery.Delivery{d}); err != nil {
		return d, err
	}
	return f.read(id)
}

func (f *flush) read(id string) (d delivery.Delivery, err error) {
	err = f.Store.View(func(tx *state.Tx) error {
		row, ok, err := state.Deliveries.Get(tx, id)
		if err == nil && !ok {
			err = missing(id)
		}
		d = row.Rec
		return err
	})
	return d, err
}

func missing(id string) error {
	return &delivery.NotFoundError{Query: id, Hint: "claw deliveries list shows what there is"}
}

// How often await looks, and how much longer than the channel may take.
const (
	lookEvery = 20 * time.Millisecond
	overtime  = 10 * time.Second
)

// await waits for an attempt of somebody else to be over. The error is a
// *delivery.MoveError when it is not, long after it should have been.
func (f *flush) await(ctx context.Context, d delivery.Delivery) (delivery.Delivery, error) {
	ch, _ := f.Channel(d.Route.Channel)
	watch := clock.New()
	for {
		d, err := f.read(d.ID)
		if err != nil {
			return d, err
		}
		if d = Seen(d, f.Clock.Now()); d.State != delivery.Sending && !flying.has(d.ID) {
			return d, nil
		}
		if watch.Elapsed() > ch.Timeout+overtime {
			return d, &delivery.MoveError{From: delivery.Sending, To: delivery.Pending}
		}
		if err := clock.Sleep(ctx, watch, lookEvery); err != nil {
			return d, err
		}
	}
}

// Dismiss settles a delivery without sending it: it is not looked at again.
// Errors are as in Retry.
func (p *Post) Dismiss(ctx context.Context, id, note string) (delivery.Delivery, error) {
	f := &flush{Post: p, self: Self()}
	d, err := f.wish(ctx, id, func(d delivery.Delivery, now time.Time) (delivery.Delivery, error) {
		return delivery.Dismiss(d, note, now)
	})
	return d, refused(d, "dismissed", err)
}

// wish changes one delivery. An attempt that nobody will finish is settled
// first.
func (f *flush) wish(ctx context.Context, id string, act func(delivery.Delivery, time.Time) (delivery.Delivery, error)) (delivery.Delivery, error) {
	d, _, err := f.rewrite(ctx, id, func(d delivery.Delivery, now time.Time) (delivery.Delivery, bool, error) {
		if d.State == delivery.Sending && f.orphaned(d) {
			lost, err := f.belated(d, now)
			if err != nil {
				return d, false, err
			}
			d = lost
		}
		next, err := act(d, now)
		return next, true, err
	})
	if err == nil {
		flying.forget(id)
	}
	if err == nil && d.ID == "" {
		err = missing(id)
	}
	return d, err
}

// refused says in words why a delivery stays as it is.
func refused(d delivery.Delivery, verb string, err error) error {
	move, ok := err.(*delivery.MoveError)
	if !ok {
		return err
	}
	name := delivery.Short(d.ID)
	switch move.From {
	case delivery.Sending:
		return &RefusedError{Text: name + " is being sent at this moment and cannot be " + verb, Hint: "claw deliveries show " + name + " says how it went"}
	case delivery.Delivered:
		return &RefusedError{Text: fmt.Sprintf("%s has arrived (%s) and cannot be %s", name, d.ReceiptAt.Format(time.RFC3339), verb)}
	case delivery.Dismissed:
		return &RefusedError{Text: name + " was dismissed already"}
	}
	return err
}

// TestText is the message that Test sends.
const TestText = "This is a test message of claw. If you can read it, the channel works."

// Test sends a test message through a channel, as any other message: with an
// intent and a receipt. to may be empty. It returns the delivery as the
// attempt left it; one that has not arrived is dismissed then, for a test that
// comes later tells nobody anything.
func (p *Post) Test(ctx context.Context, channel, to string) (delivery.Delivery, error) {
	where := p.address(delivery.Route{Channel: channel, To: to})
	if where.Reason != "" {
		return delivery.Delivery{}, &RefusedError{Text: "there is no channel " + channel, Hint: "known are " + strings.Join(p.Names(), ", ")}
	}
	d := filled(delivery.Delivery{
		Route: where.Route, Title: "claw: test message", Body: TestText, Text: TestText, Source: delivery.Source{Kind: "test", Name: channel},
	}, p.Clock.Now())
	f := &flush{Post: p, self: Self()}
	d, _, err := f.attempt(ctx, d, func(*state.Tx) (delivery.Delivery, int64, bool, error) { return d, 0, true, nil })
	if err == nil && d.State != delivery.Delivered {
		_, err = p.Dismiss(ctx, d.ID, "a test")
	}
	return d, err
}
