package prompts

import (
	"strconv"
	"strings"
)

// Exec is what the prompt about ended commands is made of;
// spec/exec-process.md 5.2.
type Exec struct {
	Details    []string // one event's text with its details each, in queue order
	Deliver    bool     // the delivery system can address the user
	Structured bool     // heartbeat respond is asked for instead of an acknowledgement
	Waiting    int      // events that the next turn will show
}

// Exec is the text that follows the marker and a blank line. Without delivery
// the details are shown all the same, with the words of seed 000; without
// details an acknowledgement is asked for.
func (s *Set) Exec(e Exec) (string, error) {
	return s.about("exec", body{joined(e.Details, "\n"), e.Deliver, e.Structured, e.Waiting})
}

// Cron is a reminder's text; spec/exec-process.md 5.2.
type Cron struct {
	Texts      []string // see event.Reminders
	Deliver    bool
	Structured bool
	Waiting    int
}

// Cron is the text that follows the marker and a blank line. Without texts an
// acknowledgement is asked for.
func (s *Set) Cron(c Cron) (string, error) {
	return s.about("cron", body{joined(c.Texts, "\n\n"), c.Deliver, c.Structured, c.Waiting})
}

// Event is other events of a session.
type Event struct {
	Lines      []string // rendered, "System: [time] text"
	Deliver    bool
	Structured bool
	Waiting    int
}

// Event is the text that follows the marker and a blank line.
func (s *Set) Event(e Event) (string, error) {
	return s.about("event", body{joined(e.Lines, "\n"), e.Deliver, e.Structured, e.Waiting})
}

// body is what the prompts about events have in common.
type body struct {
	details    string
	deliver    bool
	structured bool
	waiting    int
}

// about makes the prompt name, name-internal or name-empty.
func (s *Set) about(name string, b body) (string, error) {
	switch {
	case b.details == "" && name != "event":
		name += "-empty"
	case !b.deliver:
		name += "-internal"
	}
	ack, err := s.ack(b.structured)
	if err != nil {
		return "", err
	}
	text, err := s.fill(name, "{details}", b.details, "{ack}", ack)
	if err != nil {
		return "", err
	}
	return s.withWaiting(text, b.waiting)
}

func (s *Set) ack(structured bool) (string, error) {
	if structured {
		return s.fill("ack-respond")
	}
	return s.fill("ack")
}

func (s *Set) withWaiting(text string, waiting int) (string, error) {
	if waiting <= 0 {
		return text, nil
	}
	line, err := s.fill("waiting", "{count}", strconv.Itoa(waiting))
	return text + "\n\n" + line, err
}

// fill is a text with its placeholders replaced, all at once: what is filled
// in is never looked at again.
func (s *Set) fill(name string, pairs ...string) (string, error) {
	text, _, err := s.Text(name)
	if err != nil {
		return "", err
	}
	return strings.NewReplacer(pairs...).Replace(text), nil
}

// joined is what is not blank, trimmed at line ends only.
func joined(texts []string, sep string) string {
	var kept []string
	for _, t := range texts {
		if t = strings.Trim(t, "\r\n"); strings.TrimSpace(t) != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, sep)
}

// Recovery is a turn that was cut off; spec/tasks-recovery.md 4.5.
type Recovery struct {
	Message string // what the agent had been told
	Reply   string // what it had answered, when that was not delivered
}

// Recovery is what the agent is told to go on; with a reply it is to repeat
// that, and not the work.
func (s *Set) Recovery(r Recovery) (string, error) {
	if strings.TrimSpace(r.Reply) != "" {
		return s.fill("recovery-reply", "{details}", r.Reply)
	}
	return s.fill("recovery", "{details}", r.Message)
}

// Hook is the message of a turn that came from outside. content is wrapped
// already (spec/tasks-recovery.md 5.5).
func (s *Set) Hook(content string) (string, error) {
	return s.fill("hook", "{details}", content)
}

// The notices to a person.
const (
	NoticeRelayed = "notice-relayed" // events whose turns kept failing
	NoticeLost    = "notice-lost"    // events of a turn of which nobody knows what it did
	NoticeResend  = "notice-resend"  // a message whose turn cannot be continued
	NoticeCutOff  = "notice-cutoff"  // a turn that was cut off, by the embedded agent
	NoticeGivenUp = "notice-givenup" // a turn that was cut off again and again
)

// Notice is what a person is told about an agent, in one of the texts above;
// texts are event.Notice of each event.
func (s *Set) Notice(name, agent string, texts []string) (string, error) {
	return s.fill(name, "{agent}", agent, "{details}", joined(texts, "\n\n"))
}
