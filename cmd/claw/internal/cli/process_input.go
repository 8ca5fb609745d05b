package cli

import (
	"fmt"
	"io"

	"claw/runner/control"
)

type processWrite struct {
	who
	Data string `arg:"" optional:"" help:"The text, sent as it is, without a line end; - reads it from stdin." placeholder:"TEXT"`
	EOF  bool   `name:"eof" help:"End its input afterwards: close the pipe, or type Ctrl-D in a terminal."`
}

// Help shows examples.
func (processWrite) Help() string {
	return examples("claw process write tide-orbit \"$(printf 'yes\\n')\"", "claw process write tide-orbit - --eof < answers.txt")
}

// Run writes.
func (c *processWrite) Run(a *app) error {
	c.shift()
	ctl, session, err := c.acting(a, "write")
	if err != nil {
		return err
	}
	data, err := a.textOf(c.Data)
	if err != nil {
		return err
	}
	r, err := ctl.Write(a.ctx, session, data, c.EOF)
	return a.answer(r, err, c.JSON)
}

// shift moves the only argument to the text when --last names the process.
func (c *processWrite) shift() {
	if c.Last && c.Data == "" {
		c.Data, c.ID = c.ID, ""
	}
}

// textOf is the argument, or stdin for "-".
func (a *app) textOf(arg string) ([]byte, error) {
	if arg != "-" {
		return []byte(arg), nil
	}
	data, err := io.ReadAll(io.LimitReader(a.stdin, maxText+1))
	if err == nil && len(data) > maxText {
		err = usagef(fmt.Sprintf("stdin holds more than %d MiB; send it in pieces", maxText>>20))
	}
	return data, err
}

const maxText = 8 << 20

type processSendKeys struct {
	who
	Keys       []string `arg:"" optional:"" help:"Key names (C-c, M-x, Enter, Up, F5, ^D) or text." placeholder:"KEY"`
	Literal    string   `help:"Text to send first, as it is." placeholder:"TEXT"`
	Hex        []string `help:"Bytes to send next, two hexadecimal digits each; repeatable." placeholder:"BYTE" sep:"none"`
	CursorMode string   `name:"cursor-mode" help:"Encode arrows, Home and End for this mode instead of the one that the program has asked for." enum:",normal,application" default:"" placeholder:"normal|application"`
}

// Help shows examples.
func (processSendKeys) Help() string {
	return examples("claw process send-keys tide-orbit C-c", "claw process send-keys tide-orbit --literal ':wq' Enter")
}

// Run sends keys.
func (c *processSendKeys) Run(a *app) error {
	if c.Last && c.ID != "" {
		c.Keys, c.ID = append([]string{c.ID}, c.Keys...), ""
	}
	ctl, session, err := c.acting(a, "send-keys")
	if err != nil {
		return err
	}
	r, err := ctl.SendKeys(a.ctx, session, control.Keys{Literal: c.Literal, Hex: c.Hex, Keys: c.Keys, CursorMode: c.CursorMode})
	return a.answer(r, err, c.JSON)
}

type processSubmit struct{ who }

// Help shows examples.
func (processSubmit) Help() string {
	return examples("claw process write --last 'print(6*7)' && claw process submit --last", "claw process submit tide-orbit")
}

// Run presses Enter.
func (c *processSubmit) Run(a *app) error {
	ctl, session, err := c.acting(a, "submit")
	if err != nil {
		return err
	}
	r, err := ctl.Submit(a.ctx, session)
	return a.answer(r, err, c.JSON)
}

type processPaste struct {
	who
	Text      string `arg:"" optional:"" help:"The text; - reads it from stdin." placeholder:"TEXT"`
	Bracketed bool   `help:"Wrap it in the brackets of a terminal's paste." default:"true" negatable:""`
}

// Help shows examples.
func (processPaste) Help() string {
	return examples("claw process paste tide-orbit - < patch.diff", "claw process paste tide-orbit 'plain text' --no-bracketed")
}

// Run pastes.
func (c *processPaste) Run(a *app) error {
	if c.Last && c.Text == "" {
		c.Text, c.ID = c.ID, ""
	}
	ctl, session, err := c.acting(a, "paste")
	if err != nil {
		return err
	}
	text, err := a.textOf(c.Text)
	if err != nil {
		return err
	}
	r, err := ctl.Paste(a.ctx, session, string(text), c.Bracketed)
	return a.answer(r, err, c.JSON)
}
