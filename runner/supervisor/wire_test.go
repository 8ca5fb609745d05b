package supervisor_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claw/runner/supervisor"
	"claw/state/process"
)

// Frames of any content survive any split of the stream (pains B40).
func FuzzFrames(f *testing.F) {
	f.Add([]byte("1\x00\x00\x00\x05helloX\x00\x00\x00\x00"), uint8(1))
	f.Add([]byte("1\xff\xff\xff\xff"), uint8(3))
	f.Add([]byte("S\x00\x00"), uint8(2))
	f.Fuzz(func(t *testing.T, raw []byte, step uint8) {
		r := &slowReader{data: raw, step: int(step%7) + 1}
		buf := make([]byte, 16)
		var again bytes.Buffer
		for {
			k, payload, err := supervisor.ReadFrame(r, buf)
			if err != nil {
				break
			}
			if len(payload) > supervisor.MaxFrame {
				t.Fatalf("a frame of %d bytes", len(payload))
			}
			supervisor.WriteFrame(&again, k, payload)
		}
		if !bytes.HasPrefix(raw, again.Bytes()) {
			t.Errorf("%q was read as %q", raw, again.Bytes())
		}
	})
}

// slowReader gives a few bytes at a time.
type slowReader struct {
	data []byte
	step int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.data[:min(r.step, len(r.data))])
	r.data = r.data[n:]
	return n, nil
}

// Nobody can make the other side allocate what it likes, and a connection
// that breaks within a frame is not one that was closed (pains B40).
func TestFrameLimits(t *testing.T) {
	head := binary.BigEndian.AppendUint32([]byte{'1'}, supervisor.MaxFrame+1)
	if _, _, err := supervisor.ReadFrame(bytes.NewReader(head), nil); err == nil {
		t.Error("a frame over the limit was read")
	}
	for cut, want := range map[int]error{0: io.EOF, 3: io.ErrUnexpectedEOF, 5: io.ErrUnexpectedEOF, 7: io.ErrUnexpectedEOF} {
		_, _, err := supervisor.ReadFrame(strings.NewReader("1\x00\x00\x00\x05hello"[:cut]), nil)
		if !errors.Is(err, want) {
			t.Errorf("cut at %d: %v, want %v", cut, err, want)
		}
	}
}

// pair is a connected pair as between caller and supervisor.
func pair(t *testing.T) (a, b *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	files := make([]*os.File, 2)
	for i, fd := range fds {
		if files[i], err = supervisor.Pollable(fd, "pair"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { files[i].Close() })
	}
	return files[0], files[1]
}

// The specification arrives whole, with its descriptors, close-on-exec.
func TestSpecTravels(t *testing.T) {
	a, b := pair(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sent := supervisor.Spec{
		StateDir: "/s", Path: "/bin/sh", Env: []string{"A=" + strings.Repeat("x", 1<<20)},
		Row: process.Process{ID: "01", Argv: []string{"sh", "-c", "\x00 \xff"}},
	}
	done := make(chan error, 1)
	go func() { done <- supervisor.SendSpec(a, sent, file) }()
	got, files, err := supervisor.RecvSpec(b)
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	if got.StateDir != "/s" || !slices.Equal(got.Env, sent.Env) || len(files) != 1 {
		t.Fatalf("received %d descriptors, state %q, %d variables", len(files), got.StateDir, len(got.Env))
	}
	defer files[0].Close()
	flags, err := unix.FcntlInt(files[0].Fd(), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags of the life-line %d, %v: it would be inherited (pains B12)", flags, err)
	}
}

// A caller that leaves without a word is end of file, not an error to report.
func TestSpecNeverComes(t *testing.T) {
	a, b := pair(t)
	a.Close()
	if _, _, err := supervisor.RecvSpec(b); !errors.Is(err, io.EOF) {
		t.Errorf("%v, want end of file", err)
	}
}

// A re-execution cuts a frame wherever the kernel's buffer happened to end;
// the caller sees whole frames all the same.
func TestFrozenInTheMiddle(t *testing.T) {
	a, b := pair(t)
	link := supervisor.NewLink(a)
	piece := bytes.Repeat([]byte("0123456789"), 400_000) // much more than a socket holds
	stopped := make(chan bool)
	go func() { link.Stream(piece); close(stopped) }()
	first := make([]byte, 5)
	if _, err := io.ReadFull(b, first); err != nil { // it is writing
		t.Fatal(err)
	}
	rest := link.Freeze()
	<-stopped
	if len(rest) == 0 {
		t.Fatal("everything was written; the test shows nothing")
	}
	frames := make(chan []byte)
	go func() {
		_, payload, _ := supervisor.ReadFrame(io.MultiReader(bytes.NewReader(first), b), nil)
		frames <- payload
		_, payload, _ = supervisor.ReadFrame(b, nil)
		frames <- payload
	}()
	a.SetWriteDeadline(time.Time{})
	supervisor.NewLink(a).Finish(rest)
	if got := <-frames; !bytes.Equal(got, piece) {
		t.Errorf("%d bytes arrived, want %d", len(got), len(piece))
	}
	next := supervisor.NewLink(a)
	go next.Stream([]byte("next"))
	if got := <-frames; string(got) != "next" {
		t.Errorf("then came %q", got)
	}
}

// A piece that was kept and not sent is sent by the next incarnation.
func TestFrozenBeforeTheFrame(t *testing.T) {
	a, b := pair(t)
	link := supervisor.NewLink(a)
	link.Unsent([]byte("kept"))
	rest := link.Freeze()
	a.SetWriteDeadline(time.Time{})
	go supervisor.NewLink(a).Finish(rest)
	if k, got, err := supervisor.ReadFrame(b, nil); k != '1' || string(got) != "kept" || err != nil {
		t.Errorf("%c %q %v", k, got, err)
	}
}

// A supervisor's environment holds nothing of the caller's (pains B38), and
// names its own process, not an outer one.
func TestSupervisorEnv(t *testing.T) {
	got := supervisor.SupervisorEnv([]string{"HOME=/root", "TOKEN=secret", "CLAW_PROCESS_RUN=outer", "CLAW_FAILPOINT=x"}, "inner")
	for _, kv := range got {
		if strings.Contains(kv, "secret") || strings.Contains(kv, "outer") || strings.HasPrefix(kv, "HOME=") {
			t.Errorf("kept %q", kv)
		}
	}
	if !slices.Contains(got, "CLAW_PROCESS_RUN=inner") || !slices.Contains(got, "CLAW_FAILPOINT=x") {
		t.Errorf("environment %q", got)
	}
}

// One of each mark, the command's own.
func TestMarked(t *testing.T) {
	got := supervisor.Marked([]string{"A=1", "ID=outer", "IDX=2", "ODD", "ID=older"}, "ID=own", "RUN=r")
	if want := []string{"A=1", "IDX=2", "ODD", "ID=own", "RUN=r"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// However deep the state directory lies, its socket has a name that fits into
// an address (pains B39).
func TestShortPath(t *testing.T) {
	for _, depth := range []int{0, 100, 300} {
		dir := filepath.Join(t.TempDir(), strings.Repeat("d/", depth))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		err := supervisor.WithShortPath(dir, func(path string) error {
			if len(path) > 103 { // sockaddr_un of macOS, less the final zero
				t.Errorf("depth %d: %d bytes", depth, len(path))
			}
			return os.WriteFile(path, nil, 0o600)
		})
		if _, statErr := os.Stat(filepath.Join(dir, "control")); err != nil || statErr != nil {
			t.Errorf("depth %d: %v, %v", depth, err, statErr)
		}
	}
}
