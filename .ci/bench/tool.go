package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	toolFlag   = "-tool"
	writerFlag = "-writer"
)

//go:embed floor/tool.c
var toolSource []byte

// build makes the floors: Go programs with the flags of claw itself, and the
// tool, in C where there is a compiler.
func (b *bench) build() error {
	b.empty = filepath.Join(b.dir, "empty")
	b.sleeper = filepath.Join(b.dir, "sleeper")
	if err := b.goBuild(b.empty, "package main\n\nfunc main() {}\n"); err != nil {
		return err
	}
	err := b.goBuild(b.sleeper, "package main\n\nimport \"time\"\n\nfunc main() { time.Sleep(time.Hour) }\n")
	if err != nil {
		return err
	}
	return b.buildTool()
}

func (b *bench) goBuild(path, source string) error {
	file := path + ".go"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return err
	}
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, file)
	c.Dir = b.dir
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build of a floor: %w: %s", err, out)
	}
	return nil
}

func (b *bench) buildTool() error {
	path := filepath.Join(b.dir, "tool")
	if err := os.WriteFile(path+".c", toolSource, 0o600); err != nil {
		return err
	}
	for _, link := range []string{"-static", "-O2"} {
		if exec.Command("cc", "-O2", link, "-o", path, path+".c").Run() == nil {
			b.tool = []string{path}
			b.machine.Tool = "C"
			return nil
		}
	}
	self, err := os.Executable()
	b.tool, b.machine.Tool = []string{self, toolFlag}, "Go, for want of a C compiler: commands start slower"
	return err
}

// with is a command line of the tool.
func (b *bench) with(args ...string) []string {
	return append(append([]string{}, b.tool...), args...)
}

// spawn is what starting and reaping /bin/true takes, in ms.
func (b *bench) spawn() (float64, error) {
	out, err := b.output(nil, b.with("spawn")...)
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(out, 10, 64)
	return float64(ns) / 1e6, err
}

// stampLen is the length of a line of stamp.
const stampLen = 21

// stamps waits until a file has n stamps and returns them.
func stamps(path string, n int) ([]int64, error) {
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		info, err := os.Stat(path)
		if err == nil && info.Size() >= int64(n*stampLen) {
			break
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%d of %d commands have not run after %v", n-countStamps(path), n, patience)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []int64
	for line := range strings.Lines(string(text)) {
		t, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func countStamps(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return int(info.Size() / stampLen)
}

// tool is floor/tool.c in Go; it returns the exit code.
func tool(args []string) int {
	code := func(i int) int {
		if len(args) <= i {
			return 0
		}
		n, _ := strconv.Atoi(args[i])
		return n
	}
	switch {
	case len(args) == 1 && args[0] == "spawn":
		return spawnTrue()
	case len(args) >= 2 && args[0] == "stamp":
		return stamp(args[1], code(2))
	case len(args) >= 3 && args[0] == "stampexit":
		time.Sleep(time.Duration(code(2)) * time.Millisecond)
		return stamp(args[1], code(3))
	case len(args) == 2 && args[0] == "park":
		if appendTo(args[1], fmt.Sprintf("%d %d\n", os.Getpid(), os.Getppid())) != nil {
			return 125
		}
		time.Sleep(time.Hour)
	}
	return 2
}

func stamp(path string, code int) int {
	if appendTo(path, fmt.Sprintf("%020d\n", mono())) != nil {
		return 125
	}
	return code
}

func appendTo(path, line string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

func spawnTrue() int {
	runtime.LockOSThread()
	from := mono()
	pid, err := syscall.ForkExec("/bin/true", []string{"/bin/true"}, &syscall.ProcAttr{Env: os.Environ()})
	if err != nil {
		return 125
	}
	if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
		return 125
	}
	fmt.Println(mono() - from)
	return 0
}
