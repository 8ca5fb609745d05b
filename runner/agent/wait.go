package agent

import (
	"context"
	"errors"

	"claw/runner/output"
	"claw/runner/settle"
	"claw/runner/supervisor"
	"claw/state"
)

// wait sleeps on the life-line of the argv's supervisor, which the kernel lets
// go of when that ends. What the agent writes is passed on meanwhile, and may
// go on being so afterwards.
func (x *run) wait(ctx context.Context) error {
	if x.req.Stdout != nil || x.req.Stderr != nil {
		x.passed = make(chan struct{})
		go func() {
			defer close(x.passed)
			x.pass(ctx)
		}()
	}
	over, stop := context.WithCancel(ctx)
	defer stop()
	go x.stopper(over)
	return state.LockShared(ctx, settle.Lifeline(x.Store.ProcessDir(x.turn.ProcessID)))
}

// pass copies the output of the agent until it has ended.
func (x *run) pass(ctx context.Context) {
	out, err := output.Open(x.Store.ProcessDir(x.turn.ProcessID))
	if err != nil {
		return
	}
	defer out.Close()
	to := map[output.Stream]*broken{output.Stdout: {w: x.req.Stdout}, output.Stderr: {w: x.req.Stderr}}
	out.Follow(ctx, output.Selection{}, func() bool { return running(x.Store, x.turn) }, func(c output.Chunk) error {
		if b := to[c.Stream]; b != nil {
			b.write(c.Data)
		}
		return nil
	})
}

// stopper ends the agent when it is asked to.
func (x *run) stopper(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-x.req.Stop: // never, when it is nil
		x.Kill(x.turn.ProcessID)
	}
}

// Kill asks the supervisor of an agent's argv to end it and all that it
// started: TERM, five seconds, KILL. It returns at once; one that has ended is
// no error.
func (r *Turns) Kill(processID string) error {
	answer, err := supervisor.Call(r.Store.ProcessDir(processID), supervisor.Ask{Op: supervisor.OpKill})
	switch {
	case errors.Is(err, supervisor.ErrNoSupervisor):
		return nil
	case err != nil:
		return err
	case answer.Error != "" && answer.Code != supervisor.CodeFinalizing:
		return errors.New(answer.Error)
	}
	return nil
}
