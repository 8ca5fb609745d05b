package scheduler

import (
	"context"
	"errors"
	"time"

	"claw/runner/agent"
	"claw/runner/control"
	"claw/runner/internal/failpoint"
	"claw/runner/output"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
)

// check starts the trigger script of a run under the ULID of its claim. Its
// end is taken in by a pass, see checked.
func (s *Scheduler) check(ctx context.Context, a automation.Automation, r automation.Run) error {
	leave := s.enter()
	defer leave()
	if ctx.Err() != nil {
		return nil // the claim is taken back
	}
	failpoint.Hit("check-starting")
	err := s.launchCheck(ctx, a, r)
	if err == nil {
		failpoint.Hit("check-started")
		return nil
	}
	begun, findErr := s.known(r.Owner.CheckID)
	if begun || findErr != nil || ctx.Err() != nil {
		return findErr
	}
	return s.conclude(r, automation.End{Status: automation.Failed, Category: automation.Other, Error: "its trigger script could not be started: " + err.Error()})
}

// known tells that the row of a process is there.
func (s *Scheduler) known(processID string) (ok bool, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		_, ok, err = state.Processes.Find(tx, processID)
		return err
	})
	return ok, err
}

func (s *Scheduler) launchCheck(ctx context.Context, a automation.Automation, r automation.Run) error {
	stdin, err := agent.Stdin(s.Store, remembered(a)+"\n")
	if err != nil {
		return err
	}
	defer stdin.Close()
	e := s.unlisted(a)
	e.Argv, e.Env, e.Workdir = []string{"sh", "-c", a.Trigger.Script}, environment(a, r), a.Payload.Cwd
	e.Stdin, e.Caller, e.TimeoutMs = supervisor.StdinCaller, stdin, automation.TriggerBudget.Milliseconds()
	return s.begin(ctx, e, r.Owner.CheckID, r.ID)
}

// remembered is what a trigger script is given on stdin: what it said last
// time, as JSON.
func remembered(a automation.Automation) string {
	if a.State.TriggerState == "" {
		return "null"
	}
	return a.State.TriggerState
}

// unlisted is a command of claw's own for an automation: nobody is told of its
// end but through the automation, and it leaves the list with its end.
func (s *Scheduler) unlisted(a automation.Automation) control.Exec {
	return control.Exec{
		Name: a.Name, Agent: s.agent(a), Stdin: supervisor.StdinNull, MaxOutput: s.MaxOutput, TTLMs: 1,
		PathPrepend: s.PathPrepend, OnLoss: s.OnLoss, Retain: s.Retain, Wake: s.WakeOnExit, Background: true,
		Environ: s.Environ, Cwd: s.Cwd,
	}
}

// begin starts a command under a ULID that is on record. runID is what its row
// says it is for: its end wakes whoever works.
func (s *Scheduler) begin(ctx context.Context, e control.Exec, processID, runID string) error {
	req, err := e.Request()
	if err != nil {
		return err
	}
	req.Row.RunID = runID
	spare, err := s.spare(processID)
	if err != nil {
		return err
	}
	h, err := spare.Launch(ctx, s.Store, req)
	if err != nil {
		return err
	}
	return h.Close()
}

// checkOutcome judges the end of a trigger script. What did not answer is the
// end of the run.
func (s *Scheduler) checkOutcome(p process.Process) outcome {
	dir := s.Store.ProcessDir(p.ID)
	out := outcome{end: ofProcess(p, lastError(dir)), text: p.Tail}
	if out.end.Status != automation.Succeeded {
		out.end.Error = "its trigger script: " + out.end.Error
		return out
	}
	answer, wrong := automation.ParseTrigger(answered(dir))
	if wrong != nil {
		out.end = automation.End{Status: automation.Failed, At: p.EndedAt, Category: automation.Validation, Error: "its trigger script: " + wrong.Error()}
		return out
	}
	out.answer = &answer
	return out
}

// maxAnswer is how much of a script's stdout is read, from its end: the state
// with its message.
const maxAnswer = 128 << 10

// answered is the end of what a script wrote to stdout.
func answered(dir string) string {
	r, err := output.Open(dir)
	if err != nil {
		return ""
	}
	defer r.Close()
	t := &lastBytes{most: maxAnswer}
	r.Copy(t, output.Selection{Stream: output.Stdout})
	return string(t.kept)
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	most int
	kept []byte
}

// Write takes p; it never fails.
func (t *lastBytes) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-t.most):]
	return len(p), nil
}

// checked writes what follows from the answer of a trigger script: nothing but
// what the script remembers, or a run that waits for its payload.
func (s *Scheduler) checked(tx *state.Tx, r automation.Run, out outcome) (automation.Run, error) {
	row, ok, err := state.Runs.Get(tx, r.ID)
	if err != nil || !ok || row.Rec.Status != automation.Running {
		return row.Rec, err
	}
	a, err := automationOf(tx, row.Rec)
	switch {
	case err != nil:
		return row.Rec, err
	case a.Rev == 0:
		return s.finish(tx, row.Rec, outcome{end: automation.End{Status: automation.Skipped, Code: automation.CodeRemoved, Error: "the automation was removed while its trigger script ran"}})
	case !row.Rec.StoppedAt.IsZero():
		return s.finish(tx, row.Rec, outcome{end: automation.End{Status: automation.Replaced, Code: automation.CodeReplaced}})
	}
	end := automation.Checked(a.Rec, row.Rec, *out.answer, tx.Now().Truncate(time.Millisecond))
	if err := state.Automations.Put(tx, a.ID, a.Rev, end.Automation); err != nil {
		return row.Rec, err
	}
	if !end.Quiet {
		return end.Run, errors.Join(state.Runs.Put(tx, row.ID, row.Rev, end.Run), stale(tx))
	}
	if err := forget(tx, row.Rec.Owner.CheckID); err != nil {
		return row.Rec, err
	}
	return end.Run, errors.Join(state.Runs.Delete(tx, row.ID, row.Rev), stale(tx))
}

// forget takes the task of a quiet check away: a quiet check is no run, and
// there may be thousands in a day.
func forget(tx *state.Tx, processID string) error {
	p, _, err := state.Processes.Find(tx, processID)
	if err != nil {
		return err
	}
	row, ok, err := state.Tasks.Get(tx, p.Rec.TaskID)
	if err != nil || !ok {
		return err
	}
	return state.Tasks.Delete(tx, row.ID, row.Rev)
}
