package cli

import (
	"strings"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/process"
)

// automationOutcome is how an automation stands, and what can be done about it.
func automationOutcome(e scheduler.Entry, now time.Time) string {
	st := e.State
	for _, r := range e.Open {
		if r.Status == automation.Running {
			return "running for " + process.HumanDuration(max(0, now.Sub(r.StartedAt)))
		}
	}
	if st.AutoDisabled != nil {
		return disabledWords(*st.AutoDisabled) + " · claw cron enable " + e.Name
	}
	words := lastWords(st)
	words = joinDots(words, waitWords(e.Open))
	switch {
	case !e.Enabled:
		words = joinDots("disabled", words)
	case st.ScheduleError != "":
		words = joinDots(words, st.ScheduleError)
	case e.Source != nil && e.Source.Error != "":
		words = joinDots(words, e.Source.Error)
	case e.Source != nil && words == "":
		words = sourceBrief(e)
	}
	if st.LastDelivery == automation.NotDelivered || st.LastDelivery == automation.DeliveryLost {
		words = joinDots(words, "message "+strings.ReplaceAll(string(st.LastDelivery), "-", " "))
	}
	return words
}

// waitWords says how many runs wait, and what the first of them waits for.
func waitWords(open []automation.Run) string {
	if len(open) == 0 {
		return ""
	}
	words := "waits: " + firstOf(open[0].Why, "for its turn")
	if more := len(open) - 1; more > 0 {
		words += ", and " + itoa(more) + " more"
	}
	return words
}

// sourceBrief is what a source does, for a narrow column.
func sourceBrief(e scheduler.Entry) string {
	if e.Source.Status != automation.SourceRunning {
		return string(e.Source.Status)
	}
	switch e.Schedule.Kind {
	case automation.KindWatch:
		return "watching"
	case automation.KindStream:
		return "listening"
	case automation.KindBoot:
		return "waits for a boot"
	}
	return "its command runs"
}

// disabledWords say why claw itself has switched an automation off.
func disabledWords(d automation.AutoDisabled) string {
	switch d.Reason {
	case automation.ReasonSchedule:
		return "disabled: its schedule cannot be computed"
	case automation.ReasonLoop:
		return "disabled: its own runs set it off"
	case automation.ReasonExhausted:
		return "disabled: its stream ends again and again"
	case automation.ReasonUnknown:
		return "disabled: how its command ended is not known"
	}
	return "disabled after " + counted(d.Errors, "failure")
}

func joinDots(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " · " + b
}

// lastWords is how the last run ended: "succeeded in 2s", "failed (exit 2)".
func lastWords(st automation.State) string {
	if st.LastStatus == "" {
		return ""
	}
	words := strings.ReplaceAll(string(st.LastStatus), "_", " ")
	if st.LastStatus == automation.Succeeded {
		return words + " in " + process.HumanDuration(time.Duration(st.LastDurationMs)*time.Millisecond)
	}
	if how, _, _ := strings.Cut(st.LastError, ":"); how != "" {
		words += " (" + how + ")"
	}
	return words
}
