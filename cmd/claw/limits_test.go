//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A process's folder that is removed while it runs hurts neither the command
// nor the record of its end (pains B05).
func TestFolderRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, flags := range [][]string{{"-b"}, {"-b", "--pty"}} {
		slug := w.must(append(append([]string{"exec"}, flags...), "rm -f go; "+worker)...)
		w.prints(slug, "before")
		dir := filepath.Join(w.state, "processes", w.show(slug).ID)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		sup := w.supervisor(w.show(slug).ID)
		w.file("go", "")
		w.until("the supervisor has ended", func() bool { return !alive(sup) })
		if s := w.show(slug); s.ExitCode == nil || *s.ExitCode != 7 {
			t.Errorf("%q: shown as %+v, want exit 7", flags, s)
		}
	}
}

// Output that cannot be read is not the command's affair.
func TestOutputUnreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slug := w.must("exec", "-b", worker)
	w.prints(slug, "before")
	dir := filepath.Join(w.state, "processes", w.show(slug).ID)
	if err := os.Remove(filepath.Join(dir, "output")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "output"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.file("go", "")
	w.exits(slug, 7)
}

// A disk that is full while a command runs stops nothing; when there is room
// again its end is written (pains B33).
func TestDiskFullWhileRunning(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	w := newWorld(t)
	if err := os.MkdirAll(w.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", w.state, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(w.state, unix.MNT_DETACH) })
	defer w.end() // before the disk goes
	slug := w.must("exec", "-b", `printf before; while ! [ -e go ]; do sleep 0.02; done; head -c 8000000 /dev/zero; touch printed; exit 7`)
	w.prints(slug, "before")
	sup := w.supervisor(w.show(slug).ID)
	plug := filepath.Join(w.state, "plug")
	fill(t, plug)
	w.file("go", "")
	w.until("it has printed 8 MB", func() bool { return w.size(filepath.Join(w.dir, "printed")) >= 0 })
	w.until("the command has ended", func() bool { return len(w.commands()) == 0 })
	if !alive(sup) {
		t.Error("the supervisor has given up")
	}
	if err := os.Remove(plug); err != nil {
		t.Fatal(err)
	}
	w.exits(slug, 7)
	if got := w.raw(slug); !strings.HasPrefix(got, "before") {
		t.Errorf("kept %q", got[:min(len(got), 20)])
	}
}

// fill takes all the room there is.
func fill(t *testing.T, path string) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// 200 processes at once: all start, all are listed, all end as they should.
func TestTwoHundredAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n, submitters = 200, 8
	slugs := make([]string, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range submitters {
		wg.Go(func() {
			for i := range next {
				r := w.claw("exec", "-b", fmt.Sprintf("echo %d; while ! [ -e go ]; do sleep 0.2; done; exit %d", i, i%5))
				if r.code != 0 {
					t.Errorf("exec %d: exit %d\n%s", i, r.code, r.err)
				}
				slugs[i] = strings.TrimSpace(r.out)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	if running := w.list("--state", "running"); len(running) != n {
		t.Errorf("%d are listed as running, want %d", len(running), n)
	}
	w.file("go", "")
	for i, slug := range slugs {
		w.exits(slug, i%5)
		if got := w.raw(slug); got != fmt.Sprintf("%d\n", i) {
			t.Errorf("process %d: output %q", i, got)
		}
	}
}

// 64 descriptors are enough for claw.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, args := range []string{"exec 'echo x; exit 3'", "exec --pty 'echo x; exit 3'"} {
		cmd := exec.Command("sh", "-c", "ulimit -n 64; exec claw "+args)
		cmd.Env, cmd.Dir = w.env, w.dir
		if r := w.finish(cmd, ""); r.code != 3 || strings.TrimSpace(r.out) != "x" {
			t.Errorf("%s: exit %d, stdout %q\n%s", args, r.code, r.out, r.err)
		}
	}
	cmd := exec.Command("sh", "-c", "ulimit -n 64; claw exec -b 'ulimit -n; exit 3'")
	cmd.Env, cmd.Dir = w.env, w.dir
	slug := strings.TrimSpace(w.finish(cmd, "").out)
	w.exits(slug, 3)
	if got := w.raw(slug); got != "64\n" {
		t.Errorf("the command's own limit is %q, want the caller's, 64", got)
	}
}
