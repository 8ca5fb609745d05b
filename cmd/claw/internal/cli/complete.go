package cli

import (
	"fmt"
	"strings"

	"claw/cmd/claw/internal/output"
	"claw/runner/control"
	"claw/state/process"
)

// completeCmd is what a completion script asks: `claw __complete KIND WORDS…`
// with the words typed so far. Whatever is wrong, it says nothing: a shell
// that waits for a Tab has no room for errors.
type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// described is how many characters of a command stand beside an id.
const described = 60

// Run prints candidates, "ID<TAB>what it is", newest first.
func (c *completeCmd) Run(a *app) error {
	if len(c.Words) == 0 {
		return nil
	}
	kind, agent, all := c.Words[0], "", false
	for i, w := range c.Words {
		next := ""
		if i+1 < len(c.Words) {
			next = c.Words[i+1]
		}
		name, value, joined := strings.Cut(w, "=")
		if joined {
			next = value
		}
		switch name {
		case "--agent":
			agent = next
		case "--state-dir":
			a.global.StateDir = next
		case "--all-agents":
			all = true
		}
	}
	ctl, err := a.control(agent, all || kind == argsTask)
	if err != nil {
		return nil
	}
	candidates, err := candidatesOf(ctl, kind)
	if err != nil {
		return nil
	}
	for _, x := range candidates {
		fmt.Fprintf(a.io.Out, "%s\t%s\n", x.name, x.help)
	}
	return nil
}

func candidatesOf(ctl *control.Control, kind string) ([]candidate, error) {
	if kind == argsTask {
		return taskCandidates(ctl)
	}
	r, err := ctl.List(control.Filter{})
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, s := range r.Details.(control.List).Sessions {
		running := s.Running != nil
		if kind == argsRunning && !running || kind == argsEnded && running {
			continue
		}
		all = append(all, candidate{name: s.SessionID, help: oneLine(s.State + ": " + s.Command)})
	}
	return all, nil
}

// taskCandidates names tasks by their process, which is what people know; of
// several with one name the newest is meant.
func taskCandidates(ctl *control.Control) ([]candidate, error) {
	list, err := ctl.Tasks(control.TaskFilter{Limit: 50})
	if err != nil {
		return nil, err
	}
	var all []candidate
	seen := map[string]bool{}
	for _, t := range list.Tasks {
		name := firstOf(t.Slug, t.ID)
		if !seen[name] {
			all = append(all, candidate{name: name, help: oneLine(string(t.Status) + ": " + t.Task)})
		}
		seen[name] = true
	}
	return all, nil
}

func oneLine(s string) string {
	return process.Elide(process.Collapse(output.Safe(s)), described)
}
