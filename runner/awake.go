package runner

import (
	"os"
	"runtime"
	"time"

	"claw/runner/internal/proc"
)

// Values of Runner.InhibitSleep; runner.inhibitSleep in claw.toml.
const (
	InhibitAuto = "auto" // while turns or commands run, where the system offers it
	InhibitOff  = "off"
)

// awake keeps the machine from going to sleep while something runs, by a
// program of the system: systemd-inhibit or caffeinate. That one lives as long
// as the pipe that is its stdin, or that of what it runs, so that it ends with
// the runner however that dies. It is a favour: where it cannot be had it is
// said once, and all goes on.
type awake struct {
	log   func(string)
	hold  *os.File      // our end of the pipe; nil: nothing is held
	begun time.Duration // when it was started, on the monotonic clock
	child proc.Child
	gone  chan proc.Status // its end
	given bool             // it cannot be had, and that has been said
}

// inhibitor is the program and what it is told.
func inhibitor(goos string, pid int) []string {
	switch goos {
	case "linux":
		return []string{
			"systemd-inhibit", "--what=sleep", "--who=claw", "--why=commands or agents are at work", "--mode=block", "cat",
		}
	case "darwin":
		return []string{"caffeinate", "-i", "-w", itoa(pid)}
	}
	return nil
}

// keep begins to hold the machine awake, or lets it go.
func (a *awake) keep(want bool, now time.Duration) {
	a.check(now)
	switch {
	case want && a.hold == nil && !a.given:
		a.begin(now)
	case !want && a.hold != nil:
		a.release()
	}
}

// shortest is how long an inhibitor must have lived to be more than a refusal.
const shortest = 10 * time.Second

// check notices one that has ended by itself: the system does not let us, or
// somebody has ended it. One that did not last is not tried again.
func (a *awake) check(now time.Duration) {
	if a.hold == nil {
		return
	}
	select {
	case <-a.gone:
		a.hold.Close()
		a.hold = nil
		if a.given = now-a.begun < shortest; a.given {
			a.log("the system cannot be kept awake while something runs: the inhibitor has ended at once")
		}
	default:
	}
}

func (a *awake) begin(now time.Duration) {
	argv := inhibitor(runtime.GOOS, os.Getpid())
	if len(argv) == 0 {
		a.given = true
		return
	}
	path, err := proc.LookPath(argv[0], "/", os.Getenv("PATH"))
	if err != nil { // there is no such thing here, which nobody need be told
		a.given = true
		return
	}
	if err := a.start(path, argv); err != nil {
		a.given = true
		a.log("the system cannot be kept awake while something runs: " + err.Error())
		return
	}
	a.begun = now
}

func (a *awake) start(path string, argv []string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	child, err := proc.Start(proc.StartSpec{Path: path, Argv: argv, Env: os.Environ(), Dir: "/", Files: [3]*os.File{read}, NewSession: true})
	if err != nil {
		write.Close()
		return err
	}
	a.hold, a.child, a.gone = write, child, make(chan proc.Status, 1)
	go func(gone chan proc.Status) {
		status, _ := proc.Wait(child.PID)
		gone <- status
	}(a.gone)
	return nil
}

// release lets the machine sleep again. The program is told, too: caffeinate
// does not look at the pipe.
func (a *awake) release() {
	if a.hold == nil {
		return
	}
	a.hold.Close()
	a.hold = nil
	_ = proc.Signal(a.child.Identity, terminate)
}
