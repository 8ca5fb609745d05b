package delivery

import (
	"fmt"
	"time"
)

// MoveError is an illegal change of state; it names both ends.
type MoveError struct {
	From, To State
}

func (e *MoveError) Error() string {
	return fmt.Sprintf("a delivery cannot go from %s to %s", e.From, e.To)
}

// Ended tells a state in which nothing more happens by itself.
func (s State) Ended() bool {
	switch s {
	case Delivered, Failed, Unknown, Dismissed:
		return true
	}
	return false
}

// NeedsLook tells a state that waits for a person.
func (s State) NeedsLook() bool { return s == Failed || s == Unknown }

// CanMove is nil when a delivery may go from one state to the other, else a
// *MoveError.
func CanMove(from, to State) error {
	ok := false
	switch from {
	case Pending:
		// Failed: too old, or refused before anything was tried.
		ok = to == Pending || to == Sending || to == Failed || to == Dismissed
	case Sending:
		ok = to == Pending || to == Delivered || to == Failed || to == Unknown
	case Unknown:
		// Unknown again: the channel was asked and does not know.
		ok = to == Unknown || to == Pending || to == Delivered || to == Failed || to == Dismissed
	case Failed:
		ok = to == Pending || to == Dismissed
	case Delivered, Dismissed:
		// The ends: what is known to have arrived is not sent again.
	}
	if !ok {
		return &MoveError{From: from, To: to}
	}
	return nil
}

// moved is d in another state, or as it is with a *MoveError.
func moved(d Delivery, to State, now time.Time) (Delivery, error) {
	if err := CanMove(d.State, to); err != nil {
		return d, err
	}
	d.State, d.NextAt, d.EndedAt = to, time.Time{}, time.Time{}
	if to != Sending {
		d.Sender = Sender{}
	}
	if to.Ended() {
		d.EndedAt = now
	}
	return d, nil
}

// Begin marks an attempt before it is made, and charges it.
func Begin(d Delivery, by Sender, now time.Time) (Delivery, error) {
	if d.State != Pending {
		return d, &MoveError{From: d.State, To: Sending}
	}
	d, err := moved(d, Sending, now)
	d.Sender, d.AttemptedAt, d.Attempts = by, now, d.Attempts+1
	d.Answer = "" // it was about the attempt before
	return d, err
}

// Succeed records the receipt of an attempt, or of an unknown outcome that the
// channel has cleared up.
func Succeed(d Delivery, receipt string, now time.Time) (Delivery, error) {
	d, err := moved(d, Delivered, now)
	if err != nil {
		return d, err
	}
	d.Receipt, d.ReceiptAt, d.Error = receipt, now, ""
	return d, nil
}

// Fail records an attempt that provably sent nothing: the next one comes after
// the ladder's wait, if there is one. permanent says that there is none. Of a
// pending delivery it is only ever permanent.
func Fail(d Delivery, why string, permanent bool, now time.Time) (Delivery, error) {
	to := Pending
	if permanent || d.Attempts >= MaxAttempts {
		to = Failed
	}
	if d.State != Sending && (d.State != Pending || to == Pending) {
		return d, &MoveError{From: d.State, To: to}
	}
	return failed(d, to, why, now)
}

func failed(d Delivery, to State, why string, now time.Time) (Delivery, error) {
	d, err := moved(d, to, now)
	if err != nil {
		return d, err
	}
	if to == Pending {
		d.NextAt = now.Add(Ladder(d.Attempts))
	}
	d.Error = why
	return d, nil
}

// Defer puts off a delivery whose channel is not ready. Nothing was tried, so
// that an attempt that was begun for it is given back.
func Defer(d Delivery, why string, now time.Time) (Delivery, error) {
	if d.State != Pending && d.State != Sending {
		return d, &MoveError{From: d.State, To: Pending}
	}
	begun := d.State == Sending
	d, err := moved(d, Pending, now)
	if err != nil {
		return d, err
	}
	if begun {
		d.Attempts = max(0, d.Attempts-1)
	}
	d.Error, d.NextAt = why, now.Add(deferral(d, now))
	return d, nil
}

// Lose records that nobody knows whether an attempt has sent anything.
func Lose(d Delivery, why string, now time.Time) (Delivery, error) {
	if d.State != Sending {
		return d, &MoveError{From: d.State, To: Unknown}
	}
	d, err := moved(d, Unknown, now)
	d.Error = why
	return d, err
}

// Unresolved records that a channel was asked about an unknown outcome and has
// no answer either. It is charged and asked again on the ladder, MaxAttempts
// in all.
func Unresolved(d Delivery, now time.Time) (Delivery, error) {
	if d.State != Unknown {
		return d, &MoveError{From: d.State, To: Unknown}
	}
	ended := d.EndedAt
	d, err := moved(d, Unknown, now)
	d.Asked++
	d.NextAt, d.EndedAt = now.Add(Ladder(d.Asked)), ended
	return d, err
}

// Refute takes an unknown outcome back because the channel knows that nothing
// was sent: the attempt stays charged. Without any left it has failed.
func Refute(d Delivery, why string, now time.Time) (Delivery, error) {
	if d.State != Unknown {
		return d, &MoveError{From: d.State, To: Pending}
	}
	if d.Attempts < MaxAttempts {
		return failed(d, Pending, why, now)
	}
	return failed(d, Failed, why, now)
}

// Retry is a person's wish: from the beginning, at once, and again within
// MaxAge from now. A delivery that waits is only sent sooner. The idempotency
// key stays.
func Retry(d Delivery, now time.Time) (Delivery, error) {
	if d.State == Sending {
		return d, &MoveError{From: Sending, To: Pending}
	}
	waits := d.State == Pending
	d, err := moved(d, Pending, now)
	if err != nil {
		return d, err
	}
	d.RetriedAt = now
	if !waits {
		d.Attempts, d.Asked = 0, 0
	}
	return d, nil
}

// Dismiss is a person's word that nothing more is to be done.
func Dismiss(d Delivery, note string, now time.Time) (Delivery, error) {
	d, err := moved(d, Dismissed, now)
	if err != nil {
		return d, err
	}
	d.DismissedNote = note
	return d, nil
}
