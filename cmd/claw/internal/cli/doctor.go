package cli

import (
	"fmt"

	"claw/cmd/claw/internal/output"
	"claw/runner/recovery"
)

// doctorCmd is `claw doctor`.
type doctorCmd struct {
	Fix  bool `help:"Mend what can be mended. Damaged pieces are moved to quarantine/, never deleted."`
	JSON bool `name:"json" help:"Print {\"ok\", \"findings\": […]}."`
}

// Help shows examples.
func (doctorCmd) Help() string {
	return examples("claw doctor", "claw doctor --fix", "claw doctor --json | jq -r '.findings[].hint'")
}

// Run examines; anything wrong is exit 5, anything merely odd is not.
func (c *doctorCmd) Run(a *app) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	report, err := recovery.Examine(a.ctx, store, c.Fix)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := a.io.JSON(report); err != nil {
			return err
		}
		return doctorCode(report)
	}
	if len(report.Findings) == 0 {
		a.io.Note("nothing is wrong with " + store.Dir())
		return nil
	}
	t := output.Table{Columns: []output.Column{{Name: "WHERE"}, {Name: "LEVEL", State: true}, {Name: "WHAT", Flex: true}}}
	for _, f := range report.Findings {
		t.Rows = append(t.Rows, []string{f.Where, f.Level, f.What})
	}
	if err := a.io.Table(t); err != nil {
		return err
	}
	for _, line := range remedies(report.Findings) {
		a.io.Note(line)
	}
	return doctorCode(report)
}

// remedies are the hints, each once, with where it holds.
func remedies(findings []recovery.Finding) []string {
	var order []string
	where := map[string][]string{}
	for _, f := range findings {
		if f.Hint == "" {
			continue
		}
		if where[f.Hint] == nil {
			order = append(order, f.Hint)
		}
		where[f.Hint] = append(where[f.Hint], f.Where)
	}
	lines := make([]string, len(order))
	for i, hint := range order {
		lines[i] = where[hint][0] + ": " + hint
		if more := len(where[hint]) - 1; more > 0 {
			lines[i] = fmt.Sprintf("%s and %d more: %s", where[hint][0], more, hint)
		}
	}
	return lines
}

func doctorCode(r recovery.Report) error {
	if !r.OK {
		return silent(exitState)
	}
	return nil
}
