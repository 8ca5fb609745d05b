package subagent

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"claw/state/session"
)

// MaxResult is how many bytes of a reply are frozen.
const MaxResult = 100 << 10

// Freeze is a reply as it is kept and told: its first bytes, whole characters
// only, with a note of what is missing within the bound.
func Freeze(reply string) string {
	reply = strings.TrimSpace(strings.ToValidUTF8(reply, "\uFFFD"))
	if len(reply) <= MaxResult {
		return reply
	}
	const room = 80
	cut := reply[:MaxResult-room]
	for len(cut) > 0 && !utf8.ValidString(cut[max(0, len(cut)-utf8.UTFMax):]) && !utf8.RuneStart(reply[len(cut)]) {
		cut = cut[:len(cut)-1]
	}
	cut = strings.ToValidUTF8(cut, "")
	return cut + "\n[… " + strconv.Itoa(len(reply)-len(cut)) + " more bytes are left out here …]"
}

// Quiet tells a reply that asks for no announcement: one of the two tokens, and
// nothing else.
func Quiet(reply string) bool {
	reply = strings.TrimSpace(reply)
	return reply == "ANNOUNCE_SKIP" || reply == "NO_REPLY"
}

// Words is what the requester is told of an end. A failure is told without what
// the agent had said until then: that is progress, and no result.
func (r Run) Words() string {
	head := "Sub-agent " + r.Agent + " (" + r.Title() + ") "
	switch {
	case r.Outcome == OK && r.Result == "":
		return head + "has finished, and said nothing."
	case r.Outcome == OK:
		return head + "has finished:"
	case r.Reason == Killed:
		return head + "was ended on purpose."
	case r.Outcome == TimedOut:
		return head + "timed out" + because(r.Error)
	case r.Outcome == Unknown:
		return head + "was lost" + because(r.Error)
	}
	return head + "failed" + because(r.Error)
}

// Summary is a result as the row of its task has it.
func (r Run) Summary() string { return line(r.Result, 500) }

func because(why string) string {
	if why == "" {
		return "."
	}
	return ": " + line(why, 500)
}

// Brief is what the agent of a run is told: who it works for, what becomes of its
// last words, and the task. In the minimal mode only what bounds it.
func (r Run) Brief() string {
	var b strings.Builder
	b.WriteString("[Sub-agent task]\n")
	if r.PromptMode != Minimal {
		b.WriteString("You carry out one task on behalf of another agent, in a conversation of your own.\n" +
			"Nobody answers questions: decide, and say what you have decided.\n")
	}
	if r.Announce.State == NotRequired {
		b.WriteString("Your last message is the result; it is kept for whoever waits for it.\n")
	} else {
		b.WriteString("Your last message is the result; whoever asked is told it. ANNOUNCE_SKIP alone tells nobody.\n")
	}
	if r.System != "" {
		b.WriteString("\n" + r.System + "\n")
	}
	b.WriteString("\n" + r.Task)
	return b.String()
}

// Again is what the agent of a run that was cut off is told: the original task,
// never what was wrapped around it (spec/tasks-recovery.md 4.10).
func (r Run) Again() string {
	return "[Sub-agent resumed]\nYour work was cut off. Look first at what is done already, and do not do it twice. The original task was:\n\n" + session.ResumeAsk(r.Task)
}

// Ask is what a completion's agent reads.
func (r Run) Ask() string {
	if r.System == "" {
		return r.Task
	}
	return r.System + "\n\n" + r.Task
}

// line is the beginning of a text as one line of at most so many characters.
func line(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
