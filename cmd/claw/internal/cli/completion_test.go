package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/state/statetest"
)

// places are what every shell offers: the words typed, the last one as far as
// it stands there, and the candidates. RUNNING, ENDED, SENT, WAITS and FILE
// stand for what the test has made.
var places = []struct {
	typed string
	want  string
}{
	{"claw |pro", "process"},
	{"claw |ta", "tasks"},
	{"claw |", "exec process tool heartbeat agent sessions automations hook runner inbox deliveries channels status tasks flow recover event doctor config completion version"},
	{"claw process |", "list poll log write send-keys submit paste kill clear remove wait"},
	{"claw ps |se", "send-keys"},
	{"claw process log |", "RUNNING ENDED"},
	{"claw ps log |", "RUNNING ENDED"},
	{"claw process remove |", "RUNNING ENDED"},
	{"claw process rm |", "RUNNING ENDED"},
	{"claw process kill |", "RUNNING"},
	{"claw process write |", "RUNNING"},
	{"claw process clear |", "ENDED"},
	{"claw process log x |", ""},
	{"claw process wait x |", "RUNNING ENDED"},
	{"claw process log --agent other |", ""},
	{"claw process log --agent=other |", ""},
	{"claw process log --all-agents |", "RUNNING ENDED"},
	{"claw --state-dir NOWHERE process log |", ""},
	{"claw --color always process kill |", "RUNNING"},
	{"claw tasks |", "list show log cancel notify create progress finish flow audit maintenance"},
	{"claw tasks show |", "RUNNING ENDED"},
	{"claw tasks |--sta", "--status --state-dir"},
	{"claw process log |--foll", "--follow"},
	{"claw process log --stream |", "stdout stderr both"},
	{"claw process log --stream |std", "stdout stderr"},
	{"claw process log |--stream=std", "stdout stderr"},
	{"claw process list --state |", "running succeeded failed timed_out cancelled lost"},
	{"claw process poll --timeout |", ""},
	{"claw event --state |", "queued consumed retired unknown relayed"},
	{"claw heartbeat |", "status tick run last enable disable respond scratch"},
	{"claw heartbeat respond --outcome |", "no_change progress done blocked needs_attention"},
	{"claw heartbeat respond --notify |t", "true"},
	{"claw heartbeat respond --priority |", "low normal high"},
	{"claw automations |", "add edit import export list show next run runs enable disable status rm"},
	{"claw cron |", "add edit import export list show next run runs enable disable status rm"},
	{"claw cron show |", "backup"},
	{"claw automations run |ba", "backup"},
	{"claw cron add --overlap |", "skip queue replace allow"},
	{"claw cron add --announce |w", "webhook"},
	{"claw runner |", "drain restart run status stop"},
	{"claw runner status |--js", "--json"},
	{"claw event send --mode |n", "now next-heartbeat"},
	{"claw config prompts |", "list show"},
	{"claw config prompts show |exec-", "exec-internal exec-empty"},
	{"claw inbox |--un", "--unread --unsafe-fs"},
	{"claw sessions show |", "agent:ops:main session:review"},
	{"claw sessions rm |agent:o", "agent:ops:main"},
	{"claw sessions show |agent:ops:", "agent:ops:main"},
	{"claw sessions show session:review |", ""},
	{"claw sessions list --agent |", "ops main"},
	{"claw agent send --agent |o", "ops"},
	{"claw agent send |--agent=o", "ops"},
	{"claw agent send --session |session:r", "session:review"},
	{"claw event list --session |s", "session:review"},
	{"claw exec --notify |w", "webhook"},
	{"claw exec --notify note:a |--na", "--name"},
	{"claw channels test |", "desktop inbox mail note stdout webhook"},
	{"claw deliveries |", "list show retry dismiss"},
	{"claw deliveries show |", "SENT WAITS"},
	{"claw deliveries retry |", "WAITS"},
	{"claw deliveries dismiss |d-", "WAITS"},
	{"claw deliveries list --state |d", "delivered dismissed"},
	{"claw --color |a", "auto always"},
	{"claw exec |--yie", "--yield-ms"},
	{"claw exec --stdin |", "null open"},
	{"claw completion |", "bash zsh fish"},
	{"claw exec -b ls FOLDER/|", "FILE"},
	{"claw exec ls |--agen", ""},
	{"claw exec -- ls |--agen", ""},
	{"claw process paste x |--no-br", "--no-bracketed"},
}

// configured is a configuration with two agents and a channel.
const configured = `
[agents.main]
command = ["cat"]
[agents.ops]
command = ["cat"]
[channels.note]
command = ["cat"]
`

// world is a state with one process that runs, one that has ended, two
// sessions, a message that was sent and one that waits.
func world(t *testing.T) (env []string, replace *strings.Replacer) {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	config := filepath.Join(t.TempDir(), "claw.toml")
	if err := os.WriteFile(config, []byte(configured), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(environ(t, state), "CLAW_CONFIG="+config)
	t.Cleanup(func() { statetest.Remove(t, state) })
	run := func(args ...string) string {
		cmd := exec.Command(filepath.Join(binary(t), "claw"), args...)
		var errOut strings.Builder
		cmd.Env, cmd.Stderr = env, &errOut
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("claw %s: %v\n%s", strings.Join(args, " "), err, &errOut)
		}
		return strings.TrimSpace(string(out))
	}
	run("sessions", "new", "--agent", "ops")
	run("sessions", "new", "session:review", "--agent", "ops")
	run("channels", "test", "inbox")
	run("cron", "add", "--every", "6h", "--name", "backup", "--", "true")
	sent := strings.Split(run("deliveries", "list"), "\t")[1]
	ended := run("exec", "-b", "--notify", "webhook", "--", "true")
	run("process", "wait", ended)
	waits := strings.Split(run("deliveries", "list", "--state", "pending"), "\t")[1]
	running := run("exec", "-b", "--", "sleep", "600")
	t.Cleanup(func() {
		for _, action := range []string{"kill", "wait"} { // wait passes the signal's code on
			cmd := exec.Command(filepath.Join(binary(t), "claw"), "process", action, running)
			cmd.Env = env
			cmd.Run()
		}
	})
	folder := t.TempDir()
	file := filepath.Join(folder, "only.txt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return env, strings.NewReplacer("RUNNING", running, "ENDED", ended, "SENT", sent, "WAITS", waits, "FILE", file, "FOLDER", folder, "NOWHERE", filepath.Join(folder, "none"))
}

// question is a command line with the cursor behind its last word, which has
// begun with prefix.
type question struct {
	words  []string
	prefix string
}

// ask has a shell answer all places in one go: script prints the candidates
// of each, one a line, with an empty line behind them.
func ask(t *testing.T, shell string, args []string, script func(qs []question) string) {
	t.Helper()
	path := need(t, shell)
	env, replace := world(t)
	var qs []question
	for _, p := range places {
		head, prefix, _ := strings.Cut(replace.Replace(p.typed), "|")
		words := strings.Fields(head)
		if strings.HasSuffix(head, "/") { // a folder whose files are wanted
			prefix = words[len(words)-1]
			words = words[:len(words)-1]
		}
		qs = append(qs, question{words, prefix})
	}
	file := filepath.Join(t.TempDir(), "ask")
	if err := os.WriteFile(file, []byte(script(qs)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append(args, file)...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(string(out), "----\n")
	if len(answers) != len(places)+1 {
		t.Fatalf("%d answers to %d questions:\n%s", len(answers)-1, len(places), out)
	}
	for i, p := range places {
		got := candidates(answers[i], qs[i].prefix)
		want := strings.Fields(replace.Replace(p.want))
		slices.Sort(want)
		if diff := cmp.Diff(want, got, cmp.Transformer("nil", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.typed, diff)
		}
	}
}

// candidates are the lines of an answer without descriptions, sorted; behind
// --flag= they are values.
func candidates(answer, prefix string) []string {
	flag, value, joined := strings.Cut(prefix, "=")
	if joined {
		prefix = value
	}
	var all []string
	for line := range strings.Lines(answer) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if joined {
			name = strings.TrimPrefix(name, flag+"=")
		}
		if name != "" && strings.HasPrefix(name, prefix) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func quoted(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = quote(w)
	}
	return strings.Join(all, " ")
}

// splitForBash makes words as bash does, for which = and : are words of their
// own.
func splitForBash(words []string) []string {
	var all []string
	for _, w := range words {
		for {
			i := strings.IndexAny(w, "=:")
			if i < 0 {
				break
			}
			if i > 0 {
				all = append(all, w[:i])
			}
			all, w = append(all, w[i:i+1]), w[i+1:]
		}
		all = append(all, w)
	}
	return all
}

// untilColon is what of a word bash leaves alone when it completes it.
func untilColon(w string) string { return w[:strings.LastIndexByte(w, ':')+1] }

func TestCompletionBash(t *testing.T) {
	ask(t, "bash", []string{"--noprofile", "--norc"}, func(qs []question) string {
		var b strings.Builder
		b.WriteString("COMP_WORDBREAKS=$' \\t\\n\"\\'><=;|&(:'\n") // as in a shell that is typed into
		b.WriteString("eval \"$(claw completion bash)\"\ncomplete -p claw >/dev/null || exit 9\n")
		for _, q := range qs {
			words := splitForBash(append(slices.Clone(q.words), q.prefix))
			fmt.Fprintf(&b, "COMP_WORDS=(%s) COMP_CWORD=%d COMPREPLY=()\n_claw claw\n", quoted(words), len(words)-1)
			fmt.Fprintf(&b, "printf '%%s\\n' \"${COMPREPLY[@]/#/%s}\" ----\n", untilColon(q.prefix))
		}
		return b.String()
	})
}

func TestCompletionFish(t *testing.T) {
	ask(t, "fish", []string{"--no-config"}, func(qs []question) string {
		var b strings.Builder
		b.WriteString("claw completion fish | source\n")
		for _, q := range qs {
			fmt.Fprintf(&b, "complete -C %s; echo ----\n", quote(strings.Join(q.words, " ")+" "+q.prefix))
		}
		return b.String()
	})
}

// zshStubs stand in for the widgets that only work on a line being edited:
// they print what they were given.
const zshStubs = `
autoload -Uz compinit && compinit -u -D
source <(claw completion zsh)
[[ $_comps[claw] == _claw ]] || exit 9
compadd() { while [[ $1 == -* ]]; do [[ $1 == -- ]] && { shift; break }; shift; done; print -rl -- "$@" }
_describe() { local name=${@[-1]} x; for x in "${(@P)name}"; do x=${x//\\:/@}; x=${x%%:*}; print -r -- "${x//@/:}"; done }
_message() { }
compset() { }
_normal() { [[ $words[CURRENT] == /* ]] && print -rl -- $words[CURRENT]* }
`

func TestCompletionZsh(t *testing.T) {
	ask(t, "zsh", []string{"-f"}, func(qs []question) string {
		var b strings.Builder
		b.WriteString(zshStubs)
		for _, q := range qs {
			words := append(slices.Clone(q.words), q.prefix)
			fmt.Fprintf(&b, "words=(%s) CURRENT=%d\n_claw\nprint -r -- ----\n", quoted(words), len(words))
		}
		return b.String() + "exit 0\n"
	})
}

// Completing in a machine without a state, with a broken configuration, or
// without a home says nothing, does not fail and makes nothing.
func TestCompleteIsQuiet(t *testing.T) {
	folder := t.TempDir()
	bad := filepath.Join(folder, "bad.toml")
	if err := os.WriteFile(bad, []byte("tools = [["), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, extra := range map[string][]string{
		"no state":         nil,
		"bad config":       {"CLAW_CONFIG=" + bad},
		"state is a file":  {"CLAW_STATE_DIR=" + bad},
		"state unreadable": {"CLAW_STATE_DIR=/proc/1/nothing"},
	} {
		for _, kind := range []string{"process", "running", "finished", "task", "session", "delivery", "unsent", "nonsense"} {
			cmd := exec.Command(filepath.Join(binary(t), "claw"), "__complete", kind, "--agent", "x", "--", "--flag")
			cmd.Env = append(environ(t, filepath.Join(folder, "none")), extra...)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s, %s: %v, %q", name, kind, err, out)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "none")); !os.IsNotExist(err) {
		t.Errorf("completing made a state directory: %v", err)
	}
}
