package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"claw/runner/heartbeat"
	rules "claw/state/heartbeat"
	"claw/state/session"
)

// refusal is the error of a command about heartbeats as a person reads it.
func refusal(command string, err error) error {
	if r, ok := errors.AsType[*heartbeat.Refused](err); ok {
		code := exitRefused
		if r.Missing {
			code = exitNotFound
		}
		return &failure{code: code, text: command + ": " + r.Text, remedy: nonEmpty(r.Hint), err: err}
	}
	return err
}

type heartbeatRespond struct {
	Outcome   string `help:"What came of it: no_change, progress, done, blocked or needs_attention. Needed." placeholder:"OUTCOME"`
	Notify    string `help:"Whether a person is to be told. Needed." placeholder:"true|false"`
	Summary   string `help:"What was found, in a sentence. Needed." placeholder:"TEXT"`
	Text      string `name:"notification-text" help:"What the person is told; the summary when absent." placeholder:"TEXT"`
	Reason    string `help:"Why." placeholder:"TEXT"`
	Priority  string `help:"How urgent it is." placeholder:"low|normal|high"`
	NextCheck string `help:"When to look again, as in 30m; between a minute and a day." placeholder:"DURATION"`
	Scratch   string `help:"File whose contents replace the agent's scratch; - is stdin." placeholder:"FILE"`
	JSON      bool   `name:"json" help:"Read the answer from stdin instead: {\"outcome\", \"notify\", \"summary\", \"notificationText\", \"reason\", \"priority\", \"nextCheck\", \"scratch\"}."`
}

// Help shows examples.
func (heartbeatRespond) Help() string {
	return "claw sets CLAW_TURN_ID for the agents it starts; without it, exit 4. Of several answers in a turn the last one counts, and it counts before what the agent prints.\n\n" +
		examples("claw heartbeat respond --outcome no_change --notify false --summary ok",
			"claw heartbeat respond --json < answer.json")
}

// Run keeps the answer in the row of the turn.
func (c *heartbeatRespond) Run(a *app) error {
	turn := a.env("TURN_ID")
	if turn == "" {
		return &failure{code: exitRefused, text: "heartbeat respond: this is not an agent's turn", remedy: []string{"CLAW_TURN_ID names it; claw sets it for the agents it starts"}}
	}
	r, err := c.response(a)
	if err != nil {
		return err
	}
	if err := rules.Check(r); err != nil {
		return usagef("heartbeat respond: "+err.Error(), remedyOf(err)...)
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	err = heartbeat.Respond(a.ctx, store, turn, r)
	if r, ok := errors.AsType[*heartbeat.Refused](err); ok {
		r.Missing = false // in the wrong place, not in search of something
	}
	return refusal("heartbeat respond", err)
}

// response is the answer out of the flags, or out of stdin.
func (c *heartbeatRespond) response(a *app) (session.Response, error) {
	if c.JSON {
		return c.whole(a)
	}
	r := session.Response{
		Outcome: c.Outcome, Summary: c.Summary, NotificationText: c.Text, Reason: c.Reason, Priority: c.Priority, NextCheck: c.NextCheck,
	}
	switch strings.ToLower(c.Notify) {
	case "true", "yes", "1":
		r.Notify = true
	case "false", "no", "0":
	case "":
		return r, usagef("heartbeat respond: --notify is missing", "--notify true tells a person, --notify false does not")
	default:
		return r, usagef(fmt.Sprintf("heartbeat respond: --notify %q: it is true or false", c.Notify))
	}
	if c.Scratch == "" {
		return r, nil
	}
	text, err := a.fileOrStdin(c.Scratch, rules.MaxScratch)
	if err != nil {
		return r, usagef("heartbeat respond: the scratch: " + err.Error())
	}
	r.Scratch = &text
	return r, nil
}

func (c *heartbeatRespond) whole(a *app) (session.Response, error) {
	text, err := a.fileOrStdin("-", 2*rules.MaxScratch)
	if err != nil {
		return session.Response{}, usagef("heartbeat respond: " + err.Error())
	}
	r, rest, ok := rules.ParseResponse(text)
	if ok && strings.TrimSpace(rest) == "" {
		return r, nil
	}
	var syntax map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &syntax); err != nil {
		return r, usagef("heartbeat respond: stdin is not one JSON object: " + err.Error())
	}
	return r, usagef("heartbeat respond: the object lacks one of outcome, notify and summary, or one is not what it must be",
		"outcome is no_change, progress, done, blocked or needs_attention; notify is true or false; summary is text")
}

// fileOrStdin reads a whole file, or stdin for "-", of at most limit bytes.
func (a *app) fileOrStdin(path string, limit int64) (string, error) {
	var from io.Reader = a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it has more than %s", sizeOf(limit))
	}
	return string(text), err
}

type heartbeatScratch struct {
	Action   string  `arg:"" optional:"" help:"show (the default), or - to replace it by what is on stdin." placeholder:"show|-"`
	Agent    string  `help:"Which agent; default $$CLAW_AGENT, else main." placeholder:"NAME"`
	Set      *string `help:"Replace it by this text." placeholder:"TEXT"`
	File     string  `help:"Replace it by what is in a file." placeholder:"PATH"`
	Unset    bool    `help:"Take it away."`
	Expected *int64  `name:"expected-revision" help:"Replace it only if it is at this revision (0: there is none), else exit 4." placeholder:"N"`
	JSON     bool    `name:"json" help:"Print {\"agent\", \"revision\", \"text\", \"updatedAt\"}."`
}

// Help shows examples.
func (heartbeatScratch) Help() string {
	return "The scratch holds what an agent is to watch, and how far it has come; at most 256 KiB. The agent can replace it itself, in its turn.\n\n" +
		examples("claw heartbeat scratch --set 'watch the disk of db1'", "claw heartbeat scratch - --expected-revision 3 < notes.md")
}

// Run shows or replaces the scratch.
func (c *heartbeatScratch) Run(a *app) error {
	text, write, err := c.text(a)
	if err != nil {
		return err
	}
	agent, err := a.meantAgent("heartbeat scratch", c.Agent)
	if err != nil {
		return err
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	var s rules.Scratch
	if write {
		s, err = heartbeat.SetScratch(a.ctx, store, agent, text, c.Expected)
	} else {
		s, err = heartbeat.ScratchOf(store, agent)
	}
	switch {
	case err != nil:
		return refusal("heartbeat scratch", err)
	case c.JSON:
		return a.io.JSON(s)
	case write:
		a.io.Note(fmt.Sprintf("the scratch of agent %s is at revision %d", agent, s.Revision))
		return nil
	}
	_, err = a.io.Out.Write([]byte(shown(a, s.Text)))
	return err
}

// shown is text for a terminal, with a line end, or byte for byte.
func shown(a *app, text string) string {
	if !a.io.OutTTY {
		return text
	}
	return endLine(text)
}

// text is what the scratch is to be; nil takes it away. write is false when it
// is only to be shown.
func (c *heartbeatScratch) text(a *app) (text *string, write bool, err error) {
	ways := 0
	for _, given := range [...]bool{c.Action != "", c.Set != nil, c.File != "", c.Unset} {
		if given {
			ways++
		}
	}
	switch {
	case ways > 1:
		return nil, false, usagef("heartbeat scratch: only one of show, -, --set, --file and --unset")
	case c.Set != nil:
		return c.Set, true, nil
	case c.Unset:
		return nil, true, nil
	case c.File != "" || c.Action == "-":
		path := firstOf(c.File, "-")
		read, err := a.fileOrStdin(path, rules.MaxScratch)
		if err != nil {
			return nil, false, usagef("heartbeat scratch: " + err.Error())
		}
		return &read, true, nil
	case c.Action != "" && c.Action != "show":
		return nil, false, usagef(fmt.Sprintf("heartbeat scratch %q: it is show or -", c.Action), "--set "+c.Action)
	case c.Expected != nil:
		return nil, false, usagef("heartbeat scratch: --expected-revision is for replacing it")
	}
	return nil, false, nil
}
