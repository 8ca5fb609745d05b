package scheduler

import (
	"strconv"
	"strings"
	"time"

	"claw/runner/internal/proc"
	"claw/runner/output"
	"claw/runner/settle"
	"claw/state"
	"claw/state/automation"
	"claw/state/process"
	"claw/state/session"
	"claw/state/task"
)

// outcome is what became of a run, before it is written.
type outcome struct {
	end  automation.End
	text string // what there is to tell: output or reply

	answer *automation.TriggerAnswer // of a trigger script that has said whether to go on; nil: it is the end of the run
}

// codeAgain is EX_TEMPFAIL: the command says that it may succeed later.
const codeAgain = 75

// outcome judges what has carried a run out.
func (s *Scheduler) outcome(c carried) outcome {
	if c.turn.ID != "" {
		return ofTurn(c.turn, c.turn.Reply, c.paced)
	}
	if c.check {
		return s.checkOutcome(c.process)
	}
	dir := s.Store.ProcessDir(c.process.ID)
	out := outcome{end: ofProcess(c.process, lastError(dir))}
	if out.end.Status == automation.Succeeded {
		out.text = said(dir, c.most)
	} else {
		out.text = c.process.Tail
	}
	return out.pace(c.paced)
}

// ofProcess is the end of a command. A process that is lost because the
// machine went down was interrupted; of any other nobody knows how it ended.
// lastErr is what it wrote to stderr last, or nothing.
func ofProcess(p process.Process, lastErr string) automation.End {
	if lastErr == "" {
		lastErr = p.Tail
	}
	end := automation.End{Status: automation.Failed, At: p.EndedAt, Category: automation.Classify(lastErr)}
	x := p.Exit
	switch {
	case p.Phase == process.Lost || x == nil:
		end.Status, end.Code, end.Error = automation.Unknown, automation.CodeOwnerDied, "its supervisor died; how it ended is not known"
		if p.Supervisor.Boot != proc.Boot() {
			end.Status, end.Error = automation.Interrupted, "the machine went down while it ran"
		}
	case x.Reason == process.ReasonSpawnError:
		end.Error, end.Category = "it could not be started: "+x.Error, automation.Validation
	case x.Reason == process.ReasonNoOutputTimeout:
		end.Status, end.Category = automation.TimedOut, automation.Timeout
		end.Error = "it was ended because it printed nothing for " + process.HumanDuration(time.Duration(p.NoOutputTimeoutMs)*time.Millisecond)
	case x.TimedOut:
		end.Status, end.Category = automation.TimedOut, automation.Timeout
		end.Error = "it was ended after " + process.HumanDuration(time.Duration(p.TimeoutMs)*time.Millisecond)
	case x.Reason == process.ReasonManualCancel:
		end.Status, end.Category, end.Error = automation.Cancelled, "", "it was ended on purpose"
	case x.Code == nil:
		end.Error = because("signal "+x.Signal, lastErr)
	case *x.Code == 0:
		return automation.End{Status: automation.Succeeded, At: p.EndedAt}
	default:
		end.Error = because("exit "+strconv.Itoa(*x.Code), lastErr)
		if *x.Code == codeAgain {
			end.Category = automation.Overloaded
		}
	}
	return end
}

// because adds the last line of the output to how a command ended.
func because(how, tail string) string {
	tail = strings.TrimSpace(tail)
	last := process.Collapse(tail[strings.LastIndexAny(tail, "\r\n")+1:])
	if last == "" {
		return how
	}
	return how + ": " + process.Elide(last, 300)
}

// failedLine as the first line of a reply says that the job was not done
// (spec/heartbeat-automations.md 2.13).
const failedLine = "AUTOMATION_FAILED"

// ofTurn is the end of a turn. paced: it may ask for its next check.
func ofTurn(t session.Turn, reply string, paced bool) outcome {
	end := automation.End{Status: automation.Failed, At: t.EndedAt, Error: t.Error, Category: automation.Classify(t.Error)}
	switch t.Status {
	case session.TurnSucceeded:
		first, rest, _ := strings.Cut(strings.TrimSpace(reply), "\n")
		if strings.TrimSpace(first) != failedLine {
			out := outcome{end: automation.End{Status: automation.Succeeded, At: t.EndedAt}, text: reply}
			return out.pace(paced).answered(t.Response, paced)
		}
		end.Category = automation.Other // whatever it says, the agent was reached
		reply = strings.TrimSpace(rest)
		end.Error = because("the agent says that it failed", reply)
	case session.TurnTimedOut:
		end.Status, end.Category = automation.TimedOut, automation.Timeout
	case session.TurnNotAccepted:
		if end.Category == automation.Other {
			end.Category = automation.Overloaded // it did nothing, and may be asked again
		}
	case session.TurnLost:
		end.Status, end.Code = automation.Unknown, automation.CodeOwnerDied
	case session.TurnBlocked:
		end.Category = automation.Validation
	}
	return outcome{end: end, text: reply}
}

// maxSaid is how much of each of a command's two outputs a person is told.
const maxSaid = 16 << 10

// said is what a command printed: its stdout, or its stderr when that is all,
// or both with their names (spec/heartbeat-automations.md 2.13).
// most bounds it further; 0 does not.
func said(dir string, most int64) string {
	r, err := output.Open(dir)
	if err != nil {
		return "" // swept away
	}
	defer r.Close()
	out, errs := stream(r, output.Stdout, most), stream(r, output.Stderr, most)
	switch {
	case errs == "":
		return out
	case out == "":
		return errs
	}
	return "stdout:\n" + out + "\n\nstderr:\n" + errs
}

func stream(r *output.Reader, which output.Stream, most int64) string {
	b := &head{most: maxSaid}
	if most > 0 {
		b.most = int(min(most, maxSaid))
	}
	r.Copy(b, output.Selection{Stream: which})
	text := strings.TrimSpace(output.Sanitize(b.kept))
	if b.more > 0 {
		text += "\n[… " + strconv.FormatInt(b.more, 10) + " more bytes]"
	}
	return text
}

// head keeps the beginning of what is written to it.
type head struct {
	most int
	kept []byte
	more int64
}

// Write takes p; it never fails.
func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.most-len(h.kept))
	h.kept, h.more = append(h.kept, p[:n]...), h.more+int64(len(p)-n)
	return len(p), nil
}

// lastError is the end of what a command wrote to stderr. The order of two
// streams is not known, and the reason of a failure stands there.
func lastError(dir string) string {
	r, err := output.Open(dir)
	if err != nil {
		return ""
	}
	defer r.Close()
	t := &tail{}
	r.Copy(t, output.Selection{Stream: output.Stderr})
	return strings.TrimSpace(output.Sanitize(t.kept))
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

// Write takes p; it never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-process.TailChars):]
	return len(p), nil
}

// finish writes the end of a run that was carried out, with all that follows:
// the automation's counters, another attempt, what a person is told. A run that
// has ended already is left alone.
func (s *Scheduler) finish(tx *state.Tx, r automation.Run, out outcome) (automation.Run, error) {
	row, ok, err := state.Runs.Get(tx, r.ID)
	if err != nil || !ok || row.Rec.Status != automation.Running {
		return row.Rec, err
	}
	a, err := automationOf(tx, row.Rec)
	if err != nil {
		return r, err
	}
	if out.end.At.IsZero() || out.end.At.Before(row.Rec.StartedAt) {
		out.end.At = tx.Now()
	}
	out.end.Undelivered = out.end.Status == automation.Succeeded && tells(a.Rec, out.text)
	f := automation.Finish(a.Rec, row.Rec, out.end, s.Retry, s.Zone)
	if a.Rev > 0 {
		var done bool
		if f.Automation, f.Run, done, err = s.report(tx, f.Automation, f.Run, out.text); err != nil {
			return r, err
		}
		f.Delete = f.Delete || done
		if err := s.follow(tx, a, f); err != nil {
			return r, err
		}
	}
	if err := endTask(tx, f.Run, out.end.At); err != nil {
		return r, err
	}
	if err := state.Runs.Put(tx, f.Run.ID, row.Rev, f.Run); err != nil {
		return r, err
	}
	return f.Run, stale(tx)
}

// automationOf is the automation of a run; with revision 0 when it is gone.
func automationOf(tx *state.Tx, r automation.Run) (state.Row[automation.Automation], error) {
	row, ok, err := state.Automations.Get(tx, r.AutomationID)
	if !ok {
		row.Rev, row.Rec = 0, automation.Automation{ID: r.AutomationID, Name: r.Name}
	}
	return row, err
}

// follow writes what follows for the automation.
func (s *Scheduler) follow(tx *state.Tx, a state.Row[automation.Automation], f automation.Finished) error {
	if a.Rec.Enabled {
		var owed []automation.Run
		f.Automation, owed = automation.Off(f.Automation, tx.Now(), s.Zone)
		for _, r := range owed {
			if err := addRun(tx, r); err != nil {
				return err
			}
		}
	}
	if f.Delete {
		if err := state.Automations.Delete(tx, a.ID, a.Rev); err != nil {
			return err
		}
	} else if err := state.Automations.Put(tx, a.ID, a.Rev, f.Automation); err != nil {
		return err
	}
	if f.Retry != nil {
		if err := state.Runs.Put(tx, f.Retry.ID, 0, *f.Retry); err != nil {
			return err
		}
	}
	for _, n := range f.Notices {
		if err := s.notify(tx, f.Automation, n); err != nil {
			return err
		}
	}
	return nil
}

// addRun writes the row of a slot that has none.
func addRun(tx *state.Tx, r automation.Run) error {
	_, known, err := state.Runs.Get(tx, r.ID)
	if err != nil || known {
		return err
	}
	return state.Runs.Put(tx, r.ID, 0, r)
}

// endTask ends the task of a turn or of a reminder. That of a command ended
// with its process.
func endTask(tx *state.Tx, r automation.Run, at time.Time) error {
	if r.Owner == nil || r.Owner.TaskID == "" {
		return nil
	}
	row, ok, err := state.Tasks.Get(tx, r.Owner.TaskID)
	if err != nil || !ok || row.Rec.Status.Terminal() {
		return err
	}
	t := row.Rec
	t.Status, t.EndedAt, t.LastEventAt, t.Error = task.OfRun(r.Status), at, at, r.Error
	t.CleanupAfter = task.CleanupAfter(t)
	if t.Status == task.Succeeded {
		t.TerminalOutcome = task.OutcomeSucceeded
	}
	t = task.Normalise(t)
	if err := state.Tasks.Put(tx, row.ID, row.Rev, t); err != nil {
		return err
	}
	return settle.Follow(tx, t)
}
