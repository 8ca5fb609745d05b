package hook

import (
	"context"
	"errors"
	"slices"
	"time"

	"claw/runner/agent"
	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/external"
	"claw/state/session"
	"claw/state/task"
)

// Work is what a Pass has decided.
type Work struct {
	Start []string  // each is for Run
	Ended []string  // lines about those that were refused
	Next  time.Time // when there is something to do by the clock; zero: never
}

// Pass refuses what is too late, and says what may begin now; begin false holds
// that back. atWork tells the dispatches whose Run has not returned. Only the
// holder of runner.lock may call it, and must Run what it returns.
func (h *Dispatcher) Pass(ctx context.Context, begin bool, atWork func(id string) bool) (Work, error) {
	var w Work
	plan, gone, err := h.plan(atWork)
	if err != nil {
		return w, err
	}
	if w.Next = plan.Next; begin {
		w.Start = plan.Start
	}
	for _, id := range plan.Refuse {
		gone[id] = external.ReasonLate
	}
	for id, why := range gone {
		d, refuseErr := h.refuse(ctx, id, why, "")
		if err = errors.Join(err, refuseErr); refuseErr == nil && d.Status == external.Refused {
			line, _ := d.Log()
			w.Ended = append(w.Ended, line)
		}
	}
	return w, err
}

// Foreseen is what the next Pass does with a dispatch.
type Foreseen struct {
	ID         string          `json:"runId"`
	Name       string          `json:"name"`
	SessionKey string          `json:"sessionKey"`
	Begins     bool            `json:"begins"`
	Reason     external.Reason `json:"reason,omitempty"` // why it would be refused
}

// Foresee is what a Pass would do now, and when the next one has something to do.
// Nothing is written.
func (h *Dispatcher) Foresee() (list []Foreseen, next time.Time, err error) {
	plan, gone, err := h.plan(func(string) bool { return false })
	if err != nil {
		return nil, next, err
	}
	for _, id := range plan.Refuse {
		gone[id] = external.ReasonLate
	}
	err = h.Store.View(func(tx *state.Tx) error {
		list = nil
		all, err := state.OpenDispatches(tx)
		for _, d := range all {
			why, refused := gone[d.ID]
			if begins := slices.Contains(plan.Start, d.ID); begins || refused {
				list = append(list, Foreseen{ID: d.ID, Name: d.Name, SessionKey: d.SessionKey, Begins: begins, Reason: why})
			}
		}
		return err
	})
	return list, plan.Next, err
}

// plan is what external.Plan says, and which were withdrawn: their tasks have
// ended. A directory in which nothing waits costs one ledger.
func (h *Dispatcher) plan(atWork func(id string) bool) (plan external.Work, gone map[string]external.Reason, err error) {
	err = h.Store.View(func(tx *state.Tx) error {
		plan, gone = external.Work{}, map[string]external.Reason{}
		all, err := state.OpenDispatches(tx)
		if err != nil {
			return err
		}
		waiting := 0
		live := all[:0]
		for _, d := range all {
			if d.Status == external.Queued && !atWork(d.ID) {
				off, err := withdrawn(tx, d)
				if err != nil {
					return err
				}
				if off {
					gone[d.ID] = external.ReasonWithdrawn
					continue
				}
				waiting++
			}
			live = append(live, d)
		}
		if waiting == 0 {
			return nil
		}
		b := external.Budget{Max: h.Max, Reserved: h.KeepHTTP}
		if b.Others, err = asked(tx); err == nil {
			plan = external.Plan(live, b, atWork, tx.Now())
		}
		return err
	})
	return plan, gone, err
}

// withdrawn tells that somebody has cancelled the task of a dispatch.
func withdrawn(tx *state.Tx, d external.Dispatch) (bool, error) {
	row, ok, err := state.Tasks.Find(tx, d.TaskID)
	return err == nil && ok && row.Rec.Status.Terminal(), err
}

// asked counts the runs of automations that are turns of agents.
func asked(tx *state.Tx) (n int, err error) {
	rows, err := state.Runs.All(tx)
	for _, row := range rows {
		if o := row.Rec.Owner; row.Rec.Status == automation.Running && o != nil && o.ProcessID == "" && o.CheckID == "" {
			n++
		}
	}
	return n, err
}

// lanePatience is how long a dispatch without a deadline waits for a session
// that somebody else is in; then it is planned anew.
const lanePatience = 2 * time.Minute

// again is when a dispatch is planned anew whose session was not to be had.
const again = time.Second

// Run carries one dispatch out, and returns when its turn has ended. When ctx
// ends it goes on under its supervisor. line is what there is to be logged. An
// error is one of the state directory.
func (h *Dispatcher) Run(ctx context.Context, id string) (line string, err error) {
	d, ok, err := h.Find(id)
	if err != nil || !ok || d.Status != external.Queued {
		return "", err
	}
	res, err := h.Turns.Run(ctx, h.request(d))
	switch _, busy := errors.AsType[*agent.BusyError](err); {
	case err == nil:
	case errors.Is(err, errGone), ctx.Err() != nil, res.Turn.ID != "":
		return "", nil // it has ended otherwise, or goes on
	case busy:
		return "", h.putOff(ctx, id)
	case isState(err):
		return "", err
	default:
		if d, err = h.refuse(context.WithoutCancel(ctx), id, external.ReasonPrepare, err.Error()); err != nil {
			return "", err
		}
		line, _ := d.Log()
		return line, nil
	}
	if d, ok, err = h.Find(id); err != nil || !ok {
		return "", err
	}
	line, _ = d.Log()
	return line, nil
}

// errGone: the dispatch does not begin any more.
var errGone = errors.New("the dispatch has begun already, or is not to begin")

func isState(err error) bool {
	_, ok := errors.AsType[*state.Error](err)
	return ok || errors.Is(err, state.ErrNotDurable)
}

// request is the turn of a dispatch: with a new transcript in the session of its
// key, whose lane keeps those of one key apart.
func (h *Dispatcher) request(d external.Dispatch) agent.Request {
	wait := lanePatience
	if !d.Deadline.IsZero() {
		wait = max(time.Millisecond, d.Deadline.Sub(h.Clock.Now()))
	}
	mode := session.ReplyNone
	if d.Deliver {
		mode = session.ReplyDeliver
	}
	return agent.Request{
		Agent: d.Agent, SessionKey: d.SessionKey, Fresh: true, Light: true, Kind: session.KindHook, Reason: "hook:" + d.Name, Message: d.Message,
		Quiet: true, Route: d.Route, ReplyMode: mode, Timeout: time.Duration(d.TimeoutMs) * time.Millisecond, Model: d.Model,
		Thinking: d.Thinking, Tools: d.Tools, Wait: wait, Answer: h.answer,
		Admit: func(tx *state.Tx, t *session.Turn) error { return h.admitted(tx, t, d.ID) },
	}
}

// admitted ties the turn to its dispatch, in the transaction of its admission:
// here it begins, or never does.
func (h *Dispatcher) admitted(tx *state.Tx, t *session.Turn, id string) error {
	row, ok, err := state.Dispatches.Get(tx, id)
	if err != nil || !ok {
		return errors.Join(err, errGone)
	}
	if off, err := withdrawn(tx, row.Rec); err != nil || off {
		return errors.Join(err, errGone)
	}
	d, err := external.Begin(row.Rec, t.ID, tx.Now())
	if err != nil {
		return errGone
	}
	t.DispatchID, t.Attempt, t.Title = d.ID, d.Tries, d.Name
	t.Source = delivery.Source{Kind: "hook", Name: d.Name, SessionKey: t.SessionKey, TurnID: t.ID, TaskID: d.TaskID}
	if err := beginTask(tx, d.TaskID); err != nil {
		return err
	}
	return state.Dispatches.Put(tx, id, row.Rev, d)
}

func beginTask(tx *state.Tx, id string) error {
	row, ok, err := state.Tasks.Get(tx, id)
	if err != nil || !ok || row.Rec.Status != task.Queued {
		return err
	}
	t := row.Rec
	t.Status, t.StartedAt, t.LastEventAt = task.Running, tx.Now(), tx.Now()
	return state.Tasks.Put(tx, id, row.Rev, task.Normalise(t))
}

// putOff has a dispatch planned anew in a moment: its session was not to be had.
func (h *Dispatcher) putOff(ctx context.Context, id string) error {
	return h.Store.Update(context.WithoutCancel(ctx), func(tx *state.Tx) error {
		row, ok, err := state.Dispatches.Get(tx, id)
		if err != nil || !ok || row.Rec.Status != external.Queued {
			return err
		}
		row.Rec.NotBefore = tx.Now().Add(again)
		return state.Dispatches.Put(tx, id, row.Rev, row.Rec)
	})
}
