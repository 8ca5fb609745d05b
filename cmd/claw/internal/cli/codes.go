package cli

// Exit codes; the table of design.md 6 and of claw(1), held equal by a test.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 3
	exitRefused  = 4
	exitState    = 5
	exitRunning  = 75
	exitTimedOut = 124
	exitClaw     = 125
)

// codeDoc is one row of the table.
type codeDoc struct {
	Code    string
	Meaning string
}

// exitCodes is the table as the manual prints it.
func exitCodes() []codeDoc {
	return []codeDoc{
		{"0", "done"},
		{"1", "failed"},
		{"2", "usage: a flag or an argument is wrong; nothing was done"},
		{"3", "not found"},
		{"4", "refused, or in conflict with something else"},
		{"5", "the state directory is damaged or not writable"},
		{"75", "still running: exec yielded, or wait timed out"},
		{"124", "exec, process wait, agent send: the command or the agent timed out"},
		{"125", "exec, process wait, agent send: claw failed, or the end is not known"},
		{"126", "exec, process wait: the command could not be executed"},
		{"127", "exec, process wait: the command was not found"},
		{"128+n", "exec, process wait: the command was ended by signal n; agent send, heartbeat run: claw was"},
	}
}

// What these statuses mean wherever nothing more is to be said.
const (
	usage      = "usage"
	unwritable = "state damaged or not writable"
)

// exitsOf is the same for one command, by its words without the program, in
// the words of its help and of its page. "" is claw itself: it has none.
func exitsOf(path string) []codeDoc {
	switch path {
	case "":
		return nil
	case "exec", "process wait":
		return []codeDoc{
			{"2", usage},
			{"5", "state not writable"},
			{"75", "still running"},
			{"124", "timed out"},
			{"125", "claw failed"},
			{"126", "not runnable"},
			{"127", "not found"},
			{"128+n", "signal n"},
		}
	case "heartbeat tick":
		return []codeDoc{{"0", "done, or left to who is at work"}, {"2", "usage, or claw.toml cannot be used"}, {"5", unwritable}}
	case "heartbeat run":
		return []codeDoc{{"0", "it ran: quiet, sent, or the same as before"}, {"1", "it failed"}, {"2", usage}, {"3", "no such agent"}, {"4", "it was skipped"}, {"5", unwritable}, {"128+n", "signal n"}}
	case "heartbeat scratch":
		return []codeDoc{{"0", "done"}, {"2", usage}, {"3", "no such agent"}, {"4", "it is at another revision"}, {"5", unwritable}}
	case "heartbeat respond":
		return []codeDoc{{"0", "done"}, {"2", usage}, {"4", "not in the turn of a wake, or it has ended"}, {"5", unwritable}}
	case "runner run":
		return []codeDoc{{"0", "told to end"}, {"2", "usage, or claw.toml cannot be used"}, {"4", "a runner is at work already"}, {"5", unwritable}}
	case "runner status":
		return []codeDoc{{"0", "a runner is at work"}, {"2", usage}, {"3", "none is"}}
	case "runner stop":
		return []codeDoc{{"0", "it has ended"}, {"2", usage}, {"3", "none was at work"}, {"4", "not in time, but it has been told"}}
	case "runner drain":
		return []codeDoc{{"0", "it has ended"}, {"1", "it has died instead"}, {"2", usage}, {"3", "none was at work"}, {"4", "not in time, but it has been told"}, {"5", unwritable}, {"128+n", "signal n; it has been told"}}
	case "runner restart":
		return []codeDoc{{"0", "it has restarted, or has been told to"}, {"1", "it has ended, and not begun again"}, {"2", usage}, {"3", "none was at work"}, {"4", "it is being drained, or not in time"}, {"5", unwritable}, {"128+n", "signal n; it has been told"}}
	case "automations run":
		return []codeDoc{{"0", "it is started, or not due; with --wait, it succeeded"}, {"1", "it did not succeed, or its message did not arrive"}, {"2", usage}, {"3", "not found"}, {"4", "a run goes on already, or refused"}, {"5", unwritable}, {"75", "not ended in time"}}
	case "tasks cancel":
		return []codeDoc{{"0", "it has ended for it"}, {"2", usage}, {"3", "not found"}, {"4", "it has ended otherwise, or nothing can end it"}, {"5", unwritable}, {"75", "told to end, and not ended in time"}, {"128+n", "signal n"}}
	case "flow cancel", "tasks flow cancel":
		return []codeDoc{{"0", "it is cancelled"}, {"2", usage}, {"3", "not found"}, {"4", "it has ended, or has changed meanwhile"}, {"5", unwritable}, {"75", "a task of it has not ended yet"}, {"128+n", "signal n"}}
	case "flow wait", "flow resume", "flow finish", "flow fail":
		return []codeDoc{{"0", "written"}, {"2", usage}, {"3", "not found"}, {"4", "not written: the record as it is, is printed"}, {"5", "state damaged or not writable, or the outcome is not known"}}
	case "flow run-task":
		return []codeDoc{{"0", "it is part of the flow"}, {"2", usage}, {"3", "no such flow, or no such work"}, {"4", "refused"}, {"5", unwritable}}
	case "automations import":
		return []codeDoc{{"0", "done, or nothing to do"}, {"1", "some of it cannot be imported"}, {"2", usage}, {"3", "there is no such file, or no crontab"}, {"4", "refused"}, {"5", unwritable}}
	case "recover scan", "recover list":
		return []codeDoc{{"0", "done"}, {"2", usage}, {"5", unwritable}}
	case "recover show":
		return []codeDoc{{"0", "done"}, {"2", usage}, {"3", "no such session, or nothing was cut off in it"}, {"5", unwritable}}
	case "recover retry":
		return []codeDoc{{"0", "it has gone on, or is settled"}, {"1", "the attempt did not come to an answer"}, {"2", usage}, {"3", "no such session, or nothing was cut off in it"}, {"4", "nothing waits, somebody is at it, or it was given up"}, {"5", unwritable}}
	case "recover dismiss":
		return []codeDoc{{"0", "done"}, {"2", usage}, {"3", "no such session, or nothing was cut off in it"}, {"4", "nothing waits, somebody is at it, or it was given up"}, {"5", unwritable}}
	case "channels test":
		return []codeDoc{{"0", "delivered"}, {"1", "not delivered, or not known"}, {"2", "usage"}, {"3", "no such channel"}, {"5", unwritable}}
	case "deliveries retry":
		return []codeDoc{{"0", "delivered"}, {"1", "not delivered, or not known"}, {"2", usage}, {"3", "not found"}, {"4", "refused"}, {"5", unwritable}}
	}
	if exits := agentExits(path); exits != nil {
		return exits
	}
	return []codeDoc{{"0", "done"}, {"1", "failed"}, {"2", usage}, {"3", "not found"}, {"4", "refused"}, {"5", unwritable}}
}

// agentExits are those of the commands that have an agent asked; nil: it is none.
func agentExits(path string) []codeDoc {
	switch path {
	case "agent send":
		return []codeDoc{
			{"0", "there is a reply"},
			{"1", "the agent failed, said nothing, or a hook blocked the turn"},
			{"2", usage},
			{"3", "no such agent"},
			{"4", "the session is busy, or the agent did not take the message"},
			{"5", unwritable},
			{"124", "timed out"},
			{"125", "what the agent did is not known"},
			{"128+n", "signal n"},
		}
	case "agent run":
		return []codeDoc{{"0", "it is written down"}, {"2", usage}, {"3", "no such agent"}, {"4", "refused"}, {"5", unwritable}}
	case "agent wait":
		return []codeDoc{{"0", "it succeeded"}, {"1", "it failed"}, {"2", usage}, {"3", "no such run"}, {"4", "it is somebody else's"}, {"5", unwritable}, {"75", "it goes on"}, {"124", "it timed out"}}
	case "agent cancel":
		return []codeDoc{{"0", "it has ended for it"}, {"2", usage}, {"3", "no such run"}, {"4", "it has ended already, or is somebody else's"}, {"5", unwritable}, {"75", "told to end, and not ended in time"}}
	case "agent complete":
		return []codeDoc{{"0", "there is an answer"}, {"1", "there is none"}, {"2", usage}, {"3", "no such agent"}, {"4", "refused"}, {"5", unwritable}, {"124", "timed out"}, {"128+n", "signal n"}}
	case "hook dispatch":
		return []codeDoc{{"0", "the agent has begun, or it is written down"}, {"2", usage}, {"3", "no such agent"}, {"4", "not begun in time, or refused; it never will be"}, {"5", unwritable}}
	case "hook serve":
		return []codeDoc{{"0", "told to end"}, {"2", "usage, no token, or an address that is not allowed"}, {"4", "the address cannot be listened on"}, {"5", unwritable}}
	}
	return nil
}
