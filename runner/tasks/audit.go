package tasks

import (
	"claw/state/flow"
	"claw/state/task"
)

// AuditFilter narrows an audit; empty fields do not.
type AuditFilter struct {
	Severity task.Severity
	Code     string
	Limit    int // 0 none
}

// Audit is the answer of `tasks audit`; spec/tasks-recovery.md 1.7.
type Audit struct {
	Count         int            `json:"count"`         // of all findings
	FilteredCount int            `json:"filteredCount"` // of those that pass the filter
	Displayed     int            `json:"displayed"`     // of those that are shown
	Filters       AuditFilters   `json:"filters"`
	Summary       AuditSummary   `json:"summary"`
	Findings      []task.Finding `json:"findings"`
}

// AuditFilters are the filters as they were given; null: not given.
type AuditFilters struct {
	Severity *task.Severity `json:"severity"`
	Code     *string        `json:"code"`
	Limit    *int           `json:"limit"`
}

// AuditSummary counts all findings, whatever the filter.
type AuditSummary struct {
	task.FindingSummary
	TaskFlows task.FindingSummary `json:"taskFlows"`
	Combined  Combined            `json:"combined"`
}

// Combined counts the findings of tasks and flows together.
type Combined struct {
	Total    int `json:"total"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

// Audit finds what somebody may have to look at, in the ledgers of tasks and of
// flows and their archives,
// the worst and the oldest first. Tasks are judged as a list shows them.
// Nothing is written.
func (k *Keeper) Audit(f AuditFilter) (Audit, error) {
	a := Audit{Findings: []task.Finding{}}
	rows, err := k.rows(true)
	if err != nil {
		return a, err
	}
	var all []task.Finding
	for _, s := range rows {
		all = append(all, k.audit(s, s.shown())...)
	}
	tasks := task.SummariseFindings(all, task.FindCodes())
	flows := k.auditFlows(shown(rows))
	all = append(all, flows...)
	task.SortFindings(all)
	a.Count = len(all)
	for _, x := range all {
		if (f.Severity == "" || x.Severity == f.Severity) && (f.Code == "" || x.Code == f.Code) {
			a.Findings = append(a.Findings, x)
		}
	}
	a.FilteredCount = len(a.Findings)
	if f.Limit > 0 && len(a.Findings) > f.Limit {
		a.Findings = a.Findings[:f.Limit]
	}
	a.Displayed = len(a.Findings)
	a.Filters = f.given()
	a.Summary = AuditSummary{FindingSummary: tasks, TaskFlows: task.SummariseFindings(flows, flow.FindCodes())}
	both := task.SummariseFindings(all, nil)
	a.Summary.Combined = Combined{Total: both.Total, Errors: both.Errors, Warnings: both.Warnings}
	return a, nil
}

func (f AuditFilter) given() AuditFilters {
	var g AuditFilters
	if f.Severity != "" {
		g.Severity = &f.Severity
	}
	if f.Code != "" {
		g.Code = &f.Code
	}
	if f.Limit > 0 {
		g.Limit = &f.Limit
	}
	return g
}
