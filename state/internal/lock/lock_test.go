package lock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"claw/state/internal/lock"
)

// A process of its own that holds a lock until its stdin ends, or that counts.
func TestMain(m *testing.M) {
	if path := os.Getenv("CLAW_TEST_HOLD"); path != "" {
		unlock, ok, err := lock.Try(path)
		fmt.Println(ok, err)
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		if ok {
			unlock()
		}
		return
	}
	if path := os.Getenv("CLAW_TEST_COUNT"); path != "" {
		countUp(path)
		return
	}
	os.Exit(m.Run())
}

// countUp adds one to the number in a file, 20 times, under its lock.
func countUp(path string) {
	for range 20 {
		unlock, err := lock.Acquire(context.Background(), path+".lock")
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		b, _ := os.ReadFile(path)
		n, _ := strconv.Atoi(string(b))
		_ = os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600)
		unlock()
	}
}

// holder starts a process that holds the lock; end lets it go.
func holder(t *testing.T, path string) (cmd *exec.Cmd, end func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CLAW_TEST_HOLD="+path)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "true <nil>\n" {
		t.Fatalf("%q %v", line, err)
	}
	var once sync.Once
	end = func() { once.Do(func() { in.Close(); _ = cmd.Wait() }) }
	t.Cleanup(end)
	return cmd, end
}

func path(t *testing.T) string { return filepath.Join(t.TempDir(), "lock") }

func TestOneAtATime(t *testing.T) {
	p := path(t)
	unlock, ok, err := lock.Try(p)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := lock.Try(p); ok || err != nil {
		t.Errorf("taken twice: %v %v", ok, err)
	}
	if held, err := lock.Held(p); !held || err != nil {
		t.Errorf("%v %v", held, err)
	}
	unlock()
	if held, err := lock.Held(p); held || err != nil {
		t.Errorf("%v %v", held, err)
	}
	if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 0 {
		t.Errorf("%v %v", info, err)
	}
}

func TestProcessesTakeTurns(t *testing.T) {
	p := filepath.Join(t.TempDir(), "n")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "CLAW_TEST_COUNT="+p)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if b, _ := os.ReadFile(p); string(b) != "80" {
		t.Errorf("%s, want 80", b)
	}
}

// Liveness is a held lock: the kernel lets go when the holder is killed.
func TestWaitEndsWhenTheHolderDies(t *testing.T) {
	p := path(t)
	cmd, _ := holder(t, p)
	got := make(chan error, 1)
	go func() { got <- lock.Wait(context.Background(), p) }()
	select {
	case err := <-got:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	killedAt := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	t.Logf("woke %v after the kill", time.Since(killedAt))
	if held, err := lock.Held(p); held || err != nil {
		t.Errorf("%v %v", held, err)
	}
}

func TestMissingFile(t *testing.T) {
	p := path(t)
	if held, err := lock.Held(p); held || err != nil {
		t.Errorf("%v %v", held, err)
	}
	if err := lock.Wait(t.Context(), p); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p); !errors.Is(err, os.ErrNotExist) {
		t.Error("looking has made the file")
	}
}

func TestContextEndsTheWait(t *testing.T) {
	p := path(t)
	_, end := holder(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := lock.Wait(ctx, p); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := lock.Acquire(ctx, p); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := lock.Acquire(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	end()
	// The abandoned request, still in the queue, lets go by itself.
	unlock, err := lock.Acquire(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// Pain B12: a child has no part in the lock, unless it is handed the file.
func TestChildren(t *testing.T) {
	p := path(t)
	f, err := lock.File(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.File(p); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("%v", err)
	}
	other, cleanup := sleeper(t, nil)
	heir, end := sleeper(t, []*os.File{f})
	f.Close()
	if held, _ := lock.Held(p); !held {
		t.Error("the child that was given the file does not hold the lock")
	}
	end()
	_ = heir
	if held, _ := lock.Held(p); held {
		t.Errorf("process %d holds a lock it was not given", other.Process.Pid)
	}
	cleanup()
}

// sleeper is a child that lives until end.
func sleeper(t *testing.T, files []*os.File) (*exec.Cmd, func()) {
	t.Helper()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	cmd.ExtraFiles = files
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	return cmd, func() { in.Close(); _ = cmd.Wait() }
}

// Probing never makes a taker fail: a prober holds the lock shared, for an
// instant.
func TestProbingDoesNotDisturb(t *testing.T) {
	p := path(t)
	if f, err := lock.File(p); err != nil {
		t.Fatal(err)
	} else {
		f.Close()
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, _ = lock.Held(p)
				}
			}
		})
	}
	for range 200 {
		unlock, ok, err := lock.Try(p)
		if !ok || err != nil {
			t.Fatalf("nobody holds it: %v %v", ok, err)
		}
		unlock()
	}
	close(stop)
	wg.Wait()
}

func TestLinkIsRefused(t *testing.T) {
	p := path(t)
	if err := os.Symlink("/dev/null", p); err != nil {
		t.Fatal(err)
	}
	_, _, err1 := lock.Try(p)
	_, err2 := lock.Acquire(t.Context(), p)
	_, err3 := lock.Held(p)
	for _, err := range []error{err1, err2, err3, lock.Wait(t.Context(), p)} {
		if !errors.Is(err, syscall.ELOOP) {
			t.Errorf("%v", err)
		}
	}
}

func BenchmarkAcquire(b *testing.B) {
	p := filepath.Join(b.TempDir(), "lock")
	for b.Loop() {
		unlock, err := lock.Acquire(context.Background(), p)
		if err != nil {
			b.Fatal(err)
		}
		unlock()
	}
}
