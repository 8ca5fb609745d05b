package cli

import (
	"claw/runner/control"
	"claw/runner/tasks"
	"claw/state/task"
)

type tasksCancel struct {
	Lookup string `arg:"" help:"Id of the task, its process or its run, or the first four or more characters." placeholder:"ID"`
	JSON   bool   `name:"json" help:"Print {\"found\", \"cancelled\", \"reason\", \"task\"}."`
}

// Help shows examples.
func (tasksCancel) Help() string {
	return "The command, or the agent of an automation's turn, gets TERM and five seconds later KILL, with all that it started. The task is cancelled when that has ended; if it ended by itself meanwhile, that stands, and this exits 4.\n\n" +
		examples("claw tasks cancel tide-orbit", "claw tasks cancel 01JE8 --json | jq -r .reason")
}

// Run ends one task.
func (c *tasksCancel) Run(a *app) error {
	k, err := a.ender()
	if err != nil {
		return err
	}
	in := a.interruptible()
	result, err := k.Cancel(in.ctx, c.Lookup)
	if code := in.done(); code != 0 && err != nil {
		return &failure{code: code, text: "tasks cancel: interrupted; what was told to end goes on ending", remedy: []string{"claw tasks show " + c.Lookup + " says when it has"}}
	}
	if r, ok := control.IsRefused(err); ok && r.Kind == control.Missing && c.JSON {
		result, err = task.CancelResult{Reason: task.ReasonNotFound}, nil
	}
	if err != nil {
		return err
	}
	if c.JSON {
		if err := a.io.JSON(result); err != nil {
			return err
		}
		return codeOfCancel(result)
	}
	return a.tellCancel(result)
}

// ender is a keeper that can end turns too.
func (a *app) ender() (*tasks.Keeper, error) {
	k, err := a.keeper()
	if err != nil {
		return nil, err
	}
	r, err := a.runner(nil)
	if err != nil {
		return nil, err
	}
	k.Turns = r.Turns
	return k, nil
}

func codeOfCancel(r task.CancelResult) error {
	switch {
	case r.Cancelled:
		return nil
	case !r.Found:
		return silent(exitNotFound)
	case r.Reason == task.ReasonPending:
		return silent(exitRunning)
	}
	return silent(exitRefused)
}

// tellCancel says what became of the wish.
func (a *app) tellCancel(r task.CancelResult) error {
	if r.Cancelled {
		text := "cancelled " + task.Name(*r.Task) + " (" + string(r.Task.Runtime)
		if r.Task.RunID != "" {
			text += ", run " + r.Task.RunID
		}
		a.io.Note(text + ")")
		return nil
	}
	f := &failure{code: exitRefused, text: "tasks cancel: " + r.Reason}
	if r.Task == nil {
		f.code = exitNotFound
		return f
	}
	name := task.Name(*r.Task)
	switch r.Reason {
	case task.ReasonPending:
		f.code, f.remedy = exitRunning, []string{"claw tasks show " + name + " says when it has"}
	case task.ReasonNoHandle, task.ReasonNotRunning, task.ReasonNoSubagent:
		f.remedy = []string{"nothing carries it out that could be ended; claw tasks maintenance --apply settles it when that is certain"}
	default:
		f.remedy = []string{"claw tasks show " + name + " says how it stands"}
	}
	return f
}

type tasksNotify struct {
	Lookup string `arg:"" help:"Id of the task, its process or its run, or the first four or more characters." placeholder:"ID"`
	Policy string `arg:"" help:"done_only: of its end; state_changes: of the progress it reports too; silent: of nothing." placeholder:"done_only|state_changes|silent"`
	JSON   bool   `name:"json" help:"Print the task as one JSON object."`
}

// Help shows examples.
func (tasksNotify) Help() string {
	return "The session that started a background command is told of its end by an event, whatever the policy.\n\n" +
		examples("claw tasks notify tide-orbit silent", "claw tasks notify tide-orbit done_only")
}

// Run changes the policy.
func (c *tasksNotify) Run(a *app) error {
	policy, err := task.ParseNotifyPolicy(c.Policy)
	if err != nil {
		return usagef("tasks notify: there is no policy "+c.Policy, "done_only, state_changes or silent")
	}
	k, err := a.keeper()
	if err != nil {
		return err
	}
	t, err := k.Notify(a.ctx, c.Lookup, policy)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(t)
	}
	var why []string
	if text := task.Untold(t); text != "" && policy != task.Silent {
		why = []string{text}
	}
	a.io.Say(task.Name(t)+": notify "+string(policy), why...)
	return nil
}
