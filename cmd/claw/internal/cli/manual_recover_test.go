package cli_test

import (
	"time"

	"claw/state/session"
)

// What claw-recover(1) says a situation is.
type situation struct {
	words string
	cycle session.Cycle
	known session.Evidence
}

// situations are the rows of the table in claw-recover(1), in the order in
// which the rules are asked.
func situations(now time.Time) []situation {
	cut := session.Cycle{Begun: true, InterruptedAt: now.Add(-time.Minute)}
	unbegun, old, refused := cut, cut, cut
	unbegun.Begun = false
	old.InterruptedAt = now.Add(-72 * time.Hour)
	refused.RefusedSince = now.Add(-time.Hour)
	quiet := session.Turn{Response: &session.Response{}}
	told := session.Turn{Response: &session.Response{Notify: true, NotificationText: "the disk is full"}}
	with := func(tail session.Tail) session.Evidence { return session.Evidence{Tail: tail, ReadOnly: true} }
	return []situation{
		{"The answer was delivered.", cut, session.Evidence{Receipt: session.ReceiptDelivered}},
		{"The answer is written among the deliveries.", cut, session.Evidence{Receipt: session.ReceiptKept}},
		{"The answer was being sent when claw died.", cut, session.Evidence{Receipt: session.ReceiptUncertain}},
		{"The agent had said that nobody is to be told (heartbeat respond).", cut, session.Evidence{Source: quiet}},
		{"The agent had said what is to be told (heartbeat respond).", cut, session.Evidence{Source: told}},
		{"The whole answer is in the conversation.", cut, session.Evidence{Answered: true, Reply: "done"}},
		{"It was cut off three days ago or earlier.", old, with(session.TailUser)},
		{"The agent has refused every attempt for an hour.", refused, with(session.TailUser)},
		{"The agent was never started.", unbegun, session.Evidence{}},
		{"The conversation cannot be read.", cut, session.Evidence{Unreadable: true, ReadOnly: true}},
		{"The agent was sending something.", cut, with(session.TailUnsafe)},
		{"The agent was waiting for an approval.", cut, with(session.TailApproval)},
		{"The agent has neither a recover argv nor {tools} in its command.", cut, session.Evidence{Tail: session.TailUser}},
		{"The agent had not answered yet.", cut, with(session.TailUser)},
		{"A tool had answered, and the agent had not.", cut, with(session.TailResult)},
		{"The agent was in the middle of its answer.", cut, with(session.TailPartial)},
	}
}

// stepWords say what claw does.
var stepWords = map[session.Step]string{
	session.StepComplete: "Nothing more: it is settled.",
	session.StepCarry:    "The answer is delivered where it was to go; no agent is started.",
	session.StepBegin:    "The message is given to the agent's ordinary command, as an attempt.",
	session.StepContinue: "An attempt: the agent's recover argv goes on from the conversation.",
	session.StepResend:   "It is not continued; you are told once, and asked to send the message again.",
	session.StepFail:     "It is not repeated: the message is among the deliveries as unknown.",
}

// decisions is the table of claw-recover(1), made by the rule itself.
func decisions() [][2]string {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	var rows [][2]string
	for _, s := range situations(now) {
		rows = append(rows, [2]string{s.words, stepWords[session.Judge(s.cycle, s.known, now).Step]})
	}
	return rows
}
