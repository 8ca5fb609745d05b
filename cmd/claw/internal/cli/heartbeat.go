package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner"
	"claw/runner/heartbeat"
	rules "claw/state/heartbeat"
	"claw/state/process"
	"claw/state/session"
)

// heartbeatCmd is `claw heartbeat`; spec/heartbeat-automations.md 1 and 4.
type heartbeatCmd struct {
	Status  heartbeatStatus  `cmd:"" default:"withargs" help:"Show each agent's last heartbeat, what came of it, and the next."`
	Tick    heartbeatTick    `cmd:"" help:"Do what there is to do, for all agents, and exit; cron calls this."`
	Run     heartbeatRun     `cmd:"" help:"Run the heartbeat of an agent now, whatever the clock says."`
	Last    heartbeatLast    `cmd:"" help:"Show what became of the last heartbeat."`
	Enable  heartbeatEnable  `cmd:"" help:"Turn the heartbeats of all agents on again."`
	Disable heartbeatDisable `cmd:"" help:"Turn the heartbeats of all agents off, and their wakes by events."`
	Respond heartbeatRespond `cmd:"" help:"Answer a wake, from within an agent's turn."`
	Scratch heartbeatScratch `cmd:"" help:"Show or replace the text that an agent is shown with every heartbeat."`
}

// Help shows examples.
func (heartbeatCmd) Help() string {
	return "A heartbeat is the periodic check of an agent's main session: it runs the checks in heartbeat.d and wakes the agent, whose reply is sent unless it says that there is nothing to say. Without an action, status.\n\n" +
		examples("claw heartbeat status", "claw heartbeat run")
}

// heartbeatAgent is whose heartbeat is meant: the flag, the turn this runs in,
// else main or the first configured agent.
func (a *app) heartbeatAgent(flag string) (string, error) {
	cfg, err := a.config()
	if err != nil {
		return "", err
	}
	names := cfg.AgentNames()
	name := firstOf(flag, a.env("AGENT"))
	if name == "" && !slices.Contains(names, "main") {
		name = names[0]
	}
	return firstOf(name, "main"), nil
}

type heartbeatStatus struct {
	JSON bool `name:"json" help:"Print {\"enabled\", \"cronEnabled\", \"agents\": [{\"agentId\", \"nextDue\", \"last\", …}]}."`
}

// Help shows examples.
func (heartbeatStatus) Help() string {
	return examples("claw heartbeat status", "claw heartbeat status --json | jq -r '.agents[].nextDue'")
}

// Run prints the status.
func (c *heartbeatStatus) Run(a *app) error {
	r, err := a.runner(nil)
	if err != nil {
		return err
	}
	s, err := r.Heartbeat.Status()
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(s)
	}
	t := output.Table{Columns: []output.Column{{Name: "AGENT"}, {Name: "LAST"}, {Name: "OUTCOME", Flex: true}, {Name: "NEXT"}}}
	for _, x := range s.Agents {
		last := time.Time{}
		if x.Last != nil {
			last = x.Last.At
		}
		t.Rows = append(t.Rows, []string{x.Agent, firstOf(a.ago(last), "never"), outcomeWords(x.Last), a.nextWords(s, x)})
	}
	if err := a.io.Table(t); err != nil {
		return err
	}
	if !s.Enabled {
		a.io.Say("heartbeats are off: nothing is checked and no event wakes an agent", "claw heartbeat enable")
	}
	if !s.CronEnabled {
		a.io.Say("cron.enabled is false: no heartbeat runs by the clock; events still wake agents")
	}
	return nil
}

// nextWords is when a heartbeat is due: "15:04, in 18m".
func (a *app) nextWords(s heartbeat.Status, x heartbeat.AgentStatus) string {
	switch {
	case !s.Enabled, !x.Enabled:
		return "off"
	case !a.io.OutTTY:
		return x.NextDue.Format(time.RFC3339)
	case !x.NextDue.After(a.now()):
		return "now due"
	}
	return x.NextDue.Local().Format("15:04") + ", " + output.Ago(x.NextDue, a.now())
}

// outcomeWords is what became of a heartbeat, for people.
func outcomeWords(e *rules.Event) string {
	if e == nil {
		return ""
	}
	switch e.Status {
	case rules.StatusOkChecks:
		return "quiet (" + checksWords(e.Checks) + ", no agent run)"
	case rules.StatusOkToken, rules.StatusOkEmpty:
		return "quiet"
	case rules.StatusSent:
		return joinNonEmpty("sent to", firstOf(e.Channel, "nobody"))
	case rules.StatusFailed:
		return "failed: " + firstOf(process.Collapse(e.Message), e.Reason)
	}
	words := "skipped: " + skipWords(e.Reason)
	if e.TurnID != "" { // the agent was asked; what it said was held back
		words = "not sent: " + skipWords(e.Reason)
	}
	if e.Count > 1 {
		words += fmt.Sprintf(" (%d times)", e.Count)
	}
	return words
}

func checksWords(n int) string {
	switch n {
	case 0:
		return "no checks"
	case 1:
		return "1 check"
	}
	return itoa(n) + " checks"
}

// skipWords is a reason of spec/heartbeat-automations.md 1.4 to 1.7 for
// people; it stays recognisable.
func skipWords(reason string) string {
	switch reason {
	case rules.ReasonDisabled:
		return "its heartbeat is off"
	case rules.ReasonInFlight:
		return "the session was busy"
	case rules.ReasonEmptyFile:
		return "nothing in HEARTBEAT.md"
	case rules.ReasonDuplicate:
		return "the same was sent already"
	case rules.ReasonFlood:
		return "too many turns in a minute"
	case rules.ReasonRecovery:
		return "a turn that was cut off is seen to first"
	case rules.ReasonGivenUp:
		return "the session was given up (claw recover list)"
	}
	return strings.ReplaceAll(reason, "-", " ")
}

type heartbeatLast struct {
	Agent string `help:"Which agent; default $$CLAW_AGENT, else main." placeholder:"NAME"`
	JSON  bool   `name:"json" help:"Print {\"ts\", \"status\", \"reason\", \"sessionKey\", \"turnId\", \"channel\", \"preview\", …}, or null."`
}

// Help shows examples.
func (heartbeatLast) Help() string {
	return examples("claw heartbeat last", "claw heartbeat last --agent ops --json | jq -r .status")
}

// Run prints the record.
func (c *heartbeatLast) Run(a *app) error {
	agent, err := a.meantAgent("heartbeat last", c.Agent)
	if err != nil {
		return err
	}
	last, err := a.lastHeartbeat(agent)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return a.io.JSON(last)
	case last == nil:
		a.io.Note("agent " + agent + " has had no heartbeat yet")
		return nil
	}
	pairs := [][2]string{
		{"at", exact(last.At)},
		{"outcome", outcomeWords(last)},
		{"reason", last.Reason},
		{"session", last.SessionKey},
		{"turn", last.TurnID},
		{"sent to", joinNonEmpty(last.Channel, last.To)},
		{"text", last.Preview},
		{"took", process.HumanDuration(time.Duration(last.DurationMs) * time.Millisecond)},
	}
	return a.io.Pairs(slices.DeleteFunc(pairs, func(p [2]string) bool { return strings.TrimSpace(p[1]) == "" }))
}

func (a *app) lastHeartbeat(agent string) (*rules.Event, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	return heartbeat.LastOf(store, agent)
}

type heartbeatEnable struct{}

// Help shows examples.
func (heartbeatEnable) Help() string {
	return examples("claw heartbeat enable", "claw heartbeat status")
}

// Run turns heartbeats on.
func (heartbeatEnable) Run(a *app) error { return a.switchHeartbeats(true) }

type heartbeatDisable struct{}

// Help shows examples.
func (heartbeatDisable) Help() string {
	return "It holds until they are turned on again. Events stay queued until then; messages that wait are still sent.\n\n" +
		examples("claw heartbeat disable", "claw heartbeat enable")
}

// Run turns heartbeats off.
func (heartbeatDisable) Run(a *app) error { return a.switchHeartbeats(false) }

func (a *app) switchHeartbeats(on bool) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	changed, err := heartbeat.Enable(a.ctx, store, on)
	if err != nil {
		return err
	}
	word := "off"
	if on {
		word = "on"
	}
	if !changed {
		word += " already"
	}
	a.io.Note("heartbeats are " + word)
	if on && changed {
		return a.wake()
	}
	return nil
}

type heartbeatRun struct {
	Agent   string `help:"Which agent; default $$CLAW_AGENT, else main." placeholder:"NAME"`
	Session string `help:"Session to wake; default the configured one." placeholder:"KEY"`
	JSON    bool   `name:"json" help:"Print what came of it as one JSON object, as last does."`
}

// Help shows examples.
func (heartbeatRun) Help() string {
	return "It waits neither for the clock nor for a cooldown. Outside of active hours, and while the session is busy, it is skipped. Events that wait for the session go first. Ctrl-C ends the checks; an agent that has been asked goes on, and what it says is sent when it has ended.\n\n" +
		examples("claw heartbeat run", "claw heartbeat run --agent ops --json | jq -r .status")
}

// Run wakes one session in the foreground.
func (c *heartbeatRun) Run(a *app) error {
	a.brief()
	agent, err := a.meantAgent("heartbeat run", c.Agent)
	if err != nil {
		return err
	}
	if err := a.admitted("heartbeat run"); err != nil {
		return err
	}
	r, err := a.runner(os.Stdout)
	if err != nil {
		return err
	}
	if err := ownSession(agent, c.Session); err != nil {
		return err
	}
	in := a.interruptible()
	w, turn, err := a.runHeartbeat(in.ctx, r, agent, c.Session)
	if err = interruptedRun(turn, err, in.done()); err != nil {
		return err
	}
	last, err := a.lastHeartbeat(agent)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := a.io.JSON(last); err != nil {
			return err
		}
	}
	return c.verdict(a, r, w, last)
}

// ownSession refuses a key that is none, or another agent's.
func ownSession(agent, key string) error {
	if key == "" {
		return nil
	}
	k, err := session.Parse(key)
	if err != nil {
		return usagef("heartbeat run: "+err.Error(), remedyOf(err)...)
	}
	if k.Agent != "" && k.Agent != agent {
		return usagef(fmt.Sprintf("heartbeat run: session %s is of agent %s, not %s", key, k.Agent, agent), "--agent "+k.Agent)
	}
	return nil
}

// runHeartbeat plans and carries out one wake by hand, and sends what follows
// from it. The turn has no ID where none was needed.
func (a *app) runHeartbeat(ctx context.Context, r *runner.Runner, agent, key string) (w heartbeat.Planned, t session.Turn, err error) {
	if err := r.Heartbeat.Converge(ctx); err != nil {
		return w, t, err
	}
	plan, err := r.Heartbeat.Plan(a.now(), heartbeat.Wake{
		Agent: agent, SessionKey: key, Source: rules.SourceManual, Reason: rules.SourceManual, Intent: rules.IntentManual,
	})
	if err != nil {
		return w, t, err
	}
	i := slices.IndexFunc(plan.Wakes, func(w heartbeat.Planned) bool { return w.Intent == rules.IntentManual })
	w = plan.Wakes[i]
	if t, err = r.Heartbeat.Do(ctx, w); err != nil {
		return w, t, err
	}
	return w, t, a.sending(ctx, func() error {
		_, err := r.Post.Flush(ctx)
		return err
	})
}

// interruptedRun says what became of a run that a signal has ended.
func interruptedRun(t session.Turn, err error, code int) error {
	switch {
	case t.ID == "":
		return stopped(err, code, "heartbeat run: ended before the agent was asked, with its checks")
	case !t.Status.Ended():
		return stopped(err, code, "heartbeat run: turn "+t.ID+" goes on without claw, and what it says is sent when it has ended", "claw sessions show "+t.SessionKey)
	}
	return stopped(err, code, "heartbeat run: the agent has answered; what waits is sent by the next tick", "claw heartbeat tick")
}

// verdict says what happened, and with what code that ends.
func (c *heartbeatRun) verdict(a *app, r *runner.Runner, w heartbeat.Planned, last *rules.Event) error {
	switch {
	case !w.Run:
		return runSkipped(r.Heartbeat, w, w.Reason)
	case last == nil:
		return nil
	case last.Status == rules.StatusSkipped && last.TurnID == "":
		return runSkipped(r.Heartbeat, w, last.Reason)
	case last.Status == rules.StatusFailed:
		return &failure{code: exitFailed, text: "heartbeat run: " + outcomeWords(last), remedy: []string{"claw sessions show " + last.SessionKey}}
	}
	if !c.JSON {
		a.io.Note(outcomeWords(last))
	}
	return nil
}

// runSkipped says why no agent was asked, and what can be done about it.
func runSkipped(e *heartbeat.Engine, w heartbeat.Planned, reason string) error {
	text, remedy := skipWords(reason), ""
	switch reason {
	case rules.ReasonDisabled:
		s, err := e.Status()
		if err != nil {
			return err
		}
		text, remedy = offWords(s.Enabled, e.Settings(w.Agent))
	case rules.ReasonInFlight:
		remedy = "claw sessions show " + w.SessionKey
	}
	return &failure{code: exitRefused, text: "heartbeat run: skipped: " + text, remedy: nonEmpty(remedy)}
}

// offWords is why an agent has no heartbeat, and how it gets one.
func offWords(all bool, s heartbeat.Settings) (text, remedy string) {
	switch {
	case !all:
		return "heartbeats are off", "claw heartbeat enable"
	case !s.Enrolled:
		return "agent " + s.Agent + " has no heartbeat", "[agents." + s.Agent + ".heartbeat] in claw.toml gives it one: where one agent has such a block, the others run none"
	}
	return "the heartbeat of agent " + s.Agent + " is off: every is 0", `[agents.` + s.Agent + `.heartbeat] every = "30m" in claw.toml`
}
