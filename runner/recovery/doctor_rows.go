package recovery

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/runner/tasks"
	"claw/state"
	"claw/state/automation"
	"claw/state/boot"
	"claw/state/delivery"
	"claw/state/heartbeat"
	"claw/state/task"
)

// seen is what is noted of all rows that are read.
type seen struct {
	newest   time.Time
	ledger   string // of the newest
	problems []state.Problem
}

// read gives the live rows of a ledger, and notes the newest.
func read[T any](tx *state.Tx, l state.Ledger[T], s *seen) ([]state.Row[T], error) {
	rows, err := l.All(tx)
	for _, row := range rows {
		if row.Time.After(s.newest) {
			s.newest, s.ledger = row.Time, l.Name()
		}
	}
	return rows, err
}

// every reads a ledger only for what is noted.
func every[T any](l state.Ledger[T]) func(*state.Tx, *seen) error {
	return func(tx *state.Tx, s *seen) error {
		_, err := read(tx, l, s)
		return err
	}
}

// rows looks at the rows one by one, and at the time they were written.
func (x *exam) rows() error {
	var s seen
	var found []Finding
	err := x.store.View(func(tx *state.Tx) error {
		s, found = seen{}, nil
		for _, look := range [...]func(*state.Tx, *seen, *[]Finding) error{x.automations, x.sources, x.deliveries} {
			if err := look(tx, &s, &found); err != nil {
				return err
			}
		}
		for _, look := range [...]func(*state.Tx, *seen) error{
			every(state.Processes), every(state.Tasks), every(state.Events), every(state.Sessions), every(state.Turns), every(state.Runs),
			every(state.Heartbeats), every(state.Inbox), every(state.Agendas), every(state.Switches), every(state.Scratches), every(state.Flows),
			every(state.Dispatches), every(state.Subagents), every(state.Boots), every(state.Continuations),
		} {
			if err := look(tx, &s); err != nil {
				return err
			}
		}
		s.problems = slices.Clone(tx.Problems())
		return nil
	})
	x.findings = append(x.findings, found...)
	if b := x.Ticks().Breaker; b.Mode == boot.Safe {
		x.add("safe_mode", "runner", safeWords(b), "claw runner status says more; what is started by hand runs")
	}
	x.unreadable(s.problems)
	x.clock(s)
	return err
}

func safeWords(b boot.Breaker) string {
	why, until := "it is in safe mode, as was asked", ""
	if n := len(b.Unclean); n > 0 {
		why = times(n, "start") + " of the runner ended badly"
	}
	if !b.Until.IsZero() {
		until = " until " + b.Until.Local().Format("15:04:05")
	}
	return why + "; turns, automations and channels wait" + until
}

// unreadable tells of records that are whole and cannot be understood.
func (x *exam) unreadable(problems []state.Problem) {
	for _, p := range problems {
		where := whereOf(p)
		if slices.ContainsFunc(x.findings, func(f Finding) bool { return f.Code == "ledger_damaged" && f.Where == where }) {
			continue
		}
		x.add("row_unreadable", where, p.Why, "the claw that wrote it can read it; it is left as it is")
	}
}

// clockSlack is how far ahead a row may be: clocks are set right by less.
const clockSlack = time.Minute

// clock compares the time with what must be earlier.
func (x *exam) clock(s seen) {
	now := x.Clock.Now()
	switch {
	case now.Year() < 2025:
		x.add("clock_unset", "clock", "it says "+now.Format("2006-01-02 15:04")+", which is before claw was written", "timedatectl set-ntp true, or date -s")
	case s.newest.Sub(now) > clockSlack:
		x.add("clock_back", "clock", fmt.Sprintf("it is set back: the newest row of %s is from %s, %s ahead", s.ledger, s.newest.Local().Format("2006-01-02 15:04"), task.Age(s.newest.Sub(now))), "timedatectl shows it; nothing is done twice, and what is due waits for its time")
	}
}

// automations tells of those that do not run as they should.
func (x *exam) automations(tx *state.Tx, s *seen, found *[]Finding) error {
	rows, err := read(tx, state.Automations, s)
	x.jobs = 0
	for _, row := range rows {
		a := row.Rec
		name := shownName(a)
		if a.Enabled {
			x.jobs++
		}
		switch off, bad := a.State.AutoDisabled, a.State.ConsecutiveErrors; {
		case off != nil && !a.Enabled:
			*found = append(*found, Found("automation_disabled", name, "claw switched it off: "+disabledWords(a), "claw cron runs "+name+" shows why; claw cron enable "+name))
		case a.Enabled && a.State.ScheduleErrors > 0:
			*found = append(*found, Found("automation_failing", name, "its schedule cannot be used: "+a.State.ScheduleError, "claw cron edit "+name))
		case a.Enabled && bad > 1:
			*found = append(*found, Found("automation_failing", name, times(bad, "failure")+" in a row: "+firstLine(a.State.LastError), "claw cron runs "+name+" shows them"))
		case a.Enabled && (bad > 0 || a.State.LastStatus == automation.Failed || a.State.LastStatus == automation.TimedOut):
			*found = append(*found, Found("automation_failing", name, "it failed last time: "+firstLine(a.State.LastError), "claw cron runs "+name+" shows it"))
		}
	}
	return err
}

func shownName(a automation.Automation) string {
	if a.Name != "" && !strings.ContainsAny(a.Name, " \t\n'\"\\$") {
		return a.Name
	}
	return a.ID
}

func disabledWords(a automation.Automation) string {
	switch off := a.State.AutoDisabled; off.Reason {
	case automation.ReasonFailures:
		return times(off.Errors, "failure") + " in a row; the last: " + firstLine(a.State.LastError)
	case automation.ReasonSchedule:
		return "its schedule cannot be used: " + a.State.ScheduleError
	case automation.ReasonLoop:
		return "its own runs set it off, again and again"
	case automation.ReasonExhausted:
		return "the command of its stream ends again and again"
	case automation.ReasonUnknown:
		return "nobody knows how the command ended that it waited for"
	default:
		return off.Reason
	}
}

func times(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if line == "" {
		return "without a word"
	}
	return line
}

// sources tells of those that were given up.
func (x *exam) sources(tx *state.Tx, s *seen, found *[]Finding) error {
	rows, err := read(tx, state.Sources, s)
	for _, row := range rows {
		src := row.Rec
		a, ok, err := state.Automations.Get(tx, src.AutomationID)
		if err != nil {
			return err
		}
		if !ok || !a.Rec.Enabled || src.Status != automation.SourceError {
			continue
		}
		name := shownName(a.Rec)
		*found = append(*found, Found("source_failed", name, firstLine(src.Error), "claw cron disable "+name+" and claw cron enable "+name+" begin it anew"))
	}
	return err
}

// deliveries counts what did not arrive, as far as is known.
func (x *exam) deliveries(tx *state.Tx, s *seen, found *[]Finding) error {
	rows, err := read(tx, state.Deliveries, s)
	count := map[delivery.State]int{}
	for _, row := range rows {
		count[row.Rec.State]++
	}
	if n := count[delivery.Unknown]; n > 0 {
		*found = append(*found, Found("delivery_unknown", "deliveries", "nobody knows whether "+times(n, "message")+" arrived; they are not sent again by themselves", "claw deliveries list, and claw deliveries retry or dismiss"))
	}
	if n := count[delivery.Failed]; n > 0 {
		*found = append(*found, Found("delivery_failed", "deliveries", times(n, "message")+" could not be sent", "claw deliveries list, and claw deliveries retry or dismiss"))
	}
	return err
}

// monitors makes the rows of agents that have none.
func (x *exam) monitors() error {
	missing, err := x.unmonitored()
	if err != nil || len(missing) == 0 {
		return err
	}
	left := missing
	if x.fix && x.Converge != nil {
		if err := x.Converge(x.ctx); err != nil {
			return x.unmended(err)
		}
		if left, err = x.unmonitored(); err != nil {
			return err
		}
	}
	for _, name := range missing {
		what := "agent " + name + " has no heartbeat yet"
		if slices.Contains(left, name) {
			x.add("monitor_missing", "heartbeats", what, mends+" makes its row, as does the next tick")
		} else {
			x.mended("monitor_missing", "heartbeats", what, "its row is made; claw heartbeat status shows it")
		}
	}
	return nil
}

func (x *exam) unmonitored() (missing []string, err error) {
	err = x.store.View(func(tx *state.Tx) error {
		missing = missing[:0]
		for _, name := range x.Beating {
			_, ok, err := state.Heartbeats.Get(tx, heartbeat.Key(name))
			if err != nil {
				return err
			}
			if !ok {
				missing = append(missing, name)
			}
		}
		return nil
	})
	return missing, err
}

// taskAudit shows what claw tasks audit shows, and repairs what claw tasks
// maintenance repairs.
func (x *exam) taskAudit() error {
	keeper := x.Tasks(x.store)
	before, err := keeper.Audit(tasks.AuditFilter{})
	if err != nil {
		return err
	}
	left := before.Findings
	repairs := func(f task.Finding) bool { return f.Hint == "claw tasks maintenance --apply" }
	if x.fix && slices.ContainsFunc(before.Findings, repairs) {
		if _, err := keeper.Maintain(x.ctx, true); err != nil {
			x.failed("fix_failed", err)
		}
		after, err := keeper.Audit(tasks.AuditFilter{})
		if err != nil {
			return err
		}
		left = after.Findings
	}
	for i, f := range before.Findings {
		if i == mostShown {
			x.findings = append(x.findings, Finding{Code: "task_" + f.Code, Severity: SeverityWarn, Where: "tasks", What: fmt.Sprintf("and %d more", len(before.Findings)-i), Fix: "claw tasks audit shows all of them"})
			break
		}
		still := slices.ContainsFunc(left, func(l task.Finding) bool { return l.Code == f.Code && l.Task.ID == f.Task.ID && l.Token == f.Token })
		out := Finding{Code: "task_" + f.Code, Severity: Severity(f.Severity), Where: f.Token, What: f.Detail, Fix: f.Hint, Fixed: !still}
		if repairs(f) && still {
			out.Fix = mends + ", or " + f.Hint
		}
		x.findings = append(x.findings, out)
	}
	return nil
}
