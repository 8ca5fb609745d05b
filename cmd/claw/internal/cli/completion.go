package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"claw/cmd/claw/internal/output"
	"claw/prompts"
	rules "claw/state/heartbeat"
)

// completionCmd is `claw completion`. The scripts are static: they know every
// command, flag and fixed value, and ask `claw __complete` only for ids.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish." placeholder:"SHELL"`
}

// Help shows examples.
func (completionCmd) Help() string {
	return "Ids of processes, tasks and deliveries, and the names of sessions, agents and channels are completed too.\n\n" + examples(
		`eval "$(claw completion bash)"                          in ~/.bashrc`,
		`eval "$(claw completion zsh)"                           in ~/.zshrc`,
		"claw completion fish > ~/.config/fish/completions/claw.fish",
	)
}

// Run prints the script.
func (c *completionCmd) Run(a *app) error {
	script, err := completionScript(c.Shell)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.io.Out, script)
	return err
}

func completionScript(shell string) (string, error) {
	app, err := model()
	if err != nil {
		return "", err
	}
	spots := spotsOf(app.Node)
	switch shell {
	case "bash":
		return bashScript(spots), nil
	case "zsh":
		return zshScript(spots), nil
	}
	return fishScript(spots), nil
}

// model is the whole grammar, for scripts and manuals.
func model() (*kong.Application, error) {
	a := &app{io: &output.Streams{Out: io.Discard, Err: io.Discard}}
	var root struct {
		globals
	}
	k, err := a.parser(&root, func(int) {})
	if err != nil {
		return nil, err
	}
	return k.Model, nil
}

// spot is a place in the command line: what a command's words are followed by.
type spot struct {
	path  string // "process log"; empty behind claw itself
	subs  []candidate
	flags []flagWord // the command's own and, behind claw itself, the global ones
	args  string     // what its arguments are, see argsOf
	many  bool       // it takes several
}

// candidate is a word with what it stands for.
type candidate struct {
	name    string
	aliases []string
	help    string
}

// flagWord is one flag. values is empty for any value.
type flagWord struct {
	long, short string // with their dashes; short may be empty
	help        string
	takes       bool   // a value
	values      string // words, or valueDir or valueFile
}

// The kinds of value and argument that are not plain words.
const (
	valueDir       = "<dir>"
	valueFile      = "<file>"
	argsCommand    = "<command>" // a command line of its own
	argsProcess    = "process"   // ids, for `claw __complete KIND`
	argsRunning    = "running"
	argsEnded      = "finished"
	argsTask       = "task"
	argsAgent      = "agent" // these also as a value, in angle brackets
	argsSession    = "session"
	argsChannel    = "channel"
	argsDelivery   = "delivery"
	argsAutomation = "automation"
	argsFlow       = "flow"
	argsUnsent     = "unsent" // deliveries that a person may still have to see to
)

// askedKinds are the kinds for which the scripts ask `claw __complete`.
func askedKinds() []string {
	return []string{argsProcess, argsRunning, argsEnded, argsTask, argsAgent, argsSession, argsChannel, argsDelivery, argsUnsent, argsAutomation, argsFlow}
}

// asValue is a kind that is asked for as what a flag takes.
func asValue(kind string) string { return "<" + kind + ">" }

// spotsOf walks the grammar from n down.
func spotsOf(n *kong.Node) []spot {
	s := spot{path: nodePath(n), flags: flagWords(n)}
	s.args, s.many = argsOf(s.path)
	if len(n.Positional) > 0 && s.args == "" {
		s.args = words(n.Positional[0].Enum)
	}
	if n.DefaultCmd != nil {
		s.flags = append(s.flags, flagWords(n.DefaultCmd)...)
	}
	var below []spot
	for _, c := range n.Children {
		if !c.Hidden {
			s.subs = append(s.subs, candidate{c.Name, c.Aliases, firstSentence(c.Help)})
			below = append(below, spotsOf(c)...)
		}
	}
	return append([]spot{s}, below...)
}

// argsOf says what the arguments of a command are, and whether there can be
// more than one.
func argsOf(path string) (kind string, many bool) {
	switch path {
	case "exec":
		return argsCommand, true
	case "process wait":
		return argsProcess, true
	case "process poll", "process log", "process remove":
		return argsProcess, false
	case "process write", "process send-keys", "process submit", "process paste", "process kill":
		return argsRunning, false
	case "process clear":
		return argsEnded, false
	case "flow get", "flow resolve", "flow wait", "flow resume", "flow finish", "flow fail", "flow cancel", "flow run-task", "flow summary", "tasks flow show", "tasks flow cancel":
		return argsFlow, false
	case "tasks show", "tasks log", "tasks cancel", "tasks notify", "tasks progress", "tasks finish":
		return argsTask, false
	case "sessions show", "sessions new", "sessions rm":
		return argsSession, false
	case "automations show", "automations next", "automations run", "automations runs", "automations enable", "automations disable", "automations rm", "automations edit":
		return argsAutomation, false
	case "automations export":
		return argsAutomation, true
	case "channels test":
		return argsChannel, false
	case "deliveries show":
		return argsDelivery, false
	case "deliveries retry", "deliveries dismiss":
		return argsUnsent, false
	case "config prompts show":
		return strings.Join(prompts.Names(), " "), false
	case "heartbeat scratch":
		return "show", false
	}
	return "", false
}

func flagWords(n *kong.Node) []flagWord {
	var all []flagWord
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		w := flagWord{long: "--" + f.Name, help: firstSentence(f.Help), takes: !f.IsBool()}
		if f.Short != 0 {
			w.short = "-" + string(f.Short)
		}
		if w.takes {
			w.values = valuesOf(nodePath(n), f)
		}
		all = append(all, w)
		if f.Tag.Negatable != "" {
			w.long, w.short = "--no-"+f.Name, ""
			all = append(all, w)
		}
	}
	return all
}

// valuesOf is what a flag may be given, as far as it is known.
func valuesOf(path string, f *kong.Flag) string {
	switch {
	case f.Enum != "":
		return words(f.Enum)
	case f.Name == "agent":
		return asValue(argsAgent)
	case f.Name == "session":
		return asValue(argsSession)
	case strings.HasPrefix(f.PlaceHolder, "CHANNEL"):
		return asValue(argsChannel)
	case path == "heartbeat respond" && f.Name == "outcome":
		return strings.Join(rules.Outcomes(), " ")
	case f.PlaceHolder == "DIR":
		return valueDir
	case f.PlaceHolder == "FILE":
		return valueFile
	case strings.Contains(f.PlaceHolder, "|"):
		return strings.ReplaceAll(f.PlaceHolder, "|", " ")
	}
	// A help text that ends in "…: one, two, three." lists them.
	if _, list, ok := strings.Cut(f.Help, ": "); ok && strings.HasPrefix(f.Help, "Only ") {
		return words(strings.TrimSuffix(list, "."))
	}
	return ""
}

// words turns "a, b" into "a b".
func words(list string) string {
	return strings.Join(strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }), " ")
}

// firstSentence is enough of a help text for a menu.
func firstSentence(help string) string {
	for _, end := range []string{". ", "; ", ": "} {
		if i := strings.Index(help, end); i > 0 && !strings.Contains(help[:i], "{") {
			help = help[:i]
		}
	}
	return strings.TrimSuffix(help, ".")
}

// shellQuote puts s between single quotes for bash and zsh.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// steps are the lines of a case table that finds the next place: "PATH WORD"
// leads to a path.
func steps(spots []spot, line func(patterns []string, path string) string) string {
	var b strings.Builder
	for _, s := range spots {
		for _, c := range s.subs {
			var patterns []string
			for _, name := range slices.Concat([]string{c.name}, c.aliases) {
				patterns = append(patterns, s.path+" "+name)
			}
			b.WriteString(line(patterns, strings.TrimSpace(s.path+" "+c.name)))
		}
	}
	return b.String()
}

// caseSteps writes steps for bash and zsh.
func caseSteps(spots []spot) string {
	return steps(spots, func(patterns []string, path string) string {
		for i, p := range patterns {
			patterns[i] = shellQuote(p)
		}
		return fmt.Sprintf("\t%s) REPLY=%s ;;\n", strings.Join(patterns, "|"), shellQuote(path))
	})
}

// caseValues writes, for bash and zsh, what the value of "PATH FLAG" can be.
// The flags of claw itself are known behind every path.
func caseValues(spots []spot) string {
	var b strings.Builder
	for _, s := range spots {
		for _, f := range s.flags {
			if !f.takes {
				continue
			}
			pattern := shellQuote(s.path + " " + f.long)
			if s.path == "" {
				pattern = "*" + pattern
			}
			if f.short != "" {
				pattern += "|" + shellQuote(s.path+" "+f.short)
			}
			fmt.Fprintf(&b, "\t%s) REPLY=%s ;;\n", pattern, shellQuote(f.values))
		}
	}
	return b.String()
}
