package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is what the numbers depend on.
type machine struct {
	Cores  int    `json:"cores"`
	System string `json:"system"`
	Disk   string `json:"disk"` // file system of the temporary directory
	Go     string `json:"go"`
	Load   string `json:"load"` // at the beginning, over 1, 5 and 15 minutes
	Nice   int    `json:"nice"`
	Tool   string `json:"tool"` // what floor/tool.c was built as
}

func look(dir string, nice int) machine {
	m := machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Nice: nice, Disk: "unknown", Load: "unknown"}
	if runtime.GOOS != "linux" {
		return m
	}
	if out, err := exec.Command("stat", "-f", "-c", "%T", dir).Output(); err == nil {
		m.Disk = strings.TrimSpace(string(out))
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.Join(strings.Fields(string(text))[:3], " ")
	}
	return m
}

func (m machine) String() string {
	return fmt.Sprintf("# %d cores, %s, disk %s, %s, load at the beginning %s, niceness %d, tool in %s",
		m.Cores, m.System, m.Disk, m.Go, m.Load, m.Nice, m.Tool)
}

// idleBelow is how busy a machine may be, in percent, to count as quiet.
const idleBelow = 8

// quiet waits until the machine is idle for a second, at most so many seconds,
// and says what it saw.
func quiet(limit int) string {
	busy := -1
	for range limit {
		if busy = busyFor(time.Second); busy < idleBelow {
			break
		}
	}
	if busy < 0 {
		return "busy ?"
	}
	return fmt.Sprintf("busy %d %%", busy)
}

// busyFor is how busy all cores together are over a time, in percent; -1 when
// the system does not say.
func busyFor(d time.Duration) int {
	a, ok := cpuTimes()
	if !ok {
		return -1
	}
	time.Sleep(d)
	b, ok := cpuTimes()
	total := b.busy - a.busy + b.idle - a.idle
	if !ok || total == 0 {
		return -1
	}
	return 100 * (b.busy - a.busy) / total
}

// times are ticks of all cores since boot.
type times struct{ busy, idle int }

func cpuTimes() (times, bool) {
	text, err := os.ReadFile("/proc/stat")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 9 {
		return times{}, false
	}
	var t times
	for i, f := range fields[1:9] {
		n, _ := strconv.Atoi(f)
		if i == 3 || i == 4 { // idle, and waiting for the disk
			t.idle += n
		} else {
			t.busy += n
		}
	}
	return t, true
}

// straggler is a process that was started by this run.
type straggler struct {
	pid     int
	command string
}

// stragglers finds every process that has the environment of this bench and is
// not the bench. Those that are about to end get a moment for it.
func (b *bench) stragglers() []straggler {
	end := time.Now().Add(3 * time.Second)
	for {
		found := b.started()
		if len(found) == 0 || time.Now().After(end) {
			return found
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (b *bench) started() []straggler {
	var found []straggler
	for _, pid := range pids() {
		env, err := os.ReadFile(proc(pid, "environ"))
		if err == nil && pid != os.Getpid() && strings.Contains("\x00"+string(env), "\x00HOME="+b.dir+"\x00") {
			line, _ := os.ReadFile(proc(pid, "cmdline"))
			found = append(found, straggler{pid, strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")})
		}
	}
	return found
}

// running tells whether a program of this name runs.
func running(name string) bool {
	for _, pid := range pids() {
		if comm, err := os.ReadFile(proc(pid, "comm")); err == nil && strings.TrimSpace(string(comm)) == name {
			return true
		}
	}
	return false
}

func proc(pid int, file string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), file)
}

// pids of all processes; none where there is no /proc.
func pids() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// field is a number of KiB or of events from a file like /proc/PID/status,
// summed over the lines whose name ends so.
func field(path, suffix string) (float64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	sum, found := 0.0, false
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		words := strings.Fields(rest)
		if !strings.HasSuffix(name, suffix) || len(words) == 0 {
			continue
		}
		n, err := strconv.ParseFloat(words[0], 64)
		if err == nil {
			sum, found = sum+n, true
		}
	}
	return sum, found
}
