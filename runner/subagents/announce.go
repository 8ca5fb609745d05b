package subagents

import (
	"context"
	"strings"
	"unicode/utf8"

	"claw/runner/internal/failpoint"
	"claw/state"
	"claw/state/event"
	"claw/state/session"
	"claw/state/subagent"
	"claw/state/ulid"
)

// look is whether the conversation of a requester may be told of something now.
func look(tx *state.Tx, a subagent.Announce) (subagent.Door, string, error) {
	row, ok, err := state.Sessions.Get(tx, a.Requester)
	s := row.Rec
	switch {
	case err != nil:
		return subagent.Closed, "", err
	case !ok:
		return subagent.Gone, "the session of whoever asked was removed", nil
	case s.ID != a.SessionID && !fresh(a.Requester):
		return subagent.Gone, "the conversation in which it was asked for is over", nil
	case !s.Resumes.WedgedAt.IsZero():
		return subagent.Gone, "nothing goes on in the session of whoever asked: " + s.Resumes.WedgedReason, nil
	case s.Recovery.Phase == session.CycleTombstoned && s.Recovery.SessionID == s.ID:
		return subagent.Closed, "the session of whoever asked has been given up", nil
	}
	return subagent.Open, "", nil
}

// fresh tells a session that has a new transcript with each turn: there a new one
// does not mean that somebody has begun a new conversation.
func fresh(key string) bool {
	k, err := session.Parse(key)
	return err == nil && (k.Isolated || k.Kind == session.KeyCron)
}

// shown is how many characters of a result an event shows, with what is around it;
// see event.Line.
const shown = 7000

// tell makes one attempt at an announcement: whether the requester may still be
// told is looked at in the transaction that tells him. line is what there is to be
// logged.
func (s *Service) tell(ctx context.Context, id string) (line string, told bool, err error) {
	err = s.Store.Update(ctx, func(tx *state.Tx) error {
		line, told = "", false
		row, ok, err := state.Subagents.Get(tx, id)
		if err != nil || !ok {
			return err
		}
		r := row.Rec
		before := r.Announce
		if !r.Ended() || !before.Due() && before.State != subagent.Suspended || before.NextAt.After(tx.Now()) {
			return nil
		}
		door, why, err := look(tx, before)
		if err != nil {
			return err
		}
		if door == subagent.Open {
			e := notice(r, ulid.New(tx.Now()))
			e.CreatedAt = tx.Now()
			if err := state.Events.Add(tx, e.ID, e); err != nil {
				return err
			}
			r.Announce, told = before.Told(e.ID, tx.Now()), true
		} else {
			r.Announce = before.Attempt(door, why, r.EndedAt, tx.Now(), s.jitter())
		}
		if r.Announce == before {
			return nil
		}
		if r.Announce.State != before.State && !told {
			line = "sub-agent " + r.ID + ": its end is not told (" + string(r.Announce.State) + "): " + r.Announce.Why
		}
		if err := announced(tx, r); err != nil {
			return err
		}
		return state.Subagents.Put(tx, id, row.Rev, r)
	})
	if err == nil && told {
		failpoint.Hit("subagent-announced")
	}
	return line, told, err
}

// announced writes into the task of a run what became of its announcement.
func announced(tx *state.Tx, r subagent.Run) error {
	row, ok, err := state.Tasks.Find(tx, r.TaskID)
	if err != nil || !ok {
		return err
	}
	return putTask(tx, row, told(row.Rec, r.Announce, tx.Now()))
}

// notice is the event that tells of an end. Its text is somebody else's, and whoever
// acts on it may use no more than the turn that asked.
func notice(r subagent.Run, id string) event.Event {
	text := r.Words()
	if r.Outcome == subagent.OK && r.Result != "" {
		result := r.Result
		if utf8.RuneCountInString(result) > shown {
			runes := []rune(result)
			result = string(runes[:shown]) + "\n[… claw agent wait " + r.ID + " --json has all of it …]"
		}
		text += "\n" + result
	}
	return event.Normal(event.Event{
		ID: id, State: event.Queued, Kind: event.KindTask, SessionKey: r.Announce.Requester, Agent: r.Announce.Agent,
		ContextKey: strings.ToLower(r.Key()), Text: text, TaskID: r.TaskID, Route: r.Announce.Route, Untrusted: true, Tools: r.Announce.Tools,
	})
}

// discard takes suspended announcements away of which there are too many.
func (s *Service) discard(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return s.Store.Update(ctx, func(tx *state.Tx) error {
		for _, id := range ids {
			row, ok, err := state.Subagents.Get(tx, id)
			if err != nil {
				return err
			}
			if !ok || row.Rec.Announce.State != subagent.Suspended {
				continue
			}
			row.Rec.Announce.State, row.Rec.Announce.EndedAt = subagent.Discarded, tx.Now()
			if err := announced(tx, row.Rec); err != nil {
				return err
			}
			if err := state.Subagents.Put(tx, id, row.Rev, row.Rec); err != nil {
				return err
			}
		}
		return nil
	})
}
