package supervisor

import (
	"encoding/json"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/state"
)

// hintVar tells a supervisor where the state most likely is.
const hintVar = "CLAW_SUPERVISE_HINT"

// warm does, while the caller is still busy with its own start, what has to
// be done once in every program: learn how to decode the specification, open
// the state, and read the journal, which goes on beside the start of the
// command. Nothing depends on it, and nothing is written.
func warm(dir string) *state.Store {
	raw, _ := json.Marshal(Spec{})
	json.Unmarshal(raw, &Spec{})
	if dir == "" {
		return nil
	}
	store, err := openState(dir)
	if err != nil {
		return nil
	}
	go store.View(func(tx *state.Tx) error {
		_, _, err := state.Processes.Get(tx, "")
		return err
	})
	return store
}

// openState opens the state directory that the caller has found fit: whether
// to trust its file system was decided there.
func openState(dir string) (*state.Store, error) {
	return state.Open(dir, state.Options{Now: clock.New().Now, Boot: proc.Boot(), UnsafeFS: true})
}
