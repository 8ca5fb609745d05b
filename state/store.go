package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"claw/state/internal/ledger"
	"claw/state/internal/lock"
	"claw/state/internal/vfs"
)

// FS is the file system a Store works on; nil in Options is the real one.
type FS = vfs.FS

// File is one open file of an FS.
type File = vfs.File

// OS is the real file system.
func OS() FS { return vfs.OS{} }

// Options say how to open a state directory. Only Now must be set outside of
// tests.
type Options struct {
	FS       FS               // nil: the real one
	Now      func() time.Time // wall clock, for what is written beside the records
	Boot     string           // id of this boot of the machine; empty: ask the system
	UnsafeFS bool             // accept a network file system
	ReadOnly bool             // Update is refused
}

// Store is one state directory. It may be used by many goroutines at once. It
// keeps what it has read, some hundred KiB at most: a program that sleeps for
// hours closes it meanwhile.
type Store struct {
	dir  ledger.Dir
	o    Options
	turn chan struct{} // holds a token while somebody in this process writes

	mu      sync.Mutex
	found   bool  // the directory exists and has been found fit
	format  int   // what FORMAT says; 0: it is not there
	unread  error // why FORMAT cannot be read
	journal *ledger.Journal

	syncs syncer
	memo  memo
}

// Open looks at a state directory and refuses one that is not fit: owned by
// somebody else, writable for others, on a network file system, not a
// directory. It creates nothing; a missing directory shows an empty state and
// is made by the first Update.
func Open(dir string, o Options) (*Store, error) {
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Boot == "" {
		o.Boot = bootID()
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, ledger.Wrap("open", dir, err)
	}
	s := &Store{dir: ledger.Dir{FS: o.FS, Path: abs, Boot: o.Boot}, o: o, turn: make(chan struct{}, 1)}
	if err := s.inspect(); err != nil {
		return nil, err
	}
	return s, nil
}

// Dir is the absolute path of the directory.
func (s *Store) Dir() string { return s.dir.Path }

// FS is the file system the directory is on.
func (s *Store) FS() FS { return s.dir.FS }

// ProcessDir is where one process keeps its output and its life-line,
// <dir>/processes/ID. It need not exist.
func (s *Store) ProcessDir(id string) string {
	return ProcessDir(s.dir.Path, id)
}

// ProcessDir is Store.ProcessDir for a state directory that is not open; with
// an empty id it is the folder of all of them.
func ProcessDir(dir, id string) string {
	return filepath.Join(dir, ledger.ProcessesName, id)
}

// MakeProcessDir makes the directory of a process, 0700, where an Update would
// be allowed. Its *Error says what is wrong with the state directory: full,
// read-only, newer than this program.
func (s *Store) MakeProcessDir(id string) (dir string, err error) {
	dir = s.ProcessDir(id)
	if err := s.writable(false); err != nil {
		return dir, err
	}
	return dir, ledger.Wrap("make", dir, os.MkdirAll(dir, 0o700))
}

// Close lets go of what the Store holds open. It must not be used afterwards.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal.Close()
	s.journal = nil
	return nil
}

// View shows one consistent state over all ledgers to fn. It takes no lock,
// waits for nobody and writes nothing. tx must not be used after fn returns.
func (s *Store) View(fn func(tx *Tx) error) error {
	for {
		j, err := s.load()
		if err != nil {
			return err
		}
		pins := s.dir.Pin(j)
		if s.dir.Same(j) {
			defer closeAll(pins)
			return fn(&Tx{s: s, j: j, now: s.o.Now(), pins: pins})
		}
		closeAll(pins) // a checkpoint came between: look again
	}
}

func closeAll(pins map[string]vfs.File) {
	for _, f := range pins {
		f.Close()
	}
}

// load brings the snapshot of the journal up to date. What it returns is not
// changed by later calls.
func (s *Store) load() (*ledger.Journal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.found {
		if err := s.inspectLocked(); err != nil {
			return nil, err
		}
	}
	j, err := s.dir.Load(s.journal)
	s.journal = j
	if errors.Is(err, ledger.ErrNoJournal) {
		return ledger.Empty(), nil
	}
	return j, err
}

// UpdateOption changes how one Update is carried out.
type UpdateOption func(*updating)

type updating struct {
	relaxed bool
	wait    *func() error
}

// Relaxed makes Update return without waiting for the disk: the change
// survives the death of every process, and may be lost in a power cut. The
// next Update that is not relaxed makes it durable too.
func Relaxed() UpdateOption { return func(u *updating) { u.relaxed = true } }

// Deferred makes Update return without waiting for the disk and sets wait,
// which waits, and must be called exactly once unless Update failed. What
// needs the change to be durable comes after wait; what only needs it to be
// visible goes on meanwhile.
func Deferred(wait *func() error) UpdateOption { return func(u *updating) { u.wait = wait } }

// Update runs fn under the directory's lock and writes what it has put, whole
// or not at all, and durably unless Relaxed. When fn fails nothing is written
// and its error is returned. fn must not wait for anything: all writers wait
// for it. It must be pure, for it may be run again.
//
// An error that matches ErrNotDurable says that the change has been written
// but may not be on the disk; with every other error nothing has changed. ctx
// bounds the wait for the lock only.
func (s *Store) Update(ctx context.Context, fn func(tx *Tx) error, opts ...UpdateOption) error {
	var u updating
	for _, o := range opts {
		o(&u)
	}
	if u.wait != nil {
		*u.wait = func() error { return nil } // for an fn that puts nothing
	}
	var p *ledger.Pending
	err := s.locked(ctx, func() (err error) {
		p, err = s.write(fn)
		return err
	})
	if p == nil {
		return err
	}
	if u.wait != nil {
		*u.wait = func() error {
			defer p.Close()
			return s.syncs.sync(p)
		}
		return nil
	}
	defer p.Close()
	if u.relaxed {
		return nil
	}
	return s.syncs.sync(p)
}

// locked runs fn as the only writer of the directory, in this process and in
// all others, and makes the directory first where there is none.
func (s *Store) locked(ctx context.Context, fn func() error) error {
	return s.lockedFor(ctx, false, fn)
}

// lockedFor is locked; to repair, FORMAT need not be readable.
func (s *Store) lockedFor(ctx context.Context, repair bool, fn func() error) error {
	if err := s.writable(repair); err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.create(); err != nil {
		return err
	}
	path := filepath.Join(s.dir.Path, ledger.LockName)
	unlock, err := lock.Acquire(ctx, path)
	if err != nil && ctx.Err() == nil {
		return ledger.Wrap("lock", path, err)
	}
	if err != nil {
		return err
	}
	defer unlock()
	return fn()
}

// write is one transaction, under the lock.
func (s *Store) write(fn func(tx *Tx) error) (*ledger.Pending, error) {
	j, err := s.prepare()
	if err != nil {
		return nil, err
	}
	tx := &Tx{s: s, j: j, now: s.o.Now(), write: true}
	if err := fn(tx); err != nil || len(tx.changes) == 0 {
		return nil, err
	}
	p, err := s.dir.Commit(j, tx.changes, tx.now)
	if err != nil {
		return nil, err
	}
	s.syncs.last.Store(p)
	if j.End/maxJournal != p.End/maxJournal || len(tx.problems) > 0 {
		s.checkpoint(p)
	}
	return p, nil
}

// maxJournal is the size at which the journal is checkpointed, and every
// multiple of it at which that is tried again where it has failed. It bounds
// what every command reads, and what one checkpoint has to move.
const maxJournal = 128 << 10

// prepare loads the journal for writing: made where there is none, checkpointed
// when it is from another boot, without a torn tail.
func (s *Store) prepare() (*ledger.Journal, error) {
	j, err := s.load()
	if err != nil {
		return nil, err
	}
	if j.Header.Journal > ledger.Format {
		return nil, s.newer(j.Header.Journal)
	}
	if j.Rebuilt {
		return nil, &Error{Op: "write", Path: s.dir.Path, Why: j.Bad[0].Why, Hint: j.Bad[0].Hint, Err: ErrDamaged}
	}
	if j.Header.Generation == 0 {
		if err := s.dir.Init(s.o.Now()); err != nil {
			return nil, err
		}
		return s.load()
	}
	return s.settle(j)
}

// settle makes a journal fit to be appended to.
func (s *Store) settle(j *ledger.Journal) (*ledger.Journal, error) {
	if err := s.dir.FinishRenames(j); err != nil {
		return nil, err
	}
	if j.Header.Boot != s.dir.Boot || len(j.Bad) > 0 {
		// A checkpoint that fails, on a full disk or for a missing ledger,
		// leaves the state as it was; the journal alone is enough to go on.
		_ = s.dir.Checkpoint(j, s.archivable, s.o.Now())
		var err error
		if j, err = s.load(); err != nil {
			return nil, err
		}
		if err = s.dir.FinishRenames(j); err != nil {
			return nil, err
		}
	}
	if len(j.Tail) == 0 {
		return j, nil
	}
	if err := s.dir.CutTail(j); err != nil {
		return nil, err
	}
	return s.load()
}

// checkpoint moves the journal into the ledgers after a transaction has made
// it too long. Its failure does not touch the transaction: the next one tries
// again.
func (s *Store) checkpoint(p *ledger.Pending) {
	j, err := s.load()
	if err == nil && s.dir.Checkpoint(j, s.archivable, s.o.Now()) == nil {
		p.Durable = true
	}
}

// syncer lets the goroutines of one process share a sync of the journal: one
// whose transaction stood in the file when another's sync began need not ask
// again.
type syncer struct {
	last atomic.Pointer[ledger.Pending] // the newest transaction of this process

	mu     sync.Mutex
	synced *ledger.Pending // the newest one that is durable
}

func (s *syncer) sync(p *ledger.Pending) error {
	if p.Durable {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.UpTo(s.synced) {
		return nil
	}
	last := s.last.Load()
	if !p.UpTo(last) {
		last = p
	}
	err := p.Sync()
	if err == nil {
		s.synced = last
	}
	return err
}
