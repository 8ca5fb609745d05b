package tasks

import (
	"claw/runner/settle"
	"claw/state"
	"claw/state/delivery"
	"claw/state/task"
	"claw/state/ulid"
)

// tell queues what is to be told about the end of t, in the transaction that
// writes it, and notes it in t; spec/tasks-recovery.md 2.2. A background
// command is silent because the event of its process tells its session; when
// that process is not known any more the task that is lost does. False: nobody is told.
func tell(tx *state.Tx, t *task.Task) (bool, error) {
	plan := task.Route(*t)
	if t.Status == task.Lost && t.Kind == task.KindExec && t.NotifyPolicy == task.Silent && t.DeliveryStatus == task.DeliveryPending && t.OwnerKey != "" {
		plan = task.Plan{Via: task.ViaSession, Status: task.DeliverySessionQueued, Text: task.Message(*t)}
	}
	if plan.Status != "" {
		t.DeliveryStatus = plan.Status
	}
	told := false
	var err error
	switch plan.Via {
	case task.ViaDirect:
		told, err = true, intend(tx, t, plan)
	case task.ViaSession:
		told, err = settle.TellSession(tx, *t, task.ContextKey(*t), plan.Text)
	}
	if err == nil && plan.FollowUp != "" {
		var more bool
		more, err = settle.TellSession(tx, *t, task.FollowUpKey(*t), plan.FollowUp)
		told = told || more
	}
	return told, err
}

// intend writes the message to whoever asked for t.
func intend(tx *state.Tx, t *task.Task, plan task.Plan) error {
	d, err := settle.Intend(tx, delivery.Delivery{
		ID: ulid.New(tx.Now()), IdempotencyKey: plan.Key, Route: plan.To, Text: plan.Text, Title: task.Title(*t) + ": " + string(t.Status), Body: task.Findings(*t),
		Source: delivery.Source{Kind: "task", Name: task.Name(*t), SessionKey: t.OwnerKey, TaskID: t.ID},
		State:  delivery.Pending, CreatedAt: tx.Now(),
	})
	t.DeliveryID = d.ID
	return err
}
