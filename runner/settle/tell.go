package settle

import (
	"encoding/json"

	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/process"
	"claw/state/task"
)

// finish writes what follows from the end of p: its task, and how somebody is
// told. Whoever asked for it with an origin is told directly, by an intent;
// else the session gets an event with the end of the output. shown: the caller
// knows already.
func finish(tx *state.Tx, p *process.Process, output string, shown bool) error {
	row, ok, err := taskOf(tx, *p)
	if err != nil {
		return err
	}
	direct := false
	if ok {
		if direct, err = tellDirectly(tx, &row.Rec, *p, shown); err != nil {
			return err
		}
	}
	if !direct {
		if err := queueEvent(tx, p, output, shown); err != nil {
			return err
		}
	}
	return finishTask(tx, row, ok, *p, direct)
}

// taskOf is the task of p, if it has one that p's end may still finish.
func taskOf(tx *state.Tx, p process.Process) (state.Row[task.Task], bool, error) {
	if p.TaskID == "" {
		return state.Row[task.Task]{}, false, nil
	}
	row, ok, err := state.Tasks.Get(tx, p.TaskID)
	if err != nil || !ok {
		return row, false, err
	}
	if _, err := task.Finish(row.Rec, p); err != nil {
		return row, false, nil // already terminal: a task's first end stands
	}
	return row, true, nil
}

// tellDirectly writes the intent to tell the origin of t about the end of p,
// and its id into t. False when there is nobody to tell so.
func tellDirectly(tx *state.Tx, t *task.Task, p process.Process, shown bool) (bool, error) {
	done, err := task.Finish(*t, p)
	if err != nil || shown || p.Removed || t.DeliveryID != "" {
		return false, err
	}
	plan := task.Route(done)
	if plan.Via != task.ViaDirect {
		return false, nil
	}
	d := delivery.Delivery{
		ID: newID(tx.Now()), IdempotencyKey: plan.Key, Route: plan.To, Text: plan.Text,
		Title: task.Headline(done, p), Body: task.Findings(done),
		Source: delivery.Source{Kind: "exec", Name: p.Slug, SessionKey: p.Session, TaskID: t.ID},
		State:  delivery.Pending, CreatedAt: tx.Now(),
	}
	t.DeliveryID = d.ID
	return true, state.Deliveries.Add(tx, d.ID, d)
}

func finishTask(tx *state.Tx, row state.Row[task.Task], ok bool, p process.Process, direct bool) error {
	if !ok {
		return nil
	}
	done, err := task.Finish(row.Rec, p)
	if err != nil {
		return err
	}
	if !direct && done.DeliveryStatus == task.DeliveryPending {
		done.DeliveryStatus = task.DeliveryNotApplicable // whoever asked has been shown the end
	}
	if err := state.Tasks.Put(tx, row.ID, row.Rev, done); err != nil {
		return err
	}
	return Follow(tx, done)
}

// Intend writes d as it is, unless a delivery with its idempotency key is
// there already: then that one is returned.
func Intend(tx *state.Tx, d delivery.Delivery) (delivery.Delivery, error) {
	key, err := json.Marshal(d.IdempotencyKey)
	if err != nil {
		return d, err
	}
	if has, err := state.Deliveries.Mentions(tx, `"idempotencyKey":`+string(key)); err != nil || !has {
		if err == nil {
			err = state.Deliveries.Add(tx, d.ID, d)
		}
		return d, err
	}
	rows, err := state.Deliveries.All(tx)
	if err != nil {
		return d, err
	}
	for _, r := range rows {
		if r.Rec.IdempotencyKey == d.IdempotencyKey {
			return r.Rec, nil
		}
	}
	return d, state.Deliveries.Add(tx, d.ID, d)
}

// Told carries what became of a delivery over to the task it is about, in the
// transaction that writes the delivery. Only the task's own delivery counts.
// When it has failed the session is told instead (spec/tasks-recovery.md
// 2.2.4). An unknown outcome leaves the task pending: nobody is told twice.
func Told(tx *state.Tx, d delivery.Delivery) error {
	if d.Source.TaskID == "" {
		return nil
	}
	row, ok, err := state.Tasks.Find(tx, d.Source.TaskID)
	if err != nil || !ok || row.Rec.DeliveryID != d.ID {
		return err
	}
	next, ok := toldAs(d.State)
	if !ok || next == row.Rec.DeliveryStatus {
		return nil
	}
	if next == task.DeliveryFailed {
		if err := tellSession(tx, row.Rec); err != nil {
			return err
		}
	}
	return state.Tasks.Put(tx, row.ID, row.Rev, task.Told(row.Rec, next, tx.Now()))
}

// toldAs is what a task says of its delivery; false for what it does not say.
func toldAs(s delivery.State) (task.DeliveryStatus, bool) {
	switch s {
	case delivery.Delivered:
		return task.DeliveryDelivered, true
	case delivery.Failed:
		return task.DeliveryFailed, true
	case delivery.Pending, delivery.Sending:
		return task.DeliveryPending, true // also a person's retry of one that had failed
	case delivery.Dismissed:
		return task.DeliveryNotApplicable, true
	}
	return "", false
}

// tellSession queues the completion that a channel could not take, unless the
// session knows the end already. That it was to be told elsewhere is reason
// enough to tell of a quiet success, too.
func tellSession(tx *state.Tx, t task.Task) error {
	row, ok, err := state.Processes.Find(tx, t.RunID)
	if err != nil {
		return err
	}
	if !ok {
		return tellOfTask(tx, t)
	}
	p := row.Rec
	asked := p
	asked.NotifyOnExit, asked.NotifyOnExitEmptySuccess = true, true
	if queue, _ := event.ShouldQueue(asked); !queue {
		return nil
	}
	e := event.Completion(newID(tx.Now()), p, tx.Now())
	p.EventID = e.ID
	if err := state.Events.Add(tx, e.ID, e); err != nil {
		return err
	}
	return state.Processes.Put(tx, row.ID, row.Rev, p)
}

// tellOfTask is tellSession for a task whose process is not known any more.
func tellOfTask(tx *state.Tx, t task.Task) error {
	_, err := TellSession(tx, t, task.ContextKey(t), task.Message(t))
	return err
}

// TellSession queues text about a task for the session that owns it, under
// contextKey, once: false when something is queued or was told under that key,
// or there is no session.
func TellSession(tx *state.Tx, t task.Task, contextKey, text string) (bool, error) {
	if t.OwnerKey == "" {
		return false, nil
	}
	if told, err := state.Events.Mentions(tx, `"contextKey":"`+contextKey+`"`); err != nil || told {
		return false, err
	}
	e := event.Event{
		ID: newID(tx.Now()), State: event.Queued, Kind: event.KindTask, SessionKey: t.OwnerKey, Agent: t.AgentID,
		ContextKey: contextKey, Text: text, TaskID: t.ID, CreatedAt: tx.Now(),
	}
	return true, state.Events.Add(tx, e.ID, e)
}
