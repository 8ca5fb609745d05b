// The bench measures claw beside the floors of this machine and the peers that
// are installed on it, and prints one table: make bench.
//
// # Use
//
//	make bench                        everything, some minutes
//	.ci/bench/run -quick              fewer rounds and smaller jobs
//	.ci/bench/run -only submit,wait   these alone
//	.ci/bench/run -json               the same as one JSON object
//
// It exits with 0 whatever the numbers are, for they depend on the machine;
// with 1 when claw loses a job, tells a wrong exit code or leaves a process
// behind; with 2 when it cannot work at all.
//
// # How to read it
//
// The same machine drifts by a factor of two within minutes, its disk by ten.
// So a number of claw means something only beside others of the same run:
// every round measures each contestant once, in rotating order, and the table
// has medians and their ratio. The bars are those of issues 2 and 3, section 7, and 4, section 4, for a
// quiet machine with two cores. Before each measure the bench waits a while
// for the machine to be idle; how busy it was is in the last column.
//
//	start          claw version, beside an empty Go program
//	submit         claw exec -b -- true until it returns; floor: two empty Go
//	               programs, a spawn and an fdatasync
//	throughput     no-op background commands from 16 submitters until all have run
//	history-start  submit to first instruction, with 100,000 finished processes
//	               and tasks beside the same with 10
//	history-list   process list and tasks list, likewise
//	output-zero    2 GiB of zeros through a process, from the command's first
//	               instruction to its last; beside it the same | cat > file
//	output-lines   100 million bytes in lines of 26, likewise
//	idle           one supervisor of a command that waits, beside a Go program
//	               that sleeps
//	wait           from the last instruction of a command to the return of
//	               claw process wait
//	writers        16 processes, each one durable transaction after the other
//	               on one directory; floor: append and fdatasync, after and
//	               within a flock
//	wake           from the last instruction of a command to the first of the
//	               agent that is told: with a runner, and with nothing, where
//	               the supervisor starts a tick; beside the latter, from
//	               starting a tick by hand to the agent
//	tick           a tick that finds nothing to do, with 100,000 finished tasks
//	               and 1,000 sessions beside an empty directory
//	backlog        1,000 events for one session, twenty a turn, beside 200
//	runner         an idle runner, beside cron and supercronic
//	cron           1, 10 and 100 commands of automations each second: from the
//	               second to the first instruction, beside supercronic; whether
//	               each second has its record and what ran is on record
//	cron-burst     1,000 in the same second: claimed, started, and the memory
//	cron-loaded    10,000 automations of which none is due: ticks, and a runner
//	               at rest
//	cron-next      the next time of an expression, beside robfig/cron and gronx;
//	               they are built in a module of their own, next/
//
// The histories are written through package state and come to rest in the
// archive, as they would by themselves; the last ten processes are recent and
// real in both. With -outputs each old process also has its output directory.
//
// Peers are nq, tsp (task-spooler), at and tmux; what is not installed is not
// shown, nor is a peer where it cannot do the same or would take too long for
// it: a long history is given to nq alone, by writing its files. Everything happens in one temporary directory, and nothing is left of
// it. at alone needs its spool: it is measured by root, when no atd runs and
// no job waits.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// measure is a part of the bench that can be asked for by name.
type measure struct {
	name string
	run  func(*bench) []row
}

var measures = []measure{
	{"start", start},
	{"submit", submit},
	{"throughput", throughput},
	{"history-start", historyStart},
	{"history-list", historyList},
	{"output-zero", outputZero},
	{"output-lines", outputLines},
	{"idle", idle},
	{"wait", wait},
	{"writers", writers},
	{"wake", wake},
	{"tick", tick},
	{"backlog", backlog},
	{"runner", runnerIdle},
	{"cron", lateness},
	{"cron-burst", burst},
	{"cron-loaded", loaded},
	{"cron-next", next},
}

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] { // parts that run in a process of their own
		case toolFlag:
			os.Exit(tool(os.Args[2:]))
		case writerFlag:
			os.Exit(writer(os.Args[2:]))
		}
	}
	os.Exit(run())
}

func run() int {
	claw := flag.String("claw", "bin/claw", "the `program` to measure")
	only := flag.String("only", "", "`names` of measures, with commas")
	asJSON := flag.Bool("json", false, "print one JSON object")
	dir := flag.String("dir", "", "make the temporary directory in this `directory`, on the disk to be measured")
	nice := flag.Int("nice", 0, "run everything at this `niceness`; below 0 needs root")
	var b bench
	flag.BoolVar(&b.quick, "quick", false, "fewer rounds, smaller jobs")
	flag.IntVar(&b.finished, "history", 100_000, "`how many` finished processes the histories have")
	flag.BoolVar(&b.outputs, "outputs", false, "give each of them an output directory (slow)")
	flag.Parse()
	chosen, err := choose(*only)
	if err == nil {
		err = b.open(*claw, *dir, *nice)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	defer b.close() // whatever happens
	b.closeOnSignal()
	rows := b.measure(chosen)
	b.close()
	b.print(rows, *asJSON)
	if len(b.faults) > 0 {
		return 1
	}
	return 0
}

// choose finds the measures with these names; none means all.
func choose(names string) ([]measure, error) {
	if names == "" {
		return measures, nil
	}
	var chosen []measure
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(measures, func(m measure) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no measure %q", name)
		}
		chosen = append(chosen, measures[i])
	}
	return chosen, nil
}

func (b *bench) measure(chosen []measure) []row {
	var all []row
	for _, m := range chosen {
		busy := quiet(b.pick(15, 2))
		fmt.Fprintf(os.Stderr, "bench: %s (machine %s)\n", m.name, busy)
		rows := m.run(b)
		for i := range rows {
			rows[i].Busy = busy
		}
		all = append(all, rows...)
	}
	return all
}

// closeOnSignal leaves nothing behind when the bench is interrupted.
func (b *bench) closeOnSignal() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		fmt.Fprintf(os.Stderr, "bench: stopped by a signal (%v)\n", <-c)
		b.close()
		os.Exit(130)
	}()
}

// print writes the result to stdout, and what claw did wrong to stderr too.
func (b *bench) print(rows []row, asJSON bool) {
	if asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		e.Encode(struct {
			Machine machine  `json:"machine"`
			Rows    []row    `json:"rows"`
			Faults  []string `json:"faults"`
		}{b.machine, rows, b.faults})
	} else {
		fmt.Println(b.machine)
		table(os.Stdout, rows)
	}
	for _, f := range b.faults {
		fmt.Fprintln(os.Stderr, "bench: claw is wrong:", f)
	}
}

// open makes the temporary directory and everything that all measures need.
func (b *bench) open(claw, dir string, nice int) error {
	var err error
	if b.claw, err = filepath.Abs(claw); err != nil {
		return err
	}
	if _, err := os.Stat(b.claw); err != nil {
		return fmt.Errorf("%w; make build makes it", err)
	}
	if nice != 0 {
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, 0, nice); err != nil {
			return fmt.Errorf("nice %d: %w", nice, err)
		}
	}
	if b.dir, err = os.MkdirTemp(dir, "claw-bench."); err != nil {
		return err
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	b.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "TMPDIR=" + b.dir, "SHELL=/bin/sh", "LC_ALL=C"}
	b.machine = look(b.dir, nice)
	if b.complaints, err = os.OpenFile(filepath.Join(b.dir, "stderr"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err == nil {
		err = b.build()
	}
	if err != nil {
		b.close()
	}
	return err
}
