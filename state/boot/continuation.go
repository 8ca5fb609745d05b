package boot

import (
	"time"

	"claw/state/delivery"
)

// Continuation is one row of ledgers/continuations.jsonl, keyed by ID: what a
// session is to go on with when the runner has been restarted, the sentinel of
// spec/tasks-recovery.md 4.9. It is written in the transaction that orders the
// restart, and removed in the one that queues it as an event of the same id. An
// order that is refused writes none.
type Continuation struct {
	ID         string         `json:"id"`     // ULID
	BootID     string         `json:"bootId"` // the runner that was to restart
	SessionKey string         `json:"sessionKey"`
	Agent      string         `json:"agent"`
	Text       string         `json:"text"`
	Route      delivery.Route `json:"route,omitzero"` // where the session was spoken to when it was asked for
	CreatedAt  time.Time      `json:"createdAt"`
}

// Due tells that it may be carried out: the boot that was to restart is gone,
// however that happened. alive is the id of the boot that is alive, "" when none
// is.
func (c Continuation) Due(alive string) bool { return c.BootID != alive }
