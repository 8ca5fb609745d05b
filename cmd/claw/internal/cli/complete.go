package cli

import (
	"fmt"
	"strings"

	"claw/cmd/claw/internal/output"
	"claw/runner/control"
	"claw/runner/deliver"
	"claw/runner/tasks"
	"claw/state/delivery"
	"claw/state/process"
	"claw/state/task"
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
	candidates, err := a.candidates(kind, agent, all)
	if err != nil {
		return nil
	}
	for _, x := range candidates {
		fmt.Fprintf(a.io.Out, "%s\t%s\n", x.name, x.help)
	}
	return nil
}

// candidates are what can stand for a kind; agent and all say whose.
func (a *app) candidates(kind, agent string, all bool) ([]candidate, error) {
	switch kind {
	case argsAgent:
		return a.agentCandidates()
	case argsSession:
		return a.sessionCandidates(agent)
	case argsAutomation:
		return a.automationCandidates()
	case argsChannel:
		return a.channelCandidates()
	case argsDelivery, argsUnsent:
		return a.deliveryCandidates(kind == argsUnsent)
	case argsFlow:
		return a.flowCandidates()
	case argsTask:
		return a.taskCandidates()
	case argsProcess, argsRunning, argsEnded:
	default:
		return nil, nil
	}
	ctl, err := a.control(agent, all)
	if err != nil {
		return nil, err
	}
	return processCandidates(ctl, kind)
}

func processCandidates(ctl *control.Control, kind string) ([]candidate, error) {
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
func (a *app) taskCandidates() ([]candidate, error) {
	k, err := a.keeper()
	if err != nil {
		return nil, err
	}
	list, err := k.List(tasks.Filter{Limit: 50})
	if err != nil {
		return nil, err
	}
	var all []candidate
	seen := map[string]bool{}
	for _, t := range list.Tasks {
		name := task.Name(t)
		if !seen[name] {
			all = append(all, candidate{name: name, help: oneLine(string(t.Status) + ": " + t.Task)})
		}
		seen[name] = true
	}
	return all, nil
}

func (a *app) agentCandidates() ([]candidate, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, name := range cfg.AgentNames() {
		help := "the embedded agent"
		if argv := cfg.Agent(name).Command; len(argv) > 0 {
			help = oneLine(process.QuoteArgv(argv))
		}
		all = append(all, candidate{name: name, help: help})
	}
	return all, nil
}

func (a *app) sessionCandidates(agent string) ([]candidate, error) {
	turns, err := a.turns()
	if err != nil {
		return nil, err
	}
	sessions, err := turns.Sessions(agent)
	newestFirst(sessions)
	var all []candidate
	for _, s := range sessions {
		all = append(all, candidate{name: s.Key, help: string(s.Status) + ", " + counted(s.Turns, "turn")})
	}
	return all, err
}

func (a *app) automationCandidates() ([]candidate, error) {
	s, err := a.cron()
	if err != nil {
		return nil, err
	}
	entries, err := s.List()
	var all []candidate
	for _, e := range entries {
		all = append(all, candidate{name: e.Name, help: oneLine(e.Words)})
	}
	return all, err
}

func (a *app) channelCandidates() ([]candidate, error) {
	post, err := a.posting()
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, name := range post.Names() {
		ch, _ := post.Channel(name)
		all = append(all, candidate{name: name, help: oneLine(firstOf(post.Ready(name), ch.Type))})
	}
	return all, nil
}

// deliveryCandidates names deliveries by their short ids; unsent leaves those
// that are settled out.
func (a *app) deliveryCandidates(unsent bool) ([]candidate, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	deliveries, err := deliver.List(store, a.now(), false)
	var all []candidate
	for _, d := range deliveries {
		if !unsent || d.State != delivery.Delivered && d.State != delivery.Dismissed {
			all = append(all, candidate{name: delivery.Short(d.ID), help: oneLine(string(d.State) + ": " + headline(d.Title, d.Text))})
		}
	}
	return all, err
}

func oneLine(s string) string {
	return process.Elide(process.Collapse(output.Safe(s)), described)
}
