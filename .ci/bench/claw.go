package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"claw/state"
	"claw/state/process"
)

// instance is claw at work in a state directory of its own.
type instance struct {
	b   *bench
	dir string
	env []string
}

func (b *bench) instance() instance {
	dir := b.sub("claw") + "/state"
	return instance{b: b, dir: dir, env: []string{"CLAW_STATE_DIR=" + dir}}
}

// run is the time a command of claw takes, in ms.
func (c instance) run(args ...string) (float64, error) {
	return c.b.timed(c.env, slices.Concat([]string{c.b.claw}, args)...)
}

// background is the time it takes to submit a command, in ms.
func (c instance) background(command ...string) (float64, error) {
	return c.run(slices.Concat([]string{"exec", "-b", "--"}, command)...)
}

// submit submits a command and returns its id.
func (c instance) submit(command ...string) (string, error) {
	return c.b.output(c.env, slices.Concat([]string{c.b.claw, "exec", "-b", "--"}, command)...)
}

// settle waits for what was submitted last.
func (c instance) settle() {
	if _, err := c.run("process", "wait", "--last"); err != nil {
		c.b.fault("%v", err)
	}
}

// code waits for a process and returns its exit code as claw tells it.
func (c instance) code(id string) (int, error) {
	_, err := c.run("process", "wait", "--all-agents", id)
	if err == nil {
		return 0, nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	return exit.ExitCode(), nil
}

// store opens the state directory.
func (c instance) store() (*state.Store, error) {
	return state.Open(c.dir, state.Options{Now: time.Now})
}

// newest is the row of the process that was started last.
func (c instance) newest() (process.Process, error) {
	s, err := c.store()
	if err != nil {
		return process.Process{}, err
	}
	defer s.Close()
	var rows []state.Row[process.Process]
	err = s.View(func(tx *state.Tx) error {
		rows, err = state.Processes.All(tx)
		return err
	})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s has no process", c.dir)
	}
	if err != nil {
		return process.Process{}, err
	}
	return rows[len(rows)-1].Rec, nil
}

// statuses is what claw says of all tasks it has ever had: how many are in each
// status.
func (c instance) statuses() (map[string]int, error) {
	out, err := c.b.output(c.env, c.b.claw, "tasks", "list", "--all", "--json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Tasks []struct {
			Status string `json:"status"`
		} `json:"tasks"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, t := range list.Tasks {
		count[t.Status]++
	}
	return count, nil
}
