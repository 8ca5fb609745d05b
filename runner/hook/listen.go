package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/internal/http1"
	"claw/state/external"
)

// ListenError says why there is no listening where it was asked for.
type ListenError struct {
	Where string
	Why   string
	Hint  string
	Err   error
}

func (e *ListenError) Error() string { return "cannot listen on " + e.Where + ": " + e.Why }

// Unwrap is what it comes from.
func (e *ListenError) Unwrap() error { return e.Err }

// Remedy is the way out.
func (e *ListenError) Remedy() string { return e.Hint }

// Listen listens on 127.0.0.1:PORT, [::1]:PORT, localhost:PORT or unix:PATH, and
// where wide is set on every other address, too. The error is a *ListenError.
func Listen(where string, wide bool) (net.Listener, error) {
	if path, ok := strings.CutPrefix(where, "unix:"); ok {
		return listenUnix(where, path)
	}
	host, port, err := net.SplitHostPort(where)
	if err != nil || port == "" {
		return nil, &ListenError{where, "it is neither HOST:PORT nor unix:PATH", "for example 127.0.0.1:18789", err}
	}
	if ip := net.ParseIP(host); !wide && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &ListenError{where, "others than this machine could reach it", "listen on 127.0.0.1:" + port + " behind a proxy that speaks TLS, or say --public (hooks.public = true)", nil}
	}
	l, err := net.Listen("tcp", where)
	if err != nil {
		return nil, &ListenError{where, cause(err), "another port may be free", err}
	}
	return l, nil
}

// listenUnix makes a socket that only its owner can open. One that nobody
// listens on any more is taken away; two that begin at once do that one after the
// other, so that neither takes away the socket that the other has just made.
func listenUnix(where, path string) (net.Listener, error) {
	if path == "" || len(path) > 100 {
		return nil, &ListenError{where, "the path must have 1 to 100 bytes", "for example unix:/run/user/1000/claw.sock", nil}
	}
	dir, err := os.Open(filepath.Dir(path))
	if err == nil {
		defer dir.Close() // which lets go of it
		err = unix.Flock(int(dir.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return nil, &ListenError{where, cause(err), "its directory must exist, and be yours", err}
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&fs.ModeSocket == 0 {
			return nil, &ListenError{where, "there is a file that is no socket", "name another path", nil}
		}
		c, err := net.DialTimeout("unix", path, time.Second)
		switch {
		case err == nil:
			c.Close()
			fallthrough
		case errors.Is(err, unix.EAGAIN): // its queue is full
			return nil, &ListenError{where, "somebody listens there", "name another path; claw runner status says whether it is the runner", unix.EADDRINUSE}
		case !errors.Is(err, unix.ECONNREFUSED):
			return nil, &ListenError{where, "nobody knows whose socket is there: " + cause(err), "name another path, or remove it", err}
		}
		os.Remove(path)
	}
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { unix.Fchmod(int(fd), 0o600) }) // Linux: from the first moment on
	}}
	l, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, &ListenError{where, cause(err), "its directory must exist, and be yours", err}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, &ListenError{where, err.Error(), "its directory must be yours", err}
	}
	return l, nil
}

// cause is the innermost of an error of package net.
func cause(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if sys, ok := errors.AsType[*os.SyscallError](err); ok {
		err = sys.Err
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		err = file.Err
	}
	return fmt.Sprint(err)
}

// Address is where a listener can be reached.
func Address(l net.Listener) string {
	if l.Addr().Network() == "unix" {
		return "unix:" + l.Addr().String()
	}
	return "http://" + l.Addr().String()
}

// Serve answers webhooks until ctx ends.
func (g *Gate) Serve(ctx context.Context, l net.Listener) error {
	return Serve(ctx, l, func() *Gate { return g })
}

// Serve answers webhooks until ctx ends, each by the gate that there is at the
// moment: it may be made anew.
func Serve(ctx context.Context, l net.Listener, now func() *Gate) error {
	c := &crowd{}
	gate := func() *Gate {
		g := *now()
		g.crowd = c
		return &g
	}
	s := &http1.Server{
		Clock: now().Clock, MaxBody: external.MaxContent,
		Accept: func(r *http1.Request) *http1.Response { return gate().Accept(r) },
		Handle: func(ctx context.Context, r *http1.Request) http1.Response {
			g := gate()
			if no := g.Accept(r); no != nil { // it is another one than a moment ago
				return *no
			}
			return g.Handle(ctx, r)
		},
		Failed: func(err error) { now().log("error: webhooks: " + err.Error()) },
	}
	return s.Serve(ctx, l)
}
