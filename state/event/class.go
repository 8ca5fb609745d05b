package event

import (
	"strings"

	"claw/state/session"
)

// MaxShown is how many events one turn shows (design.md section 7: the seeds'
// cap of 20 bounds what is shown, not what is kept).
const MaxShown = 20

// IsExec tells the end of a command: claw writes a row of that kind, and what
// anybody sends (claw event send, a reminder's text) never is one, whatever it
// looks like. The grammar of Parse takes such a text apart; it proves nothing
// about who wrote it.
func IsExec(e Event) bool { return e.Kind == KindExec }

func isCron(e Event) bool { return e.Kind == KindCron }

// Show chooses what a turn of a kind shows out of the queue of its session,
// oldest first and at most limit (MaxShown), and says how many more of the
// same class wait for the next one. A turn about ended commands shows those, a
// turn about reminders those, and every other turn, a user's too, the rest:
// completions and reminders stay queued for a turn of their own
// (spec/exec-process.md 4.3). Recoveries and hooks show none.
//
// It takes what is Ready; events that wait for the next turn are shown like
// the others.
func Show(ready []Event, kind session.Kind, limit int) (shown []Event, waiting int) {
	fits := shownIn(kind)
	for _, e := range ready {
		switch {
		case !fits(e):
		case len(shown) < limit:
			shown = append(shown, e)
		default:
			waiting++
		}
	}
	return shown, waiting
}

func shownIn(kind session.Kind) func(Event) bool {
	switch kind {
	case session.KindExec:
		return IsExec
	case session.KindCron:
		return isCron
	case session.KindUser, session.KindHeartbeat, session.KindEvent:
		return func(e Event) bool { return !IsExec(e) && !isCron(e) }
	}
	return func(Event) bool { return false }
}

// Reminders are the texts of reminders that are worth a prompt, neutralised;
// the others are noise. None is left when all is noise: the turn then asks
// for an acknowledgement only. One that reads as the end of a command is still
// what somebody wanted to be reminded of: it is shown, and quoted.
func Reminders(shown []Event, isAck func(string) bool) []string {
	var texts []string
	for _, e := range shown {
		if !echo(e.Text, isAck) {
			texts = append(texts, neutralLines(capped(strings.TrimSpace(e.Text), detailsBudget)))
		}
	}
	return texts
}

// Noise tells a text that is no reminder (spec/exec-process.md 5.2): blank, an
// acknowledgement, an echo of the heartbeat, or the end of a command. isAck is
// heartbeat.PureAck or a like rule.
func Noise(text string, isAck func(string) bool) bool {
	_, completion := Parse(text)
	return completion || echo(text, isAck)
}

// echo tells a text that comes from the quiet protocol itself.
func echo(text string, isAck func(string) bool) bool {
	text = strings.TrimSpace(text)
	if text == "" || text == "NO_REPLY" || isAck != nil && isAck(text) {
		return true
	}
	lower := strings.ToLower(text)
	if rest, ok := strings.CutPrefix(lower, "heartbeat_ok"); ok && (rest == "" || !isAlnum(rest[0]) && rest[0] != '_') {
		return true
	}
	return strings.Contains(lower, "heartbeat poll") || strings.Contains(lower, "heartbeat wake")
}
