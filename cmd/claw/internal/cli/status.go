package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"claw/cmd/claw/internal/output"
	"claw/runner"
	"claw/runner/control"
	"claw/runner/deliver"
	"claw/runner/tasks"
	"claw/state/boot"
	"claw/state/delivery"
	"claw/state/task"
)

// statusCmd is `claw status`: tour.md "Ask why".
type statusCmd struct {
	JSON bool `name:"json" help:"Print {\"runner\", \"processes\", \"tasks\", \"automations\", \"deliveries\", \"recovery\"}."`
}

// Help shows examples.
func (statusCmd) Help() string {
	return "One line for each part of claw: how it stands, and what to type to see more where there is something to see. Nothing is written.\n\n" +
		examples("claw status", "claw status --json | jq .tasks.attention")
}

// statusReport is what claw status knows.
type statusReport struct {
	Runner      runner.State   `json:"runner"`
	Processes   processCounts  `json:"processes"`
	Tasks       taskCounts     `json:"tasks"`
	Automations map[string]any `json:"automations"`
	Deliveries  map[string]int `json:"deliveries"`
	Recovery    map[string]int `json:"recovery"` // sessions in which a turn was cut off, by state
	lines       []statusLine   // for people
}

type processCounts struct {
	Running int `json:"running"`
	Waiting int `json:"waitingForInput"`
}

type taskCounts struct {
	Running   int `json:"running"`
	Queued    int `json:"queued"`
	Attention int `json:"attention"` // findings of claw tasks audit
}

// statusLine is one part: how it stands, and the next step, which may be empty.
type statusLine struct{ part, words, next string }

// Run prints the status.
func (c *statusCmd) Run(a *app) error {
	report, err := a.status()
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(report)
	}
	return report.print(a)
}

// print writes the lines: on a terminal the next step stands in a column of its
// own where there is room for it, else below.
func (r *statusReport) print(a *app) error {
	if !a.io.OutTTY {
		var b strings.Builder
		for _, l := range r.lines {
			b.WriteString(output.Escape(l.part) + "\t" + output.Escape(l.words) + "\t" + output.Escape(l.next) + "\n")
		}
		_, err := a.io.Out.Write([]byte(b.String()))
		return err
	}
	wide := 0
	for _, l := range r.lines {
		if l.next != "" {
			wide = max(wide, utf8.RuneCountInString(l.words))
		}
	}
	pairs := make([][2]string, len(r.lines))
	for i, l := range r.lines {
		pairs[i] = [2]string{l.part, l.value(wide)}
	}
	return a.io.Pairs(pairs)
}

// statusRoom is what a line has for words and the next step, beside the part.
const statusRoom = 80 - len("automations") - 2

func (l statusLine) value(wide int) string {
	switch {
	case l.next == "":
		return l.words
	case wide+2+len("claw cron list --all") > statusRoom:
		return l.words + "\n" + l.next
	}
	return l.words + strings.Repeat(" ", wide-utf8.RuneCountInString(l.words)+2) + l.next
}

func (a *app) status() (*statusReport, error) {
	r := &statusReport{Deliveries: map[string]int{}, Recovery: map[string]int{}, Automations: map[string]any{}}
	for _, part := range [...]func(*statusReport) error{a.runnerPart, a.processPart, a.taskPart, a.automationPart, a.deliveryPart, a.recoveryPart} {
		if err := part(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *statusReport) say(part, words, next string) {
	r.lines = append(r.lines, statusLine{part, words, next})
}

func (a *app) runnerPart(r *statusReport) error {
	dir, err := a.stateDir()
	if err != nil {
		return err
	}
	st, err := runner.Look(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !os.IsNotExist(err) {
		return err
	}
	r.Runner = st
	switch {
	case st.Running:
		r.say("runner", "at work, pid "+itoa(st.PID)+", since "+exact(st.Since), "")
	case st.LastTick.IsZero() && !st.TickAtWork:
		r.say("runner", "not running; "+insteadOf(st, a.now()), "claw runner run")
	default:
		r.say("runner", "not running; "+insteadOf(st, a.now()), "")
	}
	if h := a.modeHolds(st); h.why != "" {
		r.say("mode", h.brief+"; "+h.why, "claw doctor")
	}
	return nil
}

// modeHolds is what the mode of a runner, or what the next tick will find,
// keeps from beginning.
func (a *app) modeHolds(st runner.State) hold {
	if st.Running && st.Mode == string(boot.Draining) {
		return hold{brief: "the runner is about to end", why: boot.Draining.Why(), remedy: nonEmpty(boot.Draining.Remedy())}
	}
	if b := a.breakerOf(st); b.Mode == boot.Safe {
		return safeMode(b.Until, firstOf(st.Why, boot.Safe.Why()))
	}
	return hold{}
}

func (a *app) processPart(r *statusReport) error {
	ctl, err := a.control("", true)
	if err != nil {
		return err
	}
	answer, err := ctl.List(control.Filter{State: "running"})
	if err != nil {
		return err
	}
	for _, s := range answer.Details.(control.List).Sessions {
		r.Processes.Running++
		if s.WaitingForInput {
			r.Processes.Waiting++
		}
	}
	words, next := "none running", ""
	if n := r.Processes; n.Running > 0 {
		words, next = itoa(n.Running)+" running", "claw process list"
		if n.Waiting > 0 {
			words = joinDots(words, itoa(n.Waiting)+" waiting for input")
		}
	}
	r.say("processes", words, next)
	return nil
}

func (a *app) automationPart(r *statusReport) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	st, err := s.Status()
	if err != nil {
		return err
	}
	r.Automations = statusJSON(st)
	words, next := jobWords(st), ""
	switch {
	case st.Jobs == 0:
	case !st.Enabled:
		words, next = joinDots(words, "cron.enabled is false"), "claw config show"
	case st.AutoDisabled > 0:
		next = "claw cron list --all"
	case !st.Next.IsZero():
		words, next = joinDots(words, "next "+output.Ago(st.Next, a.now())), "claw cron list"
	}
	r.say("automations", words, next)
	return nil
}

func (a *app) deliveryPart(r *statusReport) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	all, err := deliver.List(store, a.now(), false)
	if err != nil {
		return err
	}
	for _, d := range all {
		r.Deliveries[string(d.State)]++
	}
	words, next := "", ""
	for _, state := range [...]delivery.State{delivery.Unknown, delivery.Failed, delivery.Sending, delivery.Pending} {
		if n := r.Deliveries[string(state)]; n > 0 {
			words, next = joinDots(words, itoa(n)+" "+string(state)), "claw deliveries list"
		}
	}
	r.say("deliveries", firstOf(words, "nothing waits"), next)
	return nil
}

func (a *app) taskPart(r *statusReport) error {
	k, err := a.keeper()
	if err != nil {
		return err
	}
	list, err := k.List(tasks.Filter{})
	if err != nil {
		return err
	}
	audit, err := k.Audit(tasks.AuditFilter{})
	if err != nil {
		return err
	}
	r.Tasks.Attention = audit.Count
	for _, t := range list.Tasks {
		switch t.Status {
		case task.Running:
			r.Tasks.Running++
		case task.Queued:
			r.Tasks.Queued++
		}
	}
	words, next := itoa(r.Tasks.Running)+" running · "+itoa(r.Tasks.Queued)+" queued", ""
	if r.Tasks.Attention > 0 {
		words, next = joinDots(words, itoa(r.Tasks.Attention)+" need a look"), "claw tasks audit"
	}
	r.say("tasks", words, next)
	return nil
}
