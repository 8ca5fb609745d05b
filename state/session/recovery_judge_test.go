package session_test

import (
	"strings"
	"testing"
	"time"

	"claw/state/delivery"
	"claw/state/session"
)

// TestFinish goes through every combination: which ends cut a turn off, and
// what they mean for an attempt (design.md section 5: 75 or cannot be started
// is given back, anything else after the start is charged).
func TestFinish(t *testing.T) {
	type want struct {
		cutOff  bool
		attempt session.AttemptEnd
	}
	for _, tt := range []struct {
		name string
		f    session.Finish
		want want
	}{
		{"it answered", session.Finish{Status: session.TurnSucceeded}, want{false, session.AttemptAnswered}},
		{"it answered while a person stopped it", session.Finish{Status: session.TurnSucceeded, Stopped: true}, want{false, session.AttemptAnswered}},
		{"its supervisor died", session.Finish{Status: session.TurnLost}, want{true, session.AttemptUncertain}},
		{"its supervisor died while a person stopped it", session.Finish{Status: session.TurnLost, Stopped: true}, want{true, session.AttemptUncertain}},
		{"exit code 1", session.Finish{Status: session.TurnFailed}, want{false, session.AttemptBroke}},
		{"killed from outside", session.Finish{Status: session.TurnFailed, Signalled: true}, want{true, session.AttemptUncertain}},
		{"ended by a person", session.Finish{Status: session.TurnFailed, Stopped: true}, want{false, session.AttemptStopped}},
		{"ended by a person, by a signal", session.Finish{Status: session.TurnFailed, Stopped: true, Signalled: true}, want{false, session.AttemptStopped}},
		{"its time was over", session.Finish{Status: session.TurnTimedOut}, want{false, session.AttemptBroke}},
		{"its time was over, and it was killed", session.Finish{Status: session.TurnTimedOut, Signalled: true}, want{false, session.AttemptBroke}},
		{"a hook said no", session.Finish{Status: session.TurnBlocked}, want{false, session.AttemptBroke}},
		{"exit code 75", session.Finish{Status: session.TurnNotAccepted}, want{false, session.AttemptRefused}},
		{"claw died before the start", session.Finish{Status: session.TurnNotAccepted, Died: true}, want{true, session.AttemptUnstarted}},
		{"a person stopped it before the start", session.Finish{Status: session.TurnNotAccepted, Stopped: true}, want{false, session.AttemptStopped}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (want{tt.f.CutOff(), tt.f.Attempt()}); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestKeeper: seed 003, 17, and spec/tasks-recovery.md 4.3.
func TestKeeper(t *testing.T) {
	const main = "agent:main:main"
	lost, died := session.Finish{Status: session.TurnLost}, session.Finish{Status: session.TurnNotAccepted, Died: true}
	for _, tt := range []struct {
		name string
		turn session.Turn
		f    session.Finish
		want session.Keeper
	}{
		{"somebody wrote", session.Turn{SessionKey: main, Kind: session.KindUser}, lost, session.KeptByCycle},
		{"somebody wrote, the agent was never started", session.Turn{SessionKey: main, Kind: session.KindUser}, died, session.KeptByCycle},
		{"another session of a person", session.Turn{SessionKey: "session:review", Kind: session.KindUser}, lost, session.KeptByCycle},
		{"a command had ended", session.Turn{SessionKey: main, Kind: session.KindExec, EventIDs: []string{"E"}}, lost, session.KeptByCycle},
		{"a command had ended, the agent was never started", session.Turn{SessionKey: main, Kind: session.KindExec, EventIDs: []string{"E"}}, died, session.KeptByEvents},
		{"a heartbeat", session.Turn{SessionKey: main, Kind: session.KindHeartbeat}, lost, session.KeptByCadence},
		{"a heartbeat that had shown events", session.Turn{SessionKey: main, Kind: session.KindHeartbeat, EventIDs: []string{"E"}}, lost, session.KeptByCycle},
		{"an isolated heartbeat", session.Turn{SessionKey: main + ":heartbeat", Kind: session.KindHeartbeat, EventIDs: []string{"E"}}, lost, session.KeptByCadence},
		{"an automation in the main session", session.Turn{SessionKey: main, Kind: session.KindCron, RunID: "A1"}, lost, session.KeptByAutomation},
		{"an automation of its own session", session.Turn{SessionKey: "cron:nightly", Kind: session.KindUser}, lost, session.KeptByAutomation},
		{"a sub-agent", session.Turn{SessionKey: "agent:main:subagent:7", Kind: session.KindUser}, lost, session.KeptBySubagent},
		{"content from outside", session.Turn{SessionKey: "hook:mail", Kind: session.KindHook}, lost, session.KeptBySender},
		{"it has failed", session.Turn{SessionKey: main, Kind: session.KindUser}, session.Finish{Status: session.TurnFailed}, session.KeptByNobody},
		{"an attempt", session.Turn{SessionKey: main, Kind: session.KindRecovery}, lost, session.KeptByCycle},
		{"a key that is none", session.Turn{SessionKey: "?", Kind: session.KindUser}, lost, session.KeptByNobody},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := session.KeeperOf(tt.turn, tt.f); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestReceiptOf(t *testing.T) {
	for state, want := range map[delivery.State]session.Receipt{
		delivery.Pending: session.ReceiptKept, delivery.Sending: session.ReceiptUncertain, delivery.Unknown: session.ReceiptUncertain,
		delivery.Delivered: session.ReceiptDelivered, delivery.Failed: session.ReceiptKept, delivery.Dismissed: session.ReceiptKept,
		"of a newer claw": session.ReceiptUncertain,
	} {
		if got := session.ReceiptOf(state); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}

// TestJudge is the order of spec/tasks-recovery.md 4.6: each row would go on to
// the rule after it, were it not for the first that fits.
func TestJudge(t *testing.T) {
	c := interrupted(t, 0)
	unbegun := c
	unbegun.Begun = false
	refused := c
	refused.RefusedSince = at
	silent := session.Turn{Response: &session.Response{Summary: "nothing new"}}
	spoke := session.Turn{Response: &session.Response{Notify: true, Summary: "s", NotificationText: "the disk is full"}}
	brief := session.Turn{Response: &session.Response{Notify: true, Summary: "s"}}
	good := session.Evidence{Tail: session.TailUser, ReadOnly: true}
	with := func(change func(*session.Evidence)) session.Evidence {
		e := good
		change(&e)
		return e
	}
	for _, tt := range []struct {
		name string
		c    session.Cycle
		e    session.Evidence
		want session.Step
		text string
	}{
		{"delivered", c, with(func(e *session.Evidence) { e.Receipt, e.Answered, e.Reply = session.ReceiptDelivered, true, "x" }), session.StepComplete, ""},
		{"among the deliveries", c, with(func(e *session.Evidence) { e.Receipt, e.Answered = session.ReceiptKept, true }), session.StepComplete, ""},
		{"sent, perhaps: fail closed", c, with(func(e *session.Evidence) { e.Receipt, e.Answered, e.Source = session.ReceiptUncertain, true, silent }), session.StepFail, ""},
		{"a silent answer was recorded", c, with(func(e *session.Evidence) { e.Source, e.Answered, e.Reply = silent, true, "x" }), session.StepComplete, ""},
		{"an answer was recorded", c, with(func(e *session.Evidence) { e.Source, e.Unreadable = spoke, true }), session.StepCarry, "the disk is full"},
		{"a short one", c, with(func(e *session.Evidence) { e.Source = brief }), session.StepCarry, "s"},
		{"the whole answer is in the conversation", c, with(func(e *session.Evidence) { e.Answered, e.Reply, e.Tail = true, "done", session.TailAnswered }), session.StepCarry, "done"},
		{"never started", unbegun, with(func(e *session.Evidence) { e.Tail, e.ReadOnly, e.Unreadable = session.TailEmpty, false, true }), session.StepBegin, ""},
		{"unreadable", c, with(func(e *session.Evidence) { e.Unreadable = true }), session.StepResend, ""},
		{"somebody had spoken", c, good, session.StepContinue, ""},
		{"a tool had answered", c, with(func(e *session.Evidence) { e.Tail = session.TailResult }), session.StepContinue, ""},
		{"partial text, or a dangling call", c, with(func(e *session.Evidence) { e.Tail = session.TailPartial }), session.StepContinue, ""},
		{"an unsafe side effect", c, with(func(e *session.Evidence) { e.Tail = session.TailUnsafe }), session.StepResend, ""},
		{"provider failure", c, with(func(e *session.Evidence) { e.Tail = session.TailFailed }), session.StepResend, ""},
		{"stale approval", c, with(func(e *session.Evidence) { e.Tail = session.TailApproval }), session.StepResend, ""},
		{"a finished answer to something else", c, with(func(e *session.Evidence) { e.Tail = session.TailAnswered }), session.StepResend, ""},
		{"nothing was said", c, with(func(e *session.Evidence) { e.Tail = session.TailEmpty }), session.StepResend, ""},
		{"no tail is known", c, with(func(e *session.Evidence) { e.Tail = "" }), session.StepResend, ""},
		{"no read-only way to go on", c, with(func(e *session.Evidence) { e.ReadOnly = false }), session.StepResend, ""},
		{"refused a moment ago", refused, good, session.StepContinue, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := session.Judge(tt.c, tt.e, later(1))
			if got.Step != tt.want || got.Text != tt.text || got.Why == "" {
				t.Errorf("%+v, want %s %q", got, tt.want, tt.text)
			}
		})
	}
}

// What was cut off three days ago is not taken up by itself, but an answer that
// is known is handed over still.
func TestOldSources(t *testing.T) {
	c := interrupted(t, 0)
	unbegun := c
	unbegun.Begun = false
	e := session.Evidence{Tail: session.TailUser, ReadOnly: true}
	for _, tt := range []struct {
		c    session.Cycle
		e    session.Evidence
		age  time.Duration
		want session.Step
	}{
		{c, e, 72*time.Hour - 1, session.StepContinue},
		{c, e, 72 * time.Hour, session.StepResend},
		{unbegun, e, 72*time.Hour - 1, session.StepBegin},
		{unbegun, e, 72 * time.Hour, session.StepResend},
		{c, session.Evidence{Answered: true, Reply: "x"}, 100 * time.Hour, session.StepCarry},
	} {
		if got := session.Judge(tt.c, tt.e, at.Add(tt.age)); got.Step != tt.want {
			t.Errorf("after %v: %+v, want %s", tt.age, got, tt.want)
		}
	}
}

// TestOwes: a person is told once, and of a turn that was answered after all
// nothing else.
func TestOwes(t *testing.T) {
	all := cycles(t)
	ended := func(e session.Ending) session.Cycle {
		c, no := interrupted(t, 1).Close(interrupted(t, 1).Ticket(), e, "", at)
		return must(t, c, no)
	}
	for _, tt := range []struct {
		name         string
		c            session.Cycle
		quiet, shown session.Notice // without and with events
	}{
		{"interrupted", all["interrupted"], "", ""},
		{"reserved", all["reserved"], "", ""},
		{"exhausted", all["exhausted"], "", ""},
		{"tombstoned", all["tombstoned"], session.NoticeGivenUp, session.NoticeGivenUp},
		{"completed", ended(session.EndCompleted), "", ""},
		{"superseded", ended(session.EndSuperseded), "", session.NoticeLost},
		{"failed", ended(session.EndFailed), session.NoticeResend, session.NoticeResend},
		{"cancelled", ended(session.EndCancelled), "", session.NoticeLost},
		{"dismissed", ended(session.EndDismissed), "", session.NoticeLost},
	} {
		if got := tt.c.Owes(false); got != tt.quiet {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.quiet)
		}
		if got := tt.c.Owes(true); got != tt.shown {
			t.Errorf("%s, with events: %q, want %q", tt.name, got, tt.shown)
		}
	}
	a, b := interrupted(t, 0), interrupted(t, 2)
	if a.ResendKey() != b.ResendKey() || a.TombstoneKey() != b.TombstoneKey() || a.ResendKey() == a.TombstoneKey() {
		t.Errorf("keys: %q %q, %q %q", a.ResendKey(), b.ResendKey(), a.TombstoneKey(), b.TombstoneKey())
	}
}

// TestAfterTurn: what the transaction that ends a turn writes into the session.
func TestAfterTurn(t *testing.T) {
	all := cycles(t)
	turn := func(id string, k session.Kind) session.Turn {
		return session.Turn{ID: id, SessionID: "S1", SessionKey: "agent:main:main", Kind: k, Error: "because", EndedAt: later(9)}
	}
	fresh := func(t session.Turn) session.Turn { t.SessionID = "S2"; return t }
	lost, fine := session.Finish{Status: session.TurnLost}, session.Finish{Status: session.TurnSucceeded}
	for _, tt := range []struct {
		name    string
		c       session.Cycle
		turn    session.Turn
		f       session.Finish
		want    string
		dropped string
	}{
		{"an ordinary end, nothing to continue", all["none"], turn("T5", session.KindUser), fine, " 0 ", ""},
		{"a loss", all["none"], turn("T5", session.KindUser), lost, "interrupted 0 T5", ""},
		{"a turn whose agent was never started", all["none"], turn("T5", session.KindUser), session.Finish{Status: session.TurnNotAccepted, Died: true}, "interrupted 0 T5", ""},
		{"a loss that somebody else sees to", all["none"], turn("T5", session.KindHeartbeat), lost, " 0 ", ""},
		{"the attempt answered", all["reserved"], turn("R2", session.KindRecovery), fine, "closed 2 T1", ""},
		{"the attempt was lost", all["reserved"], turn("R2", session.KindRecovery), lost, "interrupted 2 T1", ""},
		{"the attempt refused", all["reserved"], turn("R2", session.KindRecovery), session.Finish{Status: session.TurnNotAccepted}, "interrupted 1 T1", ""},
		{"the attempt began what was never begun, and was lost", all["reserved"], turn("R2", session.KindUser), lost, "interrupted 2 T1", ""},
		{"an attempt that does not have the cycle", all["interrupted"], turn("R7", session.KindRecovery), lost, "interrupted 1 T1", ""},
		{"the foreground succeeded", all["foreground"], turn("F", session.KindUser), fine, "closed 1 T1", "T1"},
		{"the foreground failed", all["foreground"], turn("F", session.KindUser), session.Finish{Status: session.TurnFailed}, "interrupted 1 T1", ""},
		{"the foreground failed in a new transcript", all["foreground"], fresh(turn("F", session.KindUser)), session.Finish{Status: session.TurnFailed}, "closed 1 T1", "T1"},
		{"the foreground was lost in a new transcript", all["foreground"], fresh(turn("F", session.KindUser)), lost, "interrupted 0 F", "T1"},
		{"the foreground was lost", all["foreground"], turn("F", session.KindUser), lost, "interrupted 1 F", "T1"},
		{"a turn beside the cycle", all["interrupted"], turn("G", session.KindUser), fine, "interrupted 1 T1", ""},
		{"a loss after a closed cycle", all["closed"], turn("T5", session.KindUser), lost, "interrupted 0 T5", ""},
		{"a loss in a tombstoned conversation", all["tombstoned"], turn("T5", session.KindUser), lost, "tombstoned 3 T1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			after, dropped := tt.c.AfterTurn(tt.turn, tt.f)
			got := string(after.Phase) + " " + string(rune('0'+after.Charged)) + " " + after.SourceTurnID
			if got != tt.want || dropped != tt.dropped {
				t.Errorf("%q, dropped %q; want %q, %q", got, dropped, tt.want, tt.dropped)
			}
			if after.ID == "T5" && after.Begun == tt.f.Died {
				t.Errorf("begun %v", after.Begun)
			}
			if strings.HasPrefix(tt.want, "closed") && after.EndedAt.IsZero() {
				t.Error("it does not say when it ended")
			}
		})
	}
}
