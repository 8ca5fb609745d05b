package config

// agentFields are the keys of [agents.NAME] and [agents.defaults].
var agentFields = []field[Agent]{
	{rule{
		name: "command", kind: argv,
		help: "Program and arguments; the prompt comes on its stdin, its stdout is the reply. {session}, {model} and {tools} are filled in. Without it the embedded agent serves.",
	}, func(a *Agent) any { return &a.Command }},
	{rule{
		name: "recover", kind: argv,
		help: "Program and arguments for a turn that continues a cut-off one, with read-only tools; command when absent.",
	}, func(a *Agent) any { return &a.Recover }},
	{rule{
		name: "complete", kind: argv,
		help: "Program and arguments for claw agent complete, which must not use tools; command when absent, if that says {tools}.",
	}, func(a *Agent) any { return &a.Complete }},
	{rule{
		name: "model", kind: text,
		help: "What {model} stands for.",
	}, func(a *Agent) any { return &a.Model }},
	{rule{
		name: "timeoutSeconds", kind: seconds,
		help: "Seconds one turn may take.",
	}, func(a *Agent) any { return &a.TimeoutSeconds }},
	{rule{
		name: "env", kind: environ,
		help: "Variables set for the agent, as a table; an agent's are added over the defaults'.",
	}, func(a *Agent) any { return &a.Env }},
	{rule{
		name: "workdir", kind: path,
		help: "Directory the agent is started in.",
	}, func(a *Agent) any { return &a.Workdir }},
	{rule{
		name: "context", kind: choice, oneOf: []string{"prompt", "transcript"},
		help: "What the agent gets on stdin: the new message, or the conversation so far with it.",
	}, func(a *Agent) any { return &a.Context }},
	{rule{
		name: "userTimezone", kind: text,
		help: "Zone of the person the agent works for, as an IANA name; the machine's when absent.",
	}, func(a *Agent) any { return &a.UserTimezone }},
	{rule{
		name: "hooks.before_agent_run", kind: argvs,
		help: "One argv or a list of them; each gets the whole message on stdin, and any that fails blocks the turn.",
	}, func(a *Agent) any { return &a.BeforeAgentRun }},
	{rule{
		name: "allowModelOverride", kind: boolean,
		help: "Let this agent ask others for another model than theirs.",
	}, func(a *Agent) any { return &a.AllowModelOverride }},
	{rule{
		name: "allowedModels", kind: list,
		help: "Models it may then ask for, as provider/model; all when absent.",
	}, func(a *Agent) any { return &a.AllowedModels }},
	{rule{
		name: "subagents.maxSpawnDepth", kind: whole, min: 1, max: 5,
		help: "How deep agents may start agents: 1, and a sub-agent starts none.",
	}, func(a *Agent) any { return &a.Subagents.MaxSpawnDepth }},
	{rule{
		name: "subagents.maxChildrenPerAgent", kind: whole, min: 1, max: 20,
		help: "Sub-agents that one session may have at work or waiting.",
	}, func(a *Agent) any { return &a.Subagents.MaxChildrenPerAgent }},
	{rule{
		name: "subagents.maxConcurrent", kind: whole, min: 1, max: 64,
		help: "Of these, how many are at work at once; the others wait.",
	}, func(a *Agent) any { return &a.Subagents.MaxConcurrent }},
	{rule{
		name: "subagents.archiveAfterMinutes", kind: whole, min: 0, max: 525_600,
		help: "Minutes after its end after which a sub-agent's conversation is put aside; 0 never.",
	}, func(a *Agent) any { return &a.Subagents.ArchiveAfterMinutes }},
	{rule{
		name: "subagents.tools", kind: list,
		help: "Tools that this agent may use as a sub-agent, as far as whoever asks may; all when absent, none when empty.",
	}, func(a *Agent) any { return &a.Subagents.Tools }},
	{rule{
		name: "heartbeat.every", kind: every,
		help: "Time between two heartbeats.",
	}, func(a *Agent) any { return &a.Heartbeat.Every }},
	{rule{
		name: "heartbeat.target", kind: text,
		help: "Where an alert goes: last (where the session was last spoken to), none, or a channel.",
	}, func(a *Agent) any { return &a.Heartbeat.Target }},
	{rule{
		name: "heartbeat.to", kind: text,
		help: "Recipient on the channel named by target.",
	}, func(a *Agent) any { return &a.Heartbeat.To }},
	{rule{
		name: "heartbeat.accountId", kind: text,
		help: "Account on a channel that has several.",
	}, func(a *Agent) any { return &a.Heartbeat.AccountID }},
	{rule{
		name: "heartbeat.session", kind: text,
		help: "Conversation the heartbeat runs in: main or a session key.",
	}, func(a *Agent) any { return &a.Heartbeat.Session }},
	{rule{
		name: "heartbeat.model", kind: text,
		help: "What {model} stands for in a heartbeat; the agent's model when absent.",
	}, func(a *Agent) any { return &a.Heartbeat.Model }},
	{rule{
		name: "heartbeat.prompt", kind: text,
		help: "Replaces the embedded prompt, word for word.",
	}, func(a *Agent) any { return &a.Heartbeat.Prompt }},
	{rule{
		name: "heartbeat.ackMaxChars", kind: whole, min: 0, max: 200_000, clamp: true,
		help: "A reply with the quiet token and at most this many other characters is quiet.",
	}, func(a *Agent) any { return &a.Heartbeat.AckMaxChars }},
	{rule{
		name: "heartbeat.isolatedSession", kind: boolean,
		help: "Give every heartbeat a fresh transcript.",
	}, func(a *Agent) any { return &a.Heartbeat.IsolatedSession }},
	{rule{
		name: "heartbeat.lightContext", kind: boolean,
		help: "Leave out everything but the scratch.",
	}, func(a *Agent) any { return &a.Heartbeat.LightContext }},
	{rule{
		name: "heartbeat.skipWhenBusy", kind: boolean,
		help: "Also give way to this agent's other sessions.",
	}, func(a *Agent) any { return &a.Heartbeat.SkipWhenBusy }},
	{rule{
		name: "heartbeat.timeoutSeconds", kind: seconds,
		help: "Seconds a heartbeat may take; absent or 0: the smaller of 600 and every.",
	}, func(a *Agent) any { return &a.Heartbeat.TimeoutSeconds }},
	{rule{
		name: "heartbeat.gate", kind: boolean,
		help: "Start the agent only when a check in heartbeat.d or an event has something to say.",
	}, func(a *Agent) any { return &a.Heartbeat.Gate }},
	{rule{
		name: "heartbeat.activeHours.start", kind: clock,
		help: "First minute of the day with heartbeats.",
	}, func(a *Agent) any { return &a.Heartbeat.ActiveHours.Start }},
	{rule{
		name: "heartbeat.activeHours.end", kind: clockEnd,
		help: "First minute of the day without; before start, the window crosses midnight.",
	}, func(a *Agent) any { return &a.Heartbeat.ActiveHours.End }},
	{rule{
		name: "heartbeat.activeHours.timezone", kind: text,
		help: "user (userTimezone, the default), local, or an IANA name.",
	}, func(a *Agent) any { return &a.Heartbeat.ActiveHours.Timezone }},
}

// builtins are the channels that need no program; design.md section 5.
func builtins() []string { return []string{"inbox", "stdout", "desktop", "webhook", "mail"} }

// channelDefaultFields are the keys of [channels.defaults].
var channelDefaultFields = []field[Channels]{
	{rule{
		name: "channel", kind: text,
		help: "Channel for what has nowhere else to go.",
	}, func(c *Channels) any { return &c.Default }},
	{showOk, func(c *Channels) any { return &c.Heartbeat.ShowOk }},
	{showAlerts, func(c *Channels) any { return &c.Heartbeat.ShowAlerts }},
	{useIndicator, func(c *Channels) any { return &c.Heartbeat.UseIndicator }},
}

// channelFields are the keys of [channels.NAME].
var channelFields = []field[Channel]{
	{rule{
		name: "type", kind: choice, oneOf: []string{"command", "inbox", "stdout", "desktop", "webhook", "mail"},
		help: "A built-in, or command; absent: command where there is one, else the built-in of that name.",
	}, func(c *Channel) any { return &c.Type }},
	{rule{
		name: "command", kind: argv,
		help: "Program and arguments that deliver the text on their stdin. Exit 0 delivered, 75 try again, 64-70 and 76-78 never.",
	}, func(c *Channel) any { return &c.Command }},
	{rule{
		name: "reconcile", kind: argv,
		help: "Program and arguments that answer sent, not_sent or unresolved for a delivery whose outcome is unknown.",
	}, func(c *Channel) any { return &c.Reconcile }},
	{rule{
		name: "failure", kind: choice, oneOf: []string{"not_sent", "unknown"},
		help: "What any other exit code says about the message.",
	}, func(c *Channel) any { return &c.Failure }},
	{rule{
		name: "to", kind: text,
		help: "Recipient when a delivery names none.",
	}, func(c *Channel) any { return &c.To }},
	{rule{
		name: "url", kind: text,
		help: "Address for type webhook.",
	}, func(c *Channel) any { return &c.URL }},
	{rule{
		name: "timeoutSeconds", kind: seconds,
		help: "Seconds one attempt may take.",
	}, func(c *Channel) any { return &c.TimeoutSeconds }},
	{rule{
		name: "env", kind: environ,
		help: "Variables set for the program, as a table.",
	}, func(c *Channel) any { return &c.Env }},
	{showOk, func(c *Channel) any { return &c.Heartbeat.ShowOk }},
	{showAlerts, func(c *Channel) any { return &c.Heartbeat.ShowAlerts }},
	{useIndicator, func(c *Channel) any { return &c.Heartbeat.UseIndicator }},
}

// accountFields are the keys of [channels.NAME.accounts.ID].
var accountFields = []field[Account]{
	{rule{
		name: "to", kind: text,
		help: "Recipient when a delivery names none.",
	}, func(a *Account) any { return &a.To }},
	{showOk, func(a *Account) any { return &a.Heartbeat.ShowOk }},
	{showAlerts, func(a *Account) any { return &a.Heartbeat.ShowAlerts }},
	{useIndicator, func(a *Account) any { return &a.Heartbeat.UseIndicator }},
}

var (
	showOk = rule{
		name: "heartbeat.showOk", kind: boolean,
		help: "Show heartbeats that found nothing.",
	}
	showAlerts = rule{
		name: "heartbeat.showAlerts", kind: boolean,
		help: "Show heartbeats that found something.",
	}
	useIndicator = rule{
		name: "heartbeat.useIndicator", kind: boolean,
		help: "Show that a heartbeat is going on.",
	}
)
