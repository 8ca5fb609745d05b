package agent

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"claw/state/process"
	"claw/state/session"
)

// ending is what became of a turn, before it is written.
type ending struct {
	status  session.TurnStatus
	reply   string // at most session.MaxTranscriptReply
	bytes   int64  // of the whole reply
	code    *int
	error   string
	outcome string
	at      time.Time // zero: now

	killed    bool // by a signal, or on purpose
	signalled bool // by a signal that claw did not send
	stopped   bool // on purpose
	died      bool // claw did, before the agent was started
	left      bool // nobody waited for it
	unstarted bool // there is no process
	missing   bool // it has printed something that is not there to be read
}

// codeNotAccepted is EX_TEMPFAIL: the agent says that it did nothing
// (design.md section 5).
const codeNotAccepted = 75

// maxError is how many bytes of a reason stay in the row.
const maxError = 2000

// answered is the end of a turn whose reply was known.
func answered(t session.Turn, reply string) ending {
	kept := newExcerpt(session.MaxTranscriptReply)
	kept.Write([]byte(reply))
	return said(t, ending{reply: kept.String(), bytes: int64(len(reply))})
}

// refusedBy is the end of a turn whose agent was not started.
func refusedBy(err error) *ending {
	return &ending{
		status: session.TurnNotAccepted, unstarted: true, stopped: errors.Is(err, errStopped),
		error: "the agent was not started: " + err.Error(),
	}
}

// finish is what recovery asks of an ending.
func (e ending) finish() session.Finish {
	return session.Finish{Status: e.status, Died: e.died, Signalled: e.signalled, Stopped: e.stopped}
}

// judge says how a turn ended, from how its argv did; design.md section 5,
// issue 3 section 1. e has the reply; lastErr is the last line of stderr.
func judge(t session.Turn, p process.Process, e ending, lastErr string) ending {
	e.at = p.EndedAt
	x := p.Exit
	if p.Phase == process.Lost || x == nil {
		e.status, e.error = session.TurnLost, lostWords(p)
		return e
	}
	e.code = x.Code
	switch {
	case x.Reason == process.ReasonSpawnError:
		e.status, e.error, e.code = session.TurnNotAccepted, "the agent was not started: "+x.Error, nil
	case x.TimedOut:
		e.status, e.error = session.TurnTimedOut, "the agent was ended after "+process.HumanDuration(time.Duration(p.TimeoutMs)*time.Millisecond)
	case x.Reason == process.ReasonManualCancel:
		e.status, e.error = session.TurnFailed, "the agent was ended on purpose"
		e.killed, e.stopped = true, true
	case x.Code == nil:
		e.status, e.error = session.TurnFailed, because("the agent was ended by "+x.Signal, lastErr)
		e.killed, e.signalled = true, true
	case *x.Code == 0 && e.missing:
		e.status, e.error = session.TurnLost, "the output of the agent is gone: what it said is not known"
	case *x.Code == 0:
		return said(t, e)
	case *x.Code == codeNotAccepted:
		e.status, e.error = session.TurnNotAccepted, because("the agent did not take the message (exit code 75)", lastErr)
	default:
		e.status, e.error = session.TurnFailed, because("the agent failed with exit code "+strconv.Itoa(*x.Code), lastErr)
	}
	return e
}

// said is the end of an agent that was content. Saying nothing is an answer to
// a wake, and none to a person.
func said(t session.Turn, e ending) ending {
	e.status = session.TurnSucceeded
	switch {
	case strings.TrimSpace(e.reply) != "":
	case t.Kind == session.KindUser, t.Kind == session.KindRecovery && !t.Quiet:
		e.status, e.error = session.TurnFailed, "it said nothing"
	default:
		e.outcome = "ok-empty"
	}
	return e
}

func lostWords(p process.Process) string {
	words := "the agent's supervisor died: what the agent did is not known"
	if p.Exit != nil && p.Exit.Error != "" {
		words += " (" + p.Exit.Error + ")"
	}
	return words
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// apply writes an ending into a turn.
func (e ending) apply(t *session.Turn, now time.Time) {
	t.Status, t.ExitCode, t.Outcome = e.status, e.code, e.outcome
	t.Error = cutText(e.error, maxError)
	t.Reply, t.ReplyBytes = cutText(e.reply, session.MaxRowReply), e.bytes
	if e.unstarted {
		t.ProcessID = ""
	}
	if e.left && t.ReplyMode == session.ReplyCaller {
		t.ReplyMode = session.ReplyDeliver // whoever wanted to read it is gone
	}
	t.EndedAt = e.at
	if e.at.IsZero() || e.at.Before(t.CreatedAt) {
		t.EndedAt = now
	}
	for _, begun := range [...]time.Time{t.CreatedAt, t.StartedAt} {
		if t.EndedAt.Before(begun) {
			t.EndedAt = begun // the clock was set back, or the start was noted late
		}
	}
}

// cutText is the first n bytes of s, whole characters only, as UTF-8.
func cutText(s string, n int) string {
	if len(s) > n {
		s = wholeRunes(s[:n])
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// sessionStatus is how a session stands after a turn; spec/tasks-recovery.md
// 6.6.
func sessionStatus(t session.Turn, killed bool) session.Status {
	switch t.Status {
	case session.TurnSucceeded:
		return session.Done
	case session.TurnTimedOut:
		return session.Timeout
	case session.TurnLost:
		return session.Interrupted
	}
	if killed {
		return session.Killed
	}
	return session.Failed
}

// vanished is the end of a turn whose agent was started and of which nothing
// is left.
func vanished() ending {
	return ending{status: session.TurnLost, error: "nothing is left of the agent's process: what it did is not known"}
}

// neverStarted is the end of a turn whose claw died before its agent ran.
func neverStarted(t session.Turn) ending {
	what := "the agent was started"
	if t.ProcessID == "" {
		what = "the reply was recorded"
	}
	return ending{status: session.TurnNotAccepted, unstarted: true, died: true, error: fmt.Sprintf("claw died before %s", what)}
}
