package supervisor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/pty"
	"claw/state/process"
)

// Op is what a client asks of a supervisor over processes/ID/control.
type Op string

// The operations.
const (
	OpWrite    Op = "write"
	OpSendKeys Op = "send-keys"
	OpSubmit   Op = "submit"
	OpPaste    Op = "paste"
	OpKill     Op = "kill"
)

// Ask is one request: a line of JSON. Data, Literal and Text travel as base64:
// they are bytes.
type Ask struct {
	Op         Op       `json:"op"`
	Data       []byte   `json:"data,omitempty"`
	EOF        bool     `json:"eof,omitempty"`
	Literal    []byte   `json:"literal,omitempty"`
	Hex        []string `json:"hex,omitempty"`
	Keys       []string `json:"keys,omitempty"`
	CursorMode string   `json:"cursorMode,omitempty"` // normal or application; empty: what the program has asked for
	Text       []byte   `json:"text,omitempty"`
	Bracketed  bool     `json:"bracketed,omitempty"`
}

// Answer is the reply: a line of JSON.
type Answer struct {
	Bytes    int      `json:"bytes"` // taken by the program's terminal or pipe
	Warnings []string `json:"warnings,omitempty"`
	Error    string   `json:"error,omitempty"`
	Code     string   `json:"code,omitempty"` // one of the Code constants when Error is set
}

// Codes of a refused request.
const (
	CodeNotWritable = "not-writable"
	CodeNoKeys      = "no-keys"
	CodeCursorMode  = "cursor-mode"
	CodeNotRead     = "not-read"
	CodeNoTerminal  = "no-terminal"
	CodeFinalizing  = "finalizing"
	CodeUnknown     = "unknown"
)

// maxAsk bounds one request; base64 of 8 MiB.
const maxAsk = 12 << 20

type request struct {
	ask   Ask
	reply chan Answer
}

// controlServer accepts requests while the command runs.
type controlServer struct {
	path string
	file *os.File
}

// listenControl opens the socket. Failing to is not fatal: the command runs,
// it can only not be typed into or be asked politely to stop.
func (s *supervisor) listenControl() {
	fd, err := listenUnix(s.dir)
	if err != nil {
		s.note("listen for requests: " + err.Error())
		return
	}
	f, err := pollable(fd, "control")
	if err != nil {
		unix.Close(fd)
		s.note("listen for requests: " + err.Error())
		return
	}
	s.control = &controlServer{path: ControlPath(s.dir), file: f}
}

func (s *supervisor) acceptRequests() {
	if s.control == nil {
		return
	}
	go func() {
		defer rescue(s)
		for {
			conn, err := accept(s.control.file)
			if err != nil {
				return
			}
			go s.converse(conn)
		}
	}()
}

func (c *controlServer) close() {
	if c != nil {
		os.Remove(c.path)
		c.file.Close()
	}
}

// accept waits for one client through the runtime's poller.
func accept(f *os.File) (*os.File, error) {
	rc, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var acceptErr error
	err = rc.Read(func(l uintptr) bool {
		fd, acceptErr = acceptCloexec(int(l))
		return !errors.Is(acceptErr, unix.EAGAIN)
	})
	if err := errors.Join(err, acceptErr); err != nil {
		return nil, err
	}
	return pollable(fd, "client")
}

// converse serves one client: one line in, one line out. A client that says
// nothing for a while, or too much, is let go.
func (s *supervisor) converse(conn *os.File) {
	defer rescue(s)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * inputPatience))
	line, err := bufio.NewReader(io.LimitReader(conn, maxAsk)).ReadBytes('\n')
	if err != nil {
		return
	}
	var answer Answer
	var ask Ask
	if err := json.Unmarshal(line, &ask); err != nil {
		answer = refuse(CodeUnknown, "request: "+err.Error())
	} else {
		answer = s.ask(ask)
	}
	raw, err := json.Marshal(answer)
	if err == nil {
		conn.Write(append(raw, '\n'))
	}
}

func refuse(code, why string) Answer { return Answer{Code: code, Error: why} }

// ask answers a request. Input may have to wait for the program and is
// written from the client's own goroutine; what changes the supervisor's mind
// goes to its loop.
func (s *supervisor) ask(ask Ask) Answer {
	switch ask.Op {
	case OpWrite:
		return s.answerWrite(ask)
	case OpSubmit:
		return s.typed([]byte(pty.Submit), nil)
	case OpPaste:
		return s.answerPaste(ask)
	case OpSendKeys:
		return s.answerKeys(ask)
	case OpKill:
		req := request{ask: ask, reply: make(chan Answer, 1)}
		select {
		case s.requests <- req:
			return <-req.reply
		case <-time.After(inputPatience):
			return refuse(CodeFinalizing, "it is finalizing")
		}
	}
	return refuse(CodeUnknown, fmt.Sprintf("unknown request %q", ask.Op))
}

// serve handles what belongs to the loop.
func (s *supervisor) serve(req request) {
	if s.exited != nil {
		req.reply <- refuse(CodeFinalizing, "it is finalizing")
		return
	}
	s.cancel(process.ReasonManualCancel)
	req.reply <- Answer{}
}

func (s *supervisor) answerWrite(ask Ask) Answer {
	if !s.stdin.writable() {
		return refuse(CodeNotWritable, errInputClosed.Error())
	}
	a := Answer{}
	if len(ask.Data) > 0 {
		a = s.typed(ask.Data, nil)
	}
	if ask.EOF && a.Error == "" {
		if err := s.stdin.eof(); err != nil {
			return refuse(CodeNotWritable, err.Error())
		}
		s.inputEnded()
	}
	return a
}

func (s *supervisor) answerPaste(ask Ask) Answer {
	pasted, err := pty.Paste(string(ask.Text), ask.Bracketed)
	if err != nil {
		return refuse(CodeNoKeys, err.Error())
	}
	var warnings []string
	if pasted.Stripped > 0 {
		warnings = []string{fmt.Sprintf("%d end-of-paste sequences were taken out of the text", pasted.Stripped)}
	}
	return s.typed(pasted.Bytes, warnings)
}

// answerKeys encodes for the cursor-key mode that the program has asked for.
// One that has printed something and never asked means normal.
func (s *supervisor) answerKeys(ask Ask) Answer {
	keys := pty.Keys{Literal: string(ask.Literal), Hex: ask.Hex, Keys: ask.Keys, Mode: pty.CursorNormal}
	if s.term != nil {
		keys.Mode = s.responder.CursorMode()
		if s.out.Totals().Bytes > 0 {
			keys.Assume = pty.CursorNormal
		}
	}
	if mode, ok := pty.ParseCursorMode(ask.CursorMode); ok {
		keys.Mode = mode
	}
	encoded, err := keys.Encode()
	switch {
	case errors.Is(err, pty.ErrCursorMode):
		return refuse(CodeCursorMode, err.Error())
	case err != nil:
		return Answer{Code: CodeNoKeys, Error: err.Error(), Warnings: encoded.Warnings}
	}
	return s.typed(encoded.Bytes, encoded.Warnings)
}

func (s *supervisor) typed(data []byte, warnings []string) Answer {
	n, err := s.stdin.write(data)
	a := Answer{Bytes: n, Warnings: warnings}
	switch {
	case errors.Is(err, errNotRead):
		a.Code, a.Error = CodeNotRead, fmt.Sprintf("%v: %d of %d bytes were taken", err, n, len(data))
	case err != nil:
		a.Code, a.Error = CodeNotWritable, err.Error()
	}
	return a
}
