//go:build linux

package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claw/state/statetest"
)

// stormLines is how many lines the command of the storm prints.
const stormLines = 30

// TestStorm kills callers, supervisors and commands at random moments in
// random modes. Nothing may run unnoticed, be shown as running without a
// supervisor, or be lost, neither rows nor output up to the kill (issue 2,
// "Done when"). CLAW_STORM is the number of kills, CLAW_STORM_SEED repeats one.
func TestStorm(t *testing.T) {
	t.Parallel()
	n := number64("CLAW_STORM", 100)
	seed := number64("CLAW_STORM_SEED", uint64(time.Now().UnixNano()))
	t.Logf("CLAW_STORM=%d CLAW_STORM_SEED=%d", n, seed)
	w := newWorld(t)
	w.must("exec", "true") // the directory itself is made in peace
	rounds := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	tally, killed := map[string]int{}, 0
	for range 4 {
		wg.Go(func() {
			for i := range rounds {
				s := &stroke{world: w, rng: rand.New(rand.NewPCG(seed, uint64(i))), name: fmt.Sprintf("storm-%05d", i)}
				s.run()
				mu.Lock()
				tally[s.victim+" → "+s.verdict]++
				if s.hit != 0 {
					killed++
				}
				mu.Unlock()
			}
		})
	}
	for i := range int(n) {
		if t.Failed() {
			break
		}
		rounds <- i
	}
	close(rounds)
	wg.Wait()
	t.Log(tally)
	statetest.Tally(t, "kills", killed)
	if running := w.list("--state", "running"); len(running) > 0 {
		t.Errorf("shown as running in the end: %+v", running)
	}
	if tasks := w.tasks("running"); tasks > 0 {
		t.Errorf("%d tasks are shown as running in the end", tasks)
	}
}

func number64(name string, fallback uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return fallback
}

// stroke is one kill.
type stroke struct {
	*world
	rng    *rand.Rand
	name   string
	mode   string
	victim string
	caller int
	hit    int   // the pid that was killed; 0: it was gone already
	floor  int64 // bytes that were kept before the kill

	verdict string // what became of it
}

// modes are the flags of the ways to run a command.
var modes = map[string][]string{
	"foreground": nil,
	"pty":        {"--pty"},
	"yield":      {"--yield-ms", "60"},
	"background": {"-b"},
	"back-pty":   {"-b", "--pty"},
	"open":       {"-b", "--stdin", "open"},
}

func (s *stroke) errorf(format string, args ...any) {
	s.t.Errorf("%s, %s, kill %s (%d): %s", s.name, s.mode, s.victim, s.hit, fmt.Sprintf(format, args...))
}

func (s *stroke) run() {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range modes {
			if !yield(name) {
				return
			}
		}
	})
	s.mode = names[s.rng.IntN(len(names))]
	s.victim = []string{"caller", "supervisor", "command"}[s.rng.IntN(3)]
	delay := time.Duration(s.rng.IntN(160)) * time.Millisecond
	if s.rng.IntN(2) == 0 {
		delay = time.Duration(s.rng.IntN(20000)) * time.Microsecond // the start is the thickest part
	}
	script := fmt.Sprintf(`i=0; while [ $i -lt %d ]; do i=$((i+1)); echo line-$i; echo $i > %s.count; sleep 0.004; done; exit 7`, stormLines, s.name)
	args := append([]string{"exec", "--name", s.name, "--env", "CLAW_STROKE=" + s.name}, modes[s.mode]...)
	cmd := s.command(append(args, script)...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		s.errorf("%v", err)
		return
	}
	s.caller = cmd.Process.Pid
	time.Sleep(delay)
	s.strike()
	s.noticed()
	cmd.Wait()
	code := cmd.ProcessState.ExitCode()
	s.until(s.name+" has ended", func() bool {
		sup, com := s.find()
		return len(sup)+len(com)+len(s.list("--name", s.name, "--state", "running")) == 0
	})
	s.judge(code, out.String(), errOut.String())
}

// find lists the supervisors and commands of this stroke.
func (s *stroke) find() (supervisors, commands []int) {
	parents := map[int]bool{}
	all := pids()
	for _, pid := range all {
		if hasEnv(pid, "CLAW_STROKE="+s.name) && alive(pid) {
			commands = append(commands, pid)
			parents[parent(pid)] = true
		}
	}
	ids := s.ids()
	for _, pid := range all {
		argv := argvOf(pid)
		ours := len(argv) == 3 && argv[1] == "supervise" && (parent(pid) == s.caller || parents[pid] || slices.Contains(ids, argv[2]))
		if ours && alive(pid) {
			supervisors = append(supervisors, pid)
		}
	}
	return supervisors, commands
}

// ids are the ULIDs of this stroke's rows, listed or not.
func (s *stroke) ids() []string {
	var ids []string
	row := regexp.MustCompile(`"id":"(\w{26})","slug":"[^"]*","label":"` + s.name + `"`)
	for _, name := range []string{"journal.jsonl", "ledgers/processes.jsonl"} {
		raw, _ := os.ReadFile(filepath.Join(s.world.state, name))
		for _, m := range row.FindAllSubmatch(raw, -1) {
			ids = append(ids, string(m[1]))
		}
	}
	return ids
}

func parent(pid int) int {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// strike kills the victim, if there is one.
func (s *stroke) strike() {
	supervisors, commands := s.find()
	var pids []int
	switch s.victim {
	case "caller":
		pids = []int{s.caller}
	case "supervisor":
		pids = supervisors
	case "command":
		pids = commands
	}
	for _, row := range s.list("--name", s.name) {
		s.floor = row.Output.Bytes
	}
	if len(pids) > 0 && unix.Kill(pids[0], unix.SIGKILL) == nil {
		s.hit = pids[0]
	}
}

// noticed: what runs now is known, as running or as left over. A foreground
// command whose caller waits for it is known to the caller.
func (s *stroke) noticed() {
	if s.victim != "supervisor" || s.hit == 0 {
		return
	}
	s.until("the supervisor is dead", func() bool { return !alive(s.hit) })
	_, before := s.find()
	rows := s.list("--name", s.name)
	_, after := s.find()
	for _, pid := range before {
		if !slices.Contains(after, pid) {
			continue
		}
		known := false
		for _, row := range rows {
			for _, l := range row.Leftover {
				known = known || l.PID == pid
			}
		}
		if !known {
			s.errorf("%v runs unnoticed: %q; listed %+v", pid, argvOf(pid), rows)
		}
	}
}

// judge compares what claw says with what happened.
func (s *stroke) judge(code int, out, errOut string) {
	ran := int64(-1)
	if raw, err := os.ReadFile(filepath.Join(s.dir, s.name+".count")); err == nil {
		ran, _ = strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	}
	rows := s.list("--name", s.name)
	full := stormOutput(stormLines, strings.Contains(s.mode, "pty"))
	switch {
	case len(rows) > 1:
		s.errorf("%d rows", len(rows))
	case len(rows) == 0:
		s.verdict = fmt.Sprintf("unlisted, exit %d", code)
		s.unlisted(code, ran, out, errOut, full)
	default:
		s.verdict = rows[0].State + " " + rows[0].ExitSignal
		s.listed(rows[0], ran, full)
		if slices.Contains(modes[s.mode], "-b") && code == 0 && out != rows[0].SessionID+"\n" {
			s.errorf("exec -b printed %q, the process is %s", out, rows[0].SessionID)
		}
	}
}

// unlisted: either its caller has it all, or it never ran.
func (s *stroke) unlisted(code int, ran int64, out, errOut, full string) {
	if ran < 0 && out == "" {
		return
	}
	switch {
	case out == full && (code == 7 || code == -1):
	case code == 137 && s.victim == "command" && strings.HasPrefix(full, out):
	default:
		s.errorf("no row; exit %d, %d lines were printed, %d bytes of %d passed on\n%s", code, ran, len(out), len(full), errOut)
	}
}

// listed: its state is true and its output is all there is.
func (s *stroke) listed(row session, ran int64, full string) {
	got := s.raw(row.SessionID)
	if !strings.HasPrefix(full, got) || int64(len(got)) < s.floor {
		s.errorf("%s: %d bytes are kept, %d were before the kill: %q", row.SessionID, len(got), s.floor, got)
	}
	if int64(len(got)) != row.Output.Bytes {
		s.errorf("%d bytes are kept, %d are counted", len(got), row.Output.Bytes)
	}
	switch row.State {
	case "lost":
		if s.victim == "command" && s.hit != 0 {
			s.errorf("shown as lost")
		}
	case "failed":
		s.failed(row, ran, got, full)
	default:
		s.errorf("shown as %q", row.State)
	}
}

// failed is the state of a command that exits 7 or is killed.
func (s *stroke) failed(row session, ran int64, got, full string) {
	switch {
	case row.ExitCode != nil && *row.ExitCode == 7:
		if got != full {
			s.errorf("exit 7, %d bytes of %d", len(got), len(full))
		}
	case row.ExitSignal == "SIGKILL" && s.victim == "command":
		if least := stormOutput(int(max(ran, 0)), strings.Contains(s.mode, "pty")); !strings.HasPrefix(got, least) {
			s.errorf("%d lines were printed, %q is kept", ran, got)
		}
	default:
		s.errorf("ended as %+v", row)
	}
}

func stormOutput(lines int, terminal bool) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line-%d\n", i+1)
	}
	if terminal {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}
