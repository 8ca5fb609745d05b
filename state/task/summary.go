package task

import "strconv"

// Summary counts tasks; spec/tasks-recovery.md 1.8.
type Summary struct {
	Total     int             `json:"total"`
	Active    int             `json:"active"`   // queued and running
	Terminal  int             `json:"terminal"` // the others
	Failures  int             `json:"failures"` // failed, timed_out and lost; a cancel is none
	ByStatus  map[Status]int  `json:"byStatus"` // all seven
	ByRuntime map[Runtime]int `json:"byRuntime"`
}

// Summarise counts rows.
func Summarise(rows []Task) Summary {
	s := Summary{ByStatus: map[Status]int{}, ByRuntime: map[Runtime]int{}}
	for _, st := range [...]Status{Queued, Running, Succeeded, Failed, TimedOut, Cancelled, Lost} {
		s.ByStatus[st] = 0
	}
	for _, r := range [...]Runtime{CLI, Cron, ACP, Subagent} {
		s.ByRuntime[r] = 0
	}
	for _, t := range rows {
		s.Total++
		s.ByStatus[t.Status]++
		s.ByRuntime[t.Runtime]++
		switch t.Status {
		case Queued, Running:
			s.Active++
			continue
		case Failed, TimedOut, Lost:
			s.Failures++
		}
		s.Terminal++
	}
	return s
}

// FindingSummary counts findings; spec/tasks-recovery.md 1.7.
type FindingSummary struct {
	Total    int            `json:"total"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	ByCode   map[string]int `json:"byCode"`
}

// SummariseFindings counts findings; every code of codes is counted, if only
// as 0.
func SummariseFindings(all []Finding, codes []string) FindingSummary {
	s := FindingSummary{ByCode: map[string]int{}}
	for _, c := range codes {
		s.ByCode[c] = 0
	}
	for _, f := range all {
		s.Total++
		s.ByCode[f.Code]++
		if f.Severity == SeverityError {
			s.Errors++
		} else {
			s.Warnings++
		}
	}
	return s
}

// Blocks tells a task that a restart or a drain waits for: one that runs and
// has no end (spec/tasks-recovery.md 1.12). One that is queued never does.
func Blocks(t Task) bool { return t.Status == Running && t.EndedAt.IsZero() }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
