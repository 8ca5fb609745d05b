package cli

import (
	"errors"
	"fmt"
	"slices"

	"claw/cmd/claw/internal/config"
	"claw/prompts"
	"claw/runner/scheduler"
	"claw/state/process"
)

// configCmd is `claw config`.
type configCmd struct {
	Path  configPath  `cmd:"" help:"Print where the configuration and the state are."`
	Show  configShow  `cmd:"" help:"Print every setting, its value and where it comes from."`
	Check configCheck `cmd:"" help:"Check the configuration file and the prompts."`

	Prompts configPrompts `cmd:"" help:"List and show what claw says to an agent."`
}

// Help shows examples.
func (configCmd) Help() string {
	return "claw needs no configuration; claw.toml(5) describes every key.\n\n" +
		examples("claw config show", "claw config check")
}

type configPath struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help shows examples.
func (configPath) Help() string {
	return examples("claw config path", "$EDITOR \"$(claw config path --json | jq -r .config)\"")
}

// Run prints the places.
func (c *configPath) Run(a *app) error {
	l, err := config.Paths(a.getenv)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(map[string]string{"config": l.Config, "configFrom": l.ConfigFrom, "state": l.State, "stateFrom": l.StateFrom})
	}
	return a.io.Pairs([][2]string{{"config", l.Config}, {"state", l.State}})
}

type configShow struct {
	JSON bool `name:"json" help:"Print {\"settings\": […]}."`
}

// Help shows examples.
func (configShow) Help() string {
	return examples("claw config show", "claw config show --json | jq '.settings[] | select(.source != \"default\")'")
}

// Run prints the settings.
func (c *configShow) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	return cfg.Show(a.io.Out, c.JSON)
}

type configCheck struct {
	JSON bool `name:"json" help:"Print {\"ok\", \"problems\", \"warnings\"}."`
}

// Help shows examples.
func (configCheck) Help() string {
	return examples("claw config check", "CLAW_CONFIG=./claw.toml claw config check")
}

// Run checks the file and the prompts; every problem is listed.
func (c *configCheck) Run(a *app) error {
	cfg, err := a.config()
	if err == nil {
		err = cfg.CheckDeclared(a.now(), scheduler.Zones())
	}
	set, pathErr := a.prompts()
	if err == nil {
		err = pathErr
	}
	var wrong []*prompts.Error
	if set != nil {
		wrong = set.Check()
	}
	if c.JSON {
		return c.asJSON(a, cfg, err, wrong)
	}
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return badPrompts(a, wrong)
	}
	for _, w := range c.warnings(a, cfg) {
		a.io.Note(w.String())
	}
	name, read := cfg.File()
	switch {
	case name == "":
		a.io.Note("no configuration file; the defaults are used")
	case !read:
		a.io.Note(name + " does not exist; the defaults are used")
	default:
		a.io.Note(fmt.Sprintf("%s is in order", name))
	}
	return nil
}

// warnings are those of the file, and those of what it names on this machine.
func (c *configCheck) warnings(a *app, cfg *config.Config) []config.Warning {
	all := append(slices.Clone(cfg.Warnings), cfg.Check(a.getenv("PATH"))...)
	bad, _ := errors.AsType[*config.Error](a.declaredError(cfg))
	if bad == nil {
		return all
	}
	for _, p := range bad.Problems { // of the state: the file itself is in order
		all = append(all, config.Warning{Source: config.Source{Kind: config.FromFile, File: p.File, Line: p.Line}, Key: p.Key, Text: p.Rule + "; the table counts for nothing"})
	}
	return all
}

func (c *configCheck) asJSON(a *app, cfg *config.Config, err error, wrong []*prompts.Error) error {
	out := struct {
		OK       bool     `json:"ok"`
		Problems []string `json:"problems"`
		Warnings []string `json:"warnings"`
	}{OK: err == nil && len(wrong) == 0, Problems: []string{}, Warnings: []string{}}
	if bad, ok := errors.AsType[*config.Error](err); ok {
		for _, p := range bad.Problems {
			out.Problems = append(out.Problems, p.Error())
		}
	} else if err != nil {
		out.Problems = append(out.Problems, err.Error())
	}
	for _, e := range wrong {
		out.Problems = append(out.Problems, e.Error())
	}
	if cfg != nil {
		for _, w := range c.warnings(a, cfg) {
			out.Warnings = append(out.Warnings, w.String())
		}
	}
	if jsonErr := a.io.JSON(out); jsonErr != nil {
		return jsonErr
	}
	if !out.OK {
		return silent(exitUsage)
	}
	return nil
}

func isConfigError(err error) bool {
	_, bad := errors.AsType[*config.Error](err)
	_, home := errors.AsType[*config.HomeError](err)
	_, text := errors.AsType[*prompts.Error](err)
	return bad || home || text
}

func isEnvError(err error) bool {
	_, ok := errors.AsType[*process.EnvError](err)
	return ok
}
