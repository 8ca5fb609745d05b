package session

import (
	"cmp"
	"time"

	"claw/state/delivery"
)

// Step is what is to be done about a turn that was cut off.
type Step string

// The steps; spec/tasks-recovery.md 4.6.
const (
	// StepComplete: it is known to have come to its end; the cycle is closed.
	StepComplete Step = "complete"
	// StepCarry: its answer is known and has not been handed over. It is, as the
	// end of the turn would have done; no agent is started.
	StepCarry Step = "carry"
	// StepBegin: its agent was never started. The same message goes to the same
	// argv, as an attempt.
	StepBegin Step = "begin"
	// StepContinue: an attempt goes on from the conversation as it is stored,
	// with the read-only argv.
	StepContinue Step = "continue"
	// StepResend: it is not continued. The person is told so once and asked to
	// send the message again; the cycle is closed as failed.
	StepResend Step = "resend"
	// StepFail: it is closed as failed without being asked for again, for what
	// it said may have arrived.
	StepFail Step = "fail"
)

// Receipt is what the deliveries say of the answer of the turn.
type Receipt string

// The receipts.
const (
	ReceiptNone      Receipt = ""
	ReceiptKept      Receipt = "kept"      // the intent is written: it is sent, or shown as failed, by itself
	ReceiptUncertain Receipt = "uncertain" // it was being sent, and may have arrived
	ReceiptDelivered Receipt = "delivered"
)

// ReceiptOf reads the state of a delivery.
func ReceiptOf(s delivery.State) Receipt {
	switch s {
	case delivery.Delivered:
		return ReceiptDelivered
	case delivery.Pending, delivery.Failed, delivery.Dismissed:
		return ReceiptKept
	}
	return ReceiptUncertain // what is not known is not sent again
}

// Evidence is what is known of a turn that was cut off. All of it is on disk.
type Evidence struct {
	Source  Turn
	Receipt Receipt
	// Answered: the conversation has its whole answer (FinalReply), which is Reply.
	Answered bool
	Reply    string
	Tail     Tail
	// Unreadable: the conversation cannot be read.
	Unreadable bool
	// ReadOnly: the agent can be run without tools that change anything: it has
	// a recover argv, or an argv with {tools}.
	ReadOnly bool
}

// Verdict is a Step and why, in one sentence. Text is what StepCarry hands
// over.
type Verdict struct {
	Step Step
	Why  string
	Text string
}

// MaxSourceAge is how long ago a turn may have been cut off that is still
// continued by itself: as long as a message may be late.
const MaxSourceAge = delivery.MaxAge

// Judge decides what is to be done about the source of a cycle that waits. The
// first rule that fits counts. What has been answered is never answered again,
// and nothing is done twice of which it is not known that it may be.
func Judge(c Cycle, e Evidence, now time.Time) Verdict {
	said := e.Source.Response
	switch {
	case e.Receipt == ReceiptDelivered:
		return Verdict{Step: StepComplete, Why: "its answer has been delivered"}
	case e.Receipt == ReceiptKept:
		return Verdict{Step: StepComplete, Why: "its answer is among the deliveries"}
	case e.Receipt == ReceiptUncertain:
		return Verdict{Step: StepFail, Why: "its answer was being sent, and may have arrived"}
	case said != nil && !said.Notify:
		return Verdict{Step: StepComplete, Why: "it had said that nobody is to be told"}
	case said != nil:
		return Verdict{Step: StepCarry, Why: "it had answered", Text: cmp.Or(said.NotificationText, said.Summary)}
	case e.Answered:
		return Verdict{Step: StepCarry, Why: "it had answered", Text: e.Reply}
	case now.Sub(c.InterruptedAt) >= MaxSourceAge:
		return Verdict{Step: StepResend, Why: "it was cut off more than three days ago"}
	case !c.RefusedSince.IsZero() && now.Sub(c.RefusedSince) >= RefusedMost:
		return Verdict{Step: StepResend, Why: "the agent has accepted nothing for an hour"}
	case !c.Begun:
		return Verdict{Step: StepBegin, Why: "its agent had not been started"}
	case e.Unreadable:
		return Verdict{Step: StepResend, Why: "its conversation cannot be read"}
	case !e.Tail.resumes():
		return Verdict{Step: StepResend, Why: e.Tail.words()}
	case !e.ReadOnly:
		return Verdict{Step: StepResend, Why: "its agent has no way to go on without changing anything (recover = [...] in claw.toml)"}
	}
	return Verdict{Step: StepContinue, Why: e.Tail.words()}
}

func (t Tail) resumes() bool { return t == TailUser || t == TailResult || t == TailPartial }

func (t Tail) words() string {
	switch t {
	case TailUser:
		return "the agent had not answered"
	case TailResult:
		return "a tool had answered, and the agent had not"
	case TailPartial:
		return "the agent was in the middle of its answer"
	case TailUnsafe:
		return "the agent was sending something, and whether it did is not known"
	case TailFailed:
		return "the agent had failed before"
	case TailApproval:
		return "the agent was waiting for an approval that is not valid any more"
	case TailAnswered:
		return "the agent had finished what it was told before"
	}
	return "its conversation has nothing to go on from"
}

// The keys under which a person is told once about a cycle: whoever tells it
// writes the delivery under this key, and a second one is the first.

// ResendKey is the key of the notice that asks to send the source again.
func (c Cycle) ResendKey() string { return "turn:" + c.SourceTurnID + ":resend" }

// TombstoneKey is the key of the notice that recovery has been given up.
func (c Cycle) TombstoneKey() string { return "cycle:" + c.ID + ":tombstone" }
