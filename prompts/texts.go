package prompts

import _ "embed" // the texts are strings of the program, read from nowhere

// The embedded texts.
var (
	//go:embed exec.txt
	textExec string
	//go:embed exec-internal.txt
	textExecInternal string
	//go:embed exec-empty.txt
	textExecEmpty string
	//go:embed cron.txt
	textCron string
	//go:embed cron-internal.txt
	textCronInternal string
	//go:embed cron-empty.txt
	textCronEmpty string
	//go:embed event.txt
	textEvent string
	//go:embed event-internal.txt
	textEventInternal string
	//go:embed heartbeat.txt
	textHeartbeat string
	//go:embed heartbeat-tasks.txt
	textHeartbeatTasks string
	//go:embed heartbeat-respond.txt
	textHeartbeatRespond string
	//go:embed ack.txt
	textAck string
	//go:embed ack-respond.txt
	textAckRespond string
	//go:embed waiting.txt
	textWaiting string
	//go:embed recovery.txt
	textRecovery string
	//go:embed recovery-reply.txt
	textRecoveryReply string
	//go:embed hook.txt
	textHook string
	//go:embed notice-relayed.txt
	textNoticeRelayed string
	//go:embed notice-lost.txt
	textNoticeLost string
	//go:embed notice-resend.txt
	textNoticeResend string
	//go:embed notice-cutoff.txt
	textNoticeCutOff string
	//go:embed notice-givenup.txt
	textNoticeGivenUp string
)

// embedded is one text of claw's own.
type embedded struct {
	name  string
	about string // when it is used
	needs string // the placeholder that carries the content; "" for none
	text  string
}

// all are the texts, in the order in which people see them.
func all() []embedded {
	return []embedded{
		{"exec", "commands ended, and the user can be told", "{details}", textExec},
		{"exec-internal", "commands ended, and the user cannot be told", "{details}", textExecInternal},
		{"exec-empty", "commands ended, and there is nothing to say about them", "", textExecEmpty},
		{"cron", "reminders, and the user can be told", "{details}", textCron},
		{"cron-internal", "reminders, and the user cannot be told", "{details}", textCronInternal},
		{"cron-empty", "reminders without a text", "", textCronEmpty},
		{"event", "other events of a session, and the user can be told", "{details}", textEvent},
		{"event-internal", "other events of a session, and the user cannot be told", "{details}", textEventInternal},
		{"heartbeat", "the periodic check, where claw.toml sets no prompt", "", textHeartbeat},
		{"heartbeat-tasks", "the due tasks of HEARTBEAT.md", "{details}", textHeartbeatTasks},
		{"heartbeat-respond", "how to answer a heartbeat with heartbeat respond", "", textHeartbeatRespond},
		{"ack", "how to say that there is nothing to say, within a sentence: {ack}", "", textAck},
		{"ack-respond", "the same with heartbeat respond", "", textAckRespond},
		{"waiting", "how many events wait for the next turn", "{count}", textWaiting},
		{"recovery", "a turn was cut off before the answer", "{details}", textRecovery},
		{"recovery-reply", "a turn was cut off after the answer", "{details}", textRecoveryReply},
		{"hook", "content from outside", "{details}", textHook},
		{"notice-relayed", "to a person: what an agent could not be told", "{details}", textNoticeRelayed},
		{"notice-lost", "to a person: a turn of unknown outcome", "{details}", textNoticeLost},
		{"notice-resend", "to a person: a turn that cannot be continued", "{details}", textNoticeResend},
		{"notice-cutoff", "to a person: a turn that was cut off, where no agent is configured", "{details}", textNoticeCutOff},
		{"notice-givenup", "to a person: a turn that was cut off again and again", "{details}", textNoticeGivenUp},
	}
}
