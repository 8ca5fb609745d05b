package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// scheduler is a program that starts commands by the clock.
type scheduler struct {
	name string
	// up starts it with n entries of one expression (six fields, the first are
	// seconds), each of which runs the command. down ends it and tells what it
	// has done wrong.
	up func(n int, expr string, command []string) (pid int, down func() error, err error)
}

// schedulers are those that can be told a second.
func (b *bench) secondSchedulers() []scheduler {
	all := []scheduler{{"claw", b.clawCron}}
	if program, err := exec.LookPath("supercronic"); err == nil {
		all = append(all, scheduler{"supercronic", func(n int, expr string, command []string) (int, func() error, error) {
			return b.supercronic(program, n, expr, command)
		}})
	}
	return all
}

// table writes a crontab with n lines.
func (b *bench) crontab(n int, expr string, command []string) (string, error) {
	file := filepath.Join(b.sub("cron"), "table")
	line := expr + " " + strings.Join(command, " ") + "\n"
	return file, os.WriteFile(file, []byte(strings.Repeat(line, n)), 0o600)
}

func (b *bench) supercronic(program string, n int, expr string, command []string) (int, func() error, error) {
	table, err := b.crontab(n, expr+" *", command)
	if err != nil {
		return 0, nil, err
	}
	c := exec.Command(program, "-quiet", table)
	c.Env = b.env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return 0, nil, err
	}
	down := b.onClose(func() {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		c.Wait()
	})
	return c.Process.Pid, func() error { down(); return nil }, nil
}

// clawCron is a runner with n automations.
func (b *bench) clawCron(n int, expr string, command []string) (int, func() error, error) {
	c := b.instance()
	if err := c.makeAutomations(n, expr, command); err != nil {
		return 0, nil, err
	}
	r, err := c.runner()
	if err != nil {
		return 0, nil, err
	}
	return r.Process.Pid, func() error {
		r.Process.Signal(syscall.SIGTERM)
		r.Wait()
		return c.settleRuns()
	}, nil
}

// lateness is how late commands start that are due at a second, beside peers.
func lateness(b *bench) []row {
	all := b.secondSchedulers()
	span := time.Duration(b.pick(10, 5)) * time.Second
	var rows []row
	for _, n := range []int{1, 10, 100} {
		worst, lost := map[string]float64{}, map[string]int{}
		var cs []contestant
		for _, s := range all {
			cs = append(cs, contestant{name: s.name, once: func() (float64, error) {
				late, missing, err := b.everySecond(s, n, span)
				if err != nil {
					return 0, err
				}
				worst[s.name], lost[s.name] = max(worst[s.name], slices.Max(late)), lost[s.name]+missing
				return median(late), nil
			}})
		}
		m := b.rounds(b.pick(3, 1), cs)
		r := newRow(fmt.Sprintf("cron: %d each second", n), "ms late", m, "claw", "supercronic")
		r.Note = fmt.Sprintf("latest %.0f ms, %d seconds skipped", worst["claw"], lost["claw"])
		if len(all) > 1 {
			r.Note += fmt.Sprintf("; supercronic %.0f, %d", worst["supercronic"], lost["supercronic"])
		}
		rows = append(rows, r.atMost(2))
	}
	return rows
}

// everySecond has n commands due each second for a while, and gives by how many
// ms each started late, and how many did not start in a second of their own.
func (b *bench) everySecond(s scheduler, n int, span time.Duration) (late []float64, missing int, err error) {
	file := filepath.Join(b.sub("late"), "ran")
	_, down, err := s.up(n, "* * * * * *", b.with("stamp", file))
	if err != nil {
		return nil, 0, err
	}
	time.Sleep(time.Second) // it has come up
	first := time.Now().Truncate(time.Second).Add(time.Second)
	last := first.Add(span)
	time.Sleep(time.Until(last.Add(-20 * time.Millisecond)))
	if err := down(); err != nil {
		return nil, 0, err
	}
	wall, err := wallStamps(file)
	if err != nil {
		return nil, 0, err
	}
	for _, at := range wall {
		if !at.Before(first) && at.Before(last) {
			late = append(late, float64(at.Sub(at.Truncate(time.Second)))/1e6)
		}
	}
	if len(late) == 0 {
		return nil, 0, errors.New(s.name + " started nothing")
	}
	return late, max(0, n*int(span/time.Second)-len(late)), nil
}

// wallStamps are the stamps of a file by the wall clock, in order.
func wallStamps(file string) ([]time.Time, error) {
	at, err := stamps(file, 0)
	if err != nil {
		return nil, err
	}
	now, wall := mono(), time.Now()
	out := make([]time.Time, len(at))
	for i, t := range at {
		out[i] = wall.Add(time.Duration(t - now))
	}
	slices.SortFunc(out, time.Time.Compare)
	return out, nil
}

// burst is what a thousand commands cost that are due in the same second.
func burst(b *bench) []row {
	const n, period = 1000, 20 * time.Second
	claimed, medians, lasts, memory := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, s := range b.secondSchedulers() {
		file := filepath.Join(b.sub("burst"), "ran")
		pid, down, err := s.up(n, "*/20 * * * * *", b.with("stamp", file))
		if err == nil {
			slot := time.Now().Truncate(period).Add(period)
			time.Sleep(time.Until(slot))
			if _, err = stamps(file, n); err == nil {
				if kib, ok := field(proc(pid, "status"), "VmHWM"); ok {
					memory[s.name] = kib / 1024
				}
				err = down()
			}
			if err == nil {
				err = burstOf(file, slot, n, s.name, claimed, medians, lasts)
			}
		}
		if err != nil {
			b.failed(s.name, err)
		}
	}
	first := newRow("cron: 1,000 in a second, claimed", "ms", claimed, "claw", "supercronic")
	first.Note = "all are before the first has started"
	half := newRow("cron: 1,000 in a second, half started", "ms", medians, "claw", "supercronic")
	all := newRow("cron: 1,000 in a second, all started", "ms", lasts, "claw", "supercronic")
	peak := newRow("cron: 1,000 in a second, peak memory", "MiB", memory, "claw", "supercronic")
	return []row{
		first.judge("≤ 2 s", true, first.Claw <= 2000), half.atMost(2), all.atMost(2),
		peak.judge("< 40 MiB", true, peak.Claw < 40),
	}
}

func burstOf(file string, slot time.Time, n int, name string, claimed, medians, lasts map[string]float64) error {
	wall, err := wallStamps(file)
	if err != nil {
		return err
	}
	var late []float64
	for _, at := range wall {
		if !at.Before(slot) && len(late) < n {
			late = append(late, float64(at.Sub(slot))/1e6)
		}
	}
	if len(late) < n {
		return fmt.Errorf("%s started %d of %d", name, len(late), n)
	}
	claimed[name], medians[name], lasts[name] = late[0], median(late), late[n-1]
	return nil
}
