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
		{"124", "exec, process wait: the command timed out"},
		{"125", "exec, process wait: claw failed, or the end of the command is not known"},
		{"126", "exec, process wait: the command could not be executed"},
		{"127", "exec, process wait: the command was not found"},
		{"128+n", "exec, process wait: the command was ended by signal n"},
	}
}
