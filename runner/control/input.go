package control

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"claw/runner/supervisor"
	"claw/state/process"
)

// Write sends data to the process as it is; with eof the input ends after it
// (spec/exec-process.md 2.5).
func (c *Control) Write(ctx context.Context, session string, data []byte, eof bool) (Result, error) {
	p, a, err := c.input(ctx, session, supervisor.Ask{Op: supervisor.OpWrite, Data: data, EOF: eof})
	text := "Wrote " + strconv.Itoa(a.Bytes) + " bytes to session " + p.Slug
	if eof {
		text += " (stdin closed)"
	}
	return c.typed(p, text+".", a, err)
}

// Submit sends one carriage return: programs in raw mode bind Enter to it.
func (c *Control) Submit(ctx context.Context, session string) (Result, error) {
	p, a, err := c.input(ctx, session, supervisor.Ask{Op: supervisor.OpSubmit})
	return c.typed(p, "Submitted session "+p.Slug+" (sent CR).", a, err)
}

// Paste sends text, by default wrapped as a terminal wraps a paste.
func (c *Control) Paste(ctx context.Context, session, text string, bracketed bool) (Result, error) {
	if text == "" && !bracketed {
		return Result{}, &Refused{Kind: Invalid, Text: "No paste text provided."}
	}
	p, a, err := c.input(ctx, session, supervisor.Ask{Op: supervisor.OpPaste, Text: []byte(text), Bracketed: bracketed})
	return c.typed(p, "Pasted "+strconv.Itoa(utf8.RuneCountInString(text))+" chars to session "+p.Slug+".", a, err)
}

// Keys are what send-keys sends: literal, then hex, then keys.
type Keys struct {
	Literal    string
	Hex, Keys  []string
	CursorMode string // normal, application or empty: as the program has asked
}

// SendKeys sends key tokens or bytes (spec/exec-process.md 2.6).
func (c *Control) SendKeys(ctx context.Context, session string, k Keys) (Result, error) {
	p, a, err := c.input(ctx, session, supervisor.Ask{
		Op: supervisor.OpSendKeys, Literal: []byte(k.Literal), Hex: k.Hex, Keys: k.Keys, CursorMode: k.CursorMode,
	})
	text := "Sent " + strconv.Itoa(a.Bytes) + " bytes to session " + p.Slug + "."
	if len(a.Warnings) > 0 {
		text += "\nWarnings:\n- " + strings.Join(a.Warnings, "\n- ")
	}
	return c.typed(p, text, a, err)
}

// input checks the preconditions in the order of the spec and asks the
// supervisor.
func (c *Control) input(ctx context.Context, session string, ask supervisor.Ask) (process.Process, supervisor.Answer, error) {
	p, err := c.active(ctx, session)
	if err != nil {
		return p, supervisor.Answer{}, err
	}
	if !p.StdinOpen {
		return p, supervisor.Answer{}, &Refused{
			Kind: Denied, Text: "Session " + p.Slug + " stdin is not writable.",
			Remedy: "start the command with --pty or --stdin open to type into it",
		}
	}
	a, err := c.call(p, ask)
	return p, a, err
}

// active is a running process that can be acted on.
func (c *Control) active(ctx context.Context, session string) (process.Process, error) {
	absent := "No active session found for " + session
	if err := c.Settle(ctx); err != nil {
		return process.Process{}, err
	}
	p, err := c.Find(session, absent)
	if err == nil && !p.Live() {
		err = missing("No active session found for " + p.Slug)
	}
	return p, err
}

// call asks the supervisor and turns what it refuses into a Refused.
func (c *Control) call(p process.Process, ask supervisor.Ask) (supervisor.Answer, error) {
	a, err := supervisor.Call(c.Store.ProcessDir(p.ID), ask)
	if errors.Is(err, supervisor.ErrNoSupervisor) {
		return a, &Refused{
			Kind: Denied, Text: "Session " + p.Slug + " is finalizing.", Err: err,
			Remedy: "poll it to see how it ended",
		}
	}
	if err != nil {
		return a, err
	}
	switch a.Code {
	case "":
		return a, nil
	case supervisor.CodeNotWritable:
		return a, denied("Session " + p.Slug + " stdin is not writable.")
	case supervisor.CodeFinalizing:
		return a, denied("Session " + p.Slug + " is finalizing.")
	case supervisor.CodeNoKeys:
		return a, &Refused{Kind: Invalid, Text: "No key data provided.", Remedy: "name at least one key, as in C-c, Enter or Up"}
	case supervisor.CodeCursorMode:
		return a, &Refused{
			Kind: Invalid, Text: a.Error,
			Remedy: "say which with --cursor-mode normal or application, or retry once the program has drawn its screen",
		}
	}
	return a, denied("Session " + p.Slug + ": " + a.Error + ".")
}

func (c *Control) typed(p process.Process, text string, a supervisor.Answer, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	d := struct {
		Details
		Bytes    int      `json:"bytes"`
		Warnings []string `json:"warnings,omitempty"`
	}{details(p), a.Bytes, a.Warnings}
	return Result{Text: text, Details: d}, nil
}
