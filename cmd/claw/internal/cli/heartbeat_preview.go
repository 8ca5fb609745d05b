package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner"
	"claw/runner/heartbeat"
	"claw/runner/hook"
	"claw/runner/resume"
	"claw/runner/subagents"
	"claw/state/automation"
	"claw/state/boot"
	"claw/state/process"
)

// previewOf is what --dry-run --json prints.
type previewOf struct {
	At         time.Time            `json:"at"`
	AtWork     bool                 `json:"atWork"`
	Cycles     []resume.Item        `json:"cycles"` // turns that were cut off
	Wakes      []previewed          `json:"wakes"`
	Runs       []automation.Run     `json:"runs"`       // of automations, that would be started or recorded
	Hooks      []hook.Foreseen      `json:"hooks"`      // what was asked for from outside
	Subagents  []subagents.Foreseen `json:"subagents"`  // work that was given to agents
	Lost       []string             `json:"lost"`       // slugs
	Deliveries []string             `json:"deliveries"` // ids
	Mode       boot.Mode            `json:"mode,omitempty"`
	Next       time.Time            `json:"next,omitzero"`
}

type previewed struct {
	Agent      string    `json:"agentId"`
	SessionKey string    `json:"sessionKey"`
	Source     string    `json:"source"`
	Intent     string    `json:"intent"`
	Status     string    `json:"status"` // run, skipped, deferred
	Reason     string    `json:"reason"`
	Due        time.Time `json:"due,omitzero"`
	RetryAt    time.Time `json:"retryAt,omitzero"`
	Route      string    `json:"route,omitempty"`
	Events     int       `json:"events"`
	Says       []string  `json:"says"`
}

// preview prints what a tick would do.
func (c *heartbeatTick) preview(a *app, p runner.Preview) error {
	if c.JSON {
		return a.io.JSON(previewJSON(p))
	}
	var b strings.Builder
	if p.Mode == boot.Safe {
		b.WriteString("safe mode: " + p.Mode.Why() + ". Without it:\n")
	}
	for _, x := range p.Lost {
		fmt.Fprintf(&b, "%s: its supervisor has died; would be written down as lost\n", x.Slug)
	}
	for _, r := range p.Runs.Runs {
		previewRun(&b, r, p.At)
	}
	for _, x := range p.Hooks {
		previewHook(&b, x)
	}
	for _, x := range p.Subagents {
		does := map[string]string{"begin": "would begin", "announce": "its end would be told", "archive": "its session would be put aside"}[x.Does]
		fmt.Fprintf(&b, "%s: work for %s; %s\n", output.Safe(x.Title), x.Agent, does)
	}
	for _, it := range p.Cycles {
		for i, line := range a.cycleWords(it, p.At) {
			b.WriteString([]string{it.SessionKey + ": ", "      "}[min(i, 1)] + line + "\n")
		}
	}
	for _, w := range p.Wakes {
		previewWake(&b, w, p.At)
	}
	if n := len(p.Send); n > 0 {
		fmt.Fprintf(&b, "%s would be sent\n", counted(n, "message"))
	}
	if b.Len() == 0 {
		b.WriteString("nothing to do\n")
	} else if p.AtWork {
		b.WriteString("another one is at work now and does this\n")
	}
	if !p.Next.IsZero() {
		fmt.Fprintf(&b, "next: %s\n", moment(p.Next, p.At))
	}
	_, err := io.WriteString(a.io.Out, b.String())
	return err
}

// previewRun is one run of an automation in words; tour.md "Wake an agent".
func previewRun(b *strings.Builder, r automation.Run, now time.Time) {
	due := "by hand"
	if !r.Slot.IsZero() {
		due = "due " + moment(r.Slot, now)
	}
	switch {
	case r.Status == automation.Running && r.StoppedAt.IsZero():
		fmt.Fprintf(b, "%s: %s; would run\n", r.Name, due)
	case r.Status == automation.Running:
		fmt.Fprintf(b, "%s: %s; would be stopped for a later slot\n", r.Name, due)
	case r.Status == automation.Queued:
		fmt.Fprintf(b, "%s: %s; would wait: %s\n", r.Name, due, firstOf(r.Why, "others run"))
	default:
		fmt.Fprintf(b, "%s: %s; would be recorded as %s: %s\n", r.Name, due, r.Status, r.Why)
	}
}

// previewHook is something from outside in words.
func previewHook(b *strings.Builder, x hook.Foreseen) {
	does := "would begin"
	if !x.Begins {
		does = "would be refused: " + string(x.Reason)
	}
	fmt.Fprintf(b, "%s: from outside, in %s; %s\n", output.Safe(x.Name), x.SessionKey, does)
}

// previewWake is one wake in words; tour.md "Wake an agent".
func previewWake(b *strings.Builder, w heartbeat.Planned, now time.Time) {
	switch {
	case w.Relay:
		fmt.Fprintf(b, "%s: %s; would tell you of %s\n", w.Agent, skipWords(w.Reason), forWhat(w))
	case w.Run:
		fmt.Fprintf(b, "%s: would wake now for %s\n", w.Agent, forWhat(w))
		fmt.Fprintf(b, "      session %s is free; would deliver to %s\n", w.SessionKey, firstOf(w.Route, "nobody"))
	case w.Status == heartbeat.Deferred:
		fmt.Fprintf(b, "%s: puts off %s: %s; until %s\n", w.Agent, forWhat(w), skipWords(w.Reason), moment(w.RetryAt, now))
	case w.Retry:
		fmt.Fprintf(b, "%s: would not wake for %s: %s; looks again %s\n", w.Agent, forWhat(w), skipWords(w.Reason), moment(w.RetryAt, now))
	default:
		fmt.Fprintf(b, "%s: would skip %s: %s\n", w.Agent, forWhat(w), skipWords(w.Reason))
	}
}

// forWhat is what a wake is about: its events with the first of them, else the
// periodic check.
func forWhat(w heartbeat.Planned) string {
	n := max(w.Events, len(w.Says))
	if n == 0 {
		return "its heartbeat"
	}
	text := counted(n, "event")
	if len(w.Says) > 0 {
		text += ": " + process.Collapse(output.Safe(w.Says[0]))
	}
	return text
}

func previewJSON(p runner.Preview) previewOf {
	j := previewOf{At: p.At, AtWork: p.AtWork, Cycles: append([]resume.Item{}, p.Cycles...), Wakes: []previewed{}, Runs: append([]automation.Run{}, p.Runs.Runs...), Hooks: append([]hook.Foreseen{}, p.Hooks...), Subagents: append([]subagents.Foreseen{}, p.Subagents...), Lost: []string{}, Deliveries: []string{}, Mode: p.Mode, Next: p.Next}
	for _, w := range p.Wakes {
		j.Wakes = append(j.Wakes, previewed{
			Agent: w.Agent, SessionKey: w.SessionKey, Source: w.Source, Intent: w.Intent, Status: w.Status, Reason: w.Reason,
			Due: w.Due, RetryAt: w.RetryAt, Route: w.Route, Events: w.Events, Says: append([]string{}, w.Says...),
		})
	}
	for _, x := range p.Lost {
		j.Lost = append(j.Lost, x.Slug)
	}
	for _, d := range p.Send {
		j.Deliveries = append(j.Deliveries, d.ID)
	}
	return j
}

// counted is "1 event", "3 events".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return itoa(n) + " " + noun + "s"
}

// moment is a time near by, in words: "15:04, in 18m"; with its date when that
// is another day.
func moment(t, now time.Time) string {
	t = t.In(now.Location()).Local()
	layout := "15:04"
	if y, m, d := t.Date(); y != now.Local().Year() || m != now.Local().Month() || d != now.Local().Day() {
		layout = "2006-01-02 15:04"
	}
	return t.Format(layout) + ", " + output.Ago(t, now)
}
