package http1

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// conn is one connection with its one request.
type conn struct {
	net.Conn
	s       *Server
	begun   time.Duration // on the monotonic clock
	reading bool          // its request is not whole, or it has its answer; guarded by the pool
}

// Response is an answer. Its body is JSON.
type Response struct {
	Status int
	Header [][2]string
	Body   []byte
}

// Error is an answer that says no more than its status and why.
func Error(status int, why string) Response {
	text, err := json.Marshal(why) // strconv.Quote writes \a and \U, which JSON does not know
	if err != nil {
		text = []byte(`""`)
	}
	return Response{Status: status, Body: []byte(`{"ok":false,"error":` + string(text) + "}\n")}
}

// refusal is a request that is not served; status 0: there is nobody to tell.
type refusal struct {
	status int
	why    string
}

func (e *refusal) Error() string { return strconv.Itoa(e.status) + " " + e.why }

func bad(format string, args ...any) error { return &refusal{400, fmt.Sprintf(format, args...)} }

// serve reads, answers and closes.
func (c *conn) serve(ctx context.Context, p *pool) {
	c.SetReadDeadline(c.s.Clock.Now().Add(c.s.limit()))
	in := bufio.NewReaderSize(c, 4096)
	r, answer := c.request(in)
	if answer == nil && !p.answering(c) {
		return
	}
	if answer == nil {
		out := c.handled(ctx, r)
		answer = &out
	}
	if answer.Status == 0 {
		return
	}
	if c.write(r, *answer) != nil {
		return
	}
	// What the client still sends is read away: to close before would take the
	// answer from it.
	p.answered(c)
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	c.SetReadDeadline(c.s.Clock.Now().Add(lingerTime))
	io.CopyN(io.Discard, in, int64(c.s.MaxBody)+maxHead)
}

// request reads a request, or is the answer to what is none.
func (c *conn) request(in *bufio.Reader) (r *Request, answer *Response) {
	r, err := readHead(in)
	if err == nil {
		r.Remote = remote(c.Conn)
		if c.s.Accept != nil {
			if answer = c.s.Accept(r); answer != nil {
				return r, answer
			}
		}
		err = c.body(in, r)
	}
	if err == nil {
		return r, nil
	}
	no, ok := errors.AsType[*refusal](err)
	switch {
	case ok:
	case errors.Is(err, os.ErrDeadlineExceeded):
		no = &refusal{408, "the request was not whole in time"}
	default: // it has gone
		return r, &Response{}
	}
	out := Error(no.status, no.why)
	return r, &out
}

// body reads the body, after "100 Continue" where that is waited for.
func (c *conn) body(in *bufio.Reader, r *Request) error {
	if e, ok := r.Header["expect"]; ok {
		if len(e) != 1 || !strings.EqualFold(e[0], "100-continue") || r.minor == 0 {
			return &refusal{417, "what is expected is not known"}
		}
		if r.length > int64(c.s.MaxBody) {
			return tooLarge
		}
		c.SetWriteDeadline(c.s.Clock.Now().Add(answerTime))
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return err
		}
	}
	var err error
	r.Body, err = readBody(in, r, c.s.MaxBody)
	return err
}

func (c *conn) handled(ctx context.Context, r *Request) (out Response) {
	defer func() {
		if cause := recover(); cause != nil {
			c.s.fail(fmt.Errorf("a bug of claw, in answering %s %s: %v", r.Method, r.Path, cause))
			out = Error(500, "a bug of claw")
		}
	}()
	return c.s.Handle(ctx, r)
}

// write sends the answer.
func (c *conn) write(r *Request, a Response) error {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.Status, reason(a.Status))
	if a.Status != 204 {
		fmt.Fprintf(&b, "Content-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\n", len(a.Body))
	}
	b.WriteString("Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n")
	for _, h := range a.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], clean(h[1]))
	}
	b.WriteString("\r\n")
	if a.Status != 204 && (r == nil || r.Method != "HEAD") {
		b.Write(a.Body)
	}
	c.SetWriteDeadline(c.s.Clock.Now().Add(answerTime))
	_, err := io.WriteString(c, b.String())
	return err
}

// clean keeps a value on its line.
func clean(v string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, v)
}

// reason are the words of a status that is used.
func reason(status int) string {
	switch status {
	case 200:
		return "OK"
	case 204:
		return "No Content"
	case 400:
		return "Bad Request"
	case 401:
		return "Unauthorized"
	case 403:
		return "Forbidden"
	case 404:
		return "Not Found"
	case 405:
		return "Method Not Allowed"
	case 408:
		return "Request Timeout"
	case 409:
		return "Conflict"
	case 413:
		return "Content Too Large"
	case 417:
		return "Expectation Failed"
	case 429:
		return "Too Many Requests"
	case 431:
		return "Request Header Fields Too Large"
	case 500:
		return "Internal Server Error"
	case 501:
		return "Not Implemented"
	case 502:
		return "Bad Gateway"
	case 503:
		return "Service Unavailable"
	case 505:
		return "HTTP Version Not Supported"
	}
	return ""
}

// remote is who is at the other end: an address without its port, or "unix".
func remote(c net.Conn) string {
	if host, _, err := net.SplitHostPort(c.RemoteAddr().String()); err == nil {
		return host
	}
	return "unix"
}
