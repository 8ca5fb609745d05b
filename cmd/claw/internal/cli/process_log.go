package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"claw/runner/control"
	"claw/runner/output"
)

type processLog struct {
	who
	Offset     *float64 `help:"First line to show, counted from 0." placeholder:"N"`
	Limit      *float64 `help:"How many lines; without --offset the last ones." placeholder:"N"`
	Follow     bool     `short:"f" help:"Go on showing what comes until it ends."`
	Raw        bool     `help:"The bytes as they were written, control sequences and all."`
	Stream     string   `help:"Only stdout or stderr." enum:",stdout,stderr,both" default:"" placeholder:"stdout|stderr"`
	Since      string   `help:"Only what came later: a duration (10m) or a time (RFC 3339, or 14:02)." placeholder:"WHEN"`
	Timestamps bool     `short:"t" help:"Put the time in front of every line."`
}

// Help shows examples.
func (processLog) Help() string {
	return "Without --offset and --limit the last 200 lines are shown. Nothing is taken as read.\n\n" +
		examples("claw process log tide-orbit --follow", "claw process log --last --stream stderr --since 10m", "claw process log tide-orbit --raw > build.log")
}

// Run shows the log.
func (c *processLog) Run(a *app) error {
	ctl, session, err := c.acting(a, "log")
	if err != nil {
		return err
	}
	sel, err := c.selection(a.now())
	if err != nil {
		return err
	}
	switch {
	case c.Follow && (c.Offset != nil || c.Timestamps):
		return usagef("process log: --follow excludes --offset and --timestamps", "--limit N says how many lines to begin with")
	case c.JSON && (c.Raw || c.Follow):
		return usagef("process log: --json excludes --raw and --follow")
	case c.Raw && (c.Offset != nil || c.Limit != nil || c.Timestamps):
		return usagef("process log: --raw is all the bytes and excludes --offset, --limit and --timestamps", "claw process log … --raw | tail -n 20")
	case c.Raw:
		return c.raw(a, ctl, session, sel)
	case c.Follow:
		return c.follow(a, ctl, session, sel)
	}
	r, err := ctl.Log(control.LogRequest{Session: session, Offset: c.Offset, Limit: c.Limit, Selection: sel, Timestamps: c.Timestamps})
	if err != nil {
		return a.refused(err, c.JSON)
	}
	if c.JSON {
		return a.io.JSON(r.Details)
	}
	d := r.Details.(control.Details)
	if _, err := fmt.Fprint(a.io.Out, wholeLines(*d.Aggregated)); err != nil {
		return err
	}
	if note := control.LogNote(r, d); note != "" {
		a.io.Note(note)
	}
	return nil
}

// wholeLines gives lines that were joined back the end of the last one, which
// may be an empty line.
func wholeLines(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}

// selection reads --stream and --since.
func (c *processLog) selection(now time.Time) (output.Selection, error) {
	sel := output.Selection{Stream: streamOf(c.Stream)}
	if c.Since == "" {
		return sel, nil
	}
	at, err := instant(c.Since, now)
	sel.Since = at
	return sel, err
}

func streamOf(name string) output.Stream {
	switch name {
	case "stdout":
		return output.Stdout
	case "stderr":
		return output.Stderr
	}
	return output.Both
}

// instant reads a duration before now, a time of today or a full time.
func instant(s string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			y, m, d := now.Date()
			return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, now.Location()), nil
		}
	}
	return time.Time{}, usagef(fmt.Sprintf("process log: --since %q is neither a duration nor a time", s), "--since 10m, --since 14:02, --since 2026-11-30T14:02:00Z")
}

// raw copies bytes; what is missing from the middle is said on stderr.
func (c *processLog) raw(a *app, ctl *control.Control, session string, sel output.Selection) error {
	p, out, err := ctl.Output(session)
	if err != nil {
		return err
	}
	if !c.Follow {
		_, dropped, err := out.Copy(a.io.Out, sel)
		if dropped > 0 {
			a.io.Note(fmt.Sprintf("%d bytes in the middle were dropped to keep under the cap of %s", dropped, sizeOf(p.MaxOutput)))
		}
		return quietly(err)
	}
	return c.stream(a, ctl, p.ID, out, sel, func(chunk output.Chunk) error {
		_, err := a.io.Out.Write(chunk.Data)
		return err
	})
}

// follow prints text as it comes, beginning with the last lines.
func (c *processLog) follow(a *app, ctl *control.Control, session string, sel output.Selection) error {
	p, out, err := ctl.Output(session)
	if err != nil {
		return err
	}
	text, buf := output.NewText(output.Cursor{}), []byte(nil)
	begin, end, err := ctl.Begin(out, sel, c.Limit, text)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(a.io.Out, begin); err != nil {
		return quietly(err)
	}
	sel.From = end
	err = c.stream(a, ctl, p.ID, out, sel, func(chunk output.Chunk) error {
		buf = text.Append(buf[:0], chunk)
		_, err := a.io.Out.Write(bytes.ReplaceAll(buf, []byte("\r\n"), []byte("\n")))
		return err
	})
	if err == nil {
		_, err = a.io.Out.Write(text.Flush(nil))
	}
	return quietly(err)
}

// stream follows until the end or until somebody has seen enough (Ctrl-C),
// and flushes after every piece.
func (c *processLog) stream(a *app, ctl *control.Control, id string, out *output.Reader, sel output.Selection, fn func(output.Chunk) error) error {
	ctx, stop := signal.NotifyContext(a.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	_, err := out.Follow(ctx, sel, func() bool { return ctl.Alive(id) }, func(chunk output.Chunk) error {
		if err := fn(chunk); err != nil {
			return err
		}
		return a.io.Flush()
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return quietly(err)
}

// quietly: a reader that has seen enough is not a failure.
func quietly(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
