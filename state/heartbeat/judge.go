package heartbeat

import (
	"strings"
	"time"

	"claw/state/process"
	"claw/state/session"
)

// The statuses of an Event, and of an Outcome.
const (
	StatusSent     = "sent"
	StatusOkEmpty  = "ok-empty"
	StatusOkToken  = "ok-token"
	StatusOkChecks = "ok-checks" // of a heartbeat whose checks were all quiet: no agent ran
	StatusSkipped  = "skipped"
	StatusFailed   = "failed"
)

// The indicators of an Event.
const (
	IndicatorOk    = "ok"
	IndicatorAlert = "alert"
	IndicatorError = "error"
)

// duplicateWindow is how long the same alert is not sent again.
const duplicateWindow = 24 * time.Hour

// Reply is how a woken turn ended, and what decides what becomes of it.
type Reply struct {
	Kind     session.Kind
	Failed   bool              // the turn did not succeed: what it printed is no answer
	Text     string            // the whole reply
	Response *session.Response // of heartbeat respond within the turn; outranks the text, and counts however the turn ended
	Failures []string          // notices of the failed completions that it showed
	Start    time.Time         // of the turn

	AckMaxChars int
	LastText    string // Monitor.SentText and SentAt
	LastSentAt  time.Time

	NoRoute                          string // why there is no destination: no-target, unknown-account, …; empty: there is one
	ShowOk, ShowAlerts, UseIndicator bool
}

// Outcome is what becomes of a reply (spec/heartbeat-automations.md 1.7).
type Outcome struct {
	Status     string
	Reason     string // of a skip
	Send       string // the text for the person; empty: none
	Silent     bool   // there was nothing to say; not of what was held back
	Consume    bool   // the events that were shown are done with
	StampTasks bool   // the tasks that were shown have run
	Remember   bool   // Send becomes Monitor.SentText, and the start SentAt
	Indicator  string // ok, alert, error; empty when it is not used
	Note       string // for the next turn of a person; empty: none
	Scratch    *string
}

// Judge decides what a person is told.
//
// The periodic check says nothing with a token and a short remark, and it does
// not repeat itself within a day. A turn that was woken by something has
// something to say: there only a reply of nothing but tokens is an
// acknowledgement, and the same words about another command are another
// message. An acknowledgement never hides a failed completion: its notice is
// sent then, behind what the reply said besides. A structured answer hides one
// with notify=false if it says that there was progress or that it is done.
//
// A turn that failed has said nothing, except by heartbeat respond.
func Judge(in Reply) Outcome {
	if in.Failed {
		return in.marked(in.failed(), IndicatorError)
	}
	out := in.heard()
	out.Consume, out.StampTasks = true, true
	if out.Send != "" {
		return in.alert(out)
	}
	if out.Status == StatusOkToken && !out.Silent && in.ShowOk && in.NoRoute == "" {
		out.Send = TokenOK
	}
	out.Silent = out.Send == ""
	return in.marked(out, IndicatorOk)
}

// failed is a turn that did not succeed. An answer that it gave by command was
// accepted, and whoever gave it was told so: it counts. The events stay, and so
// the failures among them are told by the turn that shows them again.
func (in *Reply) failed() Outcome {
	out := Outcome{Status: StatusFailed}
	if in.Response == nil {
		return out
	}
	in.Failures = nil
	said := in.structured(*in.Response)
	out.Scratch, out.Note = said.Scratch, said.Note
	if said.Send != "" {
		said = in.alert(said)
		out.Send, out.Remember = said.Send, said.Remember
	}
	return out
}

// heard is what the reply says: Send is for the person, and without it Status
// is ok-empty or ok-token; Silent then says that showOk does not count.
func (in *Reply) heard() Outcome {
	if in.Response == nil {
		if resp, _, ok := ParseResponse(in.Text); ok {
			in.Response = &resp
		}
	}
	if in.Response != nil {
		return in.structured(*in.Response)
	}
	text := strings.TrimSpace(in.Text)
	if text == "" || len(in.Failures) > 0 && isHollow(unmarked(text)) { // "---" tells nobody what has failed
		return Outcome{Status: StatusOkEmpty, Send: in.failures("")}
	}
	if rest, ok := Silenced(text); ok {
		return in.silenced(rest)
	}
	limit := in.AckMaxChars
	if in.Kind != session.KindHeartbeat {
		limit = 0
	}
	s := Strip(text, ModeHeartbeat, limit)
	if s.Skip || s.DidStrip && len(in.Failures) > 0 && IsAck(text, in.AckMaxChars) {
		return Outcome{Status: StatusOkToken, Send: in.failures(s.Rest)}
	}
	return Outcome{Send: s.Rest}
}

// silenced is a reply whose last line is notify=false. If there is nothing but
// an acknowledgement above it, it hides no failure.
func (in *Reply) silenced(rest string) Outcome {
	out := Outcome{Status: StatusOkToken, Silent: true}
	switch s := Strip(rest, ModeHeartbeat, in.AckMaxChars); {
	case isHollow(unmarked(rest)):
		out.Send = in.failures("")
	case s.Skip:
		out.Send = in.failures(s.Rest)
	default:
		out.Note = process.First(rest, MaxNote)
	}
	return out
}

func (in *Reply) structured(r session.Response) Outcome {
	out := Outcome{Status: StatusOkToken, Silent: true, Scratch: r.Scratch}
	if r.Notify {
		out.Send = Notification(r)
		return out
	}
	if r.Outcome != NoChange {
		out.Note = process.First(strings.TrimSpace(r.Summary), MaxNote)
	}
	if r.Outcome != "progress" && r.Outcome != "done" {
		out.Send = in.failures("")
	}
	return out
}

// failures are the notices, behind what the reply said besides its token;
// empty when nothing has failed.
func (in *Reply) failures(rest string) string {
	if len(in.Failures) == 0 {
		return ""
	}
	notices := strings.Join(in.Failures, "\n\n")
	if rest = strings.TrimSpace(rest); rest == "" {
		return notices
	}
	return rest + "\n\n" + notices
}

// alert is the outcome of something to tell.
func (in *Reply) alert(out Outcome) Outcome {
	out.Silent = false
	switch {
	case in.repeats(out.Send):
		out.Status, out.Reason, out.Send = StatusSkipped, ReasonDuplicate, ""
	case in.NoRoute != "":
		out.Status, out.Reason, out.Send = StatusSkipped, in.NoRoute, ""
	case !in.ShowAlerts:
		out.Status, out.Reason, out.Send = StatusSkipped, ReasonAlertsOff, ""
	default:
		out.Status, out.Remember = StatusSent, in.Kind == session.KindHeartbeat
		return in.marked(out, IndicatorAlert)
	}
	return out
}

// repeats tells the periodic check's alert of less than 24 h ago: of the same
// words exactly, except for white space around them. It may lie ahead of now
// as far, by a clock that was put back.
func (in *Reply) repeats(text string) bool {
	if in.Kind != session.KindHeartbeat || strings.TrimSpace(text) != strings.TrimSpace(in.LastText) {
		return false
	}
	return in.Start.Sub(in.LastSentAt).Abs() < duplicateWindow
}

func (in *Reply) marked(out Outcome, indicator string) Outcome {
	if in.UseIndicator {
		out.Indicator = indicator
	}
	return out
}

// Preview is a text as a list shows it: one line of at most 200 characters.
func Preview(text string) string {
	const most = 200
	line := process.Collapse(text)
	if short := process.First(line, most); short == line {
		return line
	}
	return process.First(line, most-1) + "…"
}
