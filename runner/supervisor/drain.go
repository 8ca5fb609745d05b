package supervisor

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"claw/runner/clock"
	"claw/runner/internal/proc"
	"claw/runner/output"
	"claw/runner/settle"
	"claw/state"
	"claw/state/process"
)

// drainWord is the second argument of a supervisor that only keeps output.
const drainWord = "drain"

// Drain keeps the output of what a lost process left running. Its pipes have
// no reader since the supervisor died: the command meets no SIGPIPE, but once
// they are full it would wait for ever, and ten hours of work with it. A new
// program reads on where the supervisor stopped. The process stays lost:
// nobody but its parent can learn its exit code.
//
// Drain returns at once. Nothing happens where nothing is left, and where
// somebody drains already.
func Drain(store *state.Store, p process.Process) error {
	if len(settle.Survivors(p)) == 0 || p.PTY {
		return nil
	}
	_, err := proc.Detach([]string{Command, p.ID, drainWord}, append(supervisorEnv(os.Environ(), drainWord+p.ID), hintVar+"="+store.Dir()))
	return err
}

// drainMain is the program that Drain starts.
func drainMain(id string) int {
	c := clock.New()
	store, err := openState(os.Getenv(hintVar))
	if err != nil {
		return 1
	}
	s := &supervisor{id: id, dir: store.ProcessDir(id), store: store, clock: c}
	unlock, free, err := state.TryLock(s.dir + "/drain.lock")
	if err != nil || !free {
		return 1
	}
	defer unlock()
	var row state.Row[process.Process]
	err = store.View(func(tx *state.Tx) (err error) {
		row, _, err = state.Processes.Find(tx, id)
		return err
	})
	if err != nil {
		return 1
	}
	if s.streams = orphanedPipes(row.Rec); len(s.streams) == 0 {
		return 0
	}
	if s.out, err = output.OpenWriter(s.dir, output.WriterOptions{Cap: row.Rec.MaxOutput, Now: c.Now}); err != nil {
		s.note("drain: " + err.Error())
		return 1
	}
	done := s.capture()
	trimMemory()
	<-done
	s.out.Close()
	return 0
}

// orphanedPipes opens the reading ends of the output pipes that the survivors
// of p write to, each once.
func orphanedPipes(p process.Process) []*stream {
	var streams []*stream
	seen := map[uint64]bool{}
	for _, l := range settle.Survivors(p) {
		for fd, which := range map[int]output.Stream{1: output.Stdout, 2: output.Stderr} {
			f, inode, err := openPipeOf(l.Identity, fd)
			if err != nil || seen[inode] {
				continue
			}
			seen[inode] = true
			streams = append(streams, newStream(which, f))
		}
	}
	return streams
}

// openPipeOf opens a pipe that another process holds, for reading. The
// identity is checked after the open, so that a recycled pid is never read.
func openPipeOf(id process.Identity, fd int) (*os.File, uint64, error) {
	raw, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", id.PID, fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, err
	}
	var st unix.Stat_t
	err = unix.Fstat(raw, &st)
	if err == nil && (st.Mode&unix.S_IFMT != unix.S_IFIFO || !proc.Alive(id)) {
		err = proc.ErrGone
	}
	if err != nil {
		unix.Close(raw)
		return nil, 0, err
	}
	f, err := pollable(raw, "orphaned pipe")
	return f, uint64(st.Ino), err
}
