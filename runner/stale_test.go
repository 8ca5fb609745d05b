package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claw/runner"
	"claw/runner/clock"
	"claw/runner/deliver"
)

// A configuration that changes while a message is being sent: the tick wakes
// nobody by the one before, it waits for the message and begins anew.
func TestConfigurationChangesWhileAMessageIsSent(t *testing.T) {
	d := newDesk(t)
	config := filepath.Join(t.TempDir(), "claw.toml")
	sending, gate := make(chan struct{}, 1000), make(chan struct{})
	r := &runner.Runner{Store: d.store, Clock: clock.New(), Config: []string{config}}
	r.Play(runner.Script{Plan: d.plan, Do: d.do, Flush: func(context.Context) (deliver.Flushed, error) {
		sending <- struct{}{}
		<-gate
		return deliver.Flushed{}, nil
	}})
	ended := make(chan runner.Report, 1)
	go func() {
		rep, err := r.Tick(t.Context())
		if err != nil {
			t.Error(err)
		}
		ended <- rep
	}()
	<-sending
	if err := os.WriteFile(config, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.queue("main")
	select {
	case name := <-d.begun:
		t.Errorf("a turn of %s began by the configuration before", name)
	case <-ended:
		t.Error("it did not wait for the message")
	case <-time.After(300 * time.Millisecond): // many times what a pass takes
	}
	close(gate)
	select {
	case rep := <-ended:
		if !rep.Stale || rep.Turns != 0 {
			t.Errorf("report %+v, want that it is stale", rep)
		}
	case <-time.After(patience):
		t.Fatal("the tick does not end")
	}
}
