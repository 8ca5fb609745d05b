package deliver

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/runner/internal/proc"
	"claw/runner/internal/program"
	"claw/runner/output"
	"claw/state/delivery"
)

// The types of channels. All but command are there without configuration,
// under their own names.
const (
	Command = "command"
	Inbox   = "inbox"
	Stdout  = "stdout"
	Desktop = "desktop"
	Webhook = "webhook"
	Mail    = "mail"
)

func builtins() []string { return []string{Desktop, Inbox, Mail, Stdout, Webhook} }

// defaultTimeout bounds one attempt where the configuration does not.
const defaultTimeout = 30 * time.Second

// Channel is a configured channel or a built-in; false for a name that is
// neither.
func (p *Post) Channel(name string) (Channel, bool) {
	if name == RunHook {
		return Channel{Name: name, Type: RunHook, Timeout: defaultTimeout}, true
	}
	ch, ok := p.Channels[name]
	switch {
	case !ok && !slices.Contains(builtins(), name):
		return Channel{}, false
	case !ok:
		ch.Type = name
	}
	ch.Name = name
	if ch.Type == "" {
		ch.Type = Command
	}
	if ch.Timeout <= 0 {
		ch.Timeout = defaultTimeout
	}
	return ch, true
}

// Names are all channels, sorted.
func (p *Post) Names() []string {
	names := slices.AppendSeq(builtins(), maps.Keys(p.Channels))
	slices.Sort(names)
	return slices.Compact(names)
}

// outcome is what an attempt came to.
type outcome struct {
	verdict delivery.Verdict
	receipt string
	why     string // of everything but Sent
}

func notReady(why string) *outcome { return &outcome{verdict: delivery.NotReady, why: why} }

// Ready says why a channel cannot be used now; empty when it can as far as
// that is known without sending.
func (p *Post) Ready(name string) string {
	ch, known := p.Channel(name)
	if !known {
		return "there is no such channel"
	}
	if ch.Type == Inbox {
		return ""
	}
	_, not := p.prepare(ch, delivery.Delivery{Route: delivery.Route{Channel: name}})
	if not != nil {
		return not.why
	}
	return ""
}

// prepare looks for everything an attempt needs, so that what is missing costs
// none: it returns the act of sending, or an outcome without it.
func (p *Post) prepare(ch Channel, d delivery.Delivery) (func() outcome, *outcome) {
	switch ch.Type {
	case Stdout:
		return p.toStdout(d)
	case Desktop:
		return p.toDesktop(ch, d)
	case Mail:
		return p.toMail(ch, d)
	case Webhook:
		return p.toWebhook(ch, d)
	case RunHook:
		return p.toRunHook(ch, d)
	case Command:
		return p.toCommand(ch, d)
	}
	return nil, notReady("channel " + ch.Name + " has the unknown type " + ch.Type)
}

// toCommand is a configured argv: text on stdin, exit code as the answer.
func (p *Post) toCommand(ch Channel, d delivery.Delivery) (func() outcome, *outcome) {
	prog, not := p.program(ch, d, ch.Command)
	if not != nil {
		return nil, not
	}
	prog.Stdin = endLine(d.Text)
	return func() outcome { return judged(run(prog), ch.Failure) }, nil
}

// judged is the outcome of a program by its exit code.
func judged(e ended, failure string) outcome {
	o := outcome{verdict: delivery.Classify(e.exit, failure), receipt: e.stdout, why: e.why()}
	if o.verdict == delivery.Sent {
		o.why = ""
	}
	return o
}

// program is the start of argv in the name of a delivery.
func (p *Post) program(ch Channel, d delivery.Delivery, argv []string) (program.Spec, *outcome) {
	if len(argv) == 0 {
		return program.Spec{}, notReady("channel " + ch.Name + " has no command")
	}
	env := p.environment(ch, d)
	prog := program.Spec{Argv: argv, Env: env, Dir: home(env), Limit: ch.Timeout}
	if err := prog.Resolve(); err != nil {
		return program.Spec{}, notReady(err.Error())
	}
	return prog, nil
}

// environment is the caller's, with the channel's own and what says what this
// is about.
func (p *Post) environment(ch Channel, d delivery.Delivery) []string {
	env := slices.Clone(p.Environ)
	for _, name := range slices.Sorted(maps.Keys(ch.Env)) {
		env = proc.Setenv(env, name, ch.Env[name])
	}
	for _, kv := range [][2]string{
		{"CLAW_TO", ch.recipient(d.Route)},
		{"CLAW_ACCOUNT", d.Route.Account},
		{"CLAW_THREAD", d.Route.Thread},
		{"CLAW_IDEMPOTENCY_KEY", d.IdempotencyKey},
		{"CLAW_TITLE", d.Title},
	} {
		env = proc.Setenv(env, kv[0], strings.ReplaceAll(kv[1], "\x00", ""))
	}
	return env
}

// home is where channels run: not in whichever directory a tick was started.
func home(env []string) string {
	if dir := proc.Getenv(env, "HOME"); filepath.IsAbs(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return "/"
}

// toStdout writes into the foreground, if there is one. Of what was written
// only in part nobody knows what the reader makes of it.
func (p *Post) toStdout(d delivery.Delivery) (func() outcome, *outcome) {
	if p.Stdout == nil {
		return nil, notReady("stdout: there is no foreground; it waits for claw heartbeat tick on a terminal or in a pipe")
	}
	text := d.Under()
	if d.Title != "" {
		text = d.Title + "\n" + text
	}
	return func() outcome {
		n, err := io.WriteString(p.Stdout, endLine(output.Sanitize([]byte(text))))
		switch {
		case err == nil:
			return outcome{verdict: delivery.Sent}
		case n == 0:
			return outcome{verdict: delivery.NotSent, why: "stdout: " + err.Error()}
		}
		return outcome{verdict: delivery.Uncertain, why: "stdout: " + err.Error() + ", after a part of it"}
	}, nil
}

// desktopBody is how many bytes of a message a notification shows.
const desktopBody = 1000

// toDesktop shows a notification: notify-send, or osascript on macOS.
func (p *Post) toDesktop(ch Channel, d delivery.Delivery) (func() outcome, *outcome) {
	title, body := d.Title, d.Under()
	if title == "" {
		title = "claw"
	}
	body = prefix(output.Sanitize([]byte(body)), desktopBody)
	title = prefix(output.Sanitize([]byte(title)), desktopBody)
	argv := []string{"notify-send", "--app-name=claw", "--", title, escapeMarkup(body)}
	hint := "; install it (package libnotify-bin or libnotify)"
	if runtime.GOOS == "darwin" {
		argv = []string{
			"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, body,
		}
		hint = ""
	}
	prog, not := p.program(ch, d, argv)
	if not != nil {
		not.why += hint
		return nil, not
	}
	prog.Env = withBus(prog.Env)
	return func() outcome { return judged(run(prog), ch.Failure) }, nil
}

// escapeMarkup: the body of a notification may be markup, a message is none.
func escapeMarkup(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// withBus lets a tick that cron started find the desktop of its user.
func withBus(env []string) []string {
	const name = "DBUS_SESSION_BUS_ADDRESS"
	bus := "/run/user/" + strconv.Itoa(os.Getuid()) + "/bus"
	if _, err := os.Stat(bus); err != nil || proc.Getenv(env, name) != "" {
		return env
	}
	return proc.Setenv(env, name, "unix:path="+bus)
}

func endLine(s string) string {
	if strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
