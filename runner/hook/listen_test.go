package hook_test

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"claw/runner/clock"
	"claw/runner/hook"
)

// TestListenUnix: only a socket at which nobody listens is taken away.
func TestListenUnix(t *testing.T) {
	t.Chdir(t.TempDir()) // the path of a socket must be short
	left := func(name, network string) {
		t.Helper()
		if network == "unixgram" {
			c, err := net.ListenPacket(network, name)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return
		}
		l, err := net.Listen(network, name)
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
	}
	left("stale", "unix")
	left("gram", "unixgram")
	full, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(full) })
	if err := syscall.Bind(full, &syscall.SockaddrUnix{Name: "full"}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(full, 0); err != nil {
		t.Fatal(err)
	}
	fd, _ := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: "full"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, why := range map[string]string{"stale": "", "new": "", "gram": "nobody knows", "full": "somebody listens", "file": "no socket", "none/s": "no such file"} {
		l, err := hook.Listen("unix:"+name, false)
		if (why == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", name, err, why)
		}
		if err != nil {
			continue
		}
		if info, err := os.Lstat(name); err != nil || info.Mode() != fs.ModeSocket|0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
		if _, err := hook.Listen("unix:"+name, false); err == nil || !strings.Contains(err.Error(), "somebody listens") {
			t.Errorf("%s again: %v", name, err)
		}
		l.Close()
	}
}

// TestListenRace: of several that find a socket left over, one listens, and can be
// reached.
func TestListenRace(t *testing.T) {
	t.Chdir(t.TempDir())
	for range 20 {
		l, err := net.Listen("unix", "s")
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
		var all sync.WaitGroup
		var won atomic.Pointer[net.Listener]
		for range 8 {
			all.Go(func() {
				if l, err := hook.Listen("unix:s", false); err == nil && won.Swap(&l) != nil {
					t.Error("two listen")
				}
			})
		}
		all.Wait()
		if won.Load() == nil {
			t.Fatal("nobody listens")
		}
		c, err := net.Dial("unix", "s")
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		(*won.Load()).Close()
	}
}

// TestGateChanges: what was let in by one gate is looked at again by the next.
func TestGateChanges(t *testing.T) {
	w := newWorld(t, "true")
	w.Dispatcher.Clock = clock.New()
	old := hook.Gate{Dispatcher: w.Dispatcher, Path: "/hooks", Agent: "main", Log: func(line string) { t.Log(line) }, Token: func() (string, error) { return token, nil }}
	next := old
	next.Token = func() (string, error) { return "another token, as long", nil }
	var asked atomic.Int32
	l, err := hook.Listen("unix:"+filepath.Join(t.TempDir(), "s"), false)
	if err != nil {
		l, err = hook.Listen("127.0.0.1:0", false)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		hook.Serve(ctx, l, func() *hook.Gate {
			if asked.Add(1) <= 2 { // the first is for the clock
				return &old
			}
			return &next
		})
	})
	c, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Write([]byte("POST /hooks/wake HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 12\r\n\r\n{\"text\":\"x\"}"))
	got := make([]byte, 12)
	if _, err := c.Read(got); err != nil || string(got) != "HTTP/1.1 401" {
		t.Errorf("%q %v", got, err)
	}
	c.Close()
	cancel()
	all.Wait()
}
