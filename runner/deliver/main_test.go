package deliver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/state"
	"claw/state/delivery"
	"claw/state/statetest"
)

// TestMain lets this binary be a claw that does one Flush and can be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DELIVER_TEST_DIR"); dir != "" {
		flushAlone(dir)
		return
	}
	os.Exit(m.Run())
}

// flushAlone is the other process: DELIVER_TEST_CHANNEL says what it sends
// through, as TYPE and an address or a shell command.
func flushAlone(dir string) {
	store, err := state.Open(dir, state.Options{Now: time.Now})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	kind, arg, _ := strings.Cut(os.Getenv("DELIVER_TEST_CHANNEL"), " ")
	p := &deliver.Post{Store: store, Clock: clock.New(), Default: "inbox", Environ: os.Environ(), Channels: map[string]deliver.Channel{"c": channelOf(kind, arg)}}
	done, err := p.Flush(context.Background())
	fmt.Println(done.Delivered, done.Failed, done.Unknown, done.Deferred, err)
}

func channelOf(kind, arg string) deliver.Channel {
	if kind == "webhook" {
		return deliver.Channel{Type: kind, URL: arg}
	}
	return deliver.Channel{Type: "command", Command: []string{"sh", "-c", arg}}
}

// other starts that process; fail is a failpoint or empty.
func other(t *testing.T, dir, channel, fail string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DELIVER_TEST_DIR="+dir, "DELIVER_TEST_CHANNEL="+channel, "CLAW_FAILPOINT="+fail)
	cmd.Stderr = os.Stderr
	return cmd
}

// world is a store, a post over it, and a clock that only moves by hand.
type world struct {
	t    *testing.T
	s    *state.Store
	p    *deliver.Post
	work string // where programs write
	now  *atomic.Int64
}

// hand is the wall clock of a world; time for waiting is the machine's.
type hand struct {
	clock.System
	now *atomic.Int64
}

func (h hand) Now() time.Time { return time.UnixMilli(h.now.Load()) }

func newWorld(t *testing.T, channels map[string]deliver.Channel) *world {
	t.Helper()
	now := new(atomic.Int64)
	now.Store(time.Now().UnixMilli())
	c := hand{clock.New(), now}
	work := t.TempDir()
	s := statetest.OpenAt(t, filepath.Join(work, "state"), state.Options{Now: c.Now})
	environ := append(os.Environ(), "WORK="+work, "HOME="+work)
	return &world{t: t, s: s, work: work, now: now, p: &deliver.Post{Store: s, Clock: c, Channels: channels, Default: "inbox", Environ: environ}}
}

func (w *world) advance(d time.Duration) { w.now.Add(d.Milliseconds()) }

// intend writes an intent and returns its id.
func (w *world) intend(channel, text string) string {
	w.t.Helper()
	return w.add(delivery.Delivery{Route: delivery.Route{Channel: channel}, Text: text})
}

func (w *world) add(d delivery.Delivery) string {
	w.t.Helper()
	w.update(func(tx *state.Tx) (err error) {
		d, err = w.p.Intend(tx, d)
		return err
	})
	return d.ID
}

func (w *world) update(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.s.Update(context.Background(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) flush() deliver.Flushed {
	w.t.Helper()
	done, err := w.p.Flush(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return done
}

func (w *world) get(id string) (d delivery.Delivery) {
	w.t.Helper()
	if err := w.s.View(func(tx *state.Tx) error {
		row, ok, err := state.Deliveries.Find(tx, id)
		if !ok {
			w.t.Errorf("delivery %s is not there", id)
		}
		d = row.Rec
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return d
}

// is holds a delivery against what it should be.
func (w *world) is(id string, want delivery.State, attempts int, why string) delivery.Delivery {
	w.t.Helper()
	d := w.get(id)
	if d.State != want || d.Attempts != attempts || !strings.Contains(d.Error, why) {
		w.t.Errorf("%s after %d attempts (%q), want %s after %d (%q)", d.State, d.Attempts, d.Error, want, attempts, why)
	}
	return d
}

func (w *world) file(name string) string {
	b, err := os.ReadFile(filepath.Join(w.work, name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) inbox() (all []delivery.Message) {
	w.t.Helper()
	if err := w.s.View(func(tx *state.Tx) error {
		all = nil
		rows, err := state.Inbox.All(tx)
		for _, r := range rows {
			all = append(all, r.Rec)
		}
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// script puts a program into a directory of the world that is in front of its
// PATH.
func (w *world) script(name, text string) {
	w.t.Helper()
	bin := filepath.Join(w.work, "bin")
	os.MkdirAll(bin, 0o755)
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.p.Environ = append(w.p.Environ, "PATH="+bin+":/usr/bin:/bin")
}

// server is a receiver; it counts what reached it.
func server(t *testing.T, handle http.HandlerFunc) (url string, hits *atomic.Int64) {
	hits = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		handle(rw, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL + "/hook?token=secret", hits
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it does not come", what)
		}
	}
}
