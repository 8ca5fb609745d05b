package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/internal/pty"
	"claw/runner/output"
	"claw/state"
	"claw/state/process"
)

// A panic in a supervisor is a bug of claw, and must not cost anybody their
// work. The program executes itself again in place: the pid, and with it the
// parenthood of the command and the role of subreaper, stay; so do the open
// descriptors that the handover names. What was in memory is either in the
// handover or on disk.

const (
	resumeVar = "CLAW_SUPERVISE_RESUME"
	// maxPanics bounds a supervisor that panics at the same spot for ever;
	// after that it dies, and the process is settled as lost.
	maxPanics = 5
	// rescuePatience is how long a re-execution waits for readers to put down
	// what they hold. The reader that panicked itself never does.
	rescuePatience = 200 * time.Millisecond
)

// handover is what a supervisor tells its next incarnation.
type handover struct {
	Spec      Spec             `json:"spec"` // without the environment and the command
	Root      process.Identity `json:"root"`
	Ungrouped bool             `json:"ungrouped,omitempty"`
	Forced    process.Reason   `json:"forced,omitempty"`
	Killing   bool             `json:"killing,omitempty"`
	LeftMs    int64            `json:"leftMs,omitempty"`   // until the deadline; 0 none
	SilentMs  int64            `json:"silentMs,omitempty"` // since it printed something
	Exited    *proc.Status     `json:"exited,omitempty"`
	Attached  bool             `json:"attached,omitempty"`
	Announced bool             `json:"announced,omitempty"`
	Recorded  bool             `json:"recorded,omitempty"`
	Warnings  []string         `json:"warnings,omitempty"`
	Rest      []byte           `json:"rest,omitempty"` // what the caller has still to get
	Told      *toldFrame       `json:"told,omitempty"` // what it asked and was not done
	Panics    int              `json:"panics"`
	Cursor    string           `json:"cursor,omitempty"`

	Lifeline int   `json:"lifeline"`
	Conn     int   `json:"conn"` // -1 where there is none, here and below
	Control  int   `json:"control"`
	Stdin    int   `json:"stdin"`
	Master   int   `json:"master"`
	Slave    int   `json:"slave"`
	Streams  []int `json:"streams,omitempty"`
}

// rescue is deferred in every goroutine of a supervisor.
func rescue(s *supervisor) {
	cause := recover()
	if cause == nil {
		return
	}
	s.note(fmt.Sprintf("panic: %v\n%s", cause, debug.Stack()))
	err := s.reexecute()
	s.note("execute the supervisor again: " + err.Error())
	os.Exit(2)
}

// toldFrame is a frame of the caller in JSON.
type toldFrame struct {
	Kind    kind   `json:"kind"`
	Payload []byte `json:"payload,omitempty"`
}

// reexecute does not return unless it failed. First everything that reads or
// writes is brought to a stop; what cannot be, because it is what panicked, is
// not waited for.
func (s *supervisor) reexecute() error {
	s.link.freeze()
	tryLock(&s.gate)
	h := s.handover()
	if h.Panics > maxPanics {
		return fmt.Errorf("%d panics are enough", h.Panics)
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return err
	}
	note, err := s.keepNote(raw)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, fd := range append(h.descriptors(), note) {
		unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
	}
	env := append(supervisorEnv(os.Environ(), s.id), resumeVar+"="+strconv.Itoa(note))
	return syscall.Exec(self, []string{"claw", Command, s.id}, env)
}

// keepNote writes raw to a file without a name and returns its descriptor. A
// pipe would not do: raw may hold a few hundred KiB of output.
func (s *supervisor) keepNote(raw []byte) (int, error) {
	var failed error
	for _, dir := range []string{s.dir, os.TempDir()} {
		f, err := os.CreateTemp(dir, ".handover")
		if err == nil {
			os.Remove(f.Name())
			_, err = f.WriteAt(raw, 0)
		}
		if err == nil {
			return int(f.Fd()), nil
		}
		failed = errors.Join(failed, err)
	}
	return -1, failed
}

func tryLock(mu interface{ TryLock() bool }) {
	for end := time.Now().Add(rescuePatience); !mu.TryLock() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

var (
	_ interface{ TryLock() bool } = (*sync.RWMutex)(nil)
	_ interface{ TryLock() bool } = (*sync.Mutex)(nil)
)

func (s *supervisor) handover() handover {
	h := handover{
		Spec: s.spec, Root: s.root, Ungrouped: s.ungrouped, Forced: s.forced, Killing: s.killing != nil,
		Exited: s.ended(), Attached: s.link.attached(), Announced: s.announced, Recorded: s.recorded, Warnings: s.warnings, Panics: s.panics + 1,
		Lifeline: int(s.lifeline.Fd()), Conn: -1, Control: -1, Stdin: -1, Master: -1, Slave: -1,
	}
	h.Spec.Env, h.Spec.Argv, h.Spec.Row.Command, h.Spec.Rush = nil, nil, "", false
	h.LeftMs = s.left(h.Exited != nil)
	h.SilentMs = (s.clock.Elapsed() - s.lastPrinted()).Milliseconds()
	if h.Exited != nil && h.Forced == "" {
		switch at := s.endedAt(); {
		case s.pastDeadline(at):
			h.Forced = process.ReasonOverallTimeout
		case s.silentFor(at):
			h.Forced = process.ReasonNoOutputTimeout
		}
	}
	if s.link.attached() || !s.announced {
		h.Conn = int(s.link.conn.Fd())
	}
	if s.link.attached() {
		h.Rest = s.link.unfinished(s.streams)
		// The end of the caller is heard again by itself.
		if f := s.link.inHand.Load(); f != nil && f.kind != 0 {
			h.Told = &toldFrame{f.kind, f.payload}
		}
	}
	if s.control != nil {
		h.Control = int(s.control.file.Fd())
	}
	if s.term != nil {
		h.Master, h.Slave = s.term.Descriptors()
		h.Cursor = s.responder.CursorMode().String()
		return h
	}
	if s.stdin.writable() {
		h.Stdin = descriptor(s.stdin.file)
	}
	for _, st := range s.streams {
		h.Streams = append(h.Streams, descriptor(st.file))
	}
	return h
}

// left is what remains until the deadline in milliseconds, 1 at least; 0
// where none is to come any more.
func (s *supervisor) left(ended bool) int64 {
	if s.deadline == 0 || ended {
		return 0
	}
	return max(1, (s.deadline - s.clock.Elapsed()).Milliseconds())
}

// endedAt is when the end was seen; now, if that is only happening.
func (s *supervisor) endedAt() time.Duration {
	if s.exited != nil {
		return s.exitedAt
	}
	return s.clock.Elapsed()
}

// ended is how the command ended, if it has: the loop may not have heard of
// it yet. Nothing is reaped from here on.
func (s *supervisor) ended() *proc.Status {
	if s.reaper == nil {
		return s.exited
	}
	if x, ok := s.reaper.Halt(); ok && s.exited == nil {
		return &x
	}
	return s.exited
}

func descriptor(f any) int {
	if f, ok := f.(*os.File); ok {
		return int(f.Fd())
	}
	return -1
}

func (h handover) descriptors() []int {
	var fds []int
	for _, fd := range append([]int{h.Lifeline, h.Conn, h.Control, h.Stdin, h.Master, h.Slave}, h.Streams...) {
		if fd >= 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

func (h handover) told() *frame {
	if h.Told == nil {
		return nil
	}
	return &frame{h.Told.Kind, h.Told.Payload}
}

// resume takes a handover up, if there is one.
func resume() (*supervisor, bool) {
	fd, err := strconv.Atoi(os.Getenv(resumeVar))
	if err != nil {
		return nil, false
	}
	os.Unsetenv(resumeVar)
	f := os.NewFile(uintptr(fd), "handover")
	defer f.Close()
	raw, err := io.ReadAll(io.NewSectionReader(f, 0, maxFrame))
	if err != nil {
		return nil, false
	}
	var h handover
	if json.Unmarshal(raw, &h) != nil {
		return nil, false
	}
	for _, fd := range h.descriptors() {
		unix.CloseOnExec(fd)
	}
	s := h.supervisor()
	if err := s.open(); err != nil {
		s.note("resume: " + err.Error())
		return nil, false
	}
	return s, true
}

// supervisor is the next incarnation before it runs.
func (h handover) supervisor() *supervisor {
	s := &supervisor{
		spec: h.Spec, id: h.Spec.Row.ID, clock: clock.New(), panics: h.Panics,
		lifeline: os.NewFile(uintptr(h.Lifeline), "lock"),
		root:     h.Root, ungrouped: h.Ungrouped, forced: h.Forced, exited: h.Exited,
		requests: make(chan request),
		warnings: h.Warnings, announced: h.Announced, recorded: h.Recorded,
	}
	s.dir = state.ProcessDir(string(h.Spec.StateDir), s.id)
	s.begun = s.clock.Elapsed() - time.Duration(h.SilentMs)*time.Millisecond
	if h.LeftMs > 0 {
		s.deadline = s.clock.Elapsed() + time.Duration(h.LeftMs)*time.Millisecond
	}
	h.reopen(s)
	s.handed = h
	return s
}

// reopen wraps the inherited descriptors.
func (h handover) reopen(s *supervisor) {
	if h.Conn >= 0 {
		s.link.conn, _ = pollable(h.Conn, "caller")
	}
	if h.Control >= 0 {
		f, _ := pollable(h.Control, "control")
		s.control = &controlServer{path: ControlPath(s.dir), file: f}
	}
	if h.Master >= 0 {
		s.term, _ = pty.Adopt(h.Master, h.Slave)
		if mode, ok := pty.ParseCursorMode(h.Cursor); ok {
			s.responder.Resume(mode)
		}
		s.stdin = &input{file: s.term, tty: true}
		s.streams = []*stream{newStream(output.Stdout, s.term)}
		return
	}
	if h.Stdin >= 0 {
		f, _ := pollable(h.Stdin, "stdin")
		s.stdin = &input{file: f}
	}
	for i, fd := range h.Streams {
		f, _ := pollable(fd, "stream")
		s.streams = append(s.streams, newStream(output.Stream(i), f))
	}
}

// again goes on supervising after a re-execution.
func (s *supervisor) again() int {
	defer rescue(s)
	proc.Subreaper()
	s.reaper = proc.Reap(s.root)
	if s.control == nil && !s.announced {
		s.listenControl()
	}
	s.acceptRequests()
	switch {
	case !s.announced:
		s.announce()
	case s.handed.Attached:
		s.takeUp(s.handed.Rest, s.handed.told())
	case !s.recorded:
		s.recordStart()
	}
	s.drained = s.capture()
	if s.handed.Killing {
		s.killing = s.terminate()
	}
	if s.exited != nil {
		s.exitedAt = s.clock.Elapsed()
		s.afterExit()
	}
	return s.run()
}
