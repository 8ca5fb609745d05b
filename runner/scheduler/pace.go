package scheduler

import (
	"strings"
	"time"

	"claw/state/heartbeat"
	"claw/state/session"
)

// paceWords begin the line in which a run proposes its next check.
const paceWords = "next_check in:"

// nextCheck takes the line "next_check in: 30m" out of what a run said; it may
// stand anywhere, the last one counts (spec/heartbeat-automations.md 2.12).
// What cannot be read stays a text, and proposes nothing.
func nextCheck(text string) (in time.Duration, rest string) {
	if !strings.Contains(strings.ToLower(text), paceWords) {
		return 0, text
	}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		d, ok := paceLine(line)
		if !ok {
			kept = append(kept, line)
			continue
		}
		in = d
	}
	return in, strings.Join(kept, "\n")
}

func paceLine(line string) (time.Duration, bool) {
	line = strings.ToLower(strings.TrimSpace(line))
	value, ok := strings.CutPrefix(line, paceWords)
	if !ok {
		return 0, false
	}
	d, ok := heartbeat.ParseEvery(value)
	return d, ok && d > 0
}

// pace takes the line of the next check out of an outcome's text, where the run
// may ask for one.
func (o outcome) pace(may bool) outcome {
	if may {
		o.end.NextCheck, o.text = nextCheck(o.text)
	}
	return o
}

// answered is an outcome with what heartbeat respond said within the turn: its
// next check, and whether a person is told, and what.
func (o outcome) answered(r *session.Response, paced bool) outcome {
	if r == nil {
		return o
	}
	if d, ok := heartbeat.ParseEvery(r.NextCheck); ok && d > 0 && paced {
		o.end.NextCheck = d
	}
	switch {
	case !r.Notify:
		o.text = ""
	case r.NotificationText != "":
		o.text = r.NotificationText
	case unsaid(o.text) != "":
		o.text = r.Summary
	}
	return o
}
