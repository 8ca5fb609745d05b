package deliver

import (
	"context"
	"errors"
	"strings"
	"time"

	"claw/runner/internal/failpoint"
	"claw/state"
	"claw/state/delivery"
)

// TooOldText says why a message was not sent by itself.
const TooOldText = "too old: it has waited for three days; claw deliveries retry sends it all the same"

// one takes one delivery a step further and returns it as it is then. byHand:
// a person wants it now, whatever the ladder says.
func (f *flush) one(ctx context.Context, d delivery.Delivery, byHand bool) (delivery.Delivery, error) {
	ch, known := f.Channel(d.Route.Channel)
	switch {
	case d.State == delivery.Unknown:
		return f.reconcile(ctx, ch, d)
	case delivery.TooOld(d, f.Clock.Now()):
		return f.change(ctx, d, func(d delivery.Delivery, now time.Time) (delivery.Delivery, error) {
			return delivery.Fail(d, TooOldText, true, now)
		})
	case !known:
		return f.refuse(ctx, d, *notReady("there is no channel " + d.Route.Channel + " in claw.toml"))
	case ch.Type == Inbox:
		return f.toInbox(ctx, d, byHand)
	}
	send, not := f.prepare(ch, d)
	if not != nil {
		return f.refuse(ctx, d, *not)
	}
	begun, ok, err := f.begin(ctx, d, byHand)
	if err != nil || !ok {
		return begun, err
	}
	defer flying.land(d.ID)
	failpoint.Hit("delivery-begun")
	o := send()
	failpoint.Hit("delivery-sent")
	flying.arrived(d.ID, o)
	return f.conclude(ctx, begun, o)
}

// begin writes the attempt marker. False when somebody else was faster, or it
// is not due any more.
func (f *flush) begin(ctx context.Context, d delivery.Delivery, byHand bool) (delivery.Delivery, bool, error) {
	began := false
	if !flying.start(d.ID) {
		return d, false, nil
	}
	err := f.Store.Update(ctx, func(tx *state.Tx) error {
		began = false
		row, ok, err := state.Deliveries.Get(tx, d.ID)
		if err != nil || !ok {
			return err
		}
		d = row.Rec
		if d.State != delivery.Pending || !byHand && !f.due(d, tx.Now()) {
			return nil
		}
		if d, err = delivery.Begin(d, f.self, tx.Now()); err != nil {
			return err
		}
		began = true
		return put(tx, row.Rev, d)
	})
	if errors.Is(err, state.ErrNotDurable) && began {
		// The marker stands, but a power cut could take it: nothing is sent on
		// it, and the next Flush takes it back.
		flying.arrived(d.ID, *notReady(err.Error()))
	}
	if err != nil || !began {
		flying.land(d.ID)
	}
	return d, began && err == nil, err
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

// refuse writes an outcome that came about without an attempt.
func (f *flush) refuse(ctx context.Context, d delivery.Delivery, o outcome) (delivery.Delivery, error) {
	return f.change(ctx, d, func(d delivery.Delivery, now time.Time) (delivery.Delivery, error) {
		if o.verdict == delivery.Permanent {
			return delivery.Fail(d, o.why, true, now)
		}
		return delivery.Defer(d, o.why, now)
	})
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
		return put(tx, row.Rev, d)
	})
	return d, changed, err
}

// toInbox delivers into our own ledger: message and receipt are one
// transaction, so that there is no moment in which the outcome is not known.
func (f *flush) toInbox(ctx context.Context, seen delivery.Delivery, byHand bool) (delivery.Delivery, error) {
	d := seen
	delivered := false
	err := f.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Deliveries.Get(tx, seen.ID)
		if err != nil || !ok || row.Rec.State != delivery.Pending || !byHand && !f.due(row.Rec, tx.Now()) {
			d, delivered = row.Rec, false
			return err
		}
		if d, err = delivery.Begin(row.Rec, f.self, tx.Now()); err != nil {
			return err
		}
		if d, err = delivery.Succeed(d, "inbox", tx.Now()); err != nil {
			return err
		}
		delivered = true
		if err := addMessage(tx, d); err != nil {
			return err
		}
		return put(tx, row.Rev, d)
	})
	f.count(d, delivered && err == nil)
	return d, err
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

// reconcile asks a channel whether an attempt of unknown outcome has arrived.
// It answers with the first word of its stdout: sent, not_sent or unresolved.
// Only not_sent lets it be sent again.
func (f *flush) reconcile(ctx context.Context, ch Channel, d delivery.Delivery) (delivery.Delivery, error) {
	prog, not := f.program(ch, d, ch.Reconcile)
	answer, rest := "", ""
	if not == nil {
		prog.Stdin = endLine(d.Text)
		e := run(prog)
		if e.exit.Code == 0 && !e.exit.Signalled && !e.exit.TimedOut {
			answer, rest, _ = strings.Cut(e.stdout, "\n")
		}
	}
	got, changed, err := f.rewrite(context.WithoutCancel(ctx), d.ID, func(now delivery.Delivery, at time.Time) (delivery.Delivery, bool, error) {
		if now.State != delivery.Unknown || now.Asked != d.Asked || !now.AttemptedAt.Equal(d.AttemptedAt) {
			return now, false, nil
		}
		next, err := settled(now, strings.TrimSpace(answer), strings.TrimSpace(rest), at)
		return next, true, err
	})
	f.count(got, changed && err == nil && got.State != delivery.Unknown)
	return got, err
}

func settled(d delivery.Delivery, answer, rest string, now time.Time) (delivery.Delivery, error) {
	switch answer {
	case "sent":
		return delivery.Succeed(d, "reconciled "+rest, now)
	case "not_sent":
		return delivery.Refute(d, "the channel says that it was not sent", now)
	}
	return delivery.Unresolved(d, now)
}
