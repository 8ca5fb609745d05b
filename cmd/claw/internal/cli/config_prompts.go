package cli

import (
	"path/filepath"
	"slices"
	"strconv"

	"claw/cmd/claw/internal/config"
	"claw/cmd/claw/internal/output"
	"claw/prompts"
)

// configPrompts is `claw config prompts`.
type configPrompts struct {
	List configPromptsList `cmd:"" default:"withargs" aliases:"ls" help:"List the texts, and where each comes from."`
	Show configPromptsShow `cmd:"" help:"Print one text."`
}

// Help shows examples.
func (configPrompts) Help() string {
	return "A file NAME.txt in the folder prompts beside claw.toml replaces the text of that name. {details} and its like stand for what claw fills in; claw config check reads the files. Without an action, list.\n\n" +
		examples("claw config prompts", "claw config prompts show exec > ~/.config/claw/prompts/exec.txt")
}

type configPromptsList struct {
	JSON bool `name:"json" help:"Print {\"prompts\": [{\"name\", \"from\", \"about\"}]}."`
}

// Help shows examples.
func (configPromptsList) Help() string {
	return examples("claw config prompts list", "claw config prompts list --json | jq -r '.prompts[].name'")
}

// promptInfo is one text as the list shows it.
type promptInfo struct {
	Name  string `json:"name"`
	From  string `json:"from"` // a file, or "embedded"
	About string `json:"about"`
}

// Run lists the texts, and says what is wrong with files of the folder.
func (c *configPromptsList) Run(a *app) error {
	set, err := a.prompts()
	if err != nil {
		return err
	}
	var list []promptInfo
	for _, name := range prompts.Names() {
		_, from, _ := set.Text(name) // an error is among those of Check
		list = append(list, promptInfo{name, from, prompts.About(name)})
	}
	if err := c.print(a, list); err != nil {
		return err
	}
	if wrong := set.Check(); len(wrong) > 0 {
		return badPrompts(a, wrong)
	}
	return nil
}

func (c *configPromptsList) print(a *app, list []promptInfo) error {
	if c.JSON {
		return a.io.JSON(map[string]any{"prompts": list})
	}
	t := output.Table{Columns: []output.Column{{Name: "NAME"}, {Name: "FROM", Flex: true}, {Name: "FOR", Flex: true}}}
	for _, p := range list {
		t.Rows = append(t.Rows, []string{p.Name, p.From, p.About})
	}
	return a.io.Table(t)
}

type configPromptsShow struct {
	Name     string `arg:"" help:"Name of the text; claw config prompts lists them." placeholder:"NAME"`
	Embedded bool   `help:"The text that claw brings along, whatever replaces it."`
	JSON     bool   `name:"json" help:"Print {\"name\", \"from\", \"about\", \"text\"}."`
}

// Help shows examples.
func (configPromptsShow) Help() string {
	return examples("claw config prompts show exec", "claw config prompts show heartbeat --embedded")
}

// Run prints the text as it is, so that it can become the file.
func (c *configPromptsShow) Run(a *app) error {
	set, err := a.prompts()
	if err != nil {
		return err
	}
	if c.Embedded {
		set = prompts.Default()
	}
	if !slices.Contains(prompts.Names(), c.Name) {
		return &failure{
			code: exitNotFound, text: "config prompts show: there is no prompt " + strconv.Quote(c.Name),
			remedy: []string{"claw config prompts lists the names"},
		}
	}
	text, from, err := set.Text(c.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(struct {
			promptInfo
			Text string `json:"text"`
		}{promptInfo{c.Name, from, prompts.About(c.Name)}, text})
	}
	_, err = a.io.Out.Write([]byte(text + "\n"))
	return err
}

// prompts are the texts in use: the folder prompts beside claw.toml.
func (a *app) prompts() (*prompts.Set, error) {
	places, err := config.Paths(a.getenv)
	if err != nil {
		return nil, err
	}
	return prompts.Load(filepath.Join(places.ConfigDir, "prompts")), nil
}

// badPrompts says what is wrong with each text.
func badPrompts(a *app, wrong []*prompts.Error) error {
	for _, e := range wrong {
		a.io.Error(e.Error(), e.Remedy())
	}
	return silent(exitUsage)
}
