package runner_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claw/runner"
	"claw/runner/agent"
	"claw/runner/clock"
	"claw/runner/deliver"
	"claw/runner/heartbeat"
	"claw/runner/poke"
	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/ulid"
)

const patience = 30 * time.Second

// desk is a state directory with work to do: events queued in the store, which
// a turn consumes. Any number of runners work on it.
type desk struct {
	t     *testing.T
	store *state.Store

	mu    sync.Mutex
	turns []string // agents, in the order their turns began
	shown map[string]int
	gate  map[string]chan struct{} // of agents whose turn waits
	begun chan string
	most  int // passes at once
	now   int
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, store: statetest.Open(t), shown: map[string]int{}, gate: map[string]chan struct{}{}, begun: make(chan string, 1000)}
	d.change()
	return d
}

// change is any transaction.
func (d *desk) change() {
	d.t.Helper()
	id := ulid.New(time.Now())
	err := d.store.Update(d.t.Context(), func(tx *state.Tx) error {
		return state.Events.Add(tx, id, event.Event{ID: id, State: event.Consumed, CreatedAt: tx.Now(), EndedAt: tx.Now()})
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// queue gives an agent something to be told.
func (d *desk) queue(agent string) string {
	d.t.Helper()
	id := ulid.New(time.Now())
	err := d.store.Update(d.t.Context(), func(tx *state.Tx) error {
		return state.Events.Add(tx, id, event.Event{ID: id, SessionKey: "agent:" + agent + ":main", State: event.Queued, CreatedAt: tx.Now()})
	})
	if err != nil {
		d.t.Error(err)
	}
	return id
}

// queued are the events that wait, by session.
func (d *desk) queued() map[string][]string {
	waiting := map[string][]string{}
	err := d.store.View(func(tx *state.Tx) error {
		clear(waiting)
		rows, err := state.Events.All(tx)
		for _, r := range rows {
			if r.Rec.State == event.Queued {
				waiting[r.Rec.SessionKey] = append(waiting[r.Rec.SessionKey], r.ID)
			}
		}
		return err
	})
	if err != nil {
		d.t.Error(err)
	}
	return waiting
}

func (d *desk) plan(time.Time) (heartbeat.Plan, error) {
	var p heartbeat.Plan
	for key := range d.queued() {
		name := strings.Split(key, ":")[1]
		w := heartbeat.Wake{Agent: name, SessionKey: key, Source: "exec-event", Intent: "immediate"}
		p.Wakes = append(p.Wakes, heartbeat.Planned{Wake: w, Run: true, Status: "run"})
	}
	return p, nil
}

// do shows what is queued, waits at the agent's gate, and consumes what it has
// shown.
func (d *desk) do(ctx context.Context, w heartbeat.Planned) (session.Turn, error) {
	ids := d.queued()[w.SessionKey]
	d.mu.Lock()
	d.turns = append(d.turns, w.Agent)
	for _, id := range ids {
		d.shown[id]++
	}
	gate := d.gate[w.Agent]
	d.mu.Unlock()
	d.begun <- w.Agent
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return session.Turn{}, ctx.Err()
		}
	}
	err := d.store.Update(context.Background(), func(tx *state.Tx) error {
		for _, id := range ids {
			row, _, err := state.Events.Get(tx, id)
			if err != nil {
				return err
			}
			row.Rec.State, row.Rec.EndedAt = event.Consumed, tx.Now()
			if err := state.Events.Put(tx, id, row.Rev, row.Rec); err != nil {
				return err
			}
		}
		return nil
	})
	return session.Turn{ID: ulid.New(time.Now()), Agent: w.Agent, SessionKey: w.SessionKey, Status: session.TurnSucceeded, Outcome: "sent"}, err
}

// settle counts how many make a pass at once: never more than one.
func (d *desk) settle() ([]process.Process, error) {
	d.mu.Lock()
	d.now++
	d.most = max(d.most, d.now)
	d.mu.Unlock()
	time.Sleep(100 * time.Microsecond) // so that another pass could begin meanwhile
	d.mu.Lock()
	d.now--
	d.mu.Unlock()
	return nil, nil
}

func (d *desk) runner() *runner.Runner {
	r := &runner.Runner{Store: d.store, Clock: clock.New()}
	r.Play(runner.Script{Settle: d.settle, Plan: d.plan, Do: d.do})
	return r
}

func (d *desk) tick() runner.Report {
	d.t.Helper()
	rep, err := d.runner().Tick(d.t.Context())
	if err != nil {
		d.t.Error(err)
	}
	return rep
}

func (d *desk) began(want string) {
	d.t.Helper()
	select {
	case got := <-d.begun:
		if got != want {
			d.t.Fatalf("a turn of %s began, want %s", got, want)
		}
	case <-time.After(patience):
		d.t.Fatalf("no turn of %s began", want)
	}
}

// eachOnce fails for an event that was not shown, or shown twice.
func (d *desk) eachOnce(ids ...string) {
	d.t.Helper()
	for _, id := range ids {
		if n := d.shown[id]; n != 1 {
			d.t.Errorf("event %s was shown %d times", id, n)
		}
	}
	if left := d.queued(); len(left) > 0 {
		d.t.Errorf("still queued: %v", left)
	}
}

func TestTickWorksOffWhatIsThere(t *testing.T) {
	d := newDesk(t)
	a, b, c := d.queue("main"), d.queue("main"), d.queue("ops")
	rep := d.tick()
	d.eachOnce(a, b, c)
	if rep.Turns != 2 || rep.Failed != 0 || rep.Poked || len(rep.Done) != 2 {
		t.Errorf("report %+v, want two turns", rep)
	}
	if held, _ := state.Held(poke.Lock(d.store.Dir())); held {
		t.Error("the lock is still held")
	}
	if rep := d.tick(); rep.Turns != 0 || len(rep.Done) != 0 {
		t.Errorf("a second tick did %+v", rep)
	}
}

func TestTickPokesTheOneAtWork(t *testing.T) {
	d := newDesk(t)
	unlock, ok, err := state.TryLock(poke.Lock(d.store.Dir()))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	before := poke.Generation(d.store.Dir())
	d.queue("main")
	if rep := d.tick(); !rep.Poked || rep.Turns != 0 {
		t.Errorf("report %+v, want poked", rep)
	}
	if poke.Generation(d.store.Dir()) == before {
		t.Error("the one at work was not poked")
	}
	// It is left to the holder, here to nobody: the next tick finds it.
	unlock()
	if rep := d.tick(); rep.Turns != 1 {
		t.Errorf("report %+v, want the turn", rep)
	}
}

// Ten ticks at once, each after an event was queued: one works at a time, no
// event is lost and none is shown twice.
func TestTicksAtOnce(t *testing.T) {
	for range 5 {
		d := newDesk(t)
		var wg sync.WaitGroup
		ids := make([]string, 10)
		for i := range ids {
			wg.Go(func() {
				ids[i] = d.queue("main")
				if _, err := d.runner().Tick(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		d.eachOnce(ids...)
		if d.most != 1 {
			t.Errorf("%d passes at once", d.most)
		}
	}
}

// While one agent's turn runs, a tick makes further passes: another agent is
// not held up by it, whether somebody pokes or only writes.
func TestTickWakesASecondAgentMeanwhile(t *testing.T) {
	for _, how := range []string{"a second tick", "only a transaction"} {
		t.Run(how, func(t *testing.T) {
			d := newDesk(t)
			d.gate["slow"] = make(chan struct{})
			first := d.queue("slow")
			ended := make(chan runner.Report, 1)
			go func() { ended <- d.tick() }()
			d.began("slow")
			second := d.queue("quick")
			if how == "a second tick" {
				if rep := d.tick(); !rep.Poked {
					t.Errorf("the second tick worked itself: %+v", rep)
				}
			}
			d.began("quick")
			close(d.gate["slow"])
			if rep := <-ended; rep.Turns != 2 {
				t.Errorf("report %+v, want both turns", rep)
			}
			d.eachOnce(first, second)
		})
	}
}

// What arrives during a turn is shown by the next turn of the same agent, in
// the same tick.
func TestTickGoesOnAfterATurn(t *testing.T) {
	d := newDesk(t)
	d.gate["main"] = make(chan struct{})
	first := d.queue("main")
	ended := make(chan runner.Report, 1)
	go func() { ended <- d.tick() }()
	d.began("main")
	second, third := d.queue("main"), d.queue("main")
	close(d.gate["main"])
	if rep := <-ended; rep.Turns != 2 {
		t.Errorf("report %+v, want two turns: the second shows what came meanwhile", rep)
	}
	d.eachOnce(first, second, third)
}

func TestTickThatIsToldToEnd(t *testing.T) {
	d := newDesk(t)
	d.gate["main"] = make(chan struct{})
	d.queue("main")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := d.runner().Tick(ctx)
		ended <- err
	}()
	d.began("main")
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("error %v: leaving a turn to its supervisor is none", err)
		}
	case <-time.After(patience):
		t.Fatal("it waits for the turn")
	}
}

// A part that fails does not keep the others from their work.
func TestPartsFailAlone(t *testing.T) {
	d := newDesk(t)
	id := d.queue("main")
	r := &runner.Runner{Store: d.store, Clock: clock.New()}
	lost, post := errors.New("settle"), errors.New("flush")
	r.Play(runner.Script{
		Settle: func() ([]process.Process, error) { return nil, lost },
		Turns: func() ([]agent.Result, []session.Turn, error) {
			return nil, nil, &state.Error{Op: "read", Path: "turns", Why: "damaged", Err: state.ErrDamaged}
		},
		Plan:  d.plan,
		Do:    d.do,
		Flush: func(context.Context) (deliver.Flushed, error) { return deliver.Flushed{}, post },
	})
	rep, err := r.Tick(t.Context())
	if !errors.Is(err, lost) || !errors.Is(err, post) || !errors.Is(err, state.ErrDamaged) {
		t.Errorf("error %v, want all three", err)
	}
	if n := strings.Count(err.Error(), "settle"); n != 1 {
		t.Errorf("the same error is shown %d times", n)
	}
	if rep.Turns != 1 {
		t.Errorf("report %+v, want the turn all the same", rep)
	}
	d.eachOnce(id)
}

// A skip is recorded once however many passes a tick makes, and a deferral not
// at all.
func TestSkipsAreRecordedOnce(t *testing.T) {
	d := newDesk(t)
	var done []string
	wakes := []heartbeat.Planned{
		{Wake: heartbeat.Wake{Agent: "main", SessionKey: "agent:main:main", Intent: "scheduled"}, Status: "skipped", Reason: "quiet-hours"},
		{Wake: heartbeat.Wake{Agent: "ops", SessionKey: "agent:ops:main", Intent: "immediate"}, Status: "deferred", Reason: "flood", RetryAt: time.Now().Add(time.Hour)},
	}
	var mu sync.Mutex
	r := &runner.Runner{Store: d.store, Clock: clock.New()}
	r.Play(runner.Script{
		Plan: func(time.Time) (heartbeat.Plan, error) { return heartbeat.Plan{Wakes: wakes}, nil },
		Do: func(_ context.Context, w heartbeat.Planned) (session.Turn, error) {
			mu.Lock()
			defer mu.Unlock()
			done = append(done, w.Agent+" "+w.Reason)
			d.change() // the record
			return session.Turn{}, nil
		},
	})
	rep, err := r.Tick(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 1 || done[0] != "main quiet-hours" {
		t.Errorf("carried out %q, want the skip once", done)
	}
	if rep.Turns != 0 || len(rep.Done) != 0 {
		t.Errorf("report %+v: a skip is nothing to tell", rep)
	}
}

// A wake whose lane was taken in between is no error, and not tried again at
// once.
func TestLaneTakenInBetween(t *testing.T) {
	d := newDesk(t)
	d.queue("main")
	var tries atomic.Int32
	r := &runner.Runner{Store: d.store, Clock: clock.New()}
	r.Play(runner.Script{
		Plan: d.plan,
		Do: func(context.Context, heartbeat.Planned) (session.Turn, error) {
			tries.Add(1)
			return session.Turn{}, &agent.BusyError{SessionKey: "agent:main:main", Holder: "somebody"}
		},
	})
	if _, err := r.Tick(t.Context()); err != nil {
		t.Error(err)
	}
	if tries.Load() != 1 {
		t.Errorf("tried %d times", tries.Load())
	}
}

// A tick that nothing may follow stays for a wake that is put off, and ends
// when that has been carried out. Another one does not stay.
func TestLinger(t *testing.T) {
	for _, linger := range []bool{false, true} {
		d := newDesk(t)
		id := d.queue("main")
		at := time.Now().Add(300 * time.Millisecond)
		r := d.runner()
		r.Linger = linger
		r.Play(runner.Script{
			Do: d.do,
			Plan: func(now time.Time) (heartbeat.Plan, error) {
				p, err := d.plan(now)
				for i := range p.Wakes {
					if now.Before(at) {
						p.Wakes[i].Run, p.Wakes[i].Status, p.Wakes[i].Reason, p.Wakes[i].RetryAt = false, "deferred", "flood", at
					}
				}
				return p, err
			},
		})
		rep, err := r.Tick(t.Context())
		if err != nil {
			t.Error(err)
		}
		if linger {
			d.eachOnce(id)
		} else if rep.Turns != 0 {
			t.Errorf("report %+v: it stayed", rep)
		}
	}
}

// The heartbeat's own cadence is nothing to stay for, nor is what is far away.
func TestLingersForNothingElse(t *testing.T) {
	for name, at := range map[string]time.Duration{"soon, but scheduled": time.Second, "an event, but in an hour": time.Hour} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			intent := "scheduled"
			if at == time.Hour {
				intent = "immediate"
			}
			r := &runner.Runner{Store: d.store, Clock: clock.New(), Linger: true}
			r.Play(runner.Script{Plan: func(now time.Time) (heartbeat.Plan, error) {
				w := heartbeat.Planned{Wake: heartbeat.Wake{Agent: "main", Intent: intent}, Status: "deferred", RetryAt: now.Add(at)}
				return heartbeat.Plan{Wakes: []heartbeat.Planned{w}, Next: now.Add(at)}, nil
			}})
			begun := time.Now()
			if _, err := r.Tick(t.Context()); err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("stayed %s", took)
			}
		})
	}
}

func TestTickMakesTheDirectory(t *testing.T) {
	store := statetest.OpenAt(t, t.TempDir()+"/not/there", state.Options{})
	r := &runner.Runner{Store: store, Clock: clock.New()}
	r.Play(runner.Script{})
	if rep, err := r.Tick(t.Context()); err != nil || rep.Poked {
		t.Errorf("%+v, %v", rep, err)
	}
}
