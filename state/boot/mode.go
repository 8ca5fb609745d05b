package boot

// Mode is how much is done by itself.
type Mode string

// The modes, as `runner status` says them.
const (
	Normal   Mode = "normal"
	Safe     Mode = "safe"     // after a crash loop: nothing begins by itself
	Draining Mode = "draining" // the runner is about to end: nothing new begins
)

// Act is something that claw may do.
type Act string

// The acts. Those by hand are what a person asks for with a command of its own.
const (
	Look         Act = "look"           // list, show, status, scan: whatever only reads
	Repair       Act = "repair"         // settle what died, mend ledgers, sweep what is old
	Ask          Act = "ask"            // cancel, retry, dismiss, enable, edit: a change that starts nothing by itself
	Command      Act = "command"        // exec by hand: its process belongs to its own supervisor
	Turn         Act = "turn"           // of an agent, by itself: wakes and heartbeats
	TurnByHand   Act = "turn_by_hand"   // agent send, heartbeat run
	Run          Act = "run"            // of an automation that is due, and its sources
	RunByHand    Act = "run_by_hand"    // cron run
	Send         Act = "send"           // a message that waits
	SendByHand   Act = "send_by_hand"   // channels test, deliveries retry
	Resume       Act = "resume"         // continue a turn that was cut off
	ResumeByHand Act = "resume_by_hand" // recover retry
	Continue     Act = "continuation"   // what a restart was asked to do afterwards
)

// Acts are all acts, for tables.
func Acts() []Act {
	return []Act{
		Look, Repair, Ask, Command, Turn, TurnByHand, Run, RunByHand, Send, SendByHand, Resume, ResumeByHand, Continue,
	}
}

// Allows tells whether an act may begin in a mode. What has begun goes on in
// any of them.
//
// In safe mode turns, automations and channels wait; what a person does by hand
// does not, and does not end safe mode either (spec/tasks-recovery.md 4.11). A
// runner that drains accepts no work that would have to be waited for; it
// refuses it instead of queueing it into a process that ends (seed 003, 13).
// Commands are not its own and are not asked about.
func (m Mode) Allows(a Act) bool {
	switch a {
	case Look, Repair, Ask, Command, SendByHand: // whoever sends by hand waits for it himself
		return true
	case TurnByHand, RunByHand, ResumeByHand:
		return m != Draining
	}
	return m != Safe && m != Draining
}

// Why says in words what a mode keeps from beginning, and Remedy what to do
// about it; "" in Normal.
func (m Mode) Why() string {
	switch m {
	case Safe:
		return "the runner has failed three times within five minutes, so that nothing begins by itself (safe mode)"
	case Draining:
		return "the runner is being drained: it takes no new work"
	}
	return ""
}

// Remedy says what can be done about what Why says.
func (m Mode) Remedy() string {
	switch m {
	case Safe:
		return "claw doctor says what is wrong; by hand everything can be started; safe mode ends five minutes after the last failure"
	case Draining:
		return "try again when it has ended; claw runner status says how far it is"
	}
	return ""
}
