package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"claw/runner/agent"
	"claw/state/process"
	"claw/state/session"
)

// agentCmd is `claw agent`; design.md section 5.
type agentCmd struct {
	Send     agentSend     `cmd:"" help:"Write to an agent and print its reply."`
	Run      agentRun      `cmd:"" help:"Give an agent work, and go on; prints its id."`
	Wait     agentWait     `cmd:"" help:"Wait for work that was given to an agent, and print its result."`
	Cancel   agentCancel   `cmd:"" help:"End work that was given to an agent, with all that it has given to others."`
	Complete agentComplete `cmd:"" help:"Ask an agent something without tools, and print its answer."`
}

// Help shows examples.
func (agentCmd) Help() string {
	return "An agent is a program, named in [agents.NAME] of claw.toml, that reads a message on its stdin and writes a reply to its stdout. Each session has one turn at a time.\n\n" +
		examples("claw agent send 'what is still to be done?'", "claw agent run --agent main --message 'read the log of tonight'")
}

type agentSend struct {
	Text    []string `arg:"" optional:"" help:"What to tell it; - reads it from stdin, and so does a pipe without a TEXT." placeholder:"TEXT"`
	Session string   `help:"Conversation to go on with, or to begin; default $$CLAW_SESSION, else the agent's main session." placeholder:"KEY"`
	Agent   string   `help:"Which agent; default that of the session, else $$CLAW_AGENT, else main." placeholder:"NAME"`
	Timeout *float64 `help:"End the agent after so many seconds; 0 never does. Default its timeoutSeconds." placeholder:"SEC"`
	Model   string   `help:"What {model} stands for in this turn." placeholder:"NAME"`
	Wait    *float64 `help:"Wait at most so many seconds for a turn that runs in the session; default until it has ended." placeholder:"SEC"`
	NoWait  bool     `help:"Exit 4 at once when a turn runs in the session."`
	JSON    bool     `name:"json" help:"Print {\"reply\": TEXT, \"turn\": {\"id\", \"status\", \"sessionKey\", \"exitCode\", \"error\", …}} at the end."`
}

// Help shows examples.
func (agentSend) Help() string {
	return "The reply goes to stdout as the agent writes it, its stderr to stderr. Events that wait for the session go before the message. Ctrl-C ends the agent, a second one leaves it to its supervisor; the reply is then in claw sessions show.\n\n" +
		examples("claw agent send 'what is still to be done?'", "git diff | claw agent send --session session:review --timeout 300 -")
}

// Run carries out one turn in the foreground.
func (c *agentSend) Run(a *app) error {
	message, err := c.message(a)
	if err != nil {
		return err
	}
	if err := a.admitted("agent send"); err != nil {
		return err
	}
	r, err := a.runner(nil)
	if err != nil {
		return err
	}
	req, err := c.request(a, r.Turns, r.Heartbeat.Agents)
	if err != nil {
		return err
	}
	req.Message = message
	return c.turn(a, r.Turns, req)
}

// message is what is told.
func (c *agentSend) message(a *app) (string, error) {
	text := strings.Join(c.Text, " ")
	if text == "-" || len(c.Text) == 0 && piped(a.stdin) {
		raw, err := io.ReadAll(io.LimitReader(a.stdin, maxText+1)) // more than a turn takes, to say how much it is
		if err != nil {
			return "", err
		}
		if len(raw) > maxText {
			return "", refusedTurn("agent send", &agent.TooLongError{Bytes: len(raw), More: true})
		}
		text = string(raw)
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("agent send: the message is empty", "claw agent send 'what is still to be done?'", "git diff | claw agent send -")
	}
	return text, nil
}

// piped tells a stdin that somebody has prepared: a pipe or a file.
func piped(f *os.File) bool {
	if f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// request is the turn that is asked for, without its message.
func (c *agentSend) request(a *app, turns *agent.Turns, known []string) (agent.Request, error) {
	key, name, err := c.conversation(a, turns, known)
	if err != nil {
		return agent.Request{}, err
	}
	req := agent.Request{
		Agent: name, SessionKey: key, Kind: session.KindUser, Reason: "user", ReplyMode: session.ReplyCaller,
		Model: c.Model, Drain: true, Wait: -1,
	}
	switch {
	case c.NoWait && c.Wait != nil:
		return req, usagef("agent send: --wait and --no-wait exclude each other")
	case c.NoWait:
		req.Wait = 0
	case c.Wait != nil:
		req.Wait = ms(process.TimeoutMs(*c.Wait))
	}
	if c.Timeout != nil {
		if req.Timeout = ms(process.TimeoutMs(*c.Timeout)); req.Timeout == 0 {
			req.Timeout = -1
		}
	}
	return req, nil
}

// conversation is the session that is meant, and whose it is. A key that is
// new begins one: only what is no key is looked for among those there are.
func (c *agentSend) conversation(a *app, turns *agent.Turns, known []string) (key, name string, err error) {
	all, err := turns.Sessions("")
	if err != nil {
		return "", "", err
	}
	key = c.Session
	if key == "" && c.Agent == "" {
		key = a.env("SESSION")
	}
	if key != "" {
		if key, err = meantKey(key, all); err != nil {
			return "", "", sessionError("agent send", err)
		}
	}
	parsed, _ := session.Parse(key)
	name = firstOf(c.Agent, parsed.Agent, agentOfSession(all, key))
	if name == "" {
		if name, err = a.heartbeatAgent(""); err != nil {
			return "", "", err
		}
	}
	key = firstOf(key, session.Main(name))
	switch {
	case parsed.Agent != "" && parsed.Agent != name:
		return "", "", usagef(fmt.Sprintf("agent send: session %s is of agent %s, not %s", key, parsed.Agent, name), "leave --agent out")
	case !slices.Contains(known, name):
		return "", "", noAgent("agent send", name, known)
	case a.env("TURN_ID") != "" && key == a.env("SESSION"):
		return "", "", &failure{code: exitRefused, text: "agent send: this is a turn of session " + key + " itself, which would wait for its own end", remedy: []string{"--session KEY or --agent NAME name another conversation"}}
	}
	return key, name, nil
}

// meantKey is a key as it was typed: one there is, whatever its case, or a new
// one, or else the one there is that begins like it.
func meantKey(typed string, all []agent.Seen) (string, error) {
	keys := make([]string, len(all))
	for i, s := range all {
		keys[i] = s.Key
		if strings.EqualFold(s.Key, typed) && !slices.ContainsFunc(all, func(s agent.Seen) bool { return s.Key == typed }) {
			return s.Key, nil
		}
	}
	_, parseErr := session.Parse(typed)
	if parseErr == nil {
		return typed, nil
	}
	key, err := session.Match(typed, keys)
	if _, missing := errors.AsType[*session.NotFoundError](err); missing {
		return "", parseErr
	}
	return key, err
}

func agentOfSession(all []agent.Seen, key string) string {
	for _, s := range all {
		if s.Key == key {
			return s.Agent
		}
	}
	return ""
}

// sessionError gives an error about a key its exit code.
func sessionError(command string, err error) error {
	code := exitUsage
	if _, ok := errors.AsType[*session.NotFoundError](err); ok {
		code = exitNotFound
	}
	return &failure{code: code, text: command + ": " + err.Error(), remedy: remedyOf(err), err: err}
}
