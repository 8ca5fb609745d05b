package deliver_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/runner/settle"
	"claw/state"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/process"
	"claw/state/statetest"
	"claw/state/task"
	"claw/state/ulid"
)

// ends is a background command with an origin that ends, as its supervisor
// writes it; it returns the ids of process and task.
func (w *world) ends(origin delivery.Route, exit process.Exit, tail string) (pid, tid string) {
	w.t.Helper()
	pid = ulid.New(w.p.Clock.Now())
	w.update(func(tx *state.Tx) error { return claimed(tx, pid, origin) })
	w.update(func(tx *state.Tx) error {
		p, err := settle.Conclude(tx, pid, settle.End{Phase: process.Exited, At: tx.Now(), Exit: exit, Tail: tail})
		tid = p.TaskID
		return err
	})
	return pid, tid
}

func claimed(tx *state.Tx, id string, origin delivery.Route) error {
	p := process.Process{
		ID: id, Slug: "amber-atlas", Agent: "main", Session: "agent:main:main", Command: "make all", Argv: []string{"make", "all"},
		Phase: process.Running, CreatedAt: tx.Now(), StartedAt: tx.Now(), TTLMs: 1800000, NotifyOnExit: true, Origin: origin,
	}
	return errors.Join(settle.AddTask(tx, &p), state.Processes.Put(tx, id, 0, p))
}

func code(n int) process.Exit { return process.Exit{Code: &n, Reason: process.ReasonExit} }

func (w *world) task(id string) (t task.Task) {
	w.t.Helper()
	if err := w.s.View(func(tx *state.Tx) error {
		row, ok, err := state.Tasks.Find(tx, id)
		if !ok {
			w.t.Errorf("task %s is not there", id)
		}
		t = row.Rec
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return t
}

func (w *world) events() (all []event.Event) {
	w.t.Helper()
	if err := w.s.View(func(tx *state.Tx) error {
		all = nil
		rows, err := state.Events.All(tx)
		for _, r := range rows {
			all = append(all, r.Rec)
		}
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// told holds what the ledgers say of one task.
func (w *world) told(tid string, status task.Status, delivery task.DeliveryStatus, events int) {
	w.t.Helper()
	t := w.task(tid)
	if t.Status != status || t.DeliveryStatus != delivery || len(w.events()) != events {
		w.t.Errorf("task %s, delivery %s, %d events; want %s, %s, %d", t.Status, t.DeliveryStatus, len(w.events()), status, delivery, events)
	}
}

// TestDirect: the origin is told instead of the session.
func TestDirect(t *testing.T) {
	w := newWorld(t, nil)
	_, tid := w.ends(delivery.Route{Channel: "inbox"}, code(0), "one\nbuilt in 61.2s\n")
	w.told(tid, task.Succeeded, task.DeliveryPending, 0)
	w.flush()
	w.told(tid, task.Succeeded, task.DeliveryDelivered, 0)
	all := w.inbox()
	if len(all) != 1 || all[0].Text != "Background task done: make all (run amber-atlas). built in 61.2s" || all[0].Source.TaskID != tid || all[0].Source.Name != "amber-atlas" {
		t.Fatalf("%+v", all)
	}
	if all[0].Title != "make all finished in 0s (exit 0)" || all[0].Body != "built in 61.2s" {
		t.Errorf("%q, %q", all[0].Title, all[0].Body)
	}
	if key := w.get(all[0].ID).IdempotencyKey; key != "task-terminal:"+tid+":succeeded:default" {
		t.Errorf("key %q", key)
	}
}

// TestNobodyAsked: without an origin it is an event, as ever.
func TestNobodyAsked(t *testing.T) {
	w := newWorld(t, nil)
	_, tid := w.ends(delivery.Route{}, code(0), "out\n")
	w.told(tid, task.Succeeded, task.DeliverySessionQueued, 1)
	if done := w.flush(); done != (deliver.Flushed{}) {
		t.Errorf("%+v", done)
	}
}

// TestDirectFails: spec/tasks-recovery.md 2.2.4 and 2.5. The session is told,
// once, also of a success without output; the execution stays what it is; and
// a person's retry that arrives makes it delivered.
func TestDirectFails(t *testing.T) {
	for name, exit := range map[string]process.Exit{"success": code(0), "failure": code(2)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]deliver.Channel{"c": sh("test -e $WORK/mended || exit 70")})
			want := task.Succeeded
			if *exit.Code != 0 {
				want = task.Failed
			}
			pid, tid := w.ends(delivery.Route{Channel: "c"}, exit, "")
			w.told(tid, want, task.DeliveryPending, 0)
			w.flush()
			w.told(tid, want, task.DeliveryFailed, 1)
			if e := w.events()[0]; e.ProcessID != pid || e.TaskID != tid || e.State != event.Queued || e.Text != fmt.Sprintf("Exec completed (amber-atlas, code %d)", *exit.Code) {
				t.Errorf("%+v", e)
			}
			id := w.task(tid).DeliveryID
			if d, err := w.p.Retry(context.Background(), id); err != nil || d.State != delivery.Failed {
				t.Fatalf("%+v, %v", d, err)
			}
			w.told(tid, want, task.DeliveryFailed, 1) // not told twice
			w.script("true", "")
			w.p.Channels["c"] = sh("true")
			if _, err := w.p.Retry(context.Background(), id); err != nil {
				t.Fatal(err)
			}
			w.told(tid, want, task.DeliveryDelivered, 1)
		})
	}
}

// TestDirectUnknown: nobody knows, so nobody is told again; a person settles
// it.
func TestDirectUnknown(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"c": sh("kill -KILL $$")})
	_, tid := w.ends(delivery.Route{Channel: "c"}, code(0), "x")
	w.flush()
	w.told(tid, task.Succeeded, task.DeliveryPending, 0)
	if _, err := w.p.Dismiss(context.Background(), w.task(tid).DeliveryID, "seen"); err != nil {
		t.Fatal(err)
	}
	w.told(tid, task.Succeeded, task.DeliveryNotApplicable, 0)
}

// TestDirectCrash stops the machine at every write of exit → intent → attempt
// → receipt, and lets the next claw finish: the message is there at most once
// and never lost, the execution is what was promised.
func TestDirectCrash(t *testing.T) {
	epoch := time.Now().Truncate(time.Second)
	const id = "01JE8A0000000000000000000P"
	ended := false
	open := func(fs state.FS, dir, boot string) (*state.Store, *deliver.Post, error) {
		s, err := state.Open(dir, state.Options{FS: fs, Boot: boot, Now: func() time.Time { return epoch }})
		return s, &deliver.Post{Store: s, Clock: clock.New(), Default: "inbox"}, err
	}
	flow := func(fs state.FS, dir string) error {
		ended = false
		s, p, err := open(fs, dir, "before")
		if err != nil {
			return err
		}
		defer s.Close()
		ctx := context.Background()
		if err := s.Update(ctx, func(tx *state.Tx) error { return claimed(tx, id, delivery.Route{Channel: "inbox"}) }); err != nil {
			return err
		}
		if err := s.Update(ctx, func(tx *state.Tx) error {
			_, err := settle.Conclude(tx, id, settle.End{Phase: process.Exited, At: tx.Now(), Exit: code(0), Tail: "out"})
			return err
		}); err != nil {
			return err
		}
		ended = true
		_, err = p.Flush(ctx)
		return err
	}
	verify := func(dir string) error {
		s, p, err := open(statetest.Fast(dir), dir, "after")
		if err != nil {
			return err
		}
		defer s.Close()
		for range 2 {
			if _, err := p.Flush(context.Background()); err != nil {
				return err
			}
		}
		return s.View(func(tx *state.Tx) error { return agree(tx, id, ended) })
	}
	statetest.Crash(t, flow, verify)
}

// agree: process, task, delivery and inbox tell one story.
func agree(tx *state.Tx, id string, ended bool) error {
	p, known, err := state.Processes.Get(tx, id)
	if err != nil {
		return err
	}
	messages, err1 := state.Inbox.All(tx)
	rows, err2 := state.Deliveries.All(tx)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	over := known && p.Rec.Phase == process.Exited
	switch {
	case ended && !over:
		return errors.New("the end was promised and is gone")
	case !over && len(rows)+len(messages) > 0:
		return errors.New("somebody was told of an end that is not there")
	case !over:
		return nil
	case len(messages) != 1 || len(rows) != 1:
		return fmt.Errorf("%d messages of %d deliveries", len(messages), len(rows))
	}
	t, _, err := state.Tasks.Get(tx, p.Rec.TaskID)
	if err == nil && (t.Rec.DeliveryStatus != task.DeliveryDelivered || rows[0].Rec.State != delivery.Delivered || t.Rec.DeliveryID != rows[0].ID || messages[0].ID != rows[0].ID) {
		err = fmt.Errorf("task %s, delivery %s", t.Rec.DeliveryStatus, rows[0].Rec.State)
	}
	return err
}

// TestSendCrash stops the machine at every write around a send through a
// program: it runs at most once, and its delivery is delivered, waits, or is
// known to be unknown.
func TestSendCrash(t *testing.T) {
	epoch := time.Now().Truncate(time.Second)
	sends := 0
	var intended string
	post := func(fs state.FS, dir, boot string) (*state.Store, *deliver.Post, error) {
		s, err := state.Open(dir, state.Options{FS: fs, Boot: boot, Now: func() time.Time { return epoch }})
		return s, &deliver.Post{Store: s, Clock: clock.New(), Default: "inbox", Stdout: counter{&sends}}, err
	}
	flow := func(fs state.FS, dir string) error {
		intended, sends = "", 0
		s, p, err := post(fs, dir, "before")
		if err != nil {
			return err
		}
		defer s.Close()
		var d delivery.Delivery
		if err := s.Update(context.Background(), func(tx *state.Tx) (err error) {
			d, err = p.Intend(tx, delivery.Delivery{ID: "01JE8A0000000000000000000D", Route: delivery.Route{Channel: "stdout"}, Text: "x"})
			return err
		}); err != nil {
			return err
		}
		intended = d.ID
		_, err = p.Flush(context.Background())
		return err
	}
	verify := func(dir string) error {
		s, p, err := post(statetest.Fast(dir), dir, "after")
		if err != nil {
			return err
		}
		defer s.Close()
		deliver.Forget("01JE8A0000000000000000000D") // the process that knew it is dead
		for range 2 {
			if _, err := p.Flush(context.Background()); err != nil {
				return err
			}
		}
		if sends > 1 {
			return fmt.Errorf("sent %d times", sends)
		}
		return s.View(func(tx *state.Tx) error {
			rows, err := state.Deliveries.All(tx)
			switch {
			case err != nil:
				return err
			case len(rows) == 0 && intended != "":
				return errors.New("the intent is lost")
			case len(rows) == 0:
				return nil
			}
			switch d := rows[0].Rec; {
			case d.State == delivery.Delivered && sends == 1:
			case d.State == delivery.Unknown && d.Attempts == 1:
			default:
				return fmt.Errorf("%s after %d attempts, %d sends", d.State, d.Attempts, sends)
			}
			return nil
		})
	}
	statetest.Crash(t, flow, verify)
}

// counter counts what is sent.
type counter struct{ n *int }

func (c counter) Write(p []byte) (int, error) {
	*c.n++
	return len(p), nil
}
