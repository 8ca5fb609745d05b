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
// be done once in every program: read the journal, and learn how to encode
// and decode the records. Nothing depends on it, and nothing is written.
func warm(dir string) *state.Store {
	raw, _ := json.Marshal(Spec{})
	json.Unmarshal(raw, &Spec{})
	json.Marshal(Started{})
	if dir == "" {
		return nil
	}
	store, err := state.Open(dir, state.Options{Now: clock.New().Now, Boot: proc.Boot()})
	if err != nil {
		return nil
	}
	store.View(func(tx *state.Tx) error {
		_, _, err := state.Processes.Get(tx, "")
		return err
	})
	return store
}
