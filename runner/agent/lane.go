package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"claw/runner/clock"
	"claw/runner/settle"
	"claw/state"
	"claw/state/session"
)

// The lane of a session is sessions/FILE.lock: who holds it may run a turn,
// and nobody else. Whoever waits for it holds sessions/FILE.next, so that the
// next in line goes first and others can see that there is one. Both files are
// empty and stay; no child ever gets their descriptors (pains B12).
//
// A free lock does not mean that nothing runs: whoever waited for a turn may
// have died, and its argv goes on under its supervisor. So whoever takes a
// lane first waits for and ends what was left in it (clear).
const (
	lockExt = ".lock"
	nextExt = ".next"
)

// file is a file of a session's own.
func file(store *state.Store, sessionKey, ext string) string {
	return filepath.Join(store.Dir(), "sessions", session.FileName(sessionKey)+ext)
}

// Lane tells whether the lane of a session is taken, by a waiting claw or by
// an agent that goes on without one, and whether somebody waits for it. It
// waits for nothing and writes nothing.
func Lane(store *state.Store, sessionKey string) (held, queued bool, err error) {
	held, err1 := state.Held(file(store, sessionKey, lockExt))
	queued, err2 := state.Held(file(store, sessionKey, nextExt))
	if err := errors.Join(err1, err2); err != nil || held {
		return held, queued, err
	}
	left, err := live(store, sessionKey)
	for _, t := range left {
		held = held || running(store, t)
	}
	return held, queued, err
}

// live are the turns that have not ended, of one session or ("") of all.
func live(store *state.Store, sessionKey string) ([]session.Turn, error) {
	var found []session.Turn
	err := store.View(func(tx *state.Tx) error {
		found = found[:0]
		rows, err := state.Turns.All(tx)
		for _, row := range rows {
			if t := row.Rec; !t.Status.Ended() && (sessionKey == "" || t.SessionKey == sessionKey) {
				found = append(found, t)
			}
		}
		return err
	})
	return found, err
}

// running tells whether the argv of a turn is alive: its supervisor is.
func running(store *state.Store, t session.Turn) bool {
	if t.ProcessID == "" {
		return false
	}
	held, err := state.Held(settle.Lifeline(store.ProcessDir(t.ProcessID)))
	return held || err != nil
}

// errPatience ends a wait for a lane.
var errPatience = errors.New("the time to wait for the lane is over")

// queue is one who wants a lane.
type queue struct {
	*Turns
	key  string
	wait time.Duration // see Request.Wait
	told func(holder string)
}

// take gives the lane of a session with nothing left in it. The error is a
// *BusyError when it was not to be had in time.
func (r *Turns) take(ctx context.Context, key string, wait time.Duration, told func(string)) (leave func(), err error) {
	if err := makeFolder(r.Store); err != nil {
		return nil, err
	}
	if wait > 0 {
		patient, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		go func() {
			if clock.Sleep(patient, r.Clock, wait) == nil {
				cancel(errPatience)
			}
		}()
		ctx = patient
	}
	q := queue{Turns: r, key: key, wait: wait, told: told}
	first, err := q.lock(ctx, nextExt)
	if err != nil {
		return nil, err
	}
	defer first()
	if leave, err = q.lock(ctx, lockExt); err != nil {
		return nil, err
	}
	if err := q.clear(ctx); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// makeFolder makes the folder of the sessions, where an Update would be
// allowed.
func makeFolder(store *state.Store) error {
	dir := filepath.Join(store.Dir(), "sessions")
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	// The first Update makes the state directory; it is asked whether it may.
	if err := store.Update(context.Background(), func(*state.Tx) error { return nil }); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return &state.Error{Op: "make", Path: dir, Why: err.Error(), Hint: "claw doctor says what is wrong with the state directory", Err: err}
	}
	return nil
}

// lock takes one of the two files.
func (q *queue) lock(ctx context.Context, ext string) (unlock func(), err error) {
	path := file(q.Store, q.key, ext)
	for {
		unlock, ok, err := state.TryLock(path)
		if ok || err != nil {
			return unlock, err
		}
		if err := q.await(ctx, path); err != nil {
			return nil, err
		}
	}
}

// await waits until nobody holds the lock at path.
func (q *queue) await(ctx context.Context, path string) error {
	if q.wait == 0 {
		return q.busy()
	}
	if q.told != nil {
		words, _ := q.holder(q.key)
		q.told(words)
		q.told = nil
	}
	err := state.LockShared(ctx, path)
	if err != nil && errors.Is(context.Cause(ctx), errPatience) {
		return q.busy()
	}
	return err
}

func (q *queue) busy() error {
	words, _ := q.holder(q.key)
	return &BusyError{SessionKey: q.key, Holder: words}
}

// clear waits for the agents that go on in the lane without anybody waiting
// for them, and ends their turns.
func (q *queue) clear(ctx context.Context) error {
	left, err := live(q.Store, q.key)
	if err != nil {
		return err
	}
	for _, t := range left {
		for running(q.Store, t) {
			if err := q.await(ctx, settle.Lifeline(q.Store.ProcessDir(t.ProcessID))); err != nil {
				return err
			}
		}
		if _, _, err := q.conclude(ctx, t, true); err != nil {
			return err
		}
	}
	return nil
}

// holder says in words who is in a lane, and the pid of an agent, if that is
// known.
func (r *Turns) holder(key string) (words string, pid int) {
	words = "another claw"
	r.Store.View(func(tx *state.Tx) error {
		s, ok, err := state.Sessions.Get(tx, key)
		if err != nil || !ok {
			return err
		}
		t, ok, err := state.Turns.Get(tx, s.Rec.TurnID)
		if err != nil || !ok || t.Rec.Status.Ended() {
			return err
		}
		words, pid = describe(tx, t.Rec)
		return nil
	})
	return words, pid
}

// describe is a turn as others are told of it.
func describe(tx *state.Tx, t session.Turn) (words string, pid int) {
	words = "turn " + t.ID + " of agent " + t.Agent + " since " + t.CreatedAt.Local().Format("15:04")
	if t.ProcessID == "" {
		return words, 0
	}
	if p, ok, err := state.Processes.Get(tx, t.ProcessID); err == nil && ok && p.Rec.Root.PID != 0 {
		pid = p.Rec.Root.PID
		words += " (pid " + strconv.Itoa(pid) + ")"
	}
	return words, pid
}
