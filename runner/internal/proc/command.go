package proc

import (
	"bytes"
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// CommandLine is the argv of pid joined by blanks, for reading only; the name
// in brackets when there is no argv, empty when the process is gone.
func CommandLine(pid int) string {
	if argv := Argv(pid); len(argv) > 0 {
		return strings.Join(argv, " ")
	}
	if name := comm(pid); name != "" {
		return "[" + name + "]"
	}
	return ""
}

// Mark is a variable that a command of claw carries in its environment, such
// as CLAW_PROCESS_ID and the id of its process, which is never reused: with
// it a process can be told to be ours even when nothing else is left.
type Mark struct{ Key, Value string }

// Owner is what the environment pid was started with says about the mark's
// key. False when the variable is not there or may not be read.
func (m Mark) Owner(pid int) (string, bool) {
	if m.Key == "" {
		return "", false
	}
	for _, kv := range environ(pid) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == m.Key {
			return v, true
		}
	}
	return "", false
}

// splitNul splits a block of NUL-ended strings.
func splitNul(b []byte) []string {
	b = bytes.TrimSuffix(b, []byte{0})
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "\x00")
}

// ignoringEINTR repeats a system call that a signal interrupted.
func ignoringEINTR[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if !errors.Is(err, unix.EINTR) {
			return v, err
		}
	}
}
