package tasks

import (
	"context"
	"fmt"
	"os"
	"strings"
	"unicode"

	"claw/runner/control"
	"claw/runner/flows"
	"claw/runner/internal/proc"
	"claw/runner/settle"
	"claw/state"
	"claw/state/delivery"
	"claw/state/task"
	"claw/state/ulid"
)

// Capture is the identity of the process that carries a task out, with the
// machine it is on, as both are now; it is captured once (seed 004,
// spec/tasks-recovery.md 1.13). claw's own is never one: that of the command that
// asks would be gone in an instant. The error is a *control.Refused.
func Capture(pid int) (*task.Executor, error) {
	refuse := func(kind control.Kind, text, remedy string) error {
		return &control.Refused{Kind: kind, Text: text, Remedy: remedy}
	}
	if pid <= 0 {
		return nil, refuse(control.Invalid, fmt.Sprintf("%d is no process id", pid), "in a shell, $$ is its own")
	}
	if pid == os.Getpid() {
		return nil, refuse(control.Invalid, "claw itself does not carry the task out", "name the process that does; in a shell, $$")
	}
	id, found := proc.Identify(pid)
	if !found || !proc.Alive(id) {
		return nil, refuse(control.Missing, fmt.Sprintf("there is no process %d", pid), "leave --execution-pid out for work on another machine")
	}
	return &task.Executor{Host: host(), Identity: id}, nil
}

// MaxRun is how long the id of a run may be, in bytes.
const MaxRun = 200

// Create writes the row of work that claw did not start, and a flow of its own
// where it mirrors one. t has what its producer knows; the rest are defaults. The
// same run once more is the row that is there, with what was not known of it
// (spec/tasks-recovery.md 1.3); made is false then. The error is a
// *control.Refused, or of the ledger.
func (k *Keeper) Create(ctx context.Context, t task.Task) (row task.Task, made bool, err error) {
	if err := creatable(t); err != nil {
		return t, false, err
	}
	t.External = true
	if t.NotifyPolicy == "" {
		t.NotifyPolicy = task.DoneOnly // nothing else tells of it
	}
	err = k.Store.Update(ctx, func(tx *state.Tx) error {
		if t.Status == task.Running {
			t.StartedAt = tx.Now()
		}
		row, made, err = create(tx, t)
		return err
	})
	return row, made, err
}

func creatable(t task.Task) error {
	invalid := func(text, remedy string) error {
		return &control.Refused{Kind: control.Invalid, Text: text, Remedy: remedy}
	}
	odd := func(r rune) bool { return r == '/' || r == '@' || r <= ' ' || !unicode.IsPrint(r) }
	switch {
	case t.Runtime == task.Cron:
		return invalid("the tasks of automations are claw's own", "--runtime cli, acp or subagent")
	case strings.TrimSpace(t.Task) == "":
		return invalid("it is not said what the task is", "say it in a few words")
	case len(t.RunID) > MaxRun || strings.ContainsFunc(t.RunID, odd):
		return invalid("the id of a run has letters, digits and signs, no / and no @", "shorten or change it")
	}
	return nil
}

func create(tx *state.Tx, t task.Task) (task.Task, bool, error) {
	if t.RunID != "" {
		if _, ours, err := state.Processes.Find(tx, strings.ToUpper(t.RunID)); err != nil || ours {
			return t, false, firstErr(err, &control.Refused{Kind: control.Denied, Text: "run " + t.RunID + " is a process of claw, and has its task", Remedy: "claw tasks show " + t.RunID})
		}
	}
	t.ID = ulid.New(tx.Now())
	t, err := task.New(t, tx.Now())
	if err != nil {
		return t, false, &control.Refused{Kind: control.Invalid, Text: err.Error(), Err: err}
	}
	rows, err := state.Tasks.All(tx)
	if err != nil {
		return t, false, err
	}
	all := make([]task.Task, len(rows))
	for i, r := range rows {
		all[i] = r.Rec
	}
	if i := task.Reuse(all, t); i >= 0 {
		next, changed := task.Fill(all[i], t)
		if changed {
			err = state.Tasks.Put(tx, rows[i].ID, rows[i].Rev, next)
		}
		return next, false, err
	}
	if err := flows.Mirror(tx, &t); err != nil {
		return t, false, err
	}
	return t, true, state.Tasks.Add(tx, t.ID, t)
}

func firstErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// Progress writes what is heard of a task that claw did not start: that it has
// begun, and words about how it goes; who asked for it is told with the policy
// state_changes. What has ended takes no progress. The error is a
// *control.Refused.
func (k *Keeper) Progress(ctx context.Context, query, words string) (task.Task, error) {
	return k.say(ctx, query, func(tx *state.Tx, t *task.Task) (bool, error) {
		if t.Status.Terminal() {
			return false, ended(*t)
		}
		next, started := task.Apply(*t, task.Occurrence{Kind: task.OccurStart, At: tx.Now()})
		next, heard := task.Apply(next, task.Occurrence{Kind: task.OccurProgress, At: tx.Now(), Summary: words})
		*t = next
		if heard == nil {
			heard = started
		}
		return tellChange(tx, t, heard)
	})
}

// Finish writes how a task that claw did not start has ended, and tells of it.
// What has ended already refuses what cannot replace that
// (spec/tasks-recovery.md 1.4). The error is a *control.Refused.
func (k *Keeper) Finish(ctx context.Context, query string, e task.End) (task.Task, error) {
	return k.say(ctx, query, func(tx *state.Tx, t *task.Task) (bool, error) {
		e.At = tx.Now()
		before := t.Status
		next, err := task.Conclude(*t, e)
		if err != nil {
			return false, ended(*t)
		}
		if *t = next; before.Terminal() {
			return false, nil // it was told
		}
		return tell(tx, t)
	})
}

func ended(t task.Task) error {
	return &control.Refused{Kind: control.Denied, Text: "task " + task.Name(t) + " has ended already: " + string(t.Status), Remedy: "claw tasks show " + task.Name(t)}
}

// say changes the row that query means, as its producer says, in one
// transaction with what is told of it.
func (k *Keeper) say(ctx context.Context, query string, change func(tx *state.Tx, t *task.Task) (told bool, err error)) (after task.Task, err error) {
	t, err := k.Find(query)
	if err != nil {
		return t, err
	}
	told := false
	err = k.Store.Update(ctx, func(tx *state.Tx) error {
		row, ok, err := state.Tasks.Find(tx, t.ID)
		if err != nil || !ok {
			return firstErr(err, unresolved(query, nil))
		}
		if after = row.Rec; !after.External {
			return &control.Refused{Kind: control.Denied, Text: "claw carries task " + task.Name(after) + " out itself, and writes its end", Remedy: "claw tasks cancel " + task.Name(after) + " ends it"}
		}
		if told, err = change(tx, &after); err != nil || after == row.Rec {
			return err
		}
		if err := state.Tasks.Put(tx, row.ID, row.Rev, after); err != nil {
			return err
		}
		return settle.Follow(tx, after)
	})
	if err == nil && told {
		err = k.poke()
	}
	return after, err
}

// tellChange queues what is to be told about a change before the end.
func tellChange(tx *state.Tx, t *task.Task, c *task.Change) (told bool, err error) {
	if c == nil {
		return false, nil
	}
	plan := task.RouteChange(*t, *c)
	switch plan.Via {
	case task.ViaDirect:
		_, err = settle.Intend(tx, delivery.Delivery{
			ID: ulid.New(tx.Now()), IdempotencyKey: plan.Key, Route: plan.To, Text: plan.Text, Title: task.Title(*t),
			Source: delivery.Source{Kind: "task", Name: task.Name(*t), SessionKey: t.OwnerKey, TaskID: t.ID},
			State:  delivery.Pending, CreatedAt: tx.Now(),
		})
		told = err == nil
	case task.ViaSession:
		told, err = settle.TellSession(tx, *t, plan.Key, plan.Text)
	}
	if told {
		t.LastNotifiedAt = c.At
	}
	return told, err
}
