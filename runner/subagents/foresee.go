package subagents

import (
	"time"

	"claw/state"
	"claw/state/subagent"
)

// Foreseen is what the next pass would do about a run.
type Foreseen struct {
	RunID string `json:"runId"`
	Title string `json:"title"`
	Agent string `json:"agentId"`
	Does  string `json:"does"` // begin, announce or archive
}

// Foresee tells what a pass now would do, and when there is something to do
// otherwise. Nothing is written.
func (s *Service) Foresee() (would []Foreseen, next time.Time, err error) {
	plan, _, err := s.plan(func(string) bool { return false })
	if err != nil {
		return nil, next, err
	}
	err = s.Store.View(func(tx *state.Tx) error {
		would = would[:0]
		for _, do := range [...]struct {
			what string
			ids  []string
		}{{"begin", plan.Start}, {"announce", plan.Tell}, {"archive", plan.Aside}} {
			for _, id := range do.ids {
				row, ok, err := state.Subagents.Get(tx, id)
				if err != nil {
					return err
				}
				if r := row.Rec; ok && (do.what != "archive" || r.Kind == subagent.Detached) {
					would = append(would, Foreseen{RunID: id, Title: r.Title(), Agent: r.Agent, Does: do.what})
				}
			}
		}
		return nil
	})
	return would, plan.Next, err
}
