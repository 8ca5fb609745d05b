//go:build linux

package runner_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claw/runner"
)

// systemd is the other end of NOTIFY_SOCKET.
type systemd struct {
	t    *testing.T
	conn *net.UnixConn
}

func listen(t *testing.T, name string) systemd {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return systemd{t, conn}
}

// hears waits for a datagram that has line among its lines.
func (s systemd) hears(line string) {
	s.t.Helper()
	buf := make([]byte, 4096)
	s.conn.SetReadDeadline(time.Now().Add(patience))
	for {
		n, err := s.conn.Read(buf)
		if err != nil {
			s.t.Fatalf("waited for %q: %v", line, err)
		}
		for l := range strings.Lines(string(buf[:n])) {
			if l = strings.TrimSpace(l); l == line || strings.HasSuffix(line, "=") && strings.HasPrefix(l, line) {
				return
			}
		}
	}
}

func TestReadiness(t *testing.T) {
	abstract := "@claw-test-" + strconv.Itoa(os.Getpid())
	for name, socket := range map[string]string{"path": filepath.Join(t.TempDir(), "notify"), "abstract": abstract} {
		t.Run(name, func(t *testing.T) {
			s := listen(t, socket)
			t.Setenv("NOTIFY_SOCKET", socket)
			t.Setenv("WATCHDOG_USEC", "60000000")
			t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
			h := newHouse(t)
			h.o.Ready = runner.TakeReadiness()
			for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
				if v, ok := os.LookupEnv(name); ok {
					t.Errorf("%s=%s is left for what the runner starts", name, v)
				}
			}
			if h.o.Ready.Watchdog != time.Minute {
				t.Errorf("watchdog %s, want one minute", h.o.Ready.Watchdog)
			}
			h.start()
			s.hears("READY=1")
			s.hears("WATCHDOG=1")
			h.settle()
			h.clock.WaitArmed(1)
			h.clock.Advance(30 * time.Second) // half of it
			s.hears("WATCHDOG=1")
			h.hup <- syscall.SIGHUP
			s.hears("RELOADING=1")
			s.hears("READY=1")
			h.finish()
			s.hears("STOPPING=1")
		})
	}
}

// The watchdog of another process is not ours, and without systemd there is
// none.
func TestReadinessOfSomebodyElse(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "60000000")
	t.Setenv("WATCHDOG_PID", "1")
	if r := runner.TakeReadiness(); r.Watchdog != 0 || r.Socket != "" {
		t.Errorf("%+v", r)
	}
}
