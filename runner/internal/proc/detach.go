package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detach starts this program anew with args, in a session of its own and in
// the root directory, with nothing on its three streams and with extra as its
// descriptors from 3 on. Nobody waits for its end; a caller that lives on reaps
// it.
func Detach(args, env []string, extra ...int) (pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(null)
	files := []uintptr{uintptr(null), uintptr(null), uintptr(null)}
	for _, fd := range extra {
		files = append(files, uintptr(fd))
	}
	CloseOnExec()
	pid, err = syscall.ForkExec(self, append([]string{"claw"}, args...), &syscall.ProcAttr{
		Dir: "/", Env: env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err == nil {
		go collect(pid)
	}
	return pid, err
}
