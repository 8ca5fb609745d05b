package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"claw/cmd/claw/internal/output"
	"claw/runner/agent"
	"claw/state/session"
)

// sessionsCmd is `claw sessions`; spec/tasks-recovery.md 6.6.
type sessionsCmd struct {
	List sessionsList `cmd:"" default:"withargs" aliases:"ls" help:"Show conversations with agents, the last one spoken in first."`
	Show sessionsShow `cmd:"" help:"Show what was said in a conversation, the newest last."`
	New  sessionsNew  `cmd:"" help:"Begin a conversation anew; its transcript is put aside."`
	Rm   sessionsRm   `cmd:"" help:"Take a conversation out of the list; its transcript is put aside."`
}

// Help shows examples.
func (sessionsCmd) Help() string {
	return "A session is one conversation with an agent, known by a key such as agent:main:main or session:review. The name of an agent stands for its main session; four or more characters from the beginning of a key do where they are unique. Without an action, list.\n\n" +
		examples("claw sessions list", "claw sessions show main")
}

// turns is what acts on sessions.
func (a *app) turns() (*agent.Turns, error) {
	r, err := a.runner(nil)
	if err != nil {
		return nil, err
	}
	return r.Turns, nil
}

// sessionNamed opens what acts on sessions, and finds the one that is meant.
func (a *app) sessionNamed(command, query string) (*agent.Turns, agent.Seen, error) {
	turns, err := a.turns()
	if err != nil {
		return nil, agent.Seen{}, err
	}
	s, err := turns.Session(query)
	if err != nil && remedyOf(err) != nil {
		err = sessionError(command, err)
	}
	return turns, s, err
}

type sessionsList struct {
	Agent string `help:"Only those of this agent." placeholder:"NAME"`
	JSON  bool   `name:"json" help:"Print {\"sessions\": [{\"key\", \"sessionId\", \"agent\", \"status\", \"turns\", \"updatedAt\", \"holder\", \"queued\", …}]}."`
}

// Help shows examples.
func (sessionsList) Help() string {
	return "STATUS is new, running, or how the last turn ended: done, failed, timeout, killed, interrupted. LANE says who runs a turn in it now, and whether another waits.\n\n" +
		examples("claw sessions list --agent ops", "claw sessions list --json | jq -r '.sessions[] | select(.holder) | .key'")
}

// Run prints the list.
func (c *sessionsList) Run(a *app) error {
	turns, err := a.turns()
	if err != nil {
		return err
	}
	all, err := turns.Sessions(c.Agent)
	if err != nil {
		return err
	}
	newestFirst(all)
	if c.JSON {
		return a.io.JSON(map[string]any{"sessions": append([]agent.Seen{}, all...)})
	}
	if len(all) == 0 {
		a.io.Note("No sessions. claw agent send begins one.")
		return nil
	}
	t := output.Table{Columns: []output.Column{
		{Name: "SESSION"}, {Name: "AGENT"}, {Name: "STATUS", State: true}, {Name: "LAST"}, {Name: "TURNS", Right: true}, {Name: "LANE", Flex: true},
	}}
	for _, s := range all {
		t.Rows = append(t.Rows, []string{s.Key, s.Agent, string(s.Status), a.ago(s.UpdatedAt), itoa(s.Turns), laneWords(s)})
	}
	return a.io.Table(t)
}

// laneWords says first what one looks for: who to look at, since when, and
// whether somebody is held up. A narrow terminal cuts the rest.
func laneWords(s agent.Seen) string {
	if s.Holder == "" {
		return ""
	}
	words := make([]string, 0, 4)
	if s.PID != 0 {
		words = append(words, "pid "+itoa(s.PID))
	}
	words = append(words, "since "+s.StartedAt.Local().Format("15:04"))
	if s.Queued {
		words = append(words, "another waits")
	}
	return strings.Join(append(words, "turn "+s.TurnID), ", ")
}

type sessionsShow struct {
	Key   string `arg:"" help:"Which session: its key, four or more characters of it, or an agent." placeholder:"KEY"`
	Limit int    `help:"At most so many of the last entries (default 50); 0 is all." default:"50" placeholder:"N"`
	Raw   bool   `help:"The transcript as it is kept, a line of JSON for each entry."`
	JSON  bool   `name:"json" help:"Print {\"session\": {…}, \"entries\": [{\"id\", \"timestamp\", \"message\": {\"role\", \"content\"}, …}]}."`
}

// Help shows examples.
func (sessionsShow) Help() string {
	return "The message of a wake begins with its marker, such as [OpenClaw exec completion]. The message of a turn that runs now comes last.\n\n" +
		examples("claw sessions show main --limit 4", "claw sessions show main --raw > conversation.jsonl")
}

// Run shows one conversation.
func (c *sessionsShow) Run(a *app) error {
	turns, s, err := a.sessionNamed("sessions show", c.Key)
	if err != nil {
		return err
	}
	tr, raw, err := turns.Transcript(s.Key)
	switch {
	case err != nil:
		return err
	case c.Raw:
		_, err := a.io.Out.Write(raw)
		return err
	}
	if tr.Header.ID != "" && tr.Header.ID != s.ID {
		tr.Entries = nil // of the conversation before
	}
	entries := tr.Entries
	if now, ok, err := turns.Now(s.Session); err != nil {
		return err
	} else if ok {
		entries = append(entries, session.UserEntry(now))
	}
	left := 0
	if c.Limit > 0 && len(entries) > c.Limit {
		left = len(entries) - c.Limit
		entries = entries[left:]
	}
	if c.JSON {
		return a.io.JSON(map[string]any{"session": s, "entries": append([]session.Entry{}, entries...)})
	}
	return c.print(a, s, tr, entries, left)
}

// print writes entries for people.
func (c *sessionsShow) print(a *app, s agent.Seen, tr session.Transcript, entries []session.Entry, left int) error {
	for _, p := range tr.Problems {
		a.io.Note("the transcript: " + p.Error())
	}
	if len(entries) == 0 {
		a.io.Note("nothing has been said in " + s.Key + " yet")
		return nil
	}
	if left > 0 {
		a.io.Note(fmt.Sprintf("the last %d of %d entries; --limit 0 shows all", len(entries), len(entries)+left))
	}
	var b strings.Builder
	for i, e := range entries {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(a.entryText(e))
	}
	if s.Holder != "" {
		a.io.Note("running: " + laneWords(s))
	}
	_, err := io.WriteString(a.io.Out, b.String())
	return err
}

// entryText is one entry: who and when, and below it the text as it is.
func (a *app) entryText(e session.Entry) string {
	who := firstOf(e.Message.Role, e.Type)
	head := "── " + who + ", " + firstOf(a.ago(e.Timestamp), "at an unknown time")
	if e.Status != "" {
		head += ", " + strings.ReplaceAll(string(e.Status), "_", " ")
	}
	if e.Error != "" {
		head += ": " + output.Escape(e.Error)
	}
	text, _ := session.MessageText(e.Message)
	for _, block := range e.Message.Content {
		if block.Name != "" {
			text += "[" + block.Name + " " + string(block.Arguments) + string(block.Input) + "]"
		}
	}
	return head + "\n" + output.Safe(endLine(text))
}

type sessionsNew struct {
	Key   string `arg:"" optional:"" help:"Which session; one that does not exist is made. Default the agent's main session." placeholder:"KEY"`
	Agent string `help:"Whose main session, or to whom a new key belongs; default main." placeholder:"NAME"`
	JSON  bool   `name:"json" help:"Print {\"session\": {…}, \"archive\": FILE}."`
}

// Help shows examples.
func (sessionsNew) Help() string {
	return "The agent is then shown nothing of what was said before, and {session} is another id. Events that wait for the session stay. While a turn runs in it, exit 4.\n\n" +
		examples("claw sessions new", "claw sessions new session:review --agent ops")
}

// Run begins a new transcript.
func (c *sessionsNew) Run(a *app) error {
	turns, err := a.turns()
	if err != nil {
		return err
	}
	all, err := turns.Sessions("")
	if err != nil {
		return err
	}
	key := c.Key
	if key != "" {
		if key, err = meantKey(key, all); err != nil {
			return sessionError("sessions new", err)
		}
	}
	k, _ := session.Parse(key)
	name := firstOf(k.Agent, agentOfSession(all, key), c.Agent)
	if name == "" {
		if name, err = a.heartbeatAgent(""); err != nil {
			return err
		}
	}
	if err := a.checkAgent("sessions new", name); err != nil {
		return err
	}
	s, archive, err := turns.Renew(a.ctx, firstOf(key, session.Main(name)), name)
	if err != nil {
		return refusedTurn("sessions new", err)
	}
	if c.JSON {
		return a.io.JSON(map[string]any{"session": s, "archive": archive})
	}
	a.io.Say("session "+s.Key+" begins anew", keptIn(archive)...)
	return nil
}

func keptIn(archive string) []string {
	if archive == "" {
		return nil
	}
	return []string{"what was said before is kept in " + archive}
}

type sessionsRm struct {
	Key  string `arg:"" help:"Which session: its key, four or more characters of it, or an agent." placeholder:"KEY"`
	Yes  bool   `short:"y" help:"Do not ask."`
	JSON bool   `name:"json" help:"Print {\"key\", \"archive\": FILE}."`
}

// Help shows examples.
func (sessionsRm) Help() string {
	return "On a terminal it asks first. Nothing is deleted: the transcript is put aside and the turns stay in their ledger. Events that wait for the session stay too, and a wake makes it again. While a turn runs in it, and where recovery has been given up (claw sessions new comes first), exit 4.\n\n" +
		examples("claw sessions rm session:review", "claw sessions rm session:review --yes")
}

// Run removes it.
func (c *sessionsRm) Run(a *app) error {
	turns, s, err := a.sessionNamed("sessions rm", c.Key)
	if err != nil {
		return err
	}
	if err := a.mayRemove(turns, s.Key); err != nil {
		return err
	}
	if !c.Yes && !a.agrees(fmt.Sprintf("take session %s with %d turns out of the list?", s.Key, s.Turns)) {
		return silent(exitRefused)
	}
	archive, err := turns.Remove(a.ctx, s.Key)
	if err != nil {
		return refusedTurn("sessions rm", err)
	}
	if c.JSON {
		return a.io.JSON(map[string]any{"key": s.Key, "archive": archive})
	}
	a.io.Say("session "+s.Key+" is out of the list", keptIn(archive)...)
	return nil
}

// newestFirst sorts by when somebody last said something; ties by key.
func newestFirst(all []agent.Seen) {
	slices.SortStableFunc(all, func(x, y agent.Seen) int { return y.UpdatedAt.Compare(x.UpdatedAt) })
}
