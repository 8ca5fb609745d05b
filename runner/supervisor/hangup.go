package supervisor

import (
	"context"
	"os"
	"time"

	"claw/runner/clock"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
)

// hangUpPatience is how long the kernel may take to let a dead supervisor's
// life-line go after it has closed its socket.
const hangUpPatience = time.Second

// hungUp finds out what it means that the supervisor closed the connection
// without a word. The ledger knows: the end had been written, or the command
// goes on in the background and only the answer could not be given, or the
// supervisor died, and then that is written down here.
func (h *Handle) hungUp() (Outcome, error) {
	if h.store == nil {
		return OutcomeBroken, ErrSupervisorDied
	}
	row, err := lastWord(h.store, h.Row)
	if err != nil {
		return OutcomeBroken, ErrSupervisorDied
	}
	h.Row = row
	switch {
	case row.Phase == process.Exited:
		h.Ended, h.orphaned = true, !row.Background
		return OutcomeEnded, nil
	case row.Live() && row.Background:
		return OutcomeDetached, nil
	case row.Phase == process.Lost && h.onLoss == "kill":
		settle.EndLeftover(context.Background(), clock.New(), row)
	}
	return OutcomeBroken, ErrSupervisorDied
}

// lastWord is the row as it stands once the supervisor is dead and settled,
// or as it is when it turns out to live.
func lastWord(store *state.Store, p process.Process) (process.Process, error) {
	ctx, cancel := context.WithTimeout(context.Background(), hangUpPatience)
	defer cancel()
	if state.LockShared(ctx, settle.Lifeline(store.ProcessDir(p.ID))) == nil {
		if _, err := settle.Lost(context.Background(), store); err != nil {
			return p, err
		}
	}
	err := store.View(func(tx *state.Tx) error {
		row, ok, err := state.Processes.Find(tx, p.ID)
		if ok {
			p = row.Rec
		}
		return err
	})
	return p, err
}

// discard removes the output of a foreground result that its supervisor could
// not remove any more.
func (h *Handle) discard() {
	if h.orphaned {
		os.RemoveAll(h.store.ProcessDir(h.Row.ID))
	}
}
