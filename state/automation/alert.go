package automation

import (
	"strings"
	"time"
)

// AlertRule is when a person is told of failures, and where
// (spec/heartbeat-automations.md 2.13).
type AlertRule struct {
	After           int           // in a row; 0 is 1
	Cooldown        time.Duration // after an alert no other before this
	IncludeSkipped  bool          // skips in a row count too
	Mode            string        // announce or webhook; empty: announce
	Channel         string        // empty: where the automation announces
	To, AccountID   string
	OncePerIncident bool // other errors during an incident are not told: what goes on until it succeeds is one
}

// AlertRule is the rule for an automation; false: nobody is alerted. configured
// is cron.failureAlert, nil when there is none: then the first failure in a row
// is told where the results are announced. What the automation says takes the
// place of what is configured, field by field. A delivery that need not succeed
// takes the configured alert back, not the automation's own.
func (a Automation) AlertRule(configured *AlertRule) (AlertRule, bool) {
	own := a.FailureAlert
	if own != nil && own.Off {
		return AlertRule{}, false
	}
	rule := AlertRule{After: 1, OncePerIncident: true}
	if configured != nil {
		rule = *configured
	}
	if own == nil {
		if configured == nil {
			return rule, a.Delivery != nil && a.Delivery.Mode == "announce"
		}
		return rule, !a.bestEffort()
	}
	return own.over(rule), true
}

// over puts what an automation says in the place of a rule.
func (f FailureAlert) over(rule AlertRule) AlertRule {
	if f.After > 0 {
		rule.After = f.After
	}
	if f.CooldownMs > 0 {
		rule.Cooldown, rule.OncePerIncident = time.Duration(f.CooldownMs)*time.Millisecond, false
	}
	rule.IncludeSkipped = rule.IncludeSkipped || f.IncludesSkipped
	for _, field := range [...]struct {
		to   *string
		from string
	}{{&rule.Mode, f.Mode}, {&rule.Channel, f.Channel}, {&rule.To, f.To}, {&rule.AccountID, f.AccountID}} {
		if field.from != "" {
			*field.to = field.from
		}
	}
	return rule
}

func (a Automation) bestEffort() bool { return a.Delivery != nil && a.Delivery.BestEffort }

// Alert tells whether a person is to be alerted of the end of r, which Finish
// has counted in a already, and the state with it noted. One incident is told
// once: it lasts until a run succeeds, and is known by its category and its
// error without the numbers in it. What is not told because of the cooldown is
// told with the next failure after it. A run by hand that failed is told
// always, and changes nothing.
func Alert(a Automation, r Run, rule AlertRule, now time.Time) (State, bool) {
	st := a.State
	switch {
	case r.Status == Succeeded:
		if !r.Manual {
			st.Incident = ""
		}
		return st, false
	case r.Manual:
		return st, r.Status.failed()
	case !alarming(st, r, rule):
		return st, false
	}
	what := Incident(r)
	if st.Incident == what || st.Incident != "" && rule.OncePerIncident {
		return st, false
	}
	if since := now.Sub(st.AlertedAt); since >= 0 && since < rule.Cooldown && !st.AlertedAt.IsZero() {
		return st, false
	}
	st.Incident, st.AlertedAt = what, now
	return st, true
}

// alarming tells that enough runs in a row have failed, or were skipped.
func alarming(st State, r Run, rule AlertRule) bool {
	switch {
	case r.Status.failed():
		return st.ConsecutiveErrors >= max(1, rule.After)
	case r.Status == Skipped && rule.IncludeSkipped:
		return st.ConsecutiveSkips >= max(1, rule.After)
	}
	return false
}

// maxIncident is how long a signature gets, in bytes.
const maxIncident = 120

// Incident is the signature of a failure: its category and its error, in which
// words with digits are folded, so that ports, pids and times make no other
// failure of it.
func Incident(r Run) string {
	text := r.Error
	kind := string(r.Category)
	if r.Status == Skipped {
		kind, text = string(r.Status), r.Why
	}
	if kind == "" {
		kind = string(r.Status)
	}
	out := kind + ": " + foldNumbers(text)
	if len(out) > maxIncident {
		out = strings.ToValidUTF8(out[:maxIncident], "")
	}
	return out
}

// foldNumbers writes # for every word with a digit in it, and one space for
// several.
func foldNumbers(text string) string {
	var out []byte
	word, digit := 0, false
	end := func() {
		if digit {
			out = append(out[:word], '#')
		}
		digit = false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80:
		default:
			end()
			if c <= ' ' {
				c = ' '
			}
			if c == ' ' && (len(out) == 0 || out[len(out)-1] == ' ') {
				word = len(out)
				continue
			}
			out = append(out, c)
			word = len(out)
			continue
		}
		out = append(out, c)
	}
	end()
	return strings.TrimSpace(string(out))
}
