package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/cmd/claw/internal/output"
	"claw/runner/scheduler"
	"claw/state/crontab"
	"claw/state/delivery"
	"claw/state/process"
)

// keyOf is what a line of a crontab is known by as an automation.
func keyOf(user, hash string) string { return "crontab:" + user + ":" + hash }

// fromCrontab is what the lines of a crontab would change.
func (c *automationsImport) fromCrontab(a *app, s *scheduler.Scheduler, name, text string) ([]item, error) {
	form := crontab.FormOf(name)
	if c.System {
		form = crontab.System
	}
	me, err := caller()
	if err != nil {
		return nil, err
	}
	whose := me.owner(c.File)
	known, err := look(s)
	if err != nil {
		return nil, err
	}
	file := crontab.Parse(text, form)
	if form == crontab.User && c.File != "" && me.isSystem(file.Entries) {
		return nil, usagef("automations import: every command in "+name+" begins with the name of a user, as in a system crontab", "claw cron import --system "+c.File)
	}
	var items []item
	seen := map[string]bool{}
	for _, e := range file.Entries {
		if form == crontab.User {
			e.User = whose
		}
		key := keyOf(me.name, e.Hash)
		seen[key] = true
		items = append(items, c.fromLine(a, s, e, me.is(e.User), key, known))
	}
	for _, p := range file.Problems {
		items = append(items, item{Change: "!", Line: p.Line, Why: p.Why, Hint: p.Hint, Does: p.Text})
	}
	slices.SortStableFunc(items, func(x, y item) int { return x.Line - y.Line })
	if form == crontab.User && me.is(whose) {
		items = append(items, gone(known, me.name, seen)...)
	}
	return items, nil
}

// fromLine is what one line would change.
func (c *automationsImport) fromLine(a *app, s *scheduler.Scheduler, e crontab.Entry, mine bool, key string, known *existing) item {
	if !mine {
		return item{
			Change: "!", Line: e.Line, Name: e.Name, Does: e.Text, Why: "it runs as " + e.User + ", and claw runs commands as whoever calls it",
			Hint: "import it as that user",
		}
	}
	was, there := known.byKey[key]
	w := config.NewAutomation()
	if there {
		w = config.AutomationOf(was.Automation)
		w.ClearSchedule(false)
	} else {
		w.Key, w.Name, w.Description = key, freeName(e.Name, known.taken), e.Comment
		w.Missed, w.Overlap = c.Missed, c.Overlap
		w.TimeoutSeconds = 0 // cron ends nothing
		known.taken[strings.ToLower(w.Name)] = true
	}
	notes := c.carry(s, e, &w, there)
	it := c.compare(a, s, w, was, there)
	it.command = e.Command
	it.Line, it.Notes = e.Line, append(notes, it.Notes...)
	return it
}

// carry puts what a line says into an automation. What has been imported before
// keeps where its output goes.
func (c *automationsImport) carry(s *scheduler.Scheduler, e crontab.Entry, w *config.Automation, there bool) (notes []string) {
	if w.Cron, w.Exact = e.Expr, true; e.Reboot {
		w.Schedule, w.Cron, w.Exact = "@reboot", "", false
	} else {
		w.TZ, _ = e.Var("CRON_TZ")
	}
	if delay, _ := e.Var("RANDOM_DELAY"); delay != "" && !e.Reboot {
		if n, err := strconv.Atoi(delay); err == nil && n > 0 {
			w.Stagger, w.Exact = time.Duration(n)*time.Minute, false
			notes = append(notes, "RANDOM_DELAY: it is spread by up to "+delay+" minutes, always by the same time")
		}
	}
	w.Input = e.Stdin
	w.Cwd, _ = e.Var("HOME")
	w.Command, w.Argv, w.Env = "", shellOf(e), ownVars(e)
	if there {
		return notes
	}
	return append(notes, mailTo(s, e, w)...)
}

// shellOf is the argv of a line: its shell, below env where it sets variables
// that commands of claw are otherwise not given, as PATH.
func shellOf(e crontab.Entry) []string {
	var argv []string
	for _, v := range e.Env {
		if !forCron(v.Name) && !settable(v.Name) {
			argv = append(argv, v.Name+"="+v.Value)
		}
	}
	if len(argv) > 0 {
		argv = append([]string{"env"}, argv...)
	}
	shell, _ := e.Var("SHELL")
	return append(argv, firstOf(shell, "/bin/sh"), "-c", e.Command)
}

// ownVars are the other variables of a line.
func ownVars(e crontab.Entry) (env map[string]string) {
	for _, v := range e.Env {
		if forCron(v.Name) || !settable(v.Name) {
			continue
		}
		if env == nil {
			env = map[string]string{}
		}
		env[v.Name] = v.Value
	}
	return env
}

func settable(name string) bool { return process.CheckEnv([]string{name + "="}) == nil }

// forCron tells a variable that is for cron itself.
func forCron(name string) bool {
	switch name {
	case "MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING", "CRON_TZ", "RANDOM_DELAY":
		return true
	}
	return false
}

// mailTo has the output go where cron would have mailed it.
func mailTo(s *scheduler.Scheduler, e crontab.Entry, w *config.Automation) []string {
	to, set := e.Var("MAILTO")
	switch {
	case !set:
		return nil
	case to == "":
		w.DeliveryMode = "none"
		return nil
	}
	if where := s.Post.Resolve("mail", to, "", delivery.Route{}); where.Reason != "" {
		return []string{"MAILTO=" + to + ": there is no channel called mail; what it prints goes to the default channel"}
	}
	w.DeliveryMode, w.DeliveryChannel, w.DeliveryTo = "announce", "mail", to
	return nil
}

// gone are those that were imported and are not in the crontab any more.
func gone(known *existing, user string, seen map[string]bool) (items []item) {
	for key, e := range known.byKey {
		if strings.HasPrefix(key, keyOf(user, "")) && !seen[key] {
			items = append(items, item{Change: "-", Name: e.Name, Schedule: e.Words, Does: payloadWords(e.Payload), Why: "not in the crontab any more", Hint: "claw cron rm " + e.Name})
		}
	}
	slices.SortFunc(items, func(x, y item) int { return strings.Compare(x.Name, y.Name) })
	return items
}

// print shows the items: to people with what there is to say below each.
func (c *automationsImport) print(a *app, items []item) error {
	if c.JSON {
		if items == nil {
			items = []item{}
		}
		return a.io.JSON(map[string]any{"applied": c.Apply, "items": items})
	}
	wide := 0
	for _, it := range items {
		wide = max(wide, min(len(it.called()), 30))
	}
	var b strings.Builder
	for _, it := range items {
		if a.io.OutTTY {
			it.people(a, &b, wide)
			continue
		}
		fields := []string{it.Change, it.Name, strings.TrimSuffix(itoa(it.Line), "0"), it.Schedule, it.Does, it.why()}
		if it.Line > 0 {
			fields[2] = itoa(it.Line)
		}
		for i, f := range fields {
			fields[i] = output.Escape(f)
		}
		b.WriteString(strings.Join(fields, "\t") + "\n")
	}
	_, err := fmt.Fprint(a.io.Out, b.String())
	return err
}

func (it item) called() string {
	if it.Name == "" {
		return "line " + itoa(it.Line)
	}
	return it.Name
}

// why is all there is to say about an item, in one line.
func (it item) why() string {
	words := nonEmpty(it.Why)
	for _, d := range it.Changes {
		words = append(words, d.Key+": "+firstOf(d.Old, "-")+" → "+firstOf(d.New, "-"))
	}
	return strings.Join(append(words, it.Notes...), "; ")
}

// people is an item for people: of what is new or was there lines that fit, of
// what is wrong all there is to say.
func (it item) people(a *app, b *strings.Builder, wide int) {
	first := a.io.Cut(it.Schedule, wide+4)
	if it.Change == "!" || it.Change == "-" {
		first = it.Why
	}
	fmt.Fprintf(b, "%s %-*s  %s\n", it.Change, wide, output.Safe(it.called()), output.Safe(first))
	below := func(s string) {
		if s != "" {
			b.WriteString("    " + output.Safe(process.Collapse(s)) + "\n")
		}
	}
	switch it.Change {
	case "+":
		below(a.io.Cut(process.Collapse(firstOf(it.command, it.Does)), 4))
	case "!":
		below(it.Does)
	}
	for _, d := range it.Changes {
		below(d.Key + ": " + firstOf(d.Old, "-") + " → " + firstOf(d.New, "-"))
	}
	for _, n := range it.Notes {
		below(n)
	}
	if it.Hint != "" {
		below("→ " + it.Hint)
	}
}

// sum says on stderr what was done, and that cron does it too.
func (c *automationsImport) sum(a *app, s *scheduler.Scheduler, items []item, form string) {
	n := map[string]int{}
	var lines []int
	for _, it := range items {
		n[it.Change]++
		if it.Line > 0 && it.Change != "!" {
			lines = append(lines, it.Line)
		}
	}
	if len(items) == 0 {
		a.io.Note("there is nothing in it to import")
		return
	}
	words := fmt.Sprintf("%d new, %d changed, %d as they were", n["+"], n["~"], n["="])
	if n["!"] > 0 {
		words += fmt.Sprintf(", %d could not be imported", n["!"])
	}
	if !c.Apply && n["+"]+n["~"] > 0 {
		a.io.Say(words+"; nothing has been done", "--apply does it")
		return
	}
	a.io.Note(words)
	if form != "crontab" || len(lines) == 0 {
		return
	}
	where := firstOf(c.File, "the crontab")
	if c.File == "" {
		a.io.Say("cron runs them as well: each runs twice until it is taken out there", "crontab -e, and # before line "+ranges(lines))
	} else if c.File != "-" {
		a.io.Say("if cron reads "+where+", each runs twice until it is taken out there", "# before line "+ranges(lines))
	}
	a.nobodyRuns(s)
}

// ranges says numbers that grow, those in a row together, and no more than can
// be read: "3, 5-9 and 80 more".
func ranges(lines []int) string {
	var words []string
	for i := 0; i < len(lines); {
		if len(words) == 12 {
			return strings.Join(words, ", ") + " and " + itoa(len(lines)-i) + " more"
		}
		first := i
		for i++; i < len(lines) && lines[i] == lines[i-1]+1; i++ {
		}
		word := itoa(lines[first])
		if i-first > 1 {
			word += "-" + itoa(lines[i-1])
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}
