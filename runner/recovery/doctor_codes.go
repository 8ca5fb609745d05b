package recovery

import (
	"slices"

	"claw/state/task"
)

// Code is one kind of finding. Codes never change their meaning; there may come
// more.
type Code struct {
	Code     string
	Severity Severity // the usual one
	Means    string
}

// Codes are all kinds of findings, in the order of the manual. Those of tasks
// have "task_" before the codes of claw tasks audit, and its severities.
func Codes() []Code {
	all := slices.Clone(codes[:])
	for _, c := range task.FindCodes() {
		all = append(all, Code{"task_" + c, SeverityWarn, "see claw tasks audit"})
	}
	return all
}

// codes are those of this package.
var codes = [...]Code{
	{"state_missing", SeverityInfo, "there is no state directory yet"},
	{"state_refused", SeverityError, "the state directory cannot be trusted, or is none"},
	{"state_unreadable", SeverityError, "a part of it cannot be read"},
	{"state_no_answer", SeverityError, "its disk does not answer"},
	{"state_readonly", SeverityWarn, "nothing can be written"},
	{"state_exposed", SeverityWarn, "others can read it"},
	{"state_owner", SeverityError, "a file in it belongs to somebody else"},
	{"fs_network", SeverityWarn, "its disk is on another machine"},
	{"fs_memory", SeverityWarn, "its disk is memory"},
	{"fs_synced", SeverityWarn, "a program copies it to other machines"},
	{"disk_full", SeverityError, "nothing can be written any more"},
	{"disk_low", SeverityWarn, "soon nothing can be written any more"},

	{"ledger_damaged", SeverityError, "a line or a file cannot be used"},
	{"row_unreadable", SeverityWarn, "a record is of a newer claw, or was edited"},
	{"quarantine_kept", SeverityInfo, "damaged pieces are kept"},
	{"process_lost", SeverityWarn, "the supervisor of a command died"},
	{"process_leftover", SeverityWarn, "a command left something running"},
	{"process_stray", SeverityWarn, "no record knows a folder"},
	{"lock_odd", SeverityError, "something else stands where a lock should be"},
	{"lock_stopped", SeverityWarn, "who holds a lock is stopped"},
	{"lock_held", SeverityWarn, "somebody keeps all others from writing"},
	{"lane_long", SeverityInfo, "a turn is at work for a long time"},

	{"session_contradiction", SeverityError, "a session contradicts itself"},
	{"session_tombstoned", SeverityWarn, "a conversation was given up"},
	{"recovery_waiting", SeverityInfo, "a turn that was cut off is to be continued"},
	{"safe_mode", SeverityWarn, "the runner died several times in a row"},
	{"monitor_missing", SeverityInfo, "an agent has no heartbeat yet"},
	{"delivery_unknown", SeverityWarn, "nobody knows whether messages arrived"},
	{"delivery_failed", SeverityWarn, "messages could not be sent"},
	{"automation_disabled", SeverityWarn, "claw switched an automation off"},
	{"automation_failing", SeverityWarn, "an automation failed last time"},
	{"automation_program", SeverityWarn, "the program of an automation is not there"},
	{"source_failed", SeverityWarn, "a source was given up"},
	{"source_missing", SeverityWarn, "what is watched is not there"},
	{"source_polls", SeverityInfo, "a directory is looked at every two seconds"},

	{"config_invalid", SeverityError, "claw.toml cannot be used"},
	{"config_odd", SeverityWarn, "something else is used than what is written"},
	{"prompt_invalid", SeverityError, "a prompt cannot be used"},
	{"automation_table", SeverityError, "an [[automation]] table cannot be used"},
	{"agent_program", SeverityError, "an agent cannot be started"},
	{"agent_workdir", SeverityError, "an agent's directory is not there"},
	{"hook_program", SeverityError, "a hook cannot be started, so its agent is not"},
	{"channel_not_ready", SeverityError, "nothing can be sent through a channel"},
	{"token_file", SeverityError, "the file of a token cannot be used"},
	{"check_not_run", SeverityWarn, "a file of heartbeat.d is not run"},

	{"logout_kills", SeverityWarn, "logging out ends everything"},
	{"linger_off", SeverityWarn, "logging out ends the runner"},
	{"inotify_low", SeverityWarn, "the kernel can watch little more"},
	{"clock_unset", SeverityError, "the clock cannot be right"},
	{"clock_back", SeverityWarn, "the clock was set back"},
	{"unit_binary_missing", SeverityError, "a unit starts a program that is not there"},
	{"unit_binary_other", SeverityWarn, "a unit starts another version"},
	{"unit_other_state", SeverityWarn, "a unit works on another state directory"},
	{"unit_path", SeverityWarn, "a unit does not find what an agent or a channel starts"},
	{"unit_off", SeverityInfo, "a unit is there and not switched on"},
	{"two_tickers", SeverityInfo, "more than one thing makes ticks"},
	{"nobody_ticks", SeverityWarn, "something waits, and nothing makes ticks"},
	{"runner_polls", SeverityInfo, "the runner looks every two seconds"},
	{"no_answer", SeverityWarn, "a part of the machine does not answer"},
	{"fix_failed", SeverityError, "something could not be mended"},
}
