package deliver

import (
	"context"
	"errors"
	"time"

	"claw/runner/internal/failpoint"
	"claw/runner/settle"
	"claw/state"
	"claw/state/delivery"
)

// TooOldText says why a message was not sent by itself.
const TooOldText = "too old: it has waited for three days; claw deliveries retry sends it all the same"

// one takes one delivery that is due a step further and returns it as it is
// then.
func (f *flush) one(ctx context.Context, d delivery.Delivery) (delivery.Delivery, error) {
	switch {
	case d.State == delivery.Unknown:
		ch, _ := f.Channel(d.Route.Channel)
		return f.reconcile(ctx, ch, d)
	case delivery.TooOld(d, f.Clock.Now()):
		return f.change(ctx, d, func(d delivery.Delivery, now time.Time) (delivery.Delivery, error) {
			return delivery.Fail(d, TooOldText, true, now)
		})
	}
	d, _, err := f.attempt(ctx, d, func(tx *state.Tx) (delivery.Delivery, int64, bool, error) {
		row, ok, err := state.Deliveries.Get(tx, d.ID)
		return row.Rec, row.Rev, ok && row.Rec.State == delivery.Pending && f.due(row.Rec, tx.Now()), err
	})
	return d, err
}

// pick is the delivery that is to be attempted, as it is in the transaction
// that begins the attempt: pending, with the revision of its row. False where
// none is to be begun.
type pick func(tx *state.Tx) (d delivery.Delivery, rev int64, ok bool, err error)

// attempt makes one attempt and returns the delivery as it is then. What
// choose does and the attempt's marker are one transaction: whoever its write
// wakes finds the attempt begun. about is what the channel gets; its route and
// text never change. made is false when choose did not want it, or somebody
// else in this process is at it.
func (f *flush) attempt(ctx context.Context, about delivery.Delivery, choose pick) (d delivery.Delivery, made bool, err error) {
	send, mark := f.entry(about)
	if send == nil {
		return f.mark(ctx, about, choose, mark)
	}
	if !flying.start(about.ID) {
		return about, false, nil
	}
	begun, made, err := f.mark(ctx, about, choose, mark)
	if errors.Is(err, state.ErrNotDurable) && made {
		// The marker stands, but a power cut could take it: nothing is sent on
		// it, and the next Flush takes it back.
		flying.arrived(about.ID, *notReady(err.Error()))
	}
	defer flying.land(about.ID)
	if err != nil || !made {
		return begun, false, err
	}
	failpoint.Hit("delivery-begun")
	o := send()
	failpoint.Hit("delivery-sent")
	flying.arrived(about.ID, o)
	d, err = f.conclude(ctx, begun, o)
	return d, true, err
}

// act changes a delivery in a transaction.
type act func(tx *state.Tx, d delivery.Delivery) (delivery.Delivery, error)

// entry is how an attempt begins: what sends the message once the marker of
// the attempt stands. nil is for what is over with the transaction, be it a
// channel that cannot be tried or our own inbox.
func (f *flush) entry(d delivery.Delivery) (send func() outcome, mark act) {
	ch, known := f.Channel(d.Route.Channel)
	if !known {
		return nil, refusal(*notReady("there is no channel " + d.Route.Channel + " in claw.toml"))
	}
	if ch.Type == Inbox {
		return nil, f.toInbox
	}
	send, not := f.prepare(ch, d)
	if not != nil {
		return nil, refusal(*not)
	}
	return send, func(tx *state.Tx, d delivery.Delivery) (delivery.Delivery, error) {
		return delivery.Begin(d, f.self, tx.Now())
	}
}

// refusal is an outcome that comes about without an attempt.
func refusal(o outcome) act {
	return func(tx *state.Tx, d delivery.Delivery) (delivery.Delivery, error) {
		if o.verdict == delivery.Permanent {
			return delivery.Fail(d, o.why, true, tx.Now())
		}
		return delivery.Defer(d, o.why, tx.Now())
	}
}

// mark is the transaction in which an attempt begins. False when choose says
// so.
func (f *flush) mark(ctx context.Context, d delivery.Delivery, choose pick, mark act) (delivery.Delivery, bool, error) {
	made := false
	err := f.Store.Update(ctx, func(tx *state.Tx) (err error) {
		made = false
		chosen, rev, ok, err := choose(tx)
		if chosen.ID != "" {
			d = chosen
		}
		if err != nil || !ok {
			return err
		}
		if d, err = mark(tx, d); err != nil {
			return err
		}
		made = true
		return f.put(tx, rev, d)
	})
	f.count(d, made && err == nil)
	return d, made, err
}

// conclude writes what an attempt came to, also when whoever asked for it is
// not interested any more.
func (f *flush) conclude(ctx context.Context, begun delivery.Delivery, o outcome) (delivery.Delivery, error) {
	d, changed, err := f.rewrite(context.WithoutCancel(ctx), begun.ID, func(d delivery.Delivery, now time.Time) (delivery.Delivery, bool, error) {
		if d.State != delivery.Sending || d.Sender != f.self || !d.AttemptedAt.Equal(begun.AttemptedAt) {
			return d, false, nil
		}
		d, err := after(d, o, now)
		return d, true, err
	})
	if err == nil {
		flying.forget(begun.ID)
		f.count(d, changed)
	}
	return d, err
}

// after is d as an attempt left it.
func after(d delivery.Delivery, o outcome, now time.Time) (delivery.Delivery, error) {
	switch o.verdict {
	case delivery.Sent:
		return delivery.Succeed(d, o.receipt, now)
	case delivery.NotReady:
		return delivery.Defer(d, o.why, now)
	case delivery.Permanent:
		return delivery.Fail(d, o.why, true, now)
	case delivery.NotSent:
		return delivery.Fail(d, o.why, false, now)
	}
	return delivery.Lose(d, o.why, now)
}

// change moves a pending delivery on, unless somebody else has.
func (f *flush) change(ctx context.Context, seen delivery.Delivery, act func(delivery.Delivery, time.Time) (delivery.Delivery, error)) (delivery.Delivery, error) {
	d, changed, err := f.rewrite(ctx, seen.ID, func(d delivery.Delivery, now time.Time) (delivery.Delivery, bool, error) {
		if d.State != delivery.Pending || !d.NextAt.Equal(seen.NextAt) {
			return d, false, nil
		}
		d, err := act(d, now)
		return d, true, err
	})
	f.count(d, changed && err == nil)
	return d, err
}

// rewrite is one transaction over one delivery. act says whether there is
// anything to write, and so does rewrite.
func (f *flush) rewrite(ctx context.Context, id string, act func(delivery.Delivery, time.Time) (delivery.Delivery, bool, error)) (d delivery.Delivery, changed bool, err error) {
	err = f.Store.Update(ctx, func(tx *state.Tx) error {
		changed = false
		row, ok, err := state.Deliveries.Get(tx, id)
		if err != nil || !ok {
			return err
		}
		if d, changed, err = act(row.Rec, tx.Now()); err != nil || !changed {
			return err
		}
		return f.put(tx, row.Rev, d)
	})
	return d, changed, err
}

// toInbox delivers into our own ledger: message and receipt are one
// transaction, so that there is no moment in which the outcome is not known.
func (f *flush) toInbox(tx *state.Tx, d delivery.Delivery) (delivery.Delivery, error) {
	d, err := delivery.Begin(d, f.self, tx.Now())
	if err != nil {
		return d, err
	}
	if d, err = delivery.Succeed(d, "inbox", tx.Now()); err != nil {
		return d, err
	}
	return d, addMessage(tx, d)
}

// IntoInbox writes a message together with its receipt, for when no channel is
// to be used: a person finds it in the inbox at once. One with the same
// idempotency key that is there already stays as it is.
func (p *Post) IntoInbox(tx *state.Tx, d delivery.Delivery) error {
	d.Route = delivery.Route{Channel: Inbox}
	d = filled(d, tx.Now())
	if kept, err := settle.Intend(tx, d); err != nil || kept.ID != d.ID {
		return err
	}
	row, _, err := state.Deliveries.Get(tx, d.ID)
	if err != nil {
		return err
	}
	f := &flush{Post: p, self: Self()}
	if d, err = f.toInbox(tx, d); err != nil {
		return err
	}
	return p.put(tx, row.Rev, d)
}

// addMessage writes the message, unless it stands there already.
func addMessage(tx *state.Tx, d delivery.Delivery) error {
	_, there, err := state.Inbox.Find(tx, d.ID)
	if err != nil || there {
		return err
	}
	return state.Inbox.Put(tx, d.ID, 0, delivery.Message{
		ID: d.ID, At: tx.Now(), Title: d.Title, Text: d.Text, Body: d.Body, To: d.Route.To, Source: d.Source,
	})
}
