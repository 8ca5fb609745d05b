package supervisor

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"claw/runner/internal/pty"
)

// inputPatience bounds how long one write may wait for a program that does
// not read.
const inputPatience = 5 * time.Second

// The errors of writing input.
var (
	errInputClosed = errors.New("stdin is not writable")
	errNotRead     = errors.New("the program does not read its input")
)

// writer is a pipe, or the master of a terminal.
type writer interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// input is what can be typed into a command: a pipe, or a terminal. It is
// safe for concurrent use.
type input struct {
	mu     sync.Mutex
	file   writer
	tty    bool
	closed bool
}

// write passes p on as it is and returns how much of it was taken.
func (in *input) write(p []byte) (int, error) {
	if in == nil {
		return 0, errInputClosed
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return 0, errInputClosed
	}
	in.file.SetWriteDeadline(time.Now().Add(inputPatience))
	n, err := in.file.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errNotRead
	} else if err != nil {
		err = errInputClosed
	}
	return n, err
}

// eof ends the input: a pipe is closed; a terminal gets its end-of-file
// character and nothing more is accepted.
func (in *input) eof() error {
	if in == nil {
		return errInputClosed
	}
	if in.tty {
		if _, err := in.write([]byte(pty.EOF)); err != nil {
			return err
		}
	}
	in.close()
	return nil
}

// close refuses further input. A terminal itself stays open for its output.
func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed && !in.tty {
		in.file.Close()
	}
	in.closed = true
}

func (in *input) writable() bool {
	if in == nil {
		return false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return !in.closed
}
