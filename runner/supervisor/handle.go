package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"claw/state"
	"claw/state/process"
)

// Handle is the caller's side of a started process.
type Handle struct {
	Row      process.Process // as claimed; Ended tells when it is final
	PID      int
	Warnings []string
	Ended    bool

	store    *state.Store // asked when the supervisor hangs up
	onLoss   string
	orphaned bool // a foreground result whose folder nobody else removes

	conn    *os.File
	writeMu sync.Mutex // signals, detach and input come from several goroutines
	acks    chan struct{}
}

// Outcome is how the foreground part of a process finished.
type Outcome int

// The outcomes of Pump.
const (
	OutcomeEnded    Outcome = iota // Row is final
	OutcomeDetached                // it goes on in the background
	OutcomeBroken                  // the supervisor died
)

// Pump copies the command's output to stdout and stderr, byte for byte, until
// the command ends or a Detach has been answered. It returns the first error
// of writing; the command is then detached, not killed.
func (h *Handle) Pump(stdout, stderr io.Writer) (Outcome, error) {
	buf := make([]byte, 256<<10)
	var writeErr error
	for {
		f, err := readFrame(h.conn, buf)
		if err != nil {
			outcome, hangUpErr := h.hungUp()
			return outcome, errors.Join(writeErr, hangUpErr)
		}
		switch f.kind {
		case frameStdout:
			writeErr = h.forward(stdout, f.payload, writeErr)
		case frameStderr:
			writeErr = h.forward(stderr, f.payload, writeErr)
		case frameInputAck:
			h.ack()
		case frameDetached:
			return OutcomeDetached, writeErr
		case frameEnd:
			return OutcomeEnded, errors.Join(writeErr, h.takeEnd(f.payload))
		}
	}
}

// forward writes one chunk. After a failed write nothing more is written: a
// reader that has gone away (jq found its answer, head has its lines) closes
// the pipe, and the command is told so in its own way, by SIGPIPE. A full disk
// or a terminal that was closed is no reason for that; the kernel would not
// send one either.
func (h *Handle) forward(w io.Writer, p []byte, failed error) error {
	if failed != nil {
		return failed
	}
	if _, err := w.Write(p); err != nil {
		if errors.Is(err, unix.EPIPE) {
			h.Signal(unix.SIGPIPE)
		}
		return err
	}
	return nil
}

func (h *Handle) takeEnd(raw []byte) error {
	h.Ended = true
	if err := decodeInto(raw, &h.Row); err != nil {
		return fmt.Errorf("read the end of %s: %w", h.Row.Slug, err)
	}
	h.send(frameTaken, nil)
	return nil
}

// Detach asks that the command go on in the background. If it has already
// ended, Pump returns its end instead: a finished command is never reported
// as running.
func (h *Handle) Detach() error { return h.send(frameDetach, nil) }

// Signal forwards a signal to the command's process group.
func (h *Handle) Signal(sig unix.Signal) error { return h.send(frameSignal, []byte{byte(sig)}) }

// Resize tells the terminal of a foreground PTY its new size.
func (h *Handle) Resize(cols, rows int) error {
	return h.send(frameSize, []byte{byte(cols >> 8), byte(cols), byte(rows >> 8), byte(rows)})
}

func (h *Handle) send(k kind, payload []byte) error {
	h.writeMu.Lock()
	defer h.writeMu.Unlock()
	return writeFrame(h.conn, k, payload)
}

// Feed types what r holds into a foreground PTY and ends with end of file.
// It waits for each piece to be taken, so that input never gets in the way of
// a signal. Run it in its own goroutine; it ends with the process.
func (h *Handle) Feed(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if h.send(frameInput, buf[:n]) != nil {
				return
			}
			<-h.acks
		}
		if err != nil {
			h.send(frameInputEOF, nil)
			return
		}
	}
}

// ExpectInput must be called before Pump when Feed is used.
func (h *Handle) ExpectInput() { h.acks = make(chan struct{}, 1) }

func (h *Handle) ack() {
	select {
	case h.acks <- struct{}{}:
	default:
	}
}

// Close ends the conversation. A foreground process that has neither ended
// nor been detached goes on in the background.
func (h *Handle) Close() error {
	h.discard()
	return h.conn.Close()
}
