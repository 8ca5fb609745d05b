package pty_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"claw/runner/internal/pty"
)

func open(t *testing.T, cols, rows int) *pty.PTY {
	t.Helper()
	p, err := pty.Open(cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// start runs a shell script as the session leader on p.
func start(t *testing.T, p *pty.PTY, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	s := p.Slave()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s, s, s
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// runAll gives everything a script printed by its end.
func runAll(t *testing.T, script string) []byte {
	t.Helper()
	p := open(t, 0, 0)
	cmd := start(t, p, script)
	out := make(chan []byte, 1)
	go func() {
		b, err := io.ReadAll(p)
		if err != nil {
			t.Errorf("read: %v", err)
		}
		out <- b
	}()
	if err := cmd.Wait(); err != nil {
		t.Errorf("wait: %v", err)
	}
	if err := p.Hangup(5 * time.Second); err != nil {
		t.Errorf("hang up: %v", err)
	}
	select {
	case b := <-out:
		return b
	case <-time.After(20 * time.Second):
		t.Fatal("the output never ended")
		return nil
	}
}

// TestB03FastExit: a program that prints and exits at once loses nothing, 200
// times out of 200.
func TestB03FastExit(t *testing.T) {
	for i := range 200 {
		if got := runAll(t, fmt.Sprintf("echo run %d", i)); string(got) != fmt.Sprintf("run %d\r\n", i) {
			t.Fatalf("run %d: %q", i, got)
		}
	}
}

// A reader that comes only after the child has been reaped finds everything
// that fits into the terminal's buffer.
func TestB03ReaderComesLate(t *testing.T) {
	p := open(t, 80, 24)
	cmd := start(t, p, "printf 'late %s' line; exit 0")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	p.SetReadDeadline(time.Now().Add(20 * time.Second))
	n, err := p.Read(b)
	if string(b[:n]) != "late line" || err != nil {
		t.Fatalf("%q, %v", b[:n], err)
	}
}

// A megabyte written in one go and an exit right after it.
func TestB03LargeOutput(t *testing.T) {
	got := runAll(t, "head -c 1000000 /dev/zero | tr '\\0' x")
	if len(got) != 1000000 || bytes.Count(got, []byte("x")) != 1000000 {
		t.Fatalf("%d bytes", len(got))
	}
}

func TestReadDeadline(t *testing.T) {
	p := open(t, 80, 24)
	p.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := p.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read gave %v", err)
	}
	// And it can be lifted again.
	p.SetReadDeadline(time.Time{})
	if _, err := p.Slave().WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Fatalf("read %d, %v", n, err)
	}
}

func TestCloseWakesReader(t *testing.T) {
	p := open(t, 80, 24)
	reading, done := make(chan struct{}), make(chan error, 1)
	go func() {
		close(reading)
		_, err := p.Read(make([]byte, 1))
		done <- err
	}()
	<-reading
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err == nil {
			t.Fatal("read something")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the reader sleeps on")
	}
}

func TestSizeAndResize(t *testing.T) {
	p := open(t, 0, 0)
	if c, r, err := p.Size(); c != 120 || r != 30 || err != nil {
		t.Fatalf("default size %dx%d, %v", c, r, err)
	}
	if err := p.Resize(100, 40); err != nil {
		t.Fatal(err)
	}
	cmd := start(t, p, "stty size")
	b := make([]byte, 64)
	p.SetReadDeadline(time.Now().Add(20 * time.Second))
	n, err := p.Read(b)
	if err != nil || string(b[:n]) != "40 100\r\n" {
		t.Fatalf("the program sees %q, %v", b[:n], err)
	}
	cmd.Wait()
	if err := p.Resize(1<<20, -1); err != nil {
		t.Fatal(err)
	}
	if c, r, _ := p.Size(); c != 65535 || r != 0 {
		t.Fatalf("clipped to %dx%d", c, r)
	}
}

// The terminal is the program's controlling terminal, and its slave blocks as
// programs expect.
func TestInteractive(t *testing.T) {
	p := open(t, 80, 24)
	cmd := start(t, p, `tty >/dev/null && stty -echo && printf '> ' && read -r line && echo "got $line" && cat && echo end`)
	var seen bytes.Buffer
	expect := func(want string) {
		t.Helper()
		b := make([]byte, 256)
		p.SetReadDeadline(time.Now().Add(20 * time.Second))
		for !strings.Contains(seen.String(), want) {
			n, err := p.Read(b)
			seen.Write(b[:n])
			if err != nil {
				t.Fatalf("waiting for %q: %v after %q", want, err, seen.String())
			}
		}
	}
	expect("> ")
	if got := p.Foreground(); got != cmd.Process.Pid {
		t.Errorf("foreground group %d, want %d", got, cmd.Process.Pid)
	}
	if _, err := p.Write([]byte("hello" + pty.Submit)); err != nil {
		t.Fatal(err)
	}
	expect("got hello")
	if _, err := p.Write([]byte(pty.EOF)); err != nil {
		t.Fatal(err)
	}
	expect("end")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// B04: a program left on the terminal keeps the output open; the reader ends
// by its deadline, and by itself once that program is gone.
func TestB04LeftBehindHoldsTheTerminal(t *testing.T) {
	p := open(t, 80, 24)
	cmd := start(t, p, `trap '' HUP; sleep 300 & echo $!; exit 3`)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("wait: %v", err)
	}
	if err := p.Hangup(0); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	n, err := p.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	fmt.Sscan(string(b[:n]), &pid)
	p.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := p.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %q, %v while something holds the terminal", b[:n], err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.SetReadDeadline(time.Now().Add(20 * time.Second))
	if n, err := p.Read(b); err != io.EOF {
		t.Fatalf("read %q, %v after the last holder ended", b[:n], err)
	}
}

func TestHangupTwice(t *testing.T) {
	p := open(t, 80, 24)
	for range 2 {
		if err := p.Hangup(0); err != nil {
			t.Fatal(err)
		}
	}
	if p.Slave() != nil {
		t.Error("slave after hang up")
	}
	if _, err := p.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read gave %v", err)
	}
}

// A query is taken out of the output and its answer reaches the program.
func TestQueryIsAnswered(t *testing.T) {
	p := open(t, 80, 24)
	cmd := start(t, p, `stty raw -echo; printf 'a\033[6nb'; dd bs=1 count=6 2>/dev/null | od -An -c`)
	var r pty.Responder
	var out, buf []byte
	buf = make([]byte, 256)
	p.SetReadDeadline(time.Now().Add(20 * time.Second))
	for !bytes.Contains(out, []byte("R")) {
		n, err := p.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, out)
		}
		var queries int
		out, queries = r.Filter(out, buf[:n])
		for range queries {
			if _, err := p.Write([]byte(pty.Reply)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd.Wait()
	if got := strings.Join(strings.Fields(string(out)), ""); got != "ab033[1;1R" {
		t.Errorf("captured %q", got)
	}
}
