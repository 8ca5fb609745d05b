package task

import (
	"slices"
	"strings"
	"time"

	"claw/state/delivery"
)

// Via is how somebody is told about a task.
type Via string

// The ways. ViaSession is an event of the owner's session and a wake.
const (
	ViaNone    Via = "none"
	ViaDirect  Via = "direct"
	ViaSession Via = "session"
)

// Plan is what telling about a task consists of.
type Plan struct {
	Via      Via
	To       delivery.Route // of ViaDirect
	Key      string         // idempotency key, for the message and its mirror
	Text     string
	Status   DeliveryStatus // the row's from now on; of ViaDirect until the delivery has ended
	FollowUp string         // told to the session in addition, whatever became of Text; may be empty
}

// ContextKey is the key under which the event about the end of a task is
// queued.
func ContextKey(t Task) string { return "task:" + t.ID }

// FollowUpKey is the key of the event about a blocked one.
func FollowUpKey(t Task) string { return ContextKey(t) + ":blocked-followup" }

// Tells is the rule of spec/tasks-recovery.md 2.1: the end of a task is told
// once, unless its policy is silent; results of subagents have their own way.
func Tells(t Task) bool {
	own := t.Runtime == Subagent && t.Status != Cancelled
	return t.NotifyPolicy != Silent && t.Status.Terminal() && t.DeliveryStatus == DeliveryPending && !own
}

// Route decides how the end of a task is told (spec/tasks-recovery.md 2.2).
// ViaNone with a Status means that there is nobody to tell, without one that
// nothing is to be told.
func Route(t Task) Plan {
	if !Tells(t) {
		return Plan{Via: ViaNone}
	}
	p := Plan{Key: keyOfEnd(t), Text: Message(t)}
	if t.TerminalOutcome == OutcomeBlocked {
		p.FollowUp = FollowUp(t)
	}
	direct := !t.RequesterOrigin.IsZero() && !Shared(t.OwnerKey)
	switch {
	case reviewed(t):
		p.Via, p.Status, p.Text = ViaSession, DeliverySessionQueued, review(t)
		if direct {
			p.Status = DeliveryPending // so that the hand-off can be tried again
		}
	case direct:
		p.Via, p.Status, p.To = ViaDirect, DeliveryPending, t.RequesterOrigin
	case t.OwnerKey != "":
		p.Via, p.Status = ViaSession, DeliverySessionQueued
	case t.ScopeKind == ScopeSystem:
		return Plan{Via: ViaNone, Status: DeliveryNotApplicable}
	default:
		return Plan{Via: ViaNone, Status: DeliveryParentMissing}
	}
	return p
}

// keyOfEnd names the flow that t is part of, too (spec/tasks-recovery.md 2.3).
func keyOfEnd(t Task) string {
	if t.ParentFlowID != "" {
		return delivery.KeyFlowEnd(t.ParentFlowID, t.ID, string(t.Status), outcomeInKey(t))
	}
	return delivery.KeyTaskEnd(t.ID, string(t.Status), outcomeInKey(t))
}

func keyOfChange(t Task, c Change) string {
	if t.ParentFlowID != "" {
		return delivery.KeyFlowChange(t.ParentFlowID, t.ID, c.At, c.Kind)
	}
	return delivery.KeyTaskChange(t.ID, c.At, c.Kind)
}

// outcomeInKey: only an outcome that is not the status's own stands in a key.
func outcomeInKey(t Task) string {
	if t.TerminalOutcome == OutcomeBlocked {
		return OutcomeBlocked
	}
	return ""
}

// Shared tells the session of a group or a channel, in which the parent writes
// what everybody sees.
func Shared(key string) bool {
	parts := strings.Split(key, ":")
	return slices.Contains(parts, "group") || slices.Contains(parts, "channel")
}

// reviewed: the parent looks at what an acp child has done before anybody
// hears of it.
func reviewed(t Task) bool {
	return t.Runtime == ACP && t.Status == Succeeded && t.TerminalOutcome != OutcomeBlocked && t.ChildSessionKey != ""
}

// Progress is the kind of a Change that is no change of status.
const Progress = "progress"

// Change is something that happened to a task before its end.
type Change struct {
	At      time.Time
	Kind    string // a status or Progress
	Summary string
}

// RouteChange decides how a change is told: only with the policy
// state_changes, only what is newer than what was told last, and only while
// the task goes on. It never touches the delivery status; whoever has told it
// sets LastNotifiedAt.
func RouteChange(t Task, c Change) Plan {
	text := ChangeMessage(t, c)
	if t.NotifyPolicy != StateChanges || t.DeliveryStatus != DeliveryPending || t.Status.Terminal() || !c.At.After(t.LastNotifiedAt) || text == "" {
		return Plan{Via: ViaNone}
	}
	p := Plan{Key: keyOfChange(t, c), Text: text}
	switch {
	case !t.RequesterOrigin.IsZero() && !Shared(t.OwnerKey):
		p.Via, p.To = ViaDirect, t.RequesterOrigin
	case t.OwnerKey != "":
		p.Via = ViaSession
	default:
		return Plan{Via: ViaNone}
	}
	return p
}
