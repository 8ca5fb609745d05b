package cli

import "slices"

// command is one entry of the grammar. Only the one that is asked for is
// handed to kong, so that a command costs what it needs and not what all of
// them would.
type command struct {
	name    string
	help    string
	group   string
	aliases []string
	hidden  bool
	make    func() any
}

// The groups of `claw --help`, in order.
const (
	groupRun    = "Run and watch"
	groupWake   = "Wake an agent"
	groupTold   = "Be told"
	groupLedger = "Look at what happened"
	groupSetup  = "Set up"
)

// commands is the whole grammar, in the order of `claw --help`.
func commands() []command {
	return []command{
		{name: "exec", group: groupRun, help: "Run a command: in the foreground, or kept in the background.", make: func() any { return &execCmd{} }},
		{name: "process", group: groupRun, help: "List, read, type into, stop and wait for background commands.", aliases: []string{"ps"}, make: func() any { return &processCmd{} }},
		{name: "tool", group: groupRun, help: "Answer tool calls, one JSON object a line, as an agent makes them.", make: func() any { return &toolCmd{} }},
		{name: "heartbeat", group: groupWake, help: "Run the periodic check of agents, and wake them when they have events.", make: func() any { return &heartbeatCmd{} }},
		{name: "agent", group: groupWake, help: "Write to an agent, and read its reply.", make: func() any { return &agentCmd{} }},
		{name: "sessions", group: groupWake, help: "Look at the conversations with agents, and begin them anew.", make: func() any { return &sessionsCmd{} }},
		{name: "automations", group: groupWake, help: "Run commands, ask agents and remind them by the clock.", aliases: []string{"cron"}, make: func() any { return &automationsCmd{} }},
		{name: "hook", group: groupWake, help: "Have agents see to what comes from outside, without trusting it.", make: func() any { return &hookCmd{} }},
		{name: "runner", group: groupWake, help: "Run, look at and stop the optional program that acts at once.", make: func() any { return &runnerCmd{} }},
		{name: "inbox", group: groupTold, help: "Read the messages that came to you.", make: func() any { return &inboxCmd{} }},
		{name: "deliveries", group: groupTold, help: "Look at what was sent to a person, and at what could not be.", make: func() any { return &deliveriesCmd{} }},
		{name: "channels", group: groupTold, help: "Look at the ways to reach a person, and try them.", make: func() any { return &channelsCmd{} }},
		{name: "status", group: groupLedger, help: "Show how everything stands, a line for each part.", make: func() any { return &statusCmd{} }},
		{name: "tasks", group: groupLedger, help: "Look at the ledger of tasks.", make: func() any { return &tasksCmd{} }},
		{name: "flow", group: groupLedger, help: "Tie tasks together in a record that survives a restart.", make: func() any { return &flowCmd{} }},
		{name: "recover", group: groupLedger, help: "Look at turns that were cut off, and say what becomes of them.", make: func() any { return &recoverCmd{} }},
		{name: "event", group: groupLedger, help: "Look at what sessions are to be told, and tell them something.", make: func() any { return &eventCmd{} }},
		{name: "doctor", group: groupLedger, help: "Check the state directory and this machine, and say what to do.", make: func() any { return &doctorCmd{} }},
		{name: "config", group: groupSetup, help: "Find, show and check the configuration and the prompts.", make: func() any { return &configCmd{} }},
		{name: "completion", group: groupSetup, help: "Print the completion script of a shell.", make: func() any { return &completionCmd{} }},
		{name: "version", group: groupSetup, help: "Print the version.", make: func() any { return &versionCmd{} }},
		{name: "__complete", hidden: true, help: "Complete a word.", make: func() any { return &completeCmd{} }},
	}
}

// named finds a command by its name or an alias.
func named(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name || slices.Contains(c.aliases, name) {
			return c, true
		}
	}
	return command{}, false
}
