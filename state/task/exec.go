package task

import (
	"strings"
	"time"

	"claw/state/process"
)

// KindExec is the kind of a task that is a background command.
const KindExec = "exec"

// KindAutomation is the kind of a task that is a run of an automation. Its
// SourceID is the automation's.
const KindAutomation = "automation"

// KindHook is the kind of a task that is a turn which somebody outside has asked
// for. Its RunID is that of the dispatch.
const KindHook = "hook"

// KindSubagent is the kind of a task that is work given to an agent (claw agent
// run). Its RunID is that of the run.
const KindSubagent = "subagent"

// How long a finished row is kept (spec/tasks-recovery.md 1.11).
const (
	Retention     = 7 * 24 * time.Hour
	LostRetention = 24 * time.Hour
)

// FromProcess is the row of a backgrounded process, which must have its TaskID
// already: runtime cli, kind exec, silent because the completion event tells
// its session. With an origin (exec --notify) it is done_only and tells that
// one. A process of neither session nor origin is a system task with nobody to
// tell. A process that has ended gives a finished row. Its executor is the
// supervisor, for when the process's own row is lost.
func FromProcess(p process.Process) Task {
	created := p.BackgroundedAt
	if created.IsZero() {
		created = p.CreatedAt
	}
	t := Task{
		ID:                  p.TaskID,
		Runtime:             CLI,
		Kind:                KindExec,
		RunID:               p.ID,
		Slug:                p.Slug,
		RequesterSessionKey: p.Session,
		AgentID:             p.Agent,
		Label:               process.NameOf(p),
		Task:                p.Command,
		Status:              Running,
		NotifyPolicy:        Silent,
		CreatedAt:           created,
		StartedAt:           p.StartedAt,
		RequesterOrigin:     p.Origin,
	}
	if !p.Origin.IsZero() {
		t.NotifyPolicy, t.DeliveryStatus = DoneOnly, DeliveryPending
	}
	if !p.Supervisor.IsZero() {
		t.Executor = &Executor{Identity: p.Supervisor}
	}
	if p.RunID != "" {
		t.Runtime, t.Kind = Cron, KindAutomation
		t.SourceID, _, _ = strings.Cut(p.RunID, "@")
	}
	// The only error is a session task without an owner; the scope is derived here.
	t, _ = New(t, created)
	if !p.Live() {
		t, _ = Finish(t, p)
	}
	return t
}

// Finish carries the end of a process over to its task: status, times, why it
// failed, what the ledger says about telling the session, and on the first end
// how long the row is kept. p must have its Exit and, if one is queued in the
// same transaction, its EventID. The error is a *MoveError, also while p still
// runs and the task does not; then t is returned as it was.
func Finish(t Task, p process.Process) (Task, error) {
	to := Status(process.TaskStatus(p))
	if err := CanMove(t.Status, to); err != nil {
		return t, err
	}
	if !to.Terminal() {
		return t, nil
	}
	t.Status = to
	if !p.StartedAt.IsZero() {
		t.StartedAt = p.StartedAt
	}
	if !p.EndedAt.IsZero() {
		t.EndedAt, t.LastEventAt = p.EndedAt, p.EndedAt
	}
	t.Error, t.TerminalOutcome = failure(to, p), ""
	t.TerminalSummary = process.Elide(lastLine(p.Tail), process.CommandWidth)
	t.DeliveryStatus = told(t, p)
	t = Normalise(t) // first: a clock that was set back must not shorten what is kept
	if t.CleanupAfter.IsZero() {
		t.CleanupAfter = CleanupAfter(t)
	}
	return tidy(t), nil
}

// failure is one sentence, without the advice that is for the caller.
func failure(s Status, p process.Process) string {
	switch {
	case s == Succeeded:
		return ""
	case s == Cancelled && p.Exit != nil && p.Exit.Error != "":
		return p.Exit.Error
	case s == Cancelled:
		return "Cancelled by operator."
	}
	sentence, _, _ := strings.Cut(process.ReasonText(p), "\n")
	return sentence
}

// told is what the end did to the delivery: an event of the session; still
// pending where somebody is told directly; or nothing that anybody will do.
func told(t Task, p process.Process) DeliveryStatus {
	direct := !p.Removed && Route(t).Via == ViaDirect
	switch {
	case p.EventID != "":
		return DeliverySessionQueued
	case t.DeliveryStatus == DeliveryPending && !direct:
		return DeliveryNotApplicable
	}
	return t.DeliveryStatus
}

// lastLine is the last line with something on it.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return process.Collapse(s[strings.LastIndexAny(s, "\r\n")+1:])
}

// CleanupAfter is when a finished row may go: Retention after its end, or
// LostRetention when it was lost.
func CleanupAfter(t Task) time.Time {
	keep := Retention
	if t.Status == Lost {
		keep = LostRetention
	}
	for _, at := range [...]time.Time{t.EndedAt, t.LastEventAt} {
		if !at.IsZero() {
			return at.Add(keep)
		}
	}
	return t.CreatedAt.Add(keep)
}
