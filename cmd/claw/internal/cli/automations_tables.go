package cli

import (
	"slices"

	"claw/cmd/claw/internal/config"
	"claw/runner/scheduler"
)

// refusedTable is an [[automation]] table that counts for nothing, and why.
type refusedTable struct {
	Name string `json:"name"`
	Key  string `json:"declarationKey"`
	Why  string `json:"why"`
	Hint string `json:"hint,omitempty"`

	problem config.Problem
}

// refusedTables are those that are wrong by themselves, and then those against
// which stands what there is already.
func (a *app) refusedTables(s *scheduler.Scheduler) (refused []refusedTable, err error) {
	cfg, err := a.config()
	if err != nil || len(cfg.Automations) == 0 {
		return nil, err
	}
	add := func(t config.Table, p config.Problem) {
		refused = append(refused, refusedTable{Name: t.Automation.Name, Key: t.Automation.DeclarationKey, Why: p.Error(), Hint: p.Hint, problem: p})
	}
	tables := cfg.Declared(a.now(), s.Zone)
	for _, t := range tables {
		if t.Problem != nil {
			add(t, *t.Problem)
		}
	}
	found, err := s.DeclaredErrors()
	for _, e := range found {
		i := slices.IndexFunc(tables, func(t config.Table) bool { return t.Automation.DeclarationKey == e.Key })
		if i < 0 || slices.ContainsFunc(tables, func(t config.Table) bool { return t.Automation.DeclarationKey == e.Key && t.Problem != nil }) {
			continue
		}
		t := tables[i]
		add(t, config.Problem{File: t.Source.File, Line: t.Source.Line, Key: "automation." + t.Automation.Name, Rule: e.Err.Error(), Hint: e.Err.Remedy()})
	}
	return refused, err
}

// brokenTables says which [[automation]] tables count for nothing.
func (a *app) brokenTables(refused []refusedTable) {
	for _, t := range refused {
		a.io.Say(t.Why, nonEmpty(t.Hint)...)
	}
}

// declaredError is what stands against the tables of a configuration that is in
// order otherwise: in the file, and in the state where that can be asked.
func (a *app) declaredError(cfg *config.Config) error {
	wrong := cfg.CheckDeclared(a.now(), scheduler.Zones())
	store, err := a.store()
	if err != nil || len(cfg.Automations) == 0 {
		return wrong
	}
	s, err := a.scheduler(cfg, store, a.post(cfg, store, nil))
	if err != nil {
		return wrong
	}
	refused, err := a.refusedTables(s)
	if err != nil || len(refused) == 0 {
		return wrong
	}
	bad := &config.Error{}
	for _, t := range refused {
		if len(bad.Problems) == 20 { // see config.Error
			bad.More++
			continue
		}
		bad.Problems = append(bad.Problems, t.problem)
	}
	return bad
}
