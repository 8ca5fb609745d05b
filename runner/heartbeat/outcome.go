package heartbeat

import (
	"cmp"
	"strings"
	"time"

	"claw/state"
	"claw/state/delivery"
	"claw/state/heartbeat"
	"claw/state/session"
)

// End is Turns.OnEnd: what follows from the end of a turn, in the transaction
// that writes the end. It fails only with the store, for a turn whose end
// cannot be written would never end.
func (e *Engine) End(tx *state.Tx, t *session.Turn, reply string) error {
	c, err := cycleOf(tx, t)
	switch {
	case err != nil:
		return err
	case isAttempt(c, t):
		return e.attempted(tx, t, c, reply)
	}
	kept := isKept(c, t)
	if err := e.answer(tx, t, reply, kept); err != nil {
		return err
	}
	what, err := settleEvents(tx, t, kept)
	if err != nil {
		return err
	}
	return e.tell(tx, t, what)
}

// answer hands over what a turn said. What somebody typed is answered by the
// turn itself, where he waits for it.
func (e *Engine) answer(tx *state.Tx, t *session.Turn, reply string, kept bool) error {
	switch {
	case t.Kind != session.KindUser:
		return e.answered(tx, t, reply, kept)
	case t.ReplyMode != session.ReplyDeliver || kept:
	case t.Status == session.TurnSucceeded && strings.TrimSpace(reply) != "":
		return e.intend(tx, t, "", strings.TrimRight(reply, "\n"), replySource(t))
	case t.Status != session.TurnSucceeded && t.Status != session.TurnLost:
		// Who would have been told by the exit status is gone.
		return e.intend(tx, t, "failed", "The agent "+t.Agent+" was asked this and has not answered ("+why(t)+"):\n\n"+t.Message, replySource(t))
	}
	return nil
}

// replySource is what an answer to a person is about.
func replySource(t *session.Turn) delivery.Source {
	return delivery.Source{Kind: "turn", Name: t.SessionKey, SessionKey: t.SessionKey, TurnID: t.ID}
}

// answered judges what a woken turn said: what is sent of it, and what the
// monitor remembers.
func (e *Engine) answered(tx *state.Tx, t *session.Turn, reply string, kept bool) error {
	row, err := monitorOf(tx, t.Agent)
	if err != nil {
		return err
	}
	m, s := row.Rec, e.Settings(t.Agent)
	out := heartbeat.Judge(e.heard(s, m, t, reply))
	if !kept {
		out = alarmed(out, m, t)
	}
	t.Outcome = out.Status
	if out.Send != "" {
		if err := e.intend(tx, t, "", out.Send, t.Source); err != nil {
			return err
		}
	}
	if out.Scratch != nil {
		if _, err := putScratch(tx, t.Agent, out.Scratch); err != nil {
			return err
		}
	}
	remember(&m, t, out)
	e.proposed(&m, s, t, reply)
	return state.Heartbeats.Put(tx, row.ID, row.Rev, m)
}

// heard is a turn and its reply, as Judge asks for them.
func (e *Engine) heard(s Settings, m heartbeat.Monitor, t *session.Turn, reply string) heartbeat.Reply {
	in := heartbeat.Reply{
		Kind: t.Kind, Failed: t.Status != session.TurnSucceeded, Text: reply, Response: t.Response, Failures: t.Failures,
		Start: cmpTime(t.StartedAt, t.CreatedAt), AckMaxChars: s.AckMaxChars, LastText: m.SentText, LastSentAt: m.SentAt,
		ShowAlerts: true, UseIndicator: true,
	}
	if s.Visible != nil {
		v := s.Visible(t.Route.Channel, t.Route.Account)
		in.ShowOk, in.ShowAlerts, in.UseIndicator = v.Ok, v.Alerts, v.Indicator
	}
	if t.Route.IsZero() {
		in.NoRoute = cmp.Or(e.Post.Resolve(s.Target, s.To, s.AccountID, delivery.Route{}).Reason, heartbeat.ReasonNoTarget)
	}
	if t.ProcessID == "" && reply != "" && !in.Failed {
		// The embedded agent says what events and checks say. That may look
		// like an acknowledgement, and is none.
		in.Response = &session.Response{Outcome: "needs_attention", Notify: true, Summary: reply, NotificationText: reply}
	}
	return in
}

func cmpTime(a, b time.Time) time.Time {
	if a.IsZero() {
		return b
	}
	return a
}

// alarmed sends what the checks said when the agent that was to look at it
// failed: a disk that fills up is not forgotten because the agent is down. The
// same alarm is not sent again within the time of a duplicate. An agent that
// has asked for a message about it, before it failed, has looked at it. That
// nobody knows what a heartbeat said is an alarm too: it may have been one. Of
// events the notice about them says so. It is not called for a turn that is to
// be continued: that may still be answered.
func alarmed(out heartbeat.Outcome, m heartbeat.Monitor, t *session.Turn) heartbeat.Outcome {
	answered := t.Response != nil && t.Response.Notify
	alarm := strings.Join(t.Alerts, "\n\n")
	if t.Status == session.TurnLost && alarm == "" && len(t.EventIDs) == 0 {
		alarm = "The heartbeat of agent " + t.Agent + ": " + why(t) + "."
	}
	if out.Status != heartbeat.StatusFailed || alarm == "" || t.Route.IsZero() || answered {
		return out
	}
	again := heartbeat.Judge(heartbeat.Reply{
		Kind: session.KindHeartbeat, Start: t.CreatedAt, LastText: m.SentText, LastSentAt: m.SentAt, ShowAlerts: true,
		Response: &session.Response{Outcome: "needs_attention", Notify: true, Summary: alarm},
	})
	out.Send, out.Remember = again.Send, again.Remember
	return out
}

// remember writes what became of a turn into the monitor's row.
func remember(m *heartbeat.Monitor, t *session.Turn, out heartbeat.Outcome) {
	start := cmpTime(t.StartedAt, t.CreatedAt)
	last := heartbeat.Event{
		At: t.EndedAt, Status: out.Status, Reason: cmp.Or(out.Reason, t.Reason), SessionKey: t.SessionKey, TurnID: t.ID,
		Preview: heartbeat.Preview(out.Send), DurationMs: max(0, t.EndedAt.Sub(start).Milliseconds()), Silent: out.Silent, Indicator: out.Indicator,
		Checks: t.Checks,
	}
	if out.Send != "" {
		last.Channel, last.To, last.AccountID = t.Route.Channel, t.Route.To, t.Route.Account
	}
	if out.Status == heartbeat.StatusFailed {
		last.Message = why(t)
	}
	m.Last = &last
	if out.Remember {
		m.SentText, m.SentAt = strings.TrimSpace(out.Send), start
	}
	if out.StampTasks && len(t.Tasks) > 0 {
		// An isolated turn runs the tasks of the session that it stands for.
		m.Tasks = heartbeat.Stamped(m.Tasks, cmp.Or(t.Source.SessionKey, t.SessionKey), t.Tasks, start)
	}
	if t.Status == session.TurnSucceeded || out.Note != "" {
		m.Note = out.Note
	}
}

// proposed moves the schedule to the check that the answer asked for, of
// whatever wake. A turn that failed proposes nothing
// (spec/heartbeat-automations.md, pacing).
func (e *Engine) proposed(m *heartbeat.Monitor, s Settings, t *session.Turn, reply string) {
	resp := t.Response
	if resp == nil {
		if r, _, ok := heartbeat.ParseResponse(reply); ok {
			resp = &r
		}
	}
	if resp == nil || t.Status != session.TurnSucceeded || t.ProcessID == "" {
		return
	}
	next, _ := heartbeat.ParseEvery(resp.NextCheck)
	m.Propose(next, t.EndedAt, hoursOf(s), zone(s.Zone, s.UserZone))
}
