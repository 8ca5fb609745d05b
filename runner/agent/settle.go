package agent

import (
	"context"
	"errors"

	"claw/state"
	"claw/state/session"
)

// Settle ends every turn that nobody waits for any more and whose argv has
// ended, or never began, and returns what it ended. going are the others that
// have not ended: their argv runs, or somebody waits for them. Two that settle
// at once end each turn once: the lane is held meanwhile, and a turn that has
// ended is left alone.
func (r *Turns) Settle(ctx context.Context) (ended []Result, going []session.Turn, err error) {
	left, err := live(r.Store, "")
	if err != nil {
		return nil, nil, err
	}
	for _, t := range left {
		res, done, settleErr := r.settleOne(ctx, t)
		err = errors.Join(err, settleErr)
		switch {
		case done:
			ended = append(ended, res)
		case settleErr == nil:
			going = append(going, t)
		}
	}
	return ended, going, err
}

// settleOne ends one turn if its lane is free and its argv is not alive. done
// tells that it was this call that ended it.
func (r *Turns) settleOne(ctx context.Context, t session.Turn) (res Result, done bool, err error) {
	if err := makeFolder(r.Store); err != nil {
		return Result{}, false, err
	}
	leave, ok, err := state.TryLock(file(r.Store, t.SessionKey, lockExt))
	if err != nil || !ok {
		return Result{}, false, err
	}
	defer leave()
	again, ok, err := r.turn(t.ID)
	if err != nil || !ok || again.Status.Ended() {
		return Result{}, false, err // whoever held the lane has just ended it
	}
	res, going, err := r.conclude(ctx, again, true)
	return res, err == nil && !going, err
}

// turn finds the row of a turn, live or archived.
func (r *Turns) turn(id string) (t session.Turn, ok bool, err error) {
	err = r.Store.View(func(tx *state.Tx) error {
		row, found, err := state.Turns.Find(tx, id)
		t, ok = row.Rec, found
		return err
	})
	return t, ok, err
}
