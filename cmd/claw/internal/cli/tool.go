package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"claw/runner/control"
	"claw/runner/supervisor"
	"claw/state/process"
)

// toolCmd is `claw tool`: the seeds' JSON calls on stdin (seed 002).
type toolCmd struct {
	Agent   string `help:"The agent that calls; default $$CLAW_AGENT, else main." placeholder:"NAME"`
	Session string `help:"The session that is told about ends; default $$CLAW_SESSION, else the agent's main session." placeholder:"KEY"`
}

// Help shows examples.
func (toolCmd) Help() string {
	return "Every line of stdin is one call, every line of stdout one result: the details of the answer, its text, and status failed with an error when nothing was done.\n\n" +
		examples(
			`echo '{"tool":"exec","command":"make test","yieldMs":1000}' | claw tool`,
			`echo '{"tool":"process","action":"list"}' | claw tool`,
		)
}

// maxCall bounds one line of input (pains B40).
const maxCall = 16 << 20

// Run answers until stdin ends.
func (c *toolCmd) Run(a *app) error {
	in := bufio.NewReaderSize(a.stdin, 64<<10)
	for {
		line, err := readLine(in)
		if len(bytes.TrimSpace(line)) > 0 {
			if err := c.answer(a, line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxCall {
			return nil, usagef(fmt.Sprintf("tool: a call is longer than %d MiB", maxCall>>20))
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// answer prints the result of one call as one line. A poll counts as
// delivered once its line has been written.
func (c *toolCmd) answer(a *app, line []byte) error {
	r, commit := c.call(a, line)
	raw, err := flat(r)
	if err != nil {
		return err
	}
	if _, err := a.io.Out.Write(append(raw, '\n')); err != nil {
		return err
	}
	if err := a.io.Flush(); err != nil || commit == nil {
		return err
	}
	return commit()
}

// flat is the details as an object, with the text beside them.
func flat(r control.Result) ([]byte, error) {
	raw, err := json.Marshal(r.Details)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	details := maps.Clone(out)
	if out["details"], err = json.Marshal(details); err != nil {
		return nil, err
	}
	if out["text"], err = json.Marshal(r.Text); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err = enc.Encode(out)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// call carries one call out; its failures are results.
func (c *toolCmd) call(a *app, line []byte) (control.Result, func() error) {
	var head struct {
		Tool string `json:"tool"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return control.NotStarted(errors.New("a call is one JSON object on one line: " + plainJSONError(err))), nil
	}
	var r control.Result
	var commit func() error
	var err error
	switch head.Tool {
	case "exec":
		r, err = c.exec(a, line)
	case "process":
		r, commit, err = c.process(a, line)
	default:
		err = fmt.Errorf("unknown tool %q; expected exec or process", head.Tool)
	}
	if err != nil {
		return control.NotStarted(err), nil
	}
	return r, commit
}

// execCall is an exec call; spec/exec-process.md 1.1. Parameters that are not
// known are refused: a dropped one runs the command in the wrong place or
// without a limit.
type execCall struct {
	Tool           string            `json:"tool"`
	Command        string            `json:"command"`
	Workdir        string            `json:"workdir"`
	Env            map[string]string `json:"env"`
	YieldMs        *float64          `json:"yieldMs"`
	Background     bool              `json:"background"`
	Timeout        *float64          `json:"timeout"`
	TimeoutSeconds *float64          `json:"timeoutSeconds"`
	PTY            bool              `json:"pty"`
	Host           string            `json:"host"`
	Node           string            `json:"node"`
	Elevated       bool              `json:"elevated"`
	AwaitResults   bool              `json:"awaitResults"`
	Title          string            `json:"title"`
	Ask            string            `json:"ask"`
}

func decodeCall(line []byte, v any, wrong map[string]string) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		return nil
	}
	for name, right := range wrong {
		if err.Error() == fmt.Sprintf("json: unknown field %q", name) {
			return fmt.Errorf("%s is not a parameter: use %s", name, right)
		}
	}
	return errors.New(plainJSONError(err))
}

// plainJSONError is what is wrong with a call, without a word about Go.
func plainJSONError(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return "this is " + wrong.Value
		}
		return fmt.Sprintf("%s cannot be %s", wrong.Field, wrong.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func (c *toolCmd) exec(a *app, line []byte) (control.Result, error) {
	var call execCall
	if err := decodeCall(line, &call, map[string]string{"cwd": "workdir"}); err != nil {
		return control.Result{}, err
	}
	if call.AwaitResults && call.Background {
		return control.Result{}, errors.New("awaitResults and background exclude each other")
	}
	cmd := execCmd{
		Workdir: call.Workdir, PTY: call.PTY, Background: call.Background, YieldMs: call.YieldMs, Wait: call.AwaitResults,
		Name: call.Title, Agent: c.Agent, Session: c.Session, Host: call.Host, Node: call.Node, Elevated: call.Elevated,
		Timeout: call.Timeout, Stdin: "null", Command: []string{call.Command},
	}
	if call.TimeoutSeconds != nil {
		cmd.Timeout = call.TimeoutSeconds
	}
	for name, value := range call.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if err := cmd.check(); err != nil {
		return control.Result{}, err
	}
	return cmd.asTool(a)
}

// asTool runs an exec call to its result: the end, or that it goes on.
func (c *execCmd) asTool(a *app) (control.Result, error) {
	spare, err := a.takeSpare()
	if err != nil {
		return control.Result{}, err
	}
	c.inTool = true
	x, err := c.plan(a)
	if err != nil {
		spare.Discard()
		return control.Result{}, err
	}
	x.req.Row.Warnings = x.notes
	h, err := spare.Launch(a.ctx, x.store, x.req)
	if err != nil {
		return control.Result{}, err
	}
	defer h.Close()
	h.Row.Root.PID = h.PID
	switch {
	case h.Ended:
		return control.Ended(h.Row, "", false), nil
	case x.req.Row.Background:
		return control.Backgrounded(h.Row, ""), nil
	}
	outcome, err := pump(a, h, x.yield, io.Discard, io.Discard)
	switch outcome {
	case supervisor.OutcomeDetached:
		return control.Backgrounded(h.Row, control.TailOf(x.store, h.Row.ID)), nil
	case supervisor.OutcomeBroken:
		return control.Result{}, err
	}
	text, discarded := control.Aggregate(x.store, h.Row.ID, x.cfg.Tools.Exec.MaxOutputChars)
	return control.Ended(h.Row, text, discarded), nil
}

// processCall is a process call; spec/exec-process.md 2.
type processCall struct {
	Tool       string   `json:"tool"`
	Action     string   `json:"action"`
	SessionID  string   `json:"sessionId"`
	Timeout    any      `json:"timeout"`
	Offset     *float64 `json:"offset"`
	Limit      *float64 `json:"limit"`
	Data       string   `json:"data"`
	EOF        bool     `json:"eof"`
	Keys       []string `json:"keys"`
	Hex        []string `json:"hex"`
	Literal    string   `json:"literal"`
	Text       string   `json:"text"`
	Bracketed  *bool    `json:"bracketed"`
	Cursor     string   `json:"cursor"`
	CursorMode string   `json:"cursorMode"`
}

func (c *toolCmd) process(a *app, line []byte) (control.Result, func() error, error) {
	var call processCall
	if err := decodeCall(line, &call, map[string]string{"timeoutMs": "timeout", "id": "sessionId"}); err != nil {
		return control.Result{}, nil, err
	}
	cfg, err := a.config()
	if err == nil && cfg.Tools.Denies("process") {
		err = errors.New("the process tool is denied by tools.deny")
	}
	if err != nil {
		return control.Result{}, nil, err
	}
	ctl, err := a.control(c.Agent, false)
	if err != nil {
		return control.Result{}, nil, err
	}
	if call.Action == "poll" && call.SessionID != "" {
		p, err := ctl.Poll(a.ctx, control.PollRequest{Session: call.SessionID, Wait: ms(process.PollTimeout(call.Timeout)), Cursor: call.Cursor})
		return p.Result, p.Commit, err
	}
	r, err := call.act(a, ctl)
	return r, nil, err
}

// act is every action that needs no delivery.
func (call processCall) act(a *app, ctl *control.Control) (control.Result, error) {
	id := call.SessionID
	switch call.Action {
	case "list":
		return ctl.List(control.Filter{})
	case "poll", "log", "write", "send-keys", "submit", "paste", "kill", "clear", "remove":
		if id == "" {
			//lint:ignore ST1005 the words are those of spec/exec-process.md 2
			return control.Result{}, errors.New("sessionId is required for this action.")
		}
	}
	switch call.Action {
	case "log":
		return ctl.Log(control.LogRequest{Session: id, Offset: call.Offset, Limit: call.Limit})
	case "write":
		return ctl.Write(a.ctx, id, []byte(call.Data), call.EOF)
	case "send-keys":
		return ctl.SendKeys(a.ctx, id, control.Keys{Literal: call.Literal, Hex: call.Hex, Keys: call.Keys, CursorMode: call.CursorMode})
	case "submit":
		return ctl.Submit(a.ctx, id)
	case "paste":
		return ctl.Paste(a.ctx, id, call.Text, call.Bracketed == nil || *call.Bracketed)
	case "kill":
		return ctl.Kill(a.ctx, id)
	case "clear":
		return ctl.Clear(a.ctx, id)
	case "remove":
		return ctl.Remove(a.ctx, id)
	}
	//lint:ignore ST1005 the words are those of spec/exec-process.md 2
	return control.Result{}, errors.New("Invalid process action. Expected one of: " + process.Actions)
}
