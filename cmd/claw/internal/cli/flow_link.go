package cli

import (
	"errors"
	"fmt"

	"claw/runner/flows"
	"claw/state/flow"
	"claw/state/task"
)

type flowRunTask struct {
	owned
	ID      string `arg:"" help:"The flow's id, or the first four or more characters." placeholder:"ID"`
	Task    string `help:"The task: its id, its process, or the first four or more characters." placeholder:"TASK"`
	RunID   string `name:"run-id" help:"The task of this run; it must be the owner's." placeholder:"RUN"`
	Runtime string `help:"What carries it out, if that must be so: cli, cron, acp, subagent." placeholder:"RUNTIME"`
	Child   string `name:"child-session" help:"The session that its work runs in, if that must be so." placeholder:"KEY"`
	Label   string `help:"A name for the task." placeholder:"TEXT"`
	Expect  *int64 `name:"expect-revision" help:"Only at this revision of the flow; default: whatever it is." placeholder:"N"`
	JSON    bool   `name:"json" help:"Print {\"created\", \"found\", \"code\", \"reason\", \"flow\", \"task\"}."`
}

// Help shows examples.
func (flowRunTask) Help() string {
	return "The work must exist: it is started with claw exec -b, or written down with claw tasks create. It must belong to the same session, and must not have ended; a task that is part of the flow already may be named again. The flow's revision stays. Prints the task's id.\n\n" +
		examples("claw flow run-task 01JE8 --task tide-orbit --label tests", "claw flow run-task 01JE8 --run-id build-17 --runtime cli --json")
}

// Run links a task.
func (c *flowRunTask) Run(a *app) error {
	if (c.Task == "") == (c.RunID == "") {
		return usagef("flow run-task: name the work by one of --task and --run-id")
	}
	if c.Runtime != "" {
		if _, err := task.ParseRuntime(c.Runtime); err != nil {
			return usagef("flow run-task: "+err.Error(), remedyOf(err)...)
		}
	}
	link := flows.Link{Expect: c.Expect, Label: c.Label, Claim: flow.Claim{RunID: c.RunID, ChildSessionKey: c.Child, Runtime: task.Runtime(c.Runtime)}}
	book, err := c.reading(a)
	if err != nil {
		return err
	}
	if _, err := book.Get(c.ID); err == nil && c.Task != "" {
		t, err := a.task(c.Task)
		if err != nil {
			return err
		}
		link.Claim.TaskID = t.ID
	} else if err != nil {
		link.Claim.TaskID = c.Task // the flow is what is not there
	}
	r, err := book.RunTask(a.ctx, c.ID, link)
	if err != nil && r.Code == "" {
		return flowMissing("flow run-task", err)
	}
	if c.JSON {
		return errors.Join(a.io.JSON(r), codeOfLink(r))
	}
	if r.Created {
		_, err := fmt.Fprintln(a.io.Out, r.Task.ID)
		return err
	}
	return a.notLinked(r, err)
}

func codeOfLink(r flow.Linked) error {
	switch {
	case r.Created:
		return nil
	case r.Code == flow.LinkPersist:
		return silent(exitState)
	case !r.Found, r.Code == flow.LinkNoBacking:
		return silent(exitNotFound)
	}
	return silent(exitRefused)
}

// notLinked says why; on a conflict it shows the record as it is.
func (a *app) notLinked(r flow.Linked, cause error) error {
	code, _ := asSilent(codeOfLink(r))
	f := &failure{code: code, text: "flow run-task: " + r.Reason, err: cause}
	switch r.Code {
	case flow.LinkPersist:
		f.text, f.remedy = f.text+" "+cause.Error(), remedyOf(cause)
	case flow.LinkConflict:
		f.remedy = []string{fmt.Sprintf("it is at revision %d: look at it, and decide anew", r.Flow.Revision)}
		if err := a.io.Pairs(flowPairs(*r.Flow, &r.Flow.Revision)); err != nil {
			return err
		}
	case flow.LinkNoBacking:
		f.remedy = []string{"start it first, with claw exec -b; claw tasks list shows what there is"}
	case flow.LinkEnded:
		f.remedy = []string{"use its result: what has ended is not written down as if it went on"}
	case flow.LinkNoFlow:
		f.remedy = []string{"claw flow list shows what there is"}
	}
	return f
}
