package supervisor

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// kind is the first byte of a frame between caller and supervisor.
type kind byte

const (
	// From the caller.
	frameSpec     kind = 'S' // Spec, with the life-line and perhaps stdin as descriptors
	frameDetach   kind = 'D' // go on in the background
	frameSignal   kind = 'K' // one byte: a signal for the command's group
	frameInput    kind = 'I' // bytes for the terminal of a foreground PTY
	frameInputEOF kind = 'E'
	frameSize     kind = 'W' // columns, rows as two uint16
	frameTaken    kind = 'T' // the end has arrived, and all output before it
	frameGo       kind = 'G' // its time has come, see rush.go

	// From the supervisor.
	frameStarted  kind = 'R' // Started
	frameStdout   kind = '1'
	frameStderr   kind = '2'
	frameInputAck kind = 'A' // the last input frame has been taken
	frameDetached kind = 'B' // the background row is durable
	frameEnd      kind = 'X' // process.Process: the final row
	frameError    kind = '!' // text: claw itself failed
)

const (
	frameHeader = 5
	// maxFrame bounds what one side may make the other allocate (pains B40).
	maxFrame = 16 << 20
)

// frame is one message: kind, then a big-endian length, then that many bytes.
type frame struct {
	kind    kind
	payload []byte
}

func writeFrame(w io.Writer, k kind, payload []byte) error {
	buf := make([]byte, frameHeader, frameHeader+len(payload))
	putHeader(buf, k, len(payload))
	_, err := w.Write(append(buf, payload...))
	return err
}

func putHeader(buf []byte, k kind, n int) {
	buf[0] = byte(k)
	binary.BigEndian.PutUint32(buf[1:frameHeader], uint32(n))
}

func writeJSONFrame(w io.Writer, k kind, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFrame(w, k, raw)
}

// readFrame reads one frame into buf when it fits, else into a new slice.
// io.EOF means the other side closed between two frames.
func readFrame(r io.Reader, buf []byte) (frame, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := int(binary.BigEndian.Uint32(head[1:]))
	if n > maxFrame {
		return frame{}, fmt.Errorf("a frame of %d bytes; at most %d are accepted", n, maxFrame)
	}
	if n > cap(buf) {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		return frame{}, errors.Join(io.ErrUnexpectedEOF, err)
	}
	return frame{kind: kind(head[0]), payload: buf}, nil
}

// sendSpec sends the first frame together with open files: the life-line,
// and the caller's stdin when the command is to read it. Descriptors ride on
// the header, which is one small write and therefore whole.
func sendSpec(conn *os.File, spec Spec, files ...*os.File) error {
	raw, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	if len(raw) > maxFrame {
		return fmt.Errorf("command and environment take %d bytes; at most %d are accepted", len(raw), maxFrame)
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	head := make([]byte, frameHeader)
	putHeader(head, frameSpec, len(raw))
	if err := sendRights(conn, head, fds); err != nil {
		return err
	}
	_, err = conn.Write(raw)
	return err
}

func sendRights(conn *os.File, head []byte, fds []int) error {
	rc, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var sendErr error
	err = rc.Write(func(fd uintptr) bool {
		sendErr = unix.Sendmsg(int(fd), head, unix.UnixRights(fds...), nil, 0)
		return !errors.Is(sendErr, unix.EAGAIN)
	})
	return errors.Join(err, sendErr)
}

// recvSpec reads the first frame and the descriptors that came with it.
func recvSpec(conn *os.File) (Spec, []*os.File, error) {
	head, files, err := recvRights(conn)
	if err != nil {
		return Spec{}, nil, err
	}
	n := int(binary.BigEndian.Uint32(head[1:]))
	if kind(head[0]) != frameSpec || n > maxFrame {
		return Spec{}, files, fmt.Errorf("first frame is %q with %d bytes, not a specification", head[0], n)
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(conn, raw); err != nil {
		return Spec{}, files, err
	}
	var spec Spec
	return spec, files, decodeInto(raw, &spec)
}

func decodeInto(raw []byte, v any) error { return json.Unmarshal(raw, v) }

func recvRights(conn *os.File) ([]byte, []*os.File, error) {
	rc, err := conn.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	head := make([]byte, frameHeader)
	oob := make([]byte, unix.CmsgSpace(4*4))
	var n, oobn int
	var recvErr error
	err = rc.Read(func(fd uintptr) bool {
		n, oobn, _, _, recvErr = unix.Recvmsg(int(fd), head, oob, unix.MSG_WAITALL)
		return !errors.Is(recvErr, unix.EAGAIN)
	})
	if err := errors.Join(err, recvErr); err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, io.EOF
	}
	files, err := parseRights(oob[:oobn])
	if err != nil || n == frameHeader {
		return head, files, err
	}
	_, err = io.ReadFull(conn, head[n:])
	return head, files, err
}

func parseRights(oob []byte) ([]*os.File, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for i := range msgs {
		fds, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}
