package hook

import (
	"context"
	"time"

	"claw/runner/clock"
	"claw/state/external"
)

// How often the ledger is looked at while somebody waits for the beginning.
const (
	lookFirst = 5 * time.Millisecond
	lookLast  = 100 * time.Millisecond
)

// recall is when Call is made again while nothing begins: whoever came first may
// have died.
var recall = [...]time.Duration{time.Second, 4 * time.Second, 9 * time.Second}

// Await waits until a dispatch has begun, and returns it as it is then. With its
// deadline it is refused, and so it is here when the wall clock was set back
// meanwhile. One that has no deadline is not waited for. The error is a
// *RefusedError, the cause of ctx's end (it goes on without this caller), or one
// of the state directory.
func (h *Dispatcher) Await(ctx context.Context, d external.Dispatch) (external.Dispatch, error) {
	begun, calls := h.Clock.Elapsed(), 0
	until := begun + d.Deadline.Sub(h.Clock.Now())
	if most := begun + external.StartDeadline; until > most {
		until = most
	}
	for pause := lookFirst; ; pause = min(pause*3/2, lookLast) {
		var ok bool
		var err error
		id := d.ID
		if d, ok, err = h.Find(id); err == nil {
			err = missing(ok, id)
		}
		switch {
		case err != nil:
			return d, err
		case d.Status == external.Refused:
			return d, &RefusedError{Reason: d.Reason, Detail: d.Error}
		case d.Status != external.Queued, d.Deadline.IsZero(): // one that is asked again was promised
			return d, nil
		}
		now := h.Clock.Elapsed()
		if h.Call != nil && calls < len(recall) && now-begun >= recall[calls] {
			calls++
			h.Call() // if that fails it is refused at the deadline
		}
		left := until - now
		if left <= 0 || d.Late(h.Clock.Now()) {
			if d, err = h.refuse(context.WithoutCancel(ctx), d.ID, external.ReasonLate, ""); err != nil {
				return d, err
			}
			continue
		}
		if err := clock.Sleep(ctx, h.Clock, min(pause, left)); err != nil {
			return d, err
		}
	}
}

// AwaitEnd waits until a dispatch has ended; pending: it has not in time. The
// error is the cause of ctx's end, or one of the state directory.
func (h *Dispatcher) AwaitEnd(ctx context.Context, id string, most time.Duration) (d external.Dispatch, pending bool, err error) {
	until := h.Clock.Elapsed() + most
	for pause := lookFirst; ; pause = min(pause*3/2, 2*lookLast) {
		var ok bool
		if d, ok, err = h.Find(id); err == nil {
			err = missing(ok, id)
		}
		if err != nil || d.Status.Ended() {
			return d, false, err
		}
		left := until - h.Clock.Elapsed()
		if left <= 0 {
			return d, true, nil
		}
		if err := clock.Sleep(ctx, h.Clock, min(pause, left)); err != nil {
			return d, true, err
		}
	}
}

// GiveUp is Await for who does not wait any longer: it has begun, or never will.
// The error is a *RefusedError, or one of the state directory.
func (h *Dispatcher) GiveUp(ctx context.Context, d external.Dispatch) (external.Dispatch, error) {
	d, err := h.refuse(context.WithoutCancel(ctx), d.ID, external.ReasonEnding, "")
	if err == nil && d.Status == external.Refused {
		err = &RefusedError{Reason: d.Reason, Detail: d.Error}
	}
	return d, err
}
