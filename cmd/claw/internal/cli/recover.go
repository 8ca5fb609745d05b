package cli

import (
	"errors"
	"slices"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner"
	"claw/runner/agent"
	"claw/runner/resume"
	"claw/runner/tasks"
	"claw/state/delivery"
	"claw/state/session"
)

// recoverCmd is `claw recover`; seed 003 sections 13 to 16, tour.md "Ask why".
type recoverCmd struct {
	Scan    recoverScan    `cmd:"" default:"withargs" help:"Say what was interrupted, and what will be done about it."`
	List    recoverList    `cmd:"" aliases:"ls" help:"Show the sessions in which a turn was cut off."`
	Show    recoverShow    `cmd:"" help:"Show everything that is known about one of them."`
	Retry   recoverRetry   `cmd:"" help:"Make the next attempt at once."`
	Dismiss recoverDismiss `cmd:"" help:"Settle one without running anything."`
}

// Help shows examples.
func (recoverCmd) Help() string {
	return "A turn that was cut off, by a crash, a reboot or a kill, is continued by itself at the next tick: at most " + itoa(session.Budget) + " times, with the agent's recover argv, which must not change anything. An answer that was written already is delivered and not asked for again. What cannot be continued safely is not; you are told. After " + itoa(session.Budget) + " attempts the session is given up: it gets a tombstone, and claw sessions new is the way out. Without an action, scan. Nothing of scan, list and show writes.\n\n" +
		examples("claw recover scan", "claw recover retry main")
}

type recoverScan struct {
	JSON bool `name:"json" help:"Print {\"cycles\": [{\"sessionKey\", \"state\", …}], \"processes\", \"turns\", \"tasks\", \"flows\", \"deliveries\", \"next\"}."`
}

// Help shows examples.
func (recoverScan) Help() string {
	return "Everything that is recorded as going on and does not, and every turn that was cut off, with what the next claw heartbeat tick makes of it.\n\n" +
		examples("claw recover scan", "claw recover scan --json | jq '.cycles[] | select(.due)'")
}

// scanned is what scan --json prints.
type scanned struct {
	At         time.Time     `json:"at"`
	Cycles     []resume.Item `json:"cycles"`
	Ledgers    []string      `json:"ledgers"`    // damaged places
	Processes  []string      `json:"processes"`  // slugs of those whose supervisor has died
	Turns      []string      `json:"turns"`      // ids of those that nobody waits for
	Tasks      []string      `json:"tasks"`      // ids of those that nobody carries out
	Flows      []string      `json:"flows"`      // ids of those that follow from their tasks
	Deliveries []string      `json:"deliveries"` // ids of those that may or may not have arrived
	Next       time.Time     `json:"next,omitzero"`
}

// Run prints what was found.
func (c *recoverScan) Run(a *app) error {
	r, err := a.runner(nil)
	if err != nil {
		return err
	}
	found, err := r.Reconcile(a.ctx, a.now(), runner.OnlyReport)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(scannedOf(found))
	}
	pairs := a.scanPairs(found)
	switch {
	case len(pairs) == 0:
		a.io.Note("nothing was interrupted")
		return nil
	case a.io.OutTTY:
		return a.io.Pairs(pairs)
	}
	var b strings.Builder // a line for each, with a tab between what a terminal has in lines of their own
	for _, p := range pairs {
		b.WriteString(output.Escape(p[0]))
		for line := range strings.SplitSeq(p[1], "\n") {
			b.WriteString("\t" + output.Escape(line))
		}
		b.WriteByte('\n')
	}
	_, err = a.io.Out.Write([]byte(b.String()))
	return err
}

func scannedOf(found runner.Reconciliation) scanned {
	s := scanned{
		At: found.At, Cycles: append([]resume.Item{}, found.Cycles...), Next: found.Next,
		Ledgers: []string{}, Processes: []string{}, Turns: []string{}, Tasks: []string{}, Flows: []string{}, Deliveries: []string{},
	}
	for _, p := range found.Ledgers {
		s.Ledgers = append(s.Ledgers, p.Path)
	}
	for _, p := range found.Processes {
		s.Processes = append(s.Processes, p.Slug)
	}
	for _, t := range found.Turns {
		s.Turns = append(s.Turns, t.Turn.ID)
	}
	for _, t := range lostTasks(found) {
		s.Tasks = append(s.Tasks, t.id)
	}
	for _, f := range changedFlows(found) {
		s.Flows = append(s.Flows, f.FlowID)
	}
	for _, d := range found.Deliveries {
		s.Deliveries = append(s.Deliveries, d.ID)
	}
	return s
}

// lostTask is a task that a pass ends.
type lostTask struct{ id, name, to string }

func lostTasks(found runner.Reconciliation) (lost []lostTask) {
	for _, c := range found.Tasks {
		if c.To != "" && c.To != c.From {
			lost = append(lost, lostTask{c.TaskID, firstOf(c.Name, c.TaskID), string(c.To)})
		}
	}
	return lost
}

// changedFlows are the flows of which a pass makes something else; that old ones
// are put away is no news.
func changedFlows(found runner.Reconciliation) []tasks.FlowChange {
	return slices.DeleteFunc(slices.Clone(found.Flows), func(c tasks.FlowChange) bool { return c.To == "" || c.To == c.From })
}

// scanPairs is what was found in words, by what it is about.
func (a *app) scanPairs(found runner.Reconciliation) (pairs [][2]string) {
	for _, p := range found.Ledgers {
		pairs = append(pairs, [2]string{"ledgers", p.Path + ": " + p.Why + "\nclaw doctor says more"})
	}
	for _, p := range found.Processes {
		pairs = append(pairs, [2]string{p.Slug, "its supervisor has died; the next tick records it as lost"})
	}
	cut := map[string]bool{}
	for _, it := range found.Cycles {
		cut[it.SessionKey] = true
		pairs = append(pairs, [2]string{it.SessionKey, strings.Join(a.cycleWords(it, found.At), "\n")})
	}
	for _, t := range found.Turns {
		if !cut[t.Turn.SessionKey] {
			pairs = append(pairs, [2]string{t.Turn.SessionKey, a.leftWords(t)})
		}
	}
	for _, t := range lostTasks(found) {
		pairs = append(pairs, [2]string{t.name, "its task is recorded as going on, and nobody carries it out; it will be " + t.to})
	}
	for _, f := range changedFlows(found) {
		pairs = append(pairs, [2]string{"flow " + f.FlowID, "it is recorded as " + string(f.From) + ", and nothing of it goes on; it will be " + string(f.To)})
	}
	for _, d := range found.Deliveries {
		pairs = append(pairs, [2]string{"deliveries", unknownWords(d)})
	}
	return pairs
}

func (a *app) leftWords(t agent.Left) string {
	if t.Finish.Status == session.TurnSucceeded {
		return "a turn has ended while nobody waited for it\nits answer is there; the next tick hands it over"
	}
	return "a turn has ended while nobody waited for it: " + firstOf(t.Turn.Error, string(t.Turn.Status)) + "\nthe next tick writes that down"
}

func unknownWords(d delivery.Delivery) string {
	id := delivery.Short(d.ID)
	return "1 message to " + routeText(d.Route) + " was being sent when claw died or gave up: it may or may not have arrived\n" +
		"it will not be sent again by itself:  claw deliveries retry " + id + " | dismiss " + id
}

// cycleWords are one session in which a turn was cut off: what happened, what
// will be done and why, and the way out.
func (a *app) cycleWords(it resume.Item, now time.Time) []string {
	at := it.Cycle.InterruptedAt
	if at.After(now) {
		at = now // it has been noticed by this very look
	}
	cut := "a turn was cut off " + output.Ago(at, now) + ": " + it.Cycle.Reason
	switch it.State {
	case session.ViewTombstoned:
		return []string{"given up after " + counted(it.Attempts, "attempt") + " (tombstone); nothing will be repeated", "start over:  " + it.Remedy}
	case session.ViewExhausted:
		return []string{cut, "all " + itoa(session.Budget) + " attempts were cut off as well; the next tick gives it up", "start over:  " + it.Remedy}
	case session.ViewBlocked:
		return append([]string{cut, it.Why + "; it waits"}, nonEmpty(it.Remedy)...)
	case session.ViewInactive:
		return []string{cut, "it is over: " + firstOf(string(it.Cycle.Ending), "a new conversation was begun")}
	}
	return []string{cut, it.Why + "; " + stepWords(it, now)}
}

// stepWords is what will be done.
func stepWords(it resume.Item, now time.Time) string {
	when := "at the next tick"
	if !it.Due {
		when = "at " + moment(it.NotBefore, now)
	}
	attempt := "attempt " + itoa(it.NextAttempt) + " of " + itoa(session.Budget)
	switch it.Step {
	case session.StepContinue:
		return attempt + " will continue it " + when
	case session.StepBegin:
		return attempt + " will begin it again " + when
	case session.StepCarry:
		return "the next tick hands its answer over; no agent is started"
	case session.StepComplete:
		return "nothing is left to do; the next tick writes that down"
	case session.StepFail:
		return "it will not be continued, nor asked for again"
	}
	return "it will not be continued; the next tick tells you"
}

type recoverList struct {
	All  bool `help:"Also those that are over."`
	JSON bool `name:"json" help:"Print {\"cycles\": [{\"sessionKey\", \"state\": \"recoverable\"|\"blocked\"|\"exhausted\"|\"tombstoned\", \"step\", \"why\", \"attempts\", \"due\", \"cycle\", …}]}."`
}

// Help shows examples.
func (recoverList) Help() string {
	return "STATE is recoverable, blocked (somebody is at it, or has to be waited for), exhausted (the next tick gives it up) or tombstoned.\n\n" +
		examples("claw recover list", "claw recover list --json | jq -r '.cycles[].sessionKey'")
}

// Run prints the list.
func (c *recoverList) Run(a *app) error {
	rec, err := a.recoverer()
	if err != nil {
		return err
	}
	items, err := rec.List(a.now(), c.All)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(map[string]any{"cycles": append([]resume.Item{}, items...)})
	}
	if len(items) == 0 {
		a.io.Note("Nothing was interrupted.")
		return nil
	}
	t := output.Table{Columns: []output.Column{
		{Name: "SESSION"}, {Name: "STATE", State: true}, {Name: "SINCE"}, {Name: "ATTEMPTS", Right: true}, {Name: "WHY", Flex: true},
	}}
	for _, it := range items {
		t.Rows = append(t.Rows, []string{
			it.SessionKey, string(it.State), a.ago(it.Cycle.InterruptedAt), itoa(it.Attempts) + "/" + itoa(session.Budget), firstOf(it.Why, it.Cycle.Reason),
		})
	}
	return a.io.Table(t)
}

// recoverer is what sees to turns that were cut off.
func (a *app) recoverer() (*resume.Recoverer, error) {
	r, err := a.runner(nil)
	if err != nil {
		return nil, err
	}
	return r.Recoverer(), nil
}

// cycleNamed finds the session that is meant, and its cycle: exit 3 where
// nothing was ever cut off in it.
func (a *app) cycleNamed(command, query string) (*resume.Recoverer, resume.Item, error) {
	rec, err := a.recoverer()
	if err != nil {
		return nil, resume.Item{}, err
	}
	s, err := rec.Turns.Session(query)
	if err != nil {
		if remedyOf(err) != nil {
			err = sessionError(command, err)
		}
		return nil, resume.Item{}, err
	}
	it, ok, err := rec.Seen(a.now(), s.Key)
	if err == nil && !ok {
		err = &failure{code: exitNotFound, text: command + ": nothing was cut off in session " + s.Key, remedy: []string{"claw recover list shows where something was"}}
	}
	return rec, it, err
}

type recoverShow struct {
	Key  string `arg:"" help:"Which session: its key, four or more characters of it, or an agent." placeholder:"KEY"`
	JSON bool   `name:"json" help:"Print one JSON object, as recover list has it."`
}

// Help shows examples.
func (recoverShow) Help() string {
	return examples("claw recover show main", "claw recover show main --json | jq .cycle")
}

// Run shows one cycle.
func (c *recoverShow) Run(a *app) error {
	_, it, err := a.cycleNamed("recover show", c.Key)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(it)
	}
	y := it.Cycle
	pairs := [][2]string{
		{"session", it.SessionKey},
		{"agent", it.Agent},
		{"state", string(it.State)},
		{"ended", string(y.Ending)},
		{"cut off", exact(y.InterruptedAt)},
		{"reason", y.Reason},
		{"next", strings.Join(a.cycleWords(it, a.now())[1:], "\n")},
		{"attempts", itoa(it.Attempts) + " of " + itoa(session.Budget)},
		{"not before", exact(it.NotBefore)},
		{"turn", y.SourceTurnID},
		{"cycle", y.ID},
		{"dispatch", y.DispatchID},
		{"at work", firstOf(y.Reservation.TurnID, y.Foreground)},
	}
	shown := pairs[:0]
	for _, p := range pairs {
		if p[1] != "" {
			shown = append(shown, p)
		}
	}
	return a.io.Pairs(shown)
}

type recoverRetry struct {
	Key  string `arg:"" help:"Which session: its key, four or more characters of it, or an agent." placeholder:"KEY"`
	JSON bool   `name:"json" help:"Print the session's cycle afterwards, as recover list has it."`
}

// Help shows examples.
func (recoverRetry) Help() string {
	return "It does not wait for the time of the next attempt, and spends one of the " + itoa(session.Budget) + ". Exit 1 when it did not come to an answer, 4 when nothing waits or the session was given up.\n\n" +
		examples("claw recover retry main", "claw recover retry session:review --json | jq -r .state")
}

// Run makes the attempt.
func (c *recoverRetry) Run(a *app) error {
	if err := a.admitted("recover retry"); err != nil {
		return err
	}
	rec, it, err := a.cycleNamed("recover retry", c.Key)
	if err != nil {
		return err
	}
	if _, _, err := rec.Turns.Settle(a.ctx); err != nil {
		return err
	}
	done, err := rec.Retry(a.ctx, it.SessionKey)
	if err != nil {
		return a.cycleRefused("recover retry", it.SessionKey, err)
	}
	if err := a.wake(); err != nil {
		a.io.Note("what follows from it was not looked at: " + err.Error())
	}
	after, _, err := rec.Seen(a.now(), it.SessionKey)
	if err != nil {
		return err
	}
	failed := done.Turn.ID != "" && done.Turn.Status != session.TurnSucceeded
	switch {
	case c.JSON:
		err = a.io.JSON(after)
	case failed:
		a.io.Error("recover retry: "+done.What+": "+firstOf(done.Turn.Error, string(done.Turn.Status)), a.cycleWords(after, a.now())[1:]...)
	case done.Turn.ID != "":
		a.io.Say("session " + it.SessionKey + " has gone on; its answer goes where it was to go")
	default:
		a.io.Say("session " + it.SessionKey + ": " + done.What)
	}
	if err == nil && failed {
		err = silent(exitFailed)
	}
	return err
}

type recoverDismiss struct {
	Key  string `arg:"" help:"Which session: its key, four or more characters of it, or an agent." placeholder:"KEY"`
	JSON bool   `name:"json" help:"Print the session's cycle afterwards, as recover list has it."`
}

// Help shows examples.
func (recoverDismiss) Help() string {
	return "What was cut off is then not continued, and the session takes new work. Exit 4 when nothing waits, somebody is at it, or the session was given up.\n\n" +
		examples("claw recover dismiss main", "claw recover dismiss main --json | jq -r .cycle.ending")
}

// Run settles it.
func (c *recoverDismiss) Run(a *app) error {
	rec, it, err := a.cycleNamed("recover dismiss", c.Key)
	if err != nil {
		return err
	}
	if _, _, err := rec.Turns.Settle(a.ctx); err != nil {
		return err
	}
	if err := rec.Dismiss(a.ctx, it.SessionKey); err != nil {
		return a.cycleRefused("recover dismiss", it.SessionKey, err)
	}
	if err := a.wake(); err != nil {
		a.io.Note("what waits for the session was not looked at: " + err.Error())
	}
	if c.JSON {
		after, _, err := rec.Seen(a.now(), it.SessionKey)
		if err != nil {
			return err
		}
		return a.io.JSON(after)
	}
	a.io.Say("session " + it.SessionKey + ": what was cut off is not continued")
	return nil
}

// cycleRefused is a command on a cycle that was not carried out.
func (a *app) cycleRefused(command, key string, err error) error {
	no, rejected := errors.AsType[*session.Rejection](err)
	if !rejected {
		return refusedTurn(command, err)
	}
	remedy := nonEmpty(no.Remedy())
	if no.Code == session.ConflictTombstoned || no.Code == session.ConflictExhausted {
		remedy = []string{agent.RenewCommand(key) + " begins a new conversation"}
	}
	return &failure{code: exitRefused, text: command + ": session " + key + ": " + no.Code.Words(), remedy: remedy, err: err}
}
