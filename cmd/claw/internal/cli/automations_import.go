package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"claw/cmd/claw/internal/config"
	"claw/runner/scheduler"
	"claw/state/automation"
)

type automationsImport struct {
	File    string `arg:"" optional:"" help:"A file, or - for stdin; default what crontab -l prints." placeholder:"FILE"`
	Format  string `help:"What it is: crontab, or toml or json, as export writes it. Default by the name of the file, else crontab." enum:",crontab,toml,json" default:"" placeholder:"FORMAT"`
	System  bool   `help:"The crontab has a user before each command, as /etc/crontab does; those files are known by their path."`
	Missed  string `help:"For new ones: what becomes of times that passed while nothing was at work (default once; cron skips them)." enum:",skip,once,all" default:"" placeholder:"POLICY"`
	Overlap string `help:"For new ones: while a run goes on (default skip; cron allows it)." enum:",skip,queue,replace,allow" default:"" placeholder:"POLICY"`
	Apply   bool   `help:"Make the changes; without it they are only shown."`
	JSON    bool   `name:"json" help:"Print {\"applied\", \"items\": [{\"change\", \"name\", \"line\", \"schedule\", \"does\", \"changes\", \"why\", \"notes\"}]}."`
}

// Help shows examples.
func (automationsImport) Help() string {
	return "What would change is shown, a line for each: + new, ~ changed, = as it is already, - not in the crontab any more and left alone, ! cannot be imported. A line of a crontab is known again by its command, so that importing twice changes nothing, and what was changed here besides stays. Its variables, SHELL, CRON_TZ, MAILTO, its input behind %, @reboot and the comment above it are taken over.\n\nNothing of the crontab is touched: cron goes on running its lines until they are taken out there.\n\n" +
		examples("claw cron import                    what is in your crontab",
			"claw cron import /etc/cron.d/app --apply",
			"claw cron import automations.json --apply")
}

// item is one line of what an import would do.
type item struct {
	Change   string              `json:"change"` // + ~ = - !
	Name     string              `json:"name"`
	Line     int                 `json:"line,omitempty"`
	Schedule string              `json:"schedule,omitempty"`
	Does     string              `json:"does,omitempty"`
	Changes  []config.Difference `json:"changes,omitempty"`
	Why      string              `json:"why,omitempty"`
	Hint     string              `json:"hint,omitempty"`
	Notes    []string            `json:"notes,omitempty"`

	wanted config.Automation
	id     string // of the automation that is there already

	command string // of a line of a crontab, for people; Does has its shell and variables too
}

// Run shows what would change, or makes it so.
func (c *automationsImport) Run(a *app) error {
	s, err := a.cron()
	if err != nil {
		return err
	}
	text, name, err := c.read(a)
	if err != nil {
		return err
	}
	form := c.form()
	var items []item
	if form == "crontab" {
		items, err = c.fromCrontab(a, s, name, string(text))
	} else {
		items, err = c.fromExport(a, s, name, text, form)
	}
	if err != nil {
		return err
	}
	if c.Apply {
		if err := c.apply(a, s, items); err != nil {
			return err
		}
	}
	if err := c.print(a, items); err != nil {
		return err
	}
	c.sum(a, s, items, form)
	if c.Apply {
		err = a.wake()
	}
	for _, it := range items {
		if it.Change == "!" && err == nil {
			return silent(exitFailed)
		}
	}
	return err
}

// form is what the text is.
func (c *automationsImport) form() string {
	ext := strings.TrimPrefix(filepath.Ext(c.File), ".")
	if c.Format == "" && (ext == "json" || ext == "toml") {
		return ext
	}
	return firstOf(c.Format, "crontab")
}

// maxImport bounds what is read.
const maxImport = 1 << 20

func (c *automationsImport) read(a *app) (text []byte, name string, err error) {
	var in io.Reader = a.stdin
	switch c.File {
	case "":
		return ownCrontab()
	case "-":
		name = "stdin"
	default:
		f, err := os.Open(c.File)
		if err != nil {
			return nil, "", &failure{code: exitNotFound, text: fmt.Sprintf("automations import: %q cannot be read: %v", c.File, errors.Unwrap(err)), err: err}
		}
		defer f.Close()
		in, name = f, c.File
	}
	text, err = io.ReadAll(io.LimitReader(in, maxImport+1))
	switch {
	case err != nil:
		why := err
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			why = e.Err
		}
		err = &failure{code: exitUsage, text: fmt.Sprintf("automations import: %q cannot be read: %v", name, why), remedy: []string{"name a file, or - for stdin"}, err: err}
	case len(text) > maxImport:
		err = &failure{code: exitUsage, text: "automations import: " + name + " is larger than " + sizeOf(maxImport), remedy: []string{"is it really a crontab?"}}
	}
	return text, name, err
}

// ownCrontab is what crontab -l prints.
func ownCrontab() ([]byte, string, error) {
	var said bytes.Buffer
	cmd := exec.Command("crontab", "-l")
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		why := firstOf(lastOf(said.String()), err.Error())
		if errors.Is(err, exec.ErrNotFound) {
			why = "the program crontab is not installed"
		}
		return nil, "", &failure{code: exitNotFound, text: "automations import: there is no crontab: " + why, remedy: []string{"claw cron import FILE reads one from a file, - from stdin"}, err: err}
	}
	return text, "crontab -l", nil
}

// existing finds what is there already.
type existing struct {
	byKey, byName map[string]scheduler.Entry
	taken         map[string]bool
}

func look(s *scheduler.Scheduler) (*existing, error) {
	list, err := s.List()
	x := &existing{byKey: map[string]scheduler.Entry{}, byName: map[string]scheduler.Entry{}, taken: map[string]bool{}}
	for _, e := range list {
		if e.DeclarationKey != "" {
			x.byKey[e.DeclarationKey] = e
		}
		x.byName[strings.ToLower(e.Name)] = e
		x.taken[strings.ToLower(e.Name)] = true
	}
	return x, err
}

// fromExport is what the tables of an export would change. A table without a
// key is known by its name.
func (c *automationsImport) fromExport(a *app, s *scheduler.Scheduler, name string, text []byte, form string) ([]item, error) {
	tables, err := config.ReadAutomations(name, text, form, config.Home(a.getenv))
	if err != nil {
		return nil, err
	}
	known, err := look(s)
	if err != nil {
		return nil, err
	}
	items := make([]item, 0, len(tables))
	for _, w := range tables {
		e, there := known.byName[strings.ToLower(w.Name)]
		if byKey, ok := known.byKey[w.Key]; ok && w.Key != "" {
			e, there = byKey, true
		}
		items = append(items, c.compare(a, s, w, e, there))
	}
	return items, nil
}

// compare says what would become of one automation.
func (c *automationsImport) compare(a *app, s *scheduler.Scheduler, w config.Automation, e scheduler.Entry, there bool) item {
	it := item{Change: "+", Name: w.Name, wanted: w}
	made, err := w.Build(a.now(), s.Zone)
	if err == nil {
		err = notOwnState(s, w.Watch, w.Watch)
	}
	if err != nil {
		it.Change, it.Why, it.Hint = "!", err.Error(), strings.Join(remedyOf(err), "; ")
		return it
	}
	made = automation.New(made, a.now())
	made.ID = e.ID
	it.Schedule, it.Does = spreadWords(s, made), payloadWords(made.Payload)
	if w.Agent != "" && a.checkAgent("automations import", w.Agent) != nil {
		it.Notes = append(it.Notes, "there is no agent "+w.Agent+" here")
	}
	if !there {
		return it
	}
	it.id, it.Change = firstOf(e.ID, e.Name), "="
	is := config.AutomationOf(e.Automation)
	will := config.AutomationOf(made)
	if w.Anchor == "" {
		will.Anchor = is.Anchor
	}
	if it.Changes = config.Differences(is, will); len(it.Changes) > 0 {
		it.Change = "~"
		if e.Declared {
			it.Change, it.Why, it.Hint = "!", e.Name+" is declared in claw.toml", "change its table there"
		}
	}
	return it
}

// spreadWords are the words of a schedule. How much later one that is spread
// runs comes of an id, which what is new has not got yet.
func spreadWords(s *scheduler.Scheduler, a automation.Automation) string {
	spread := a.Schedule.Stagger()
	if a.ID != "" || spread == 0 {
		return s.Words(a)
	}
	exact := int64(0)
	a.Schedule.StaggerMs = &exact
	return s.Words(a) + ", spread over " + millis(spread.Milliseconds())
}

// apply does what is to be done, all of it in one transaction; what cannot be
// done becomes a !. The error is one of the state directory: nothing is done
// then.
func (c *automationsImport) apply(a *app, s *scheduler.Scheduler, items []item) error {
	var wishes []scheduler.Wish
	var whose []*item
	for i := range items {
		it := &items[i]
		switch it.Change {
		case "+":
			made, err := it.wanted.Build(a.now(), s.Zone)
			if err != nil {
				it.refuse(err)
				continue
			}
			wishes = append(wishes, scheduler.Wish{New: made})
		case "~":
			wishes = append(wishes, scheduler.Wish{ID: it.id, Change: func(to *automation.Automation) error { return become(a, s, to, it.wanted) }})
		default:
			continue
		}
		whose = append(whose, it)
	}
	refused, err := s.Apply(a.ctx, wishes)
	for i, err := range refused {
		if err != nil {
			whose[i].refuse(err)
		}
	}
	return err
}

// refuse notes why an item could not be done.
func (it *item) refuse(err error) {
	err = cronError("import", err)
	it.Change, it.Why, it.Hint = "!", strings.TrimPrefix(err.Error(), "automations import: "), strings.Join(remedyOfFailure(err), "; ")
}
