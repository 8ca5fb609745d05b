package cli

import (
	"fmt"

	"claw/runner/control"
	"claw/state/process"
)

type processPoll struct {
	who
	Timeout string `help:"Wait up to so many milliseconds (at most 30000) for something new." placeholder:"MS"`
	Cursor  string `help:"Name of the cursor to read with; every reader has its own. Default: one for each agent." placeholder:"NAME"`
	Peek    bool   `help:"Show what is new without taking it as read."`
}

// Help shows examples.
func (processPoll) Help() string {
	return "A poll drains: what it has shown is not shown again to the same cursor. The cursor is on disk and moves only once the output has been written out.\n\n" +
		examples("claw process poll tide-orbit --timeout 5000", "claw process poll --last --cursor dashboard --json")
}

// Run polls.
func (c *processPoll) Run(a *app) error {
	ctl, session, err := c.acting(a, "poll")
	if err != nil {
		return err
	}
	polled, err := ctl.Poll(a.ctx, control.PollRequest{
		Session: session, Wait: ms(process.PollTimeout(c.Timeout)), Cursor: c.Cursor, Peek: c.Peek,
	})
	if err != nil {
		return a.refused(err, c.JSON)
	}
	if err := c.show(a, polled.Result); err != nil {
		return err
	}
	if err := a.io.Flush(); err != nil {
		return err
	}
	return polled.Commit()
}

// show prints the new output on stdout and how the process stands on stderr.
func (c *processPoll) show(a *app, r control.Result) error {
	if c.JSON {
		return a.io.JSON(r.Details)
	}
	d := r.Details.(control.Details)
	if _, err := fmt.Fprint(a.io.Out, endLine(*d.Aggregated)); err != nil {
		return err
	}
	a.io.Note(control.Standing(r, d))
	return nil
}
