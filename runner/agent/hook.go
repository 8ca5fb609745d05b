package agent

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claw/runner/internal/proc"
	"claw/runner/internal/program"
	"claw/runner/output"
	"claw/state/process"
	"claw/state/session"
)

// hookTimeout is how long one before_agent_run hook may take.
const hookTimeout = 60 * time.Second

// maxWords is how many bytes of a hook's words are kept.
const maxWords = 1000

// hooks shows each before_agent_run hook exactly what the agent would read.
// The first that does not exit with 0 blocks the turn, and so does one that
// cannot be started: what guards a door that nobody can open is no guard. Nil:
// all agree.
func (x *run) hooks(ctx context.Context, input string) *ending {
	if len(x.agent.Hooks) == 0 {
		return nil
	}
	at, err := x.where()
	if err != nil {
		return refusedBy(err)
	}
	for _, argv := range x.agent.Hooks {
		if len(argv) == 0 {
			continue
		}
		if e := x.hook(ctx, fill(argv, x.turn, x.req), at, input); e != nil {
			return e
		}
	}
	return nil
}

// hook asks one of them.
func (x *run) hook(ctx context.Context, argv []string, at place, input string) *ending {
	seen := program.Run(ctx, program.Spec{
		Argv: argv, Env: at.env, Dir: at.dir, Stdin: input, Limit: hookTimeout, Clock: x.Clock,
		Merge: true, Stdout: program.Keep{Tail: 4 * maxWords},
	})
	if ctx.Err() != nil {
		return refusedBy(context.Cause(ctx))
	}
	name, said := "hook "+filepath.Base(argv[0]), words(seen.Stdout)
	e := ending{status: session.TurnBlocked, unstarted: true}
	if seen.Code >= 0 {
		e.code = &seen.Code
	}
	switch {
	case seen.Err != nil:
		e.error = name + " could not be asked, so it blocks the turn: " + seen.Err.Error()
	case seen.TimedOut:
		e.error = because(name+" did not answer within "+process.HumanDuration(hookTimeout), said)
	case seen.Signal != 0:
		e.error = because(name+" was ended by "+proc.SignalName(seen.Signal), said)
	case seen.Code != 0:
		e.error = because(name+" blocked the turn (exit code "+strconv.Itoa(seen.Code)+")", said)
	default:
		return nil
	}
	return &e
}

// words is the end of what a hook printed, as one line or several that can be
// shown.
func words(printed []byte) string {
	text := strings.TrimSpace(output.Sanitize(printed))
	if len(text) <= maxWords {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-maxWords:], "")
}
