package deliver_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/state"
	"claw/state/delivery"
)

// position is how many transactions there have been.
func (w *world) position() (n int64) {
	w.t.Helper()
	if err := w.s.View(func(tx *state.Tx) error { n = tx.Position(); return nil }); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// TestByHandIsNeverPending: a runner that is woken by what a person's wish
// writes finds the attempt begun, not a message to be sent. So the wish and
// the marker are one transaction, and the receipt is the second; to our own
// inbox, and where nothing can be tried, all is one.
func TestByHandIsNeverPending(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, map[string]deliver.Channel{"c": sh("test -e $WORK/good || exit 65"), "none": {Type: "command", Command: []string{"no-such-program"}}})
	failed := w.intend("c", "x")
	w.flush()
	w.is(failed, delivery.Failed, 1, "exit code 65")
	w.script("true", "")
	os.WriteFile(w.work+"/good", nil, 0o600)
	waits := w.intend("none", "x")
	w.flush()
	inbox := w.intend("inbox", "x")
	for _, tt := range []struct {
		name   string
		act    func() (delivery.Delivery, error)
		state  delivery.State
		writes int64
	}{
		{"retry", func() (delivery.Delivery, error) { return w.p.Retry(ctx, failed) }, "delivered", 2},
		{"retry to the inbox", func() (delivery.Delivery, error) { return w.p.Retry(ctx, inbox) }, "delivered", 1},
		{"retry through a program that is not there", func() (delivery.Delivery, error) { return w.p.Retry(ctx, waits) }, "pending", 1},
		{"test", func() (delivery.Delivery, error) { return w.p.Test(ctx, "c", "") }, "delivered", 2},
		{"test of the inbox", func() (delivery.Delivery, error) { return w.p.Test(ctx, "inbox", "") }, "delivered", 1},
	} {
		before := w.position()
		d, err := tt.act()
		if err != nil || d.State != tt.state || w.get(d.ID).State != tt.state {
			t.Errorf("%s: %s (%q), %v", tt.name, d.State, d.Error, err)
		}
		if got := w.position() - before; got != tt.writes {
			t.Errorf("%s: %d transactions, want %d", tt.name, got, tt.writes)
		}
	}
}

// TestByHandBesideARunner: one that looks all the time takes nothing away from
// a person, who hears how it went.
func TestByHandBesideARunner(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"c": sh("echo x >> $WORK/sends; test -e $WORK/good || exit 65")})
	var ids []string
	for range 10 {
		ids = append(ids, w.intend("c", "x"))
	}
	w.flush()
	os.Remove(w.work + "/sends")
	os.WriteFile(w.work+"/good", nil, 0o600)
	ctx, stop := context.WithCancel(context.Background())
	var runner sync.WaitGroup
	runner.Go(func() {
		for ctx.Err() == nil {
			w.p.Flush(context.Background())
		}
	})
	for _, id := range ids {
		if d, err := w.p.Retry(ctx, id); err != nil || d.State != delivery.Delivered || d.Attempts != 1 {
			t.Errorf("retry: %s after %d attempts (%q), %v", d.State, d.Attempts, d.Error, err)
		}
		if d, err := w.p.Test(ctx, "c", ""); err != nil || d.State != delivery.Delivered || d.Attempts != 1 {
			t.Errorf("test: %s after %d attempts (%q), %v", d.State, d.Attempts, d.Error, err)
		}
	}
	stop()
	runner.Wait()
	if got := len(w.file("sends")); got != 2*2*len(ids) {
		t.Errorf("%d sends, want %d", got/2, 2*len(ids))
	}
}

// looking is a clock that tells when somebody looks how a send goes on.
type looking struct {
	clock.Clock
	seen func()
}

func (l looking) Now() time.Time {
	l.seen()
	return l.Clock.Now()
}

// TestRetryOfWhatIsBeingSent by another process waits for it, and does not send
// it a second time.
func TestRetryOfWhatIsBeingSent(t *testing.T) {
	const send = "echo x >> $WORK/sends; until test -e $WORK/go; do sleep 0.01; done; "
	for _, tt := range []struct {
		name, end string
		want      delivery.State
	}{{"it arrives", "exit 0", "delivered"}, {"it does not", "exit 65", "failed"}, {"nobody knows", "kill -KILL $$", "unknown"}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]deliver.Channel{"c": sh(send + tt.end)})
			id := w.intend("c", "x")
			cmd := other(t, w.s.Dir(), "command WORK="+w.work+"; "+send+tt.end, "")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, "it is being sent", func() bool { return w.file("sends") != "" })
			var refused *deliver.RefusedError
			if _, err := w.p.Dismiss(context.Background(), id, ""); !errors.As(err, &refused) {
				t.Errorf("dismissed under way: %v", err)
			}
			w.p.Clock = looking{w.p.Clock, func() { os.WriteFile(w.work+"/go", nil, 0o600) }}
			if d, err := w.p.Retry(context.Background(), id); err != nil || d.State != tt.want {
				t.Errorf("%s (%q), %v", d.State, d.Error, err)
			}
			cmd.Wait()
			if got := w.file("sends"); got != "x\n" {
				t.Errorf("sent %q", got)
			}
		})
	}
}
