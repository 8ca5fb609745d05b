package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"claw/runner/subagents"
	"claw/state/subagent"
)

type agentComplete struct {
	Agent   string   `help:"The agent that is asked." placeholder:"NAME"`
	Message string   `help:"What it is asked; - reads it from stdin." placeholder:"TEXT"`
	System  string   `name:"extra-system-prompt" help:"What it is told before the message." placeholder:"TEXT"`
	Model   string   `help:"The model; within a turn only with allowModelOverride, and of allowedModels." placeholder:"NAME"`
	Timeout *float64 `help:"Give up after so many seconds, the wait for its turn included; 0 never does. Default 30." placeholder:"SEC"`
	JSON    bool     `name:"json" help:"Print {\"text\", \"runId\"}."`
}

// Help shows examples.
func (agentComplete) Help() string {
	return "The agent is asked once, without tools and without a conversation, and nothing of it is kept but its turn. Three are asked at once, first come, first served. Ctrl-C and claw agent cancel take one that waits out at once; one that runs is ended, and has no answer.\n\n" +
		examples("claw agent complete --agent main --message 'a title for: fix of the lock'", "git diff | claw agent complete --agent main --timeout 60 --message -")
}

// Run asks, and prints the answer.
func (c *agentComplete) Run(a *app) error {
	ask := subagent.Ask{Kind: subagent.Completion, Agent: c.Agent, System: c.System, Model: c.Model, Timeout: timeoutOf(c.Timeout)}
	message, s, who, err := a.asked("agent complete", c.Message)
	if err != nil {
		return err
	}
	ask.Message = message
	signals := stopCompletion(a.ctx)
	run, text, err := s.Complete(signals.ctx, ask, who, signals.stop)
	code := signals.done()
	over, ended := errors.AsType[*subagents.EndedError](err)
	switch {
	case err == nil && c.JSON:
		return a.io.JSON(map[string]string{"text": text, "runId": run.ID})
	case err == nil:
		_, err := io.WriteString(a.io.Out, endLine(text))
		return err
	case ended && over.Run.Outcome == subagent.TimedOut:
		return &failure{code: exitTimedOut, text: "agent complete: " + over.Error(), err: err}
	case ended:
		return &failure{code: firstCode(code, exitFailed), text: "agent complete: " + over.Error(), err: err}
	case code != 0:
		return silent(code)
	}
	return a.refusedRun("agent complete", err)
}

// completionSignals is what signals do: the first ends the completion, the second
// leaves its agent to its supervisor.
type completionSignals struct {
	ctx    context.Context
	cancel context.CancelFunc
	stop   chan struct{}
	came   chan os.Signal
	over   chan struct{}
	code   int
}

func stopCompletion(ctx context.Context) *completionSignals {
	s := &completionSignals{stop: make(chan struct{}), came: make(chan os.Signal, 4), over: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(s.came, sig)
		}
	}
	go func() {
		defer close(s.over)
		for sig := range s.came {
			if s.code != 0 {
				s.cancel()
				continue
			}
			s.code = 128 + int(sig.(syscall.Signal))
			close(s.stop)
		}
	}()
	return s
}

// done lets signals do what they always do, and returns the exit code of the first
// that came; 0 when none did.
func (s *completionSignals) done() int {
	signal.Stop(s.came)
	close(s.came)
	<-s.over
	s.cancel()
	return s.code
}
