package cli

import (
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
	for _, f := range report.Findings {
		if f.Hint != "" {
			a.io.Note(f.Where + ": " + f.Hint)
		}
	}
	return doctorCode(report)
}

func doctorCode(r recovery.Report) error {
	if !r.OK {
		return silent(exitState)
	}
	return nil
}
