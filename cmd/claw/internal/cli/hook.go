package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"claw/runner/hook"
	"claw/runner/poke"
	"claw/state"
	"claw/state/external"
)

// hookCmd is `claw hook`; seed 004, spec/tasks-recovery.md section 5.
type hookCmd struct {
	Dispatch hookDispatch `cmd:"" help:"Have an agent see to a message from outside."`
	Serve    hookServe    `cmd:"" help:"Listen for webhooks."`
}

// Help shows examples.
func (hookCmd) Help() string {
	return "What comes from outside is shown to an agent between markers that it cannot write itself, under a warning; that cannot be switched off. The agent gets it in a turn of its own.\n\n" +
		examples("claw hook dispatch --agent a --session-key hook:m --source email < m", "claw tasks list --runtime cron")
}

type hookDispatch struct {
	Agent          string `help:"The agent that is asked." placeholder:"NAME"`
	SessionKey     string `name:"session-key" help:"hook:NAME; those of one key are seen to one after the other." placeholder:"KEY"`
	Source         string `help:"Where it comes from: email." placeholder:"SOURCE"`
	Name           string `help:"What it is called where it is told of; default Email." placeholder:"TEXT"`
	Format         string `help:"What stdin is: mail (its text is taken out of it), text, or auto: mail if it begins like one." enum:"auto,mail,text" default:"auto" placeholder:"FORMAT"`
	IdempotencyKey string `name:"idempotency-key" help:"The same message under the same key is seen to once; message-id takes the one of the mail, or one made of its bytes." placeholder:"KEY"`
	Deliver        bool   `help:"Send the reply to a person; otherwise it is only recorded."`
	Channel        string `help:"With --deliver: the channel; default where the agent's main session was last spoken to." placeholder:"NAME"`
	To             string `help:"With --channel: the recipient there." placeholder:"WHOM"`
	Account        string `help:"With --channel: the account there." placeholder:"ID"`
	Model          string `help:"The model of this turn; default the agent's." placeholder:"NAME"`
	Thinking       string `help:"How much it is to think, for {thinking} in its argv." placeholder:"LEVEL"`
	TimeoutSeconds int64  `name:"timeout-seconds" help:"Seconds it may take; default the agent's." placeholder:"N"`
	Queue          bool   `short:"q" help:"Answer as soon as it is written down, and let it wait for its turn as long as that takes."`
}

// Help shows examples.
func (hookDispatch) Help() string {
	return "The message is read from stdin. Prints {\"ok\":true,\"runId\":…} when the agent has begun, and {\"ok\":false,\"reason\":…} when it has not within 15 seconds, and never will: try again. What is accepted is carried out also when whoever asked has gone. A reply of NO_REPLY is sent to nobody; a failure is told to the agent's main session.\n\n" +
		examples("claw hook dispatch --agent a --session-key hook:m --source email < m", "claw hook dispatch --agent a --session-key hook:m --source email -q < m")
}

// maxRaw is how many bytes a mail may have with all its attachments.
const maxRaw = 64 << 20

// dispatched is the answer.
type dispatched struct {
	OK     bool   `json:"ok"`
	RunID  string `json:"runId,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Run dispatches it.
func (c *hookDispatch) Run(a *app) error {
	req, err := c.request(a)
	if err != nil {
		return c.tell(a, "", err)
	}
	r, err := a.runner(nil)
	if err != nil {
		return err
	}
	// Whoever calls this wants it done, whatever is said about exits.
	r.Hooks.Call = func() error { return poke.Act(r.Store.Dir(), poke.Auto, a.environ) }
	d, _, err := r.Hooks.Accept(a.ctx, req)
	if err != nil {
		return c.tell(a, "", err)
	}
	if !d.Status.Ended() {
		if err := r.Hooks.Call(); err != nil {
			a.io.Note("nobody could be told of it: " + err.Error())
		}
	}
	d, err = r.Hooks.Await(a.ctx, d)
	return c.tell(a, d.ID, err)
}

// request reads the message.
func (c *hookDispatch) request(a *app) (external.Request, error) {
	req := external.Request{
		Name: firstOf(c.Name, "Email"), Agent: c.Agent, SessionKey: c.SessionKey, Source: external.Source(c.Source), Deliver: c.Deliver,
		Channel: c.Channel, To: c.To, Account: c.Account, Model: c.Model, Thinking: c.Thinking, TimeoutSeconds: c.TimeoutSeconds,
		Lane: external.LaneCLI, Patient: c.Queue, Caller: "cli", IdempotencyKey: c.IdempotencyKey,
	}
	probe := req
	probe.Message = "x" // what is wrong with the flags is said before anything is read
	if why := external.Check(probe); why != "" {
		return req, &hook.RefusedError{Reason: why}
	}
	raw, err := io.ReadAll(io.LimitReader(a.stdin, maxRaw+1))
	switch {
	case err != nil:
		return req, &failure{code: exitFailed, text: "hook dispatch: stdin cannot be read: " + err.Error(), err: err}
	case len(raw) > maxRaw:
		return req, &hook.RefusedError{Reason: external.ReasonTooLong, Detail: "a mail may have at most " + sizeOf(maxRaw)}
	}
	mail, isMail := external.ParseMail(raw)
	switch {
	case c.Format != "text" && isMail:
		req.From, req.Subject, req.Message = mail.From, mail.Subject, mail.Text
	case c.Format == "mail":
		return req, usagef("hook dispatch: stdin does not begin with the header of a mail", "--format text takes it as it is")
	default:
		req.Message = strings.ToValidUTF8(string(bytes.TrimRight(raw, "\r\n")), "\uFFFD")
	}
	if c.IdempotencyKey == "message-id" {
		if !isMail {
			return req, usagef("hook dispatch: stdin does not begin with the header of a mail, which would have a Message-ID", "--idempotency-key KEY names one")
		}
		req.IdempotencyKey = mail.Key(raw)
	}
	return req, nil
}

// tell prints the answer. What is wrong with claw itself is an error, and no
// answer.
func (c *hookDispatch) tell(a *app, id string, err error) error {
	no, refused := errors.AsType[*hook.RefusedError](err)
	switch {
	case err == nil:
		return a.io.JSON(dispatched{OK: true, RunID: id})
	case !refused && errors.Is(err, state.ErrNotDurable):
		return &failure{code: exitState, text: "hook dispatch: " + err.Error(), err: err, remedy: []string{"it may have been written: try again with the same --idempotency-key"}}
	case !refused:
		return err
	}
	if err := a.io.JSON(dispatched{Reason: no.Error()}); err != nil {
		return err
	}
	return a.hookRefusal(c.Agent, no)
}
