// Package process holds what claw knows about one supervised command and the
// pure rules over it. It has no clock and does no I/O: time, randomness and
// the ledger's rows are passed in, and the answer depends on nothing else.
//
// How data flows through it, in the order of a process's life:
//
//	--env, --timeout, --yield-ms   CheckEnv, TimeoutMs, the Bounds of limits.go
//	a free name                    NewSlug; Resolve turns what a person typed back into it
//	Starting -> Running            CanMove
//	wait status, forced reason     Observed -> Classify -> *Exit -> Exited
//	supervisor gone                LostExit -> Lost
//	what readers see               Status, TaskStatus, ExitCode, FailureKind, Label
//	what people read               ResultText, ReasonText, EndSentence, ListLine, FollowUp, WaitingHint
//
// Characters are Unicode code points here (the seeds count UTF-16 units); a
// text is never cut inside one.
package process
