package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// interrupt is what signals do to work in the foreground that is not an
// agent's turn alone (agent_signal.go has that): the first INT, TERM or HUP
// ends ctx, by which what can be ended is; the second does what it always
// does, and leaves what is waited for.
type interrupt struct {
	ctx     context.Context
	cancel  context.CancelFunc
	signals chan os.Signal
	over    chan struct{}
	code    int // of the first signal; 0 none
}

// interruptible catches what would end claw and leave behind what it has
// started. What it was started to ignore (nohup) it goes on ignoring, and a
// reader that has gone is no reason to leave anything behind either.
func (a *app) interruptible() *interrupt {
	in := &interrupt{signals: make(chan os.Signal, 1), over: make(chan struct{})}
	in.ctx, in.cancel = context.WithCancel(a.ctx)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(in.signals, sig)
		}
	}
	signal.Ignore(syscall.SIGPIPE)
	go in.heed()
	return in
}

func (in *interrupt) heed() {
	defer close(in.over)
	if sig, ok := <-in.signals; ok {
		signal.Stop(in.signals)
		in.code = 128 + int(sig.(syscall.Signal))
		in.cancel()
	}
}

// done lets signals do what they always do, and returns the exit code of the
// first that came; 0 when none did.
func (in *interrupt) done() int {
	signal.Stop(in.signals)
	close(in.signals)
	<-in.over
	in.cancel()
	return in.code
}

// stopped explains an error that a signal has brought about; any other stays
// what it is. code is that of done.
func stopped(err error, code int, text string, remedy ...string) error {
	if code == 0 || !errors.Is(err, context.Canceled) {
		return err
	}
	return &failure{code: code, text: text, remedy: remedy, err: err}
}

// sending runs fn, which sends a message. A channel that is at work is not
// ended: nobody would know what it has sent by then. So the first signal only
// says that it is waited for, at most as long as it may take.
func (a *app) sending(ctx context.Context, fn func() error) error {
	said := context.AfterFunc(ctx, func() {
		a.io.Say("what is being sent is waited for", "Ctrl-C once more leaves it, and whether it arrives is then not known")
	})
	defer said()
	return fn()
}
