package automation

import (
	"encoding/json"
	"strings"
	"time"
)

// The limits of trigger scripts (spec/heartbeat-automations.md 3.6).
const (
	MaxTriggerState = 16 << 10 // bytes of JSON
	TriggerBudget   = 30 * time.Second
)

// TriggerAnswer is what a trigger script says.
type TriggerAnswer struct {
	Fire    bool            // the payload shall run
	Message string          // what it is told
	State   json.RawMessage // what the script wants to be given again; nil: as before
}

// ParseTrigger reads the standard output of a trigger script: a JSON object,
// alone or as the last line, {"fire": bool, "message": string, "state": any}.
// State null forgets what there was. Fields it does not know are let be.
func ParseTrigger(stdout string) (TriggerAnswer, *Error) {
	const hint = `print {"fire": false} as the last line, or {"fire": true, "message": "…", "state": …}`
	text := strings.TrimSpace(stdout)
	if text == "" {
		return TriggerAnswer{}, refuse("trigger", "", "wrote nothing to stdout", hint)
	}
	if !json.Valid([]byte(text)) {
		text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	}
	var answer struct {
		Fire    *bool           `json:"fire"`
		Message string          `json:"message"`
		State   json.RawMessage `json:"state"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return TriggerAnswer{}, refuse("trigger", text, "is no answer: "+err.Error(), hint)
	}
	if answer.Fire == nil {
		return TriggerAnswer{}, refuse("trigger", text, "does not say whether to fire", hint)
	}
	if len(answer.State) > MaxTriggerState {
		return TriggerAnswer{}, refuse("trigger state", "", "has "+itoa(len(answer.State))+" bytes, the most is "+itoa(MaxTriggerState), "keep the rest in a file")
	}
	return TriggerAnswer{Fire: *answer.Fire, Message: answer.Message, State: answer.State}, nil
}

// Checks tells that the trigger script must be asked before a run.
func (a Automation) Checks(r Run) bool { return a.Trigger != nil && !r.Manual && !r.Checked }

// CheckEnd is what follows from the answer of a trigger script. The caller
// writes it in one transaction.
type CheckEnd struct {
	Automation Automation
	Run        Run  // queued again, and checked, so that Decide has the payload run
	Quiet      bool // there is nothing to do: the row of the run is deleted
}

// Checked is what follows from the answer of the trigger script for the run r.
// A quiet check is no run: it is counted in the state and ends what failed
// before it. With fire the run waits for its payload; what the script wants to
// be given again is kept with it until it has succeeded. An answer of a script
// that has been changed since is not kept.
func Checked(a Automation, r Run, answer TriggerAnswer, now time.Time) CheckEnd {
	a.State.CheckedAt = now
	if !answer.Fire {
		st := &a.State
		st.Quiet++
		st.ConsecutiveErrors, st.ConsecutiveSkips, st.BackoffUntil, st.Incident = 0, 0, time.Time{}, ""
		return CheckEnd{Automation: remember(a, string(answer.State), r.TriggerRev), Run: r, Quiet: true}
	}
	a.State.Quiet = 0
	r.Checked, r.TriggerState = true, string(answer.State)
	r.Input = joined(r.Input, answer.Message)
	r.Status, r.StartedAt, r.Owner, r.Code, r.Why = Queued, time.Time{}, nil, "", ""
	return CheckEnd{Automation: a, Run: r}
}

// remember keeps what the script wants to be given again.
func remember(a Automation, state string, rev int) Automation {
	switch {
	case state == "" || rev != a.State.TriggerRev:
	case state == "null":
		a.State.TriggerState = ""
	default:
		a.State.TriggerState = state
	}
	return a
}

// triggered is the automation after a run that its script has asked for and
// that succeeded: what the script wants to be given again is kept, and once is
// once.
func triggered(a Automation, r Run) Automation {
	if !r.Checked || a.Trigger == nil {
		return a
	}
	a = remember(a, r.TriggerState, r.TriggerRev)
	if a.Trigger.Once && r.TriggerRev == a.State.TriggerRev {
		a.Enabled = false
	}
	return a
}

// joined puts a blank line between two texts.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimRight(a, "\n") + "\n\n" + b
}

// Told is the message or the event of a run: the automation's own text, and
// after a blank line what its source or its script has to say.
func (a Automation) Told(r Run) string { return joined(a.Payload.Message+a.Payload.Text, r.Input) }

// Stdin is what the command of a run reads: the automation's own input, and
// after a blank line what its source or its script has to say.
func (a Automation) Stdin(r Run) string { return joined(a.Payload.Input, r.Input) }
