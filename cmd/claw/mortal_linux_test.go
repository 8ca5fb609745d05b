package main_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mortal runs claw and kills it at its Nth act: mortal N one|all claw args….
// An act is a system call that others can see (a write, a sync, a rename, an
// unlink, a file made, a program started), counted over claw and every claw
// that it starts; what else it starts is left alone. The act does not happen.
// With all, everything of claw that runs at that moment dies with the one that
// was about to act.
//
// It ends when the first of them has; if nobody was killed, when all have. Exit
// 9: somebody was killed; 0: there is no Nth act.
func mortal() {
	runtime.LockOSThread() // who traces is a thread
	if len(os.Args) < 4 {
		fail(errors.New("usage: mortal N one|all claw args…"))
	}
	m := &reaper{at: number(1, 0), all: os.Args[2] == "all", tracees: map[int]*tracee{}}
	if err := m.start(os.Args[3:]); err != nil {
		fail(err)
	}
	time.AfterFunc(patience, func() { fail(errors.New("it does not end")) })
	m.reap()
	for _, tid := range m.left {
		unix.Kill(tid, unix.SIGCONT) // a stop may have come after it was let go
	}
	if m.killed {
		os.Exit(9)
	}
}

// reaper is the tracer of all claws.
type reaper struct {
	at      int // the act to kill at
	all     bool
	acts    int
	killed  bool
	left    []int // who was let go
	exe     string
	tracees map[int]*tracee
}

// tracee is one thread of a claw.
type tracee struct{ begun bool }

const traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
	unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC

func (m *reaper) start(argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return err
	}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil {
		return err
	}
	if err := unix.PtraceSetOptions(pid, traceOptions); err != nil {
		return err
	}
	m.tracees[pid] = &tracee{begun: true}
	m.exe = exe(pid)
	return unix.PtraceSyscall(pid, 0)
}

func exe(tid int) string {
	link, _ := os.Readlink("/proc/" + strconv.Itoa(tid) + "/exe")
	return link
}

// reap sees to every stop of every tracee until none is left.
func (m *reaper) reap() {
	for {
		var ws unix.WaitStatus
		tid, err := unix.Wait4(-1, &ws, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return // no child is left
		case ws.Exited() || ws.Signaled():
			delete(m.tracees, tid)
		case ws.Stopped():
			m.stopped(tid, ws)
		}
	}
}

func (m *reaper) stopped(tid int, ws unix.WaitStatus) {
	t := m.tracees[tid]
	if t == nil {
		t = &tracee{}
		m.tracees[tid] = t
	}
	switch sig := ws.StopSignal(); {
	case ws.TrapCause() == unix.PTRACE_EVENT_EXEC && exe(tid) != m.exe, m.killed && sig == unix.SIGSTOP:
		m.leave(tid)
	case ws.TrapCause() > 0:
		m.on(tid, 0)
	case sig == unix.SIGTRAP|0x80:
		m.called(tid)
	case sig == unix.SIGSTOP && !t.begun:
		t.begun = true
		m.on(tid, 0)
	default:
		m.on(tid, int(sig))
	}
}

// leave lets a tracee go for good.
func (m *reaper) leave(tid int) {
	delete(m.tracees, tid)
	unix.PtraceDetach(tid)
	m.left = append(m.left, tid)
}

// on lets a tracee go on to its next stop; after the kill that is the one that
// leave waits for.
func (m *reaper) on(tid, sig int) {
	if m.killed {
		unix.PtraceCont(tid, sig)
		return
	}
	unix.PtraceSyscall(tid, sig)
}

// called is a system call's begin or end.
func (m *reaper) called(tid int) {
	if nr, fd, begins := callOf(tid); begins && !m.killed && acts(tid, nr, fd) {
		if m.acts++; m.acts == m.at {
			m.kill(tid)
		}
	}
	m.on(tid, 0)
}

// kill kills, and lets those go that are left: a tick may stay for minutes.
func (m *reaper) kill(tid int) {
	m.killed = true
	for other := range m.tracees {
		if m.all || other == tid {
			unix.Kill(other, unix.SIGKILL)
		} else {
			unix.RawSyscall(unix.SYS_TKILL, uintptr(other), uintptr(unix.SIGSTOP), 0)
		}
	}
}

// callOf reads which call tid has stopped at.
func callOf(tid int) (nr, fd uint64, begins bool) {
	var info struct { // struct ptrace_syscall_info of linux/ptrace.h
		op       uint8
		_        [3]uint8
		arch     uint32
		ip, sp   uint64
		nr       uint64
		args     [6]uint64
		retData  uint32
		reserved uint32
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
		unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	return info.nr, info.args[0], errno == 0 && info.op == unix.PTRACE_SYSCALL_INFO_ENTRY
}

// acts tells a call that others can see. A Go program that wakes itself up is
// none.
func acts(tid int, nr, fd uint64) bool {
	switch nr {
	case unix.SYS_WRITE:
		link, _ := os.Readlink("/proc/" + strconv.Itoa(tid) + "/fd/" + strconv.FormatUint(fd, 10))
		return link != "anon_inode:[eventfd]"
	case unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FTRUNCATE, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
		unix.SYS_UNLINKAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_MKDIRAT, unix.SYS_EXECVE, unix.SYS_FLOCK, unix.SYS_SENDMSG, unix.SYS_KILL,
		unix.SYS_PIDFD_SEND_SIGNAL:
		return true
	}
	return false
}
