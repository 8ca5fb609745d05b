package scheduler

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claw/state"
	"claw/state/automation"
)

// minPrefix is how much of an id or a name is enough, if it fits only one.
const minPrefix = 4

// resolve finds the automation that a person means: by its name, its id, or a
// beginning of either that fits only one.
func resolve(tx *state.Tx, query string) (state.Row[automation.Automation], error) {
	rows, err := state.Automations.All(tx)
	if err != nil {
		return state.Row[automation.Automation]{}, err
	}
	i, err := which(rows, query)
	if err != nil {
		return state.Row[automation.Automation]{}, err
	}
	return rows[i], nil
}

// which is the index of the one that is meant; the error is a *Refused.
func which(rows []state.Row[automation.Automation], query string) (int, error) {
	var found []int
	for i, row := range rows {
		if row.ID == query || row.Rec.Name == query {
			return i, nil
		}
		if len(query) >= minPrefix && (begins(row.ID, query) || begins(row.Rec.Name, query)) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return 0, &Refused{Missing: true, Text: "there is no automation " + quote(query), Hint: "claw cron list shows those there are"}
	case 1:
		return found[0], nil
	}
	const most = 5
	names := make([]string, 0, most)
	for _, at := range found[:min(len(found), most)] {
		names = append(names, rows[at].Rec.Name)
	}
	all := strings.Join(names, ", ")
	if more := len(found) - most; more > 0 {
		all += " and " + strconv.Itoa(more) + " more"
	}
	return 0, &Refused{Ambiguous: true, Text: quote(query) + " fits several automations: " + all, Hint: "write more of the name"}
}

func begins(s, with string) bool {
	return len(s) >= len(with) && strings.EqualFold(s[:len(with)], with)
}

func quote(s string) string { return "\"" + s + "\"" }

// Entry is an automation as a list shows it.
type Entry struct {
	automation.Automation
	Words    string             `json:"scheduleWords"`      // "every weekday at 09:00 Europe/Berlin"
	Next     time.Time          `json:"nextRunAt,omitzero"` // zero: nothing will come
	Open     []automation.Run   `json:"openRuns,omitempty"` // queued or running
	Source   *automation.Source `json:"source,omitempty"`   // what goes on for one that is not run by the clock; nil: nothing yet
	Declared bool               `json:"declared,omitempty"` // by a table of claw.toml, which alone can change it
}

// List are the automations in order of their making. What claw.toml declares
// and no pass has written yet is among them. Nothing is written.
func (s *Scheduler) List() ([]Entry, error) {
	list := []Entry{}
	err := s.Store.View(func(tx *state.Tx) error {
		list = list[:0]
		rows, err := s.shown(tx)
		if err != nil {
			return err
		}
		open, err := openRuns(tx)
		if err != nil {
			return err
		}
		by := map[string][]automation.Run{}
		for _, r := range open {
			by[r.AutomationID] = append(by[r.AutomationID], r)
		}
		for _, row := range rows {
			e, err := s.entry(tx, row.Rec, by[row.ID])
			if err != nil {
				return err
			}
			list = append(list, e)
		}
		return nil
	})
	return list, err
}

func (s *Scheduler) entry(tx *state.Tx, a automation.Automation, open []automation.Run) (Entry, error) {
	e := Entry{Automation: a, Open: open, Words: s.Words(a), Declared: a.Declared != ""}
	e.Next, _ = automation.Upcoming(a, open, tx.Now(), s.Zone)
	if a.Schedule.Kind.Timed() {
		return e, nil
	}
	row, ok, err := state.Sources.Get(tx, a.ID)
	if ok {
		row.Rec.Listing = "" // it is for the next look, and may be long
		e.Source = &row.Rec
	}
	return e, err
}

// Find is the automation that a person means. The error is a *Refused.
func (s *Scheduler) Find(query string) (e Entry, err error) {
	err = s.Store.View(func(tx *state.Tx) error {
		rows, err := s.shown(tx)
		if err != nil {
			return err
		}
		i, err := which(rows, query)
		if err != nil {
			return err
		}
		mine, err := openRunsOf(tx, rows[i].ID)
		if err != nil {
			return err
		}
		e, err = s.entry(tx, rows[i].Rec, mine)
		return err
	})
	return e, err
}

// Status is how automations stand, in numbers.
type Status struct {
	Enabled      bool      // cron.enabled
	StorePath    string    // the file of their ledger
	Jobs         int       // On and Off together
	On, Off      int       // switched on, and off
	AutoDisabled int       // of Off: by claw itself, after failures
	Running      int       // runs that have not ended and have begun
	Next         time.Time // the next run by the clock; zero: none
}

// Status counts the automations. Nothing is written.
func (s *Scheduler) Status() (Status, error) {
	st := Status{Enabled: s.Enabled, StorePath: filepath.Join(s.Store.Dir(), "ledgers", state.Automations.Name()+".jsonl")}
	list, err := s.List()
	for _, e := range list {
		st.Jobs++
		switch {
		case e.Enabled:
			st.On++
		case e.State.AutoDisabled != nil:
			st.AutoDisabled++
		}
		for _, r := range e.Open {
			if r.Status == automation.Running {
				st.Running++
			}
		}
		if s.Enabled && !e.Next.IsZero() && (st.Next.IsZero() || e.Next.Before(st.Next)) {
			st.Next = e.Next
		}
	}
	st.Off = st.Jobs - st.On
	return st, err
}
