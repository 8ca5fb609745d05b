package deliver

import (
	"context"
	"strconv"
	"strings"

	"claw/runner/internal/proc"
	"claw/runner/internal/program"
	"claw/runner/output"
	"claw/state/delivery"
	"claw/state/process"
)

// ended is how a channel's program went.
type ended struct {
	exit   delivery.Exit
	stdout string // the first MaxReceipt bytes
	stderr string // the last errorBytes
	what   string // what became of it, without its own words
}

// errorBytes is how much of a program's complaints is kept.
const errorBytes = 1 << 10

// run runs a program to its end or its limit. What it has sent by then nobody
// knows, so a caller that goes away does not end it.
func run(p program.Spec) ended {
	p.Stdout, p.Stderr = program.Keep{Head: delivery.MaxReceipt}, program.Keep{Tail: errorBytes}
	seen := program.Run(context.Background(), p)
	return ended{
		// Of one whose status was lost nobody knows more than of one that was ended.
		exit:   delivery.Exit{Started: seen.Started, Code: max(0, seen.Code), Signalled: seen.Code < 0, TimedOut: seen.TimedOut},
		stdout: strings.ToValidUTF8(strings.TrimSpace(string(seen.Stdout)), "\uFFFD"),
		stderr: string(seen.Stderr),
		what:   whatBecame(p, seen),
	}
}

func whatBecame(p program.Spec, seen program.Result) string {
	switch {
	case seen.Err != nil:
		return seen.Err.Error()
	case seen.TimedOut:
		return "it did not end within " + process.HumanDuration(p.Limit) + " and was ended"
	case seen.Signal != 0:
		return "it was ended by " + proc.SignalName(seen.Signal)
	}
	return "exit code " + strconv.Itoa(seen.Code)
}

// why is one sentence about a failure.
func (e ended) why() string { return withCause(e.what, lastLines(e.stderr)) }

func withCause(what, said string) string {
	if said == "" {
		return what
	}
	return what + ": " + said
}

// lastLines is text on one line.
func lastLines(s string) string {
	return process.Collapse(output.Sanitize([]byte(s)))
}
