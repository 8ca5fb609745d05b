package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"claw/cmd/claw/internal/config"
	"claw/cmd/claw/internal/output"
	"claw/runner"
	"claw/runner/recovery"
	"claw/runner/resume"
	"claw/runner/tasks"
	"claw/state"
)

// doctorCmd is `claw doctor`; spec/tasks-recovery.md 4.12.
type doctorCmd struct {
	Fix  bool `help:"Mend what can be mended. What is in the way is moved to quarantine/, never deleted."`
	JSON bool `name:"json" help:"Print {\"ok\", \"dir\", \"findings\": [{\"code\", \"severity\", \"where\", \"what\", \"fix\", \"fixed\"}]}."`
}

// Help shows examples.
func (doctorCmd) Help() string {
	return "It looks at the state directory, at what claw.toml names, and at what of this machine claw depends on: logout, cron and units, the clock, the disk, the limits of the kernel. Each finding names the command that repairs it. Without --fix nothing is written. With it, what is damaged is set right; no message is sent again, and nothing that was given up is taken up again. It exits 1 when an error is left, else 0.\n\n" +
		examples("claw doctor", "claw doctor --fix", "claw doctor --json | jq -r '.findings[].fix'")
}

// Run examines.
func (c *doctorCmd) Run(a *app) error {
	d, err := a.doctor()
	if err != nil {
		return err
	}
	e := d.Examine(a.ctx, c.Fix)
	switch {
	case c.JSON:
		err = a.io.JSON(e)
	case len(e.Findings) == 0:
		a.io.Note("nothing is wrong with " + e.Dir)
	case a.io.OutTTY:
		err = a.io.Messages(shownFindings(e.Findings, config.Home(a.getenv)))
	default:
		err = a.io.Table(findingTable(e.Findings))
	}
	if err == nil && !c.JSON && len(e.Findings) > 0 {
		a.io.Say(countFindings(e.Findings), mendable(e.Findings)...)
	}
	if err == nil && !e.OK {
		return silent(exitFailed)
	}
	return err
}

// findingTable is for other programs.
func findingTable(found []recovery.Finding) output.Table {
	t := output.Table{Columns: []output.Column{{Name: "SEVERITY", State: true}, {Name: "CODE"}, {Name: "WHERE"}, {Name: "WHAT", Flex: true}, {Name: "FIX", Flex: true}}}
	for _, f := range found {
		t.Rows = append(t.Rows, []string{severityWord(f), f.Code, f.Where, f.What, f.Fix})
	}
	return t
}

// severityWord is how a finding stands: what has been mended is no error any
// more.
func severityWord(f recovery.Finding) string {
	if f.Fixed {
		return "fixed"
	}
	return string(f.Severity)
}

// shownFindings are for people, on a terminal of any width: what is wrong, and
// under it the way out. Errors are marked. What is to be typed stays whole, the
// rest is as short as can be.
func shownFindings(found []recovery.Finding, home string) []output.Message {
	short := func(s string) string { return s }
	if len(home) > 1 {
		short = func(s string) string { return strings.ReplaceAll(s, home+"/", "~/") }
	}
	all := make([]output.Message, len(found))
	for i, f := range found {
		all[i] = output.Message{
			New: !f.Fixed && f.Severity == recovery.SeverityError, When: severityWord(f), From: f.Code, Title: short(f.Where + ": " + f.What),
			Body: "→ " + f.Fix,
		}
	}
	return all
}

func countFindings(found []recovery.Finding) string {
	n := map[string]int{}
	for _, f := range found {
		n[severityWord(f)]++
	}
	return fmt.Sprintf("%s, %s, %s, %d fixed", counted(n["error"], "error"), counted(n["warn"], "warning"), counted(n["info"], "note"), n["fixed"])
}

// mendable is the next step where doctor can do it.
func mendable(found []recovery.Finding) []string {
	n := 0
	for _, f := range found {
		if f.Mendable() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{"claw doctor --fix mends " + itoa(n) + " of them"}
}

// doctor is what examines, by the configuration as it is; by the defaults where
// that cannot be used.
func (a *app) doctor() (*recovery.Doctor, error) {
	dir, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	cfg, wrong := a.config()
	if wrong != nil {
		if cfg, err = config.Parse("", nil, config.Home(a.getenv)); err != nil {
			return nil, wrong
		}
		a.cfg = cfg
	}
	self, _ := os.Executable()
	d := &recovery.Doctor{
		Dir: dir, Open: a.store, Clock: a.clock, Environ: a.environ, UnsafeFS: a.global.UnsafeFS || cfg.State.UnsafeFs,
		Tasks: func(store *state.Store) *tasks.Keeper {
			return &tasks.Keeper{Store: store, Clock: a.clock, Keep: retainOf(cfg).Keep, OnLoss: cfg.Tools.Exec.OnSupervisorLoss, Wedged: resume.Wedged}
		},
		Cut: func() ([]resume.Item, error) {
			rec, err := a.recoverer()
			if err != nil {
				return nil, err
			}
			return rec.List(a.now(), false)
		},
		Unstartable: func(path string) []string { return unstartable(cfg, path) },
		Configured:  func() []recovery.Finding { return a.configFindings(cfg, wrong) },
		Self:        self, Version: "claw " + currentVersion(), StateDirOf: config.StateDir,
	}
	if places, err := config.Paths(a.getenv); err == nil {
		d.Checks = filepath.Join(places.ConfigDir, "heartbeat.d")
	}
	wanted := a.beats(d, cfg, wrong == nil)
	d.Ticks = func() recovery.Ticks {
		t := recovery.Ticks{Wanted: wanted}
		if st, err := runner.Look(dir); err == nil {
			t.Running, t.LastTick, t.Breaker = st.Running, st.LastTick, a.breakerOf(st)
			t.Polls, _ = strings.CutPrefix(st.Watch, "every two seconds: ")
			if t.Polls == st.Watch {
				t.Polls = ""
			}
		}
		return t
	}
	return d, nil
}

// beats tells the doctor whose heartbeats there should be, and says which of
// them needs somebody who ticks: those of a real agent.
func (a *app) beats(d *recovery.Doctor, cfg *config.Config, usable bool) (wanted string) {
	if !usable {
		return ""
	}
	for _, name := range cfg.AgentNames() {
		if !cfg.Enrolled(name) {
			continue
		}
		d.Beating = append(d.Beating, name)
		if e := cfg.Agent(name); wanted == "" && len(e.Command) > 0 && e.Heartbeat.Every > 0 && cfg.Cron.Enabled {
			wanted = "the heartbeat of agent " + name + " waits"
		}
	}
	d.Converge = func(ctx context.Context) error {
		r, err := a.runner(nil)
		if err != nil {
			return err
		}
		return r.Heartbeat.Converge(ctx)
	}
	return wanted
}
