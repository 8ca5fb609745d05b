package crash_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/runner"
	"claw/runner/agent"
	"claw/runner/deliver"
	"claw/runner/settle"
	"claw/runner/tasks"
	"claw/state"
	"claw/state/boot"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/process"
	"claw/state/session"
	"claw/state/statetest"
	"claw/state/task"
	"claw/state/ulid"
)

// The scenarios of spec/tasks-recovery.md 7, as far as they need a state
// directory; TestScenarioRules has those that are a rule, TestFlowScenarios those
// of flows, TestAnnounceScenarios those of sub-agents that tell of their end. 37
// (hooks) stands in state/external (TestPlan) and runner/hook (TestDeadline,
// TestBudget, TestCrash), and of 38 the random ids in runner/hook (TestMarkers).
func TestScenarios(t *testing.T) {
	scenes(t, map[string]func(s *scene){
		"scenario 1: running rows survive a restart for ever (openclaw#78463, #65136, #75307, #79226, #88205)":                   runningForEver,
		"scenario 2: a second drain waits for the same dead rows (openclaw#143420)":                                              secondDrain,
		"scenario 3: a task without a child is taken for backed (openclaw#116329, #116343)":                                      childless,
		"scenario 4: maintenance from another program kills live work (openclaw#127985)":                                         offlineMaintenance,
		"scenario 6: there is no clean way to cancel (openclaw#61610, #62506, #73121)":                                           cancelRow,
		"scenario 11: expired records are never pruned (openclaw#78169, #79035, #126063)":                                        prunedAtOnce,
		"scenarios 18 and 22: sent, or stranded while being sent, and replayed (openclaw#29106, #50496, #50850, #99600, #90233)": strandedSend,
		"scenario 19: hours-old messages are sent in bulk (openclaw#39138)":                                                      tooOld,
		"scenario 20: retried for ever, or given up for an outage (openclaw#23777, #33403, #74321, #126800)":                     retriedForEver,
		"scenario 21: told failed, and sent later all the same (openclaw#79376, #124279)":                                        sentLater,
		"scenario 23: dead letters cannot be seen or put away (openclaw#112313, #126522, #99842)":                                deadLetters,
		"scenario 24: succeeded, and never announced (openclaw#133058, #82875, #128245)":                                         neverAnnounced,
		"scenarios 25 and 26: the wake of a completion is dropped, or read as a poll (openclaw#123067, #127862, #66487, #69626)": completionWake,
		"scenario 30: a session is fenced for ever (openclaw#117096, #128827, #132121, #140467, #146692)":                        fencedForEver,
		"scenario 31: a recovered answer is in the transcript only (openclaw#127339, #88021, #90282)":                            recoveredRoute,
		"scenarios 32 and 34: a drain ignores a turn, or never ends (openclaw#118147, #127375, #133647)":                         boundedDrain,
		"scenario 35: what was to follow a restart is lost (openclaw#74424, #86742, #106138, #131888, #138489)":                  continuedOnce,
		"scenario 39: an unreadable ledger is taken for an empty one (openclaw#77783, #97555, #95123, #87217)":                   emptyLedger,
		"scenario 40: no way out of a tombstone, a dry run that disagrees (openclaw#137264, #130196)":                            outOfTheTombstone,
	})
}

// scene is a life whose errors end the test.
type scene struct {
	*testing.T
	*life
	dir string
}

// newScene is one on a new state directory.
func newScene(t *testing.T) *scene {
	s := &scene{T: t, dir: filepath.Join(t.TempDir(), "state")}
	s.life = s.begin(newWorld())
	return s
}

// scenes plays each by itself.
func scenes(t *testing.T, all map[string]func(s *scene)) {
	for name, play := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(newScene(t))
		})
	}
}

func (s *scene) begin(w *world) *life {
	s.Helper()
	l, err := w.begin(statetest.Fast(s.dir), s.dir, "now", 0)
	s.ok(err)
	s.Cleanup(func() { l.Store.Close() })
	return l
}

func (s *scene) ok(errs ...error) {
	s.Helper()
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
}

// now is everything there is.
func (s *scene) now() rows {
	s.Helper()
	r, err := s.rows()
	s.ok(err)
	return r
}

// after lets time pass and makes a tick.
func (s *scene) after(d time.Duration) {
	s.Helper()
	s.wait(d)
	s.ok(s.tick())
}

// command is one in the background.
func (s *scene) command(marker string) (id string) {
	s.Helper()
	id, err := s.process(marker, true)
	s.ok(err)
	return id
}

// alive holds the life-line of a process, as its supervisor does.
func (s *scene) alive(id string) (die func()) {
	s.Helper()
	dir, err := s.Store.MakeProcessDir(id)
	s.ok(err)
	die, free, err := state.TryLock(settle.Lifeline(dir))
	if s.ok(err); !free {
		s.Fatal("somebody else holds the life-line")
	}
	return die
}

func (s *scene) keeper() *tasks.Keeper {
	return &tasks.Keeper{Store: s.Store, Clock: s.clock, Turns: s.Turns, Patience: time.Second}
}

// sent are the messages with a marker.
func (s *scene) sent(marker string) (found []delivery.Delivery) {
	s.Helper()
	for _, d := range s.now().deliveries {
		if strings.Contains(d.Text, marker) {
			found = append(found, d)
		}
	}
	return found
}

func runningForEver(s *scene) {
	s.command("amber-reef")
	s.after(time.Minute)
	r := s.now()
	if r.tasks[0].Status != task.Lost || task.Blocks(r.tasks[0]) || r.open() != "" {
		s.Errorf("%+v", r.tasks[0])
	}
	list, err := s.keeper().List(tasks.Filter{})
	if s.ok(err); list.Summary.Active != 0 || s.w.heard("amber-reef") != 1 {
		s.Errorf("%d are active, the end was told %d times", list.Summary.Active, s.w.heard("amber-reef"))
	}
	s.after(time.Minute)
	s.ok(s.now().kept(r.final()))
}

func secondDrain(s *scene) {
	s.command("amber-reef")
	s.command("coral-inlet")
	for range 2 {
		drained, waited := s.drain(5*time.Minute, nil)
		if drained.Outcome != boot.CleanStop || waited > time.Minute {
			s.Errorf("the drain took %s and ended as %s: %s", waited, drained.Outcome, drained.Reason)
		}
	}
}

// drain starts a runner and drains it; busy is done while it is at work.
func (s *scene) drain(budget time.Duration, busy func()) (boot.Boot, time.Duration) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- runner.Run(ctx, runner.Options{Dir: s.dir, Clock: s.clock, Load: s.reopened, Log: func(string) {}})
	}()
	for up := false; !up; time.Sleep(time.Millisecond) {
		at, err := runner.Look(s.dir)
		if up = err == nil && at.Running; ctx.Err() != nil {
			s.Fatal("it does not begin to work")
		}
	}
	if busy != nil {
		busy()
	}
	begun := s.clock.Elapsed()
	asked, err := runner.Drain(ctx, s.Store, s.clock, budget)
	s.ok(err)
	b, err := asked.Wait(ctx, s.clock)
	s.ok(err, <-ended)
	return b, s.clock.Elapsed() - begun
}

func childless(s *scene) {
	id := ulid.New(s.clock.Now())
	t, err := task.New(task.Task{
		ID: id, Runtime: task.ACP, Kind: "context_engine_turn_maintenance", OwnerKey: mainKey, RequesterSessionKey: mainKey, Task: "a job", Status: task.Running,
	}, s.clock.Now())
	s.ok(err, s.update(func(tx *state.Tx) error { return state.Tasks.Put(tx, id, 0, t) }))
	k := s.keeper()
	k.Authority = true
	var first task.Task
	for i := range 3 {
		s.wait(10 * time.Minute)
		_, err := k.Maintain(context.Background(), true)
		s.ok(err)
		if got := s.now().tasks[0]; i == 0 {
			first = got
		} else if got.Status != first.Status || !got.EndedAt.Equal(first.EndedAt) || !got.CleanupAfter.Equal(first.CleanupAfter) {
			s.Errorf("%+v has become %+v", first, got)
		}
	}
	if first.Status != task.Lost || first.Error != "backing session missing" {
		s.Errorf("%+v", first)
	}
}

func offlineMaintenance(s *scene) {
	id := s.command("amber-reef")
	die := s.alive(id)
	s.wait(2 * time.Hour)
	other := s.begin(s.w)
	report, err := (&tasks.Keeper{Store: other.Store, Clock: other.clock}).Maintain(context.Background(), true)
	s.ok(err)
	if len(report.Changes) != 0 || s.now().tasks[0].Status != task.Running {
		s.Errorf("%+v", report)
	}
	s.ok(s.ended(id, 0))
	die()
	s.after(0)
	if got := s.now().tasks[0]; got.Status != task.Succeeded || s.w.heard("amber-reef") != 1 {
		s.Errorf("%+v, told %d times", got, s.w.heard("amber-reef"))
	}
}

func cancelRow(s *scene) {
	id := ulid.New(s.clock.Now())
	t, err := task.New(task.Task{ID: id, Runtime: task.CLI, OwnerKey: mainKey, RequesterSessionKey: mainKey, Task: "a job", Status: task.Running}, s.clock.Now())
	s.ok(err, s.update(func(tx *state.Tx) error { return state.Tasks.Put(tx, id, 0, t) }))
	ctx, k := context.Background(), s.keeper()
	if got, err := k.Cancel(ctx, "nothing-like-it"); err == nil && got.Found {
		s.Errorf("%+v", got)
	}
	got, err := k.Cancel(ctx, id[:20]) // as a short id is printed and typed
	if s.ok(err); !got.Cancelled || got.Task.Status != task.Cancelled || got.Task.Error != "Cancelled by operator." {
		s.Errorf("%+v", got)
	}
	got, err = k.Cancel(ctx, id)
	if s.ok(err); got.Cancelled || !got.Found || !strings.Contains(got.Reason, "already terminal (cancelled)") {
		s.Errorf("%+v", got)
	}
}

func prunedAtOnce(s *scene) {
	s.ok(s.ended(s.command("amber-reef"), 0))
	s.after(0)
	k := s.keeper()
	k.Authority, k.Keep = true, 7*24*time.Hour
	for _, step := range []struct {
		wait time.Duration
		left int
	}{{7*24*time.Hour - time.Minute, 1}, {time.Minute, 0}} {
		s.wait(step.wait)
		_, err := k.Maintain(context.Background(), true)
		if s.ok(err); len(s.now().tasks) != step.left {
			s.Errorf("%d rows are left, want %d", len(s.now().tasks), step.left)
		}
	}
}

// strandedSend: claw died between the marker and the receipt. Whether the
// message has arrived is not known; it is seen, and not sent again.
func strandedSend(s *scene) {
	id := s.strand("errand-one")
	for range 3 {
		s.after(11 * time.Minute)
	}
	all, err := deliver.List(s.Store, s.clock.Now(), false)
	s.ok(err)
	if len(all) != 1 || all[0].State != delivery.Unknown || s.w.heard("errand-one") != 0 {
		s.Errorf("%+v, sent %d times", all, s.w.heard("errand-one"))
	}
	_, err = s.Post.Retry(context.Background(), id)
	if s.ok(err); s.w.heard("errand-one") != 1 || s.sent("errand-one")[0].IdempotencyKey != all[0].IdempotencyKey {
		s.Errorf("a person has it sent: %d times, %+v", s.w.heard("errand-one"), s.sent("errand-one"))
	}
}

// strand is a message whose sender has died after it had begun to send it.
func (s *scene) strand(text string) (id string) {
	s.Helper()
	id = s.intend(text, here)
	s.ok(s.update(func(tx *state.Tx) error {
		row, _, err1 := state.Deliveries.Get(tx, id)
		d, err2 := delivery.Begin(row.Rec, delivery.Sender(gone), tx.Now())
		return errors.Join(err1, err2, state.Deliveries.Put(tx, id, row.Rev, d))
	}))
	return id
}

func (s *scene) intend(text string, r delivery.Route) (id string) {
	s.Helper()
	id = ulid.New(s.clock.Now())
	s.ok(s.update(func(tx *state.Tx) error {
		_, err := s.Post.Intend(tx, delivery.Delivery{ID: id, Route: r, Text: text})
		return err
	}))
	return id
}

func tooOld(s *scene) {
	s.intend("errand-old", here)
	s.wait(time.Minute)
	s.intend("errand-young", here)
	s.after(72*time.Hour - time.Minute)
	if s.w.heard("errand-old") != 0 || s.w.heard("errand-young") != 1 {
		s.Errorf("heard %q", s.w.said)
	}
	if got := s.sent("errand-old")[0]; got.State != delivery.Failed || got.Attempts != 0 {
		s.Errorf("%+v", got)
	}
}

func retriedForEver(s *scene) {
	s.w.deaf = 100
	s.intend("errand-one", here)
	s.intend("errand-two", delivery.Route{Channel: "not-there-now"})
	for range 20 {
		s.after(11 * time.Minute)
	}
	if got := s.sent("errand-one")[0]; got.State != delivery.Failed || got.Attempts != 5 || s.w.deaf != 95 {
		s.Errorf("%s after %d attempts, %d were made", got.State, got.Attempts, 100-s.w.deaf)
	}
	if got := s.sent("errand-two")[0]; got.State != delivery.Pending || got.Attempts != 0 {
		s.Errorf("%s after %d attempts", got.State, got.Attempts)
	}
}

func sentLater(s *scene) {
	s.w.deaf = 5
	id := s.intend("errand-one", here)
	for range 8 {
		s.after(11 * time.Minute)
	}
	if got := s.sent("errand-one")[0]; got.State != delivery.Failed || s.w.deaf != 0 {
		s.Fatalf("%+v", got)
	}
	s.after(time.Hour)
	if s.w.heard("errand-one") != 0 {
		s.Error("it had failed for good, and was sent")
	}
	_, err := s.Post.Retry(context.Background(), id)
	if s.ok(err); s.w.heard("errand-one") != 1 {
		s.Error("a person could not have it sent")
	}
}

func deadLetters(s *scene) {
	s.w.deaf = 100
	id := s.intend("errand-one", here)
	for range 8 {
		s.after(11 * time.Minute)
	}
	all, err := deliver.List(s.Store, s.clock.Now(), false)
	if s.ok(err); len(all) != 1 || all[0].State != delivery.Failed {
		s.Errorf("%+v", all)
	}
	_, err = s.Post.Dismiss(context.Background(), id, "I know")
	if s.ok(err); s.sent("errand-one")[0].State != delivery.Dismissed {
		s.Errorf("%+v", s.sent("errand-one"))
	}
	again := s.intendAgain(s.sent("errand-one")[0].IdempotencyKey)
	if s.after(time.Minute); again != id || len(s.sent("errand-one")) != 1 {
		s.Error("what a person has put away is there again")
	}
}

// intendAgain asks for a message under a key that is known.
func (s *scene) intendAgain(key string) (id string) {
	s.Helper()
	s.ok(s.update(func(tx *state.Tx) error {
		d, err := s.Post.Intend(tx, delivery.Delivery{IdempotencyKey: key, Route: here, Text: "errand-one"})
		id = d.ID
		return err
	}))
	return id
}

func neverAnnounced(s *scene) {
	s.w.deaf = 100
	id := ulid.New(s.clock.Now())
	s.ok(s.update(func(tx *state.Tx) error {
		p := process.Process{
			ID: id, Slug: "amber-reef", Agent: "main", Session: mainKey, Command: "make amber-reef", Argv: []string{"make"}, Phase: process.Running,
			NotifyOnExit: true, CreatedAt: tx.Now(), StartedAt: tx.Now(), TTLMs: 1_800_000, Root: gone, Origin: here,
		}
		return errors.Join(settle.AddTask(tx, &p), state.Processes.Put(tx, p.ID, 0, p))
	}), s.ended(id, 0))
	for range 8 {
		s.after(11 * time.Minute)
	}
	if got := s.now().tasks[0]; got.Status != task.Succeeded || got.DeliveryStatus != task.DeliveryFailed {
		s.Errorf("%s, delivery %s", got.Status, got.DeliveryStatus)
	}
	queued := 0
	for _, e := range s.now().events {
		if strings.Contains(e.Text, "amber-reef") {
			queued++
		}
	}
	if queued > 1 {
		s.Errorf("the session was told %d times", queued)
	}
	audit, err := s.keeper().Audit(tasks.AuditFilter{Code: task.FindDeliveryFailed})
	if s.ok(err); audit.FilteredCount != 1 {
		s.Errorf("the audit finds %+v", audit.Findings)
	}
}

// completionWake: the heartbeat of these agents is off (every 0), and the end
// of a command wakes all the same, under a marker of its own, once.
func completionWake(s *scene) {
	s.ok(s.ended(s.command("amber-reef"), 3))
	s.after(0)
	s.after(time.Minute)
	r := s.now()
	if len(r.turns) != 1 || !strings.HasPrefix(r.turns[0].Message, "[OpenClaw exec completion]\n") || !strings.Contains(r.turns[0].Message, "amber-reef") {
		s.Fatalf("%+v", r.turns)
	}
	if r.events[0].State != event.Consumed || len(s.sent("amber-reef")) != 1 || s.w.heard("amber-reef") != 1 {
		s.Errorf("the event is %s, heard %q", r.events[0].State, s.w.said)
	}
}

// fencedForEver: an attempt dies before its agent is started, the machine
// starts anew, a person writes: neither claim nor reservation stays behind.
func fencedForEver(s *scene) {
	s.ok(s.cutOff(func() error { return s.ask("errand-one") }), s.lose("errand-one"), s.settle())
	s.wait(time.Minute)
	s.ok(s.cutOff(s.tick))
	s.life = s.begin(s.w)
	s.ok(s.ask("errand-two"))
	for range 3 {
		s.after(11 * time.Minute)
	}
	s.ok(s.ask("errand-three"), s.tick())
	r := s.now()
	if c := r.sessions[0].Recovery; r.open() != "" || c.Foreground != "" || c.Reservation.TurnID != "" {
		s.Errorf("%s; %+v", r.open(), c)
	}
	for _, marker := range []string{"errand-two", "errand-three"} {
		if s.w.heard(marker) != 1 {
			s.Errorf("%s was answered %d times", marker, s.w.heard(marker))
		}
	}
}

// recoveredRoute: the session has meanwhile been spoken to from elsewhere; the
// answer of what was cut off goes where that came from.
func recoveredRoute(s *scene) {
	s.ok(s.cutOff(func() error { return s.ask("errand-one") }), s.lose("errand-one"), s.settle())
	s.ok(s.update(func(tx *state.Tx) error {
		row, _, err := state.Sessions.Get(tx, mainKey)
		row.Rec.Route = delivery.Route{Channel: "inbox", To: "somebody else"}
		return errors.Join(err, state.Sessions.Put(tx, row.ID, row.Rev, row.Rec))
	}))
	s.after(time.Minute)
	got := s.sent("errand-one")
	if len(got) != 1 || got[0].Route != here || got[0].State != delivery.Delivered || s.w.heard("errand-one") != 1 {
		s.Errorf("%+v", got)
	}
}

// boundedDrain: a turn whose agent runs is waited for, whoever has begun it; one
// that does not end holds nobody up beyond the budget.
func boundedDrain(s *scene) {
	s.ok(s.cutOff(func() error { return s.ask("errand-one") }), s.launch(""))
	open, err := s.open()
	s.ok(err)
	defer s.alive(open[0].Rec.ProcessID)()
	b, _ := s.drain(300*time.Millisecond, nil)
	if b.Outcome != boot.ForcedStop || !strings.Contains(b.Reason, open[0].ID) {
		s.Errorf("%s: %s", b.Outcome, b.Reason)
	}
	if left, err := s.open(); err != nil || len(left) != 1 {
		s.Errorf("the turn has ended with the runner: %v %v", left, err)
	}
}

// continuedOnce: two restarts that are one, with the heartbeat off.
func continuedOnce(s *scene) {
	s.ok(restartStory(s.life))
	s.after(time.Minute)
	for marker, promised := range s.w.owed {
		if n := s.w.heard(marker); promised && n != 1 || n > 1 {
			s.Errorf("%q was carried out %d times", marker, n)
		}
	}
	if !s.w.owed["carry on with the roof"] {
		s.Error("no restart was accepted")
	}
}

func emptyLedger(s *scene) {
	s.ok(s.ended(s.command("amber-reef"), 0), s.tick(), s.Store.Checkpoint(context.Background()))
	name := filepath.Join(s.dir, "ledgers", "tasks.jsonl")
	f, err := s.fs.OpenFile(name, 2, 0) // O_RDWR
	s.ok(err, f.Truncate(0), f.Close())
	s.life = s.begin(s.w)
	err = s.Store.View(func(tx *state.Tx) error {
		all, err := state.Tasks.All(tx)
		if err == nil {
			s.Errorf("%d tasks, and no error", len(all))
		}
		return nil
	})
	s.ok(err)
	err = s.update(func(tx *state.Tx) error { return state.Tasks.Put(tx, "T", 0, task.Task{ID: "T"}) })
	if err == nil {
		s.Error("it was begun anew")
	}
	s.wipe()
}

// wipe takes away what was spoilt on purpose.
func (s *scene) wipe() { statetest.Remove(s, s.dir) }

func outOfTheTombstone(s *scene) {
	s.ok(s.cutOff(func() error { return s.ask("errand-one") }), s.lose("errand-one"))
	for i := range session.Budget {
		s.ok(s.settle())
		s.wait(time.Minute)
		plan, err := s.Recoverer().Plan(s.clock.Now())
		if s.ok(err); len(plan.Items) != 1 || plan.Items[0].NextAttempt != i+1 || !plan.Items[0].Due {
			s.Fatalf("before attempt %d it foresees %+v", i+1, plan.Items)
		}
		s.ok(s.cutOff(s.tick))
		if open, err := s.open(); err != nil || len(open) != 1 || open[0].Rec.Attempt != i+1 {
			s.Fatalf("attempt %d was foreseen, %+v was made", i+1, open)
		}
		s.ok(s.lose(""))
	}
	s.ok(s.settle())
	s.after(time.Minute)
	items, err := s.Recoverer().List(s.clock.Now(), false)
	if s.ok(err); len(items) != 1 || items[0].State != session.ViewTombstoned || items[0].Remedy != "claw sessions new" {
		s.Fatalf("%+v", items)
	}
	if _, fenced := errors.AsType[*agent.FencedError](s.ask("errand-never")); !fenced || s.w.heard("errand-one") != 1 {
		s.Errorf("a tombstone takes work: %t; the person was told %d times", !fenced, s.w.heard("errand-one"))
	}
	_, _, err = s.Turns.Renew(context.Background(), mainKey, "main")
	s.ok(err, s.ask("errand-two"), s.tick())
	if s.w.heard("errand-two") != 1 || slices.ContainsFunc(s.w.said, func(text string) bool { return strings.Contains(text, "errand-never") }) {
		s.Errorf("%q", s.w.said)
	}
}
