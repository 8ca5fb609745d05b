package external

import (
	"strings"

	"claw/state/heartbeat"
	"claw/state/session"
)

// Disposition is what kind of reply it was.
type Disposition string

// The dispositions; spec/tasks-recovery.md 5.4.
const (
	Visible Disposition = "visible"
	Silent  Disposition = "silent"
	Empty   Disposition = "empty"
)

// DeliveryFailed is all that a report says about a delivery that failed: why is
// in the ledger of deliveries.
const DeliveryFailed = "delivery-failed"

// Report is how a dispatch ended; spec/tasks-recovery.md 5.4.
type Report struct {
	Status            Status      `json:"status"` // OK, Failed or Skipped
	Disposition       Disposition `json:"replyDisposition"`
	Delivered         *bool       `json:"delivered,omitempty"` // nil: not known, or not asked for
	DeliveryAttempted bool        `json:"deliveryAttempted"`
	DeliveryError     string      `json:"deliveryError,omitempty"`             // DeliveryFailed
	Suppression       string      `json:"deliverySuppressionReason,omitempty"` // "empty", "silent" or "heartbeat"
	Summary           string      `json:"summary,omitempty"`
	Error             string      `json:"error,omitempty"`
}

// maxSummary is how many characters of a reply or an error are told.
const maxSummary = 500

// quietWord is what an agent says that has nothing to say to anybody.
const quietWord = "NO_REPLY"

// Settle is the report of a turn that has ended; cancelled: on purpose. deliver
// is what was asked for; whether an attempt is made is for the caller to write.
func Settle(t session.Turn, reply string, cancelled, deliver bool) Report {
	r := Report{Status: OK, Disposition: disposed(reply)}
	if t.Status == session.TurnSucceeded {
		r.Summary = Line(Clean(reply), maxSummary)
		if deliver && r.Disposition != Visible {
			r.Suppression = suppressed(reply, r.Disposition)
		}
		return r
	}
	if r.Status = Failed; cancelled {
		r.Status = Skipped
	}
	r.Error = Line(Clean(t.Error), maxSummary)
	if r.Error == "" {
		r.Error = strings.ReplaceAll(string(t.Status), "_", " ")
	}
	r.Summary = r.Error
	return r
}

// suppressed is why a reply that is not visible is not delivered.
func suppressed(reply string, d Disposition) string {
	if d == Silent && !noReply(reply) {
		return "heartbeat"
	}
	return string(d)
}

// noReply tells the word alone, however it is dressed up.
func noReply(reply string) bool {
	return strings.EqualFold(strings.Trim(reply, "*_`. \t\r\n"), quietWord)
}

func disposed(reply string) Disposition {
	text := strings.TrimSpace(reply)
	switch {
	case text == "":
		return Empty
	case noReply(text), heartbeat.PureAck(text):
		return Silent
	}
	return Visible
}

// Tells tells whether the agent's main session is told of an end: always of one
// that is not ok, and of one that is only where something was to be delivered
// and nothing was tried.
func (r Report) Tells(deliver bool) bool {
	return r.Status != OK || deliver && !r.DeliveryAttempted
}

// Words is what it is told.
func (r Report) Words(name string) string {
	head := "Hook " + NameOf(Clean(name))
	if r.Status != OK {
		head += " (" + string(r.Status) + ")"
	}
	summary := r.Summary
	if summary == "" {
		summary = "(no reply)"
	}
	return head + ": " + summary
}

// Log is the line about it; the reply is never in it. bad: it is a warning.
func (d Dispatch) Log() (line string, bad bool) {
	line = NameOf(d.Name) + ": hook " + d.ID + " in " + d.SessionKey + ": " + string(d.Status)
	if d.Status == Failed || d.Status == Refused || d.Status == Skipped {
		line += ": " + d.Error
	}
	if r := d.Report; r != nil {
		if r.Status == OK {
			line += ", reply " + string(r.Disposition)
		}
		if r.DeliveryError != "" {
			line += ", " + r.DeliveryError
		}
		bad = r.Status != OK || r.DeliveryError != ""
	}
	if len(d.Warnings) > 0 {
		line += ", suspicious: " + strings.Join(d.Warnings, "; ")
	}
	return Line(line, maxSummary), bad || d.Status == Refused
}
