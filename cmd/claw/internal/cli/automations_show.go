package cli

import (
	"maps"
	"slices"
	"strings"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/process"
)

type automationsShow struct {
	Name string `arg:"" help:"Its name or id." placeholder:"NAME"`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Help shows examples.
func (automationsShow) Help() string {
	return "Of the variables of a command only the names are shown; --json has their values.\n\n" +
		examples("claw cron show backup", "claw cron show backup --json | jq .state")
}

// Run shows one automation.
func (c *automationsShow) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	e, err := s.Find(c.Name)
	if err != nil {
		return cronError("show", err)
	}
	if c.JSON {
		return a.io.JSON(e)
	}
	pairs := automationPairs(a, e)
	if e.Enabled {
		pairs = append(pairs, [2]string{"held back", a.heldBack(s).brief})
	}
	kept := slices.DeleteFunc(pairs, func(p [2]string) bool { return p[1] == "" })
	return a.io.Pairs(kept)
}

func automationPairs(a *app, e scheduler.Entry) [][2]string {
	pairs := [][2]string{
		{"id", e.ID},
		{"name", e.Name},
		{"called", e.DisplayName},
		{"for", e.Description},
		{"state", onOff(e.Enabled)},
		{"schedule", e.Words},
		{"expression", e.Schedule.Expr},
	}
	pairs = append(pairs, sourcePairs(a, e)...)
	pairs = append(pairs, payloadPairs(e)...)
	missed := ""
	if e.Schedule.Kind.Timed() {
		missed = missedWords(e.Automation)
	}
	pairs = append(pairs,
		[2]string{"delivery", deliveryWords(e.Delivery)},
		[2]string{"alerts", alertWords(e.FailureAlert)},
		[2]string{"missed", missed},
		[2]string{"overlap", string(e.OverlapPolicy())})
	return append(pairs, statePairs(a, e)...)
}

// missedWords are what becomes of missed slots, and the bounds of that: "all, at
// most 3, no more than 2h late".
func missedWords(a automation.Automation) string {
	words := string(a.MissedPolicy())
	if n := a.Missed.Limit; n > 0 && a.MissedPolicy() == automation.MissedAll {
		words += ", at most " + itoa(n)
	}
	if ms := a.Missed.WindowMs; ms > 0 && a.MissedPolicy() != automation.MissedSkip {
		words += ", no more than " + millis(ms) + " late"
	}
	return words
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// sourcePairs are what goes on for an automation that is not run by the clock,
// and what decides whether one runs.
func sourcePairs(a *app, e scheduler.Entry) [][2]string {
	pairs := [][2]string{{"source", sourceState(a, e)}}
	if s := e.Source; s != nil {
		pairs = append(pairs, [2]string{"noticed", exact(s.FiredAt)}, [2]string{"trouble", s.Error}, [2]string{"not told", lossWords(s)})
	}
	if t := e.Trigger; t != nil {
		words := process.Collapse(t.Script)
		if t.Once {
			words += " (once)"
		}
		asked := exact(e.State.CheckedAt)
		if n := e.State.Quiet; n > 0 {
			asked += ", " + counted(n, "time") + " in a row with nothing to do"
		}
		pairs = append(pairs, [2]string{"trigger", words}, [2]string{"asked", asked})
	}
	if p := e.Pacing; p != nil {
		pairs = append(pairs, [2]string{"pacing", "between " + millis(p.MinMs) + " and " + firstOf(millis(p.MaxMs), "any time")})
	}
	return pairs
}

// sourceState is how the source stands: "watching since …", "running, 3 starts
// in a row failed".
func sourceState(a *app, e scheduler.Entry) string {
	if e.Schedule.Kind.Timed() {
		return ""
	}
	s := e.Source
	switch {
	case s == nil && e.Enabled:
		return "begins when a runner or a tick is at work"
	case s == nil || !e.Enabled && s.Status != automation.SourceRunning:
		return "not at work"
	case !e.Enabled:
		return "is being stopped"
	}
	words := sourceBrief(e)
	if !s.ArmedAt.IsZero() && (s.Status == automation.SourceRunning || s.Status == automation.SourceStarting) {
		words += " since " + exact(s.ArmedAt)
	}
	if s.Failures > 0 {
		words += ", " + counted(s.Failures, "short start") + " in a row"
	}
	if !s.RetryAt.IsZero() {
		words += ", next start " + moment(s.RetryAt, a.now())
	}
	if s.Exhausted {
		words += "; given up: claw cron enable " + e.Name
	}
	return words
}

// lossWords are what of a stream was not told by itself.
func lossWords(s *automation.Source) string {
	var words []string
	if s.Dropped > 0 {
		words = append(words, counted(int(s.Dropped), "piece")+" lost")
	}
	if s.Coalesced > 0 {
		words = append(words, counted(int(s.Coalesced), "piece")+" put together with another")
	}
	return strings.Join(words, ", ")
}

func payloadPairs(e scheduler.Entry) [][2]string {
	p := e.Payload
	limit := "none"
	if d := p.Timeout(); d > 0 {
		limit = process.HumanDuration(d)
	}
	if p.Kind == automation.PayloadEvent {
		limit = ""
	}
	if p.NoOutputTimeoutSeconds > 0 {
		limit = joinNonEmpty(limit+",", process.HumanDuration(time.Duration(p.NoOutputTimeoutSeconds)*time.Second)+" without output")
	}
	session := e.SessionTarget
	if e.SessionKey != "" {
		session = e.SessionKey
	}
	if p.Kind == automation.PayloadCommand {
		session = ""
	}
	tools := strings.Join(p.ToolsAllow, " ")
	if p.Kind != automation.PayloadCommand && p.ToolsAllow != nil && len(p.ToolsAllow) == 0 || p.Kind == automation.PayloadTurn && tools == "" {
		tools = "none"
	}
	return [][2]string{
		{"does", payloadWords(p)},
		{"directory", p.Cwd},
		{"stdin", process.Collapse(p.Input)},
		{"variables", strings.Join(slices.Sorted(maps.Keys(p.Env)), " ")},
		{"agent", e.AgentID},
		{"session", session},
		{"model", strings.Join(append(nonEmpty(p.Model), p.Fallbacks...), ", then ")},
		{"thinking", p.Thinking},
		{"tools", tools},
		{"timeout", limit},
	}
}

// alertWords are an automation's own rules for failures.
func alertWords(f *automation.FailureAlert) string {
	switch {
	case f == nil:
		return ""
	case f.Off:
		return "none"
	}
	words := "after " + counted(max(1, f.After), "failure") + " in a row"
	if f.CooldownMs > 0 {
		words += ", once in " + millis(f.CooldownMs)
	}
	if to := strings.TrimSuffix(f.Channel+":"+f.To, ":"); to != "" {
		words += ", to " + to
	}
	return words
}

// statePairs are how it went so far, and who may change it.
func statePairs(a *app, e scheduler.Entry) [][2]string {
	next := "nothing will come"
	switch {
	case !e.Next.IsZero():
		next = exact(e.Next)
	case !e.Schedule.Kind.Timed():
		next = ""
	}
	owner := e.Owner
	if e.Declared {
		owner = "an [[automation]] table of claw.toml"
	}
	st := e.State
	return [][2]string{
		{"next", next},
		{"last", exact(st.LastRunAt)},
		{"outcome", automationOutcome(e, a.now())},
		{"error", st.LastError},
		{"message", joinNonEmpty(string(st.LastDelivery), parens(st.LastDeliveryError))},
		{"alerted", exact(st.AlertedAt)},
		{"made by", owner},
		{"key", e.DeclarationKey},
	}
}

func parens(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func millis(ms int64) string {
	if ms == 0 {
		return ""
	}
	return process.HumanDuration(time.Duration(ms) * time.Millisecond)
}

func payloadWords(p automation.Payload) string {
	switch p.Kind {
	case automation.PayloadCommand:
		return process.QuoteArgv(p.Argv)
	case automation.PayloadTurn:
		return "asks the agent: " + p.Message
	}
	return "tells the agent: " + p.Text
}

func deliveryWords(d *automation.Delivery) string {
	switch {
	case d == nil || d.Mode == "none":
		return "none"
	case d.Mode == "webhook":
		return "posted to " + d.URL
	}
	words := joinNonEmpty(d.Mode+" to", firstOf(d.Channel, "where it was last spoken, else the default channel"))
	if d.To != "" {
		words += ":" + d.To
	}
	if d.URL != "" {
		words += ", and posted to " + d.URL
	}
	if d.BestEffort {
		words += ", best effort"
	}
	return words
}
