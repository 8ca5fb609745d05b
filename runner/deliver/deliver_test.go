package deliver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claw/runner/deliver"
	"claw/state"
	"claw/state/delivery"
)

func sh(script string) deliver.Channel {
	return deliver.Channel{Type: "command", Command: []string{"sh", "-c", script}}
}

// TestResolve: seed 003 section 6, spec/heartbeat-automations.md 1.1.
func TestResolve(t *testing.T) {
	type r = delivery.Route
	channels := map[string]deliver.Channel{
		"chat": {Type: "command", Command: []string{"x"}, To: "home", Accounts: map[string]deliver.Account{"work": {To: "office"}, "bare": {}}},
	}
	tests := []struct {
		name                string
		target, to, account string
		last                r
		fallback            string
		want                deliver.Addressed
	}{
		{"none", "none", "me", "", r{Channel: "chat"}, "inbox", deliver.Addressed{Reason: "no-target"}},
		{"last", "last", "", "", r{Channel: "chat", To: "me", Thread: "7"}, "inbox", deliver.Addressed{Route: r{Channel: "chat", To: "me", Thread: "7"}}},
		{"no target is last", "", "", "", r{Channel: "chat", To: "me"}, "inbox", deliver.Addressed{Route: r{Channel: "chat", To: "me"}}},
		{"last falls back", "last", "", "", r{}, "inbox", deliver.Addressed{Route: r{Channel: "inbox"}}},
		{"last falls back to the configured default", "last", "", "", r{}, "chat", deliver.Addressed{Route: r{Channel: "chat", To: "home"}}},
		{"last on a channel that is gone", "last", "", "", r{Channel: "gone"}, "inbox", deliver.Addressed{Route: r{Channel: "inbox"}}},
		{"the default is gone too", "last", "", "", r{}, "gone", deliver.Addressed{Route: r{Channel: "inbox"}}},
		{"last takes no recipient of another channel", "last", "stranger", "", r{Channel: "chat"}, "inbox", deliver.Addressed{Route: r{Channel: "chat", To: "home"}}},
		{"last with an account", "last", "", "work", r{Channel: "chat"}, "inbox", deliver.Addressed{Route: r{Channel: "chat", To: "office", Account: "work"}}},
		{"the fallback has no accounts", "last", "", "work", r{}, "inbox", deliver.Addressed{Route: r{Channel: "inbox"}}},
		{"a channel", "chat", "", "", r{Channel: "inbox"}, "inbox", deliver.Addressed{Route: r{Channel: "chat", To: "home"}}},
		{"a channel and to", "chat", "a:b", "", r{}, "inbox", deliver.Addressed{Route: r{Channel: "chat", To: "a:b"}}},
		{"an account", "chat", "", "work", r{}, "inbox", deliver.Addressed{Route: r{Channel: "chat", To: "office", Account: "work"}}},
		{"an account without a recipient", "chat", "", "bare", r{}, "inbox", deliver.Addressed{Route: r{Channel: "chat", To: "home", Account: "bare"}}},
		{"an unknown account", "chat", "", "nobody", r{}, "inbox", deliver.Addressed{Reason: "unknown-account"}},
		{"an unknown channel", "pigeon", "", "", r{}, "inbox", deliver.Addressed{Reason: "unknown-channel"}},
		{"a built-in", "desktop", "", "", r{}, "inbox", deliver.Addressed{Route: r{Channel: "desktop"}}},
	}
	for _, tt := range tests {
		p := &deliver.Post{Channels: channels, Default: tt.fallback}
		if diff := cmp.Diff(tt.want, p.Resolve(tt.target, tt.to, tt.account, tt.last)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestIntendOnce(t *testing.T) {
	w := newWorld(t, nil)
	a := w.add(delivery.Delivery{IdempotencyKey: `k"1`, Route: delivery.Route{Channel: "inbox"}, Text: "one"})
	if b := w.add(delivery.Delivery{IdempotencyKey: `k"1`, Route: delivery.Route{Channel: "inbox"}, Text: "two"}); b != a {
		t.Error("a second delivery with the same key")
	}
	if c := w.add(delivery.Delivery{IdempotencyKey: "k", Route: delivery.Route{Channel: "inbox"}, Text: "three"}); c == a {
		t.Error("another key is another delivery")
	}
	w.flush()
	if n := len(w.inbox()); n != 2 {
		t.Errorf("%d messages", n)
	}
}

// TestTextIsCapped: 64 KiB, whole characters, and a note of where the rest is.
func TestTextIsCapped(t *testing.T) {
	w := newWorld(t, nil)
	id := w.add(delivery.Delivery{Text: strings.Repeat("ü", 50000), Source: delivery.Source{Kind: "exec", Name: "tide-orbit"}})
	text := w.get(id).Text
	if len(text) > 64<<10 || len(text) < 64<<10-2 || !utf8.ValidString(text) || !strings.HasSuffix(text, "ü\n[cut here: 100000 bytes in all; the whole output: claw process log tide-orbit]") {
		t.Errorf("%d bytes, end %q", len(text), text[len(text)-90:])
	}
	id = w.add(delivery.Delivery{Text: "a\xffb"})
	if got := w.get(id).Text; got != "a\uFFFDb" {
		t.Errorf("%q", got)
	}
}

func TestInbox(t *testing.T) {
	w := newWorld(t, nil)
	id := w.add(delivery.Delivery{Route: delivery.Route{Channel: "inbox"}, Title: "T", Body: "B", Text: "hello", Source: delivery.Source{Kind: "turn", Name: "main"}})
	if done := w.flush(); done.Delivered != 1 || !done.Next.IsZero() {
		t.Errorf("%+v", done)
	}
	w.is(id, delivery.Delivered, 1, "")
	want := []delivery.Message{{ID: id, At: w.p.Clock.Now(), Title: "T", Body: "B", Text: "hello", Source: delivery.Source{Kind: "turn", Name: "main"}}}
	if diff := cmp.Diff(want, w.inbox()); diff != "" {
		t.Error(diff)
	}
	if done := w.flush(); done != (deliver.Flushed{}) {
		t.Errorf("again: %+v", done)
	}
	if len(w.inbox()) != 1 {
		t.Error("told twice")
	}
}

// TestCommandChannel: the protocol of design.md section 5, with the answers of
// real programs.
func TestCommandChannel(t *testing.T) {
	tests := []struct {
		name, script, failure string
		state                 delivery.State
		attempts              int
		why                   string
	}{
		{"exit 0", "echo receipt-7", "", "delivered", 1, ""},
		{"75", "echo busy >&2; exit 75", "", "pending", 1, "exit code 75: busy"},
		{"69", "echo gone >&2; exit 69", "", "failed", 1, "exit code 69: gone"},
		{"78", "exit 78", "", "failed", 1, "exit code 78"},
		{"71", "exit 71", "", "pending", 1, "exit code 71"},
		{"1", "exit 1", "", "pending", 1, "exit code 1"},
		{"1 proves nothing", "exit 1", "unknown", "unknown", 1, "exit code 1"},
		{"signal", "kill -KILL $$", "", "unknown", 1, "SIGKILL"},
		{"stdin not read", "exec <&-; exit 0", "", "delivered", 1, ""},
		{"something goes on behind it", "sleep 30 & exit 0", "", "delivered", 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ch := sh(tt.script)
			ch.Failure = tt.failure
			w := newWorld(t, map[string]deliver.Channel{"c": ch})
			id := w.intend("c", strings.Repeat("long ", 1<<13))
			w.flush()
			d := w.is(id, tt.state, tt.attempts, tt.why)
			if d.State == delivery.Delivered && tt.name == "exit 0" && d.Receipt != "receipt-7" {
				t.Errorf("receipt %q", d.Receipt)
			}
			if d.State == delivery.Pending && d.NextAt.Sub(w.p.Clock.Now()) != 5*time.Second {
				t.Errorf("next at %v", d.NextAt)
			}
		})
	}
}

func TestWhatAChannelGets(t *testing.T) {
	ch := sh(`cat > $WORK/stdin; env | grep ^CLAW_ | sort > $WORK/env; pwd > $WORK/pwd; ls /proc/self/fd > $WORK/fds; ps -o pgid= -o pid= $$ > $WORK/group`)
	ch.Accounts = map[string]deliver.Account{"work": {To: "office"}}
	ch.Env = map[string]string{"CLAW_EXTRA": "set"}
	w := newWorld(t, map[string]deliver.Channel{"c": ch})
	leak, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	leak.Fd() // blocking, as somebody's who does not care
	id := w.add(delivery.Delivery{IdempotencyKey: "key-1", Route: delivery.Route{Channel: "c", Account: "work", Thread: "t9"}, Title: "Hi", Text: "line one\nline two"})
	w.flush()
	w.is(id, delivery.Delivered, 1, "")
	if got := w.file("stdin"); got != "line one\nline two\n" {
		t.Errorf("stdin %q", got)
	}
	env := w.file("env")
	for _, line := range []string{"CLAW_TO=office", "CLAW_ACCOUNT=work", "CLAW_THREAD=t9", "CLAW_IDEMPOTENCY_KEY=key-1", "CLAW_TITLE=Hi", "CLAW_EXTRA=set"} {
		if !strings.Contains("\n"+env, "\n"+line+"\n") {
			t.Errorf("%s is missing in:\n%s", line, env)
		}
	}
	if got := strings.TrimSpace(w.file("pwd")); got != w.work {
		t.Errorf("it ran in %s", got)
	}
	if fds := strings.Fields(w.file("fds")); len(fds) > 4 { // 0, 1, 2 and the one ls reads
		t.Errorf("descriptors %v", fds)
	}
	if ids := strings.Fields(w.file("group")); len(ids) != 2 || ids[0] != ids[1] {
		t.Errorf("group and pid %v", ids)
	}
}

// TestTimeout: everything it started is ended, and nobody knows what it sent.
func TestTimeout(t *testing.T) {
	ch := sh(`trap '' TERM; sleep 600 & echo $! > $WORK/child; echo $$ > $WORK/self; wait; sleep 600`)
	ch.Timeout = 300 * time.Millisecond
	w := newWorld(t, map[string]deliver.Channel{"c": ch})
	id := w.intend("c", "x")
	w.flush()
	w.is(id, delivery.Unknown, 1, "did not end within 300ms")
	for _, name := range []string{"child", "self"} {
		until(t, name+" is gone", func() bool {
			stat, err := os.ReadFile("/proc/" + strings.TrimSpace(w.file(name)) + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		})
	}
	w.advance(100 * time.Hour)
	w.flush()
	w.is(id, delivery.Unknown, 1, "")
}

// TestLadder: five attempts, each after its wait, then a dead letter; a person
// can begin anew.
func TestLadder(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"c": sh("echo x >> $WORK/tries; test -e $WORK/mended")})
	id := w.intend("c", "x")
	for n, wait := range []time.Duration{5 * time.Second, 25 * time.Second, 2 * time.Minute, 10 * time.Minute} {
		done := w.flush()
		w.is(id, delivery.Pending, n+1, "exit code 1")
		if got := done.Next.Sub(w.p.Clock.Now()); got != wait || done.Deferred != 1 {
			t.Errorf("attempt %d: next in %v, want %v; %+v", n+1, got, wait, done)
		}
		w.advance(wait - time.Millisecond)
		if w.flush(); w.get(id).Attempts != n+1 {
			t.Errorf("attempt %d came early", n+2)
		}
		w.advance(time.Millisecond)
	}
	if done := w.flush(); done.Failed != 1 || !done.Next.IsZero() {
		t.Errorf("%+v", done)
	}
	w.is(id, delivery.Failed, 5, "exit code 1")
	w.advance(time.Hour)
	w.flush()
	if got := strings.Count(w.file("tries"), "x"); got != 5 {
		t.Errorf("%d tries", got)
	}
	os.WriteFile(w.work+"/mended", nil, 0o600)
	if d, err := w.p.Retry(context.Background(), id); err != nil || d.State != delivery.Delivered || d.Attempts != 1 || d.IdempotencyKey != id {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestNotReady: what is not there costs no attempt, and is found when it comes.
func TestNotReady(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{
		"c": {Type: "command", Command: []string{"herald"}}, "hook": {Type: "webhook"}, "post": {Type: "mail", To: "me"},
	})
	w.p.Environ = []string{"PATH=" + w.work, "HOME=" + w.work, "WORK=" + w.work}
	ids := map[string]string{}
	for _, name := range []string{"c", "hook", "desktop", "stdout", "gone"} {
		ids[name] = w.intend(name, "x")
	}
	if done := w.flush(); done.Deferred != 5 || done.Next.Sub(w.p.Clock.Now()) != time.Minute {
		t.Errorf("%+v", done)
	}
	for name, why := range map[string]string{"c": "herald", "hook": "no address", "desktop": "notify-send", "stdout": "foreground", "gone": "no channel gone"} {
		w.is(ids[name], delivery.Pending, 0, why)
		if name != "gone" && !strings.Contains(w.p.Ready(name), why) {
			t.Errorf("%s is ready: %q", name, w.p.Ready(name))
		}
	}
	w.script("herald", "cat > $WORK/heard\n")
	var out strings.Builder
	w.p.Stdout = &out
	if w.flush(); out.String() != "x\n" {
		t.Errorf("stdout does not wait once there is a foreground: %q", out.String())
	}
	w.is(ids["c"], delivery.Pending, 0, "")
	w.advance(time.Minute)
	w.flush()
	w.is(ids["c"], delivery.Delivered, 1, "")
	w.advance(73 * time.Hour)
	if done := w.flush(); done.Failed != 3 {
		t.Errorf("%+v", done)
	}
	w.is(ids["desktop"], delivery.Failed, 0, "too old")
}

// TestTooOld: nothing that has waited for 72 h is sent by itself; a person
// still can.
func TestTooOld(t *testing.T) {
	w := newWorld(t, nil)
	old, young := w.intend("inbox", "old"), ""
	w.advance(72 * time.Hour)
	young = w.intend("inbox", "young")
	w.flush()
	w.is(old, delivery.Failed, 0, "too old")
	w.is(young, delivery.Delivered, 1, "")
	if d, err := w.p.Retry(context.Background(), old); err != nil || d.State != delivery.Delivered {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestSlowChannelHoldsUpNobody: the other channel is done while this one still
// waits for it.
func TestSlowChannelHoldsUpNobody(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{
		"slow": sh("until test -e $WORK/quick; do sleep 0.01; done"), "quick": sh("touch $WORK/quick"),
	})
	a, b := w.intend("slow", "x"), w.intend("quick", "x")
	w.flush()
	w.is(a, delivery.Delivered, 1, "")
	w.is(b, delivery.Delivered, 1, "")
}

// TestOldestFirst within a channel, one at a time.
func TestOldestFirst(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"c": sh("cat >> $WORK/order")})
	for i := range 5 {
		w.intend("c", fmt.Sprint(i))
		w.advance(time.Millisecond)
	}
	w.flush()
	if got := w.file("order"); got != "0\n1\n2\n3\n4\n" {
		t.Errorf("%q", got)
	}
}

func TestStdoutIsSanitised(t *testing.T) {
	w := newWorld(t, nil)
	var out strings.Builder
	w.p.Stdout = &out
	w.add(delivery.Delivery{Route: delivery.Route{Channel: "stdout"}, Title: "T\x1b[31m", Text: "a\x1b]0;evil\x07b"})
	w.flush()
	if out.String() != "T\nab\n" {
		t.Errorf("%q", out.String())
	}
}

type brokenWriter struct{ n int }

func (b brokenWriter) Write(p []byte) (int, error) { return b.n, errors.New("the reader has gone") }

func TestStdoutBreaks(t *testing.T) {
	for n, want := range map[int]delivery.State{0: delivery.Pending, 1: delivery.Unknown} {
		w := newWorld(t, nil)
		w.p.Stdout = brokenWriter{n}
		id := w.intend("stdout", "hello")
		w.flush()
		w.is(id, want, 1, "the reader has gone")
	}
}

func TestByHand(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"c": sh("exit 75")})
	ctx := context.Background()
	id := w.intend("c", "x")
	w.flush()
	if d, err := w.p.Retry(ctx, id); err != nil || d.Attempts != 2 || d.State != delivery.Pending {
		t.Errorf("one that waits is sent sooner: %+v, %v", d, err)
	}
	if d, err := w.p.Dismiss(ctx, id, "by phone"); err != nil || d.State != delivery.Dismissed || d.DismissedNote != "by phone" {
		t.Errorf("%+v, %v", d, err)
	}
	var refused *deliver.RefusedError
	if _, err := w.p.Retry(ctx, id); !errors.As(err, &refused) {
		t.Errorf("a dismissed one: %v", err)
	}
	arrived := w.intend("inbox", "x")
	w.flush()
	for name, act := range map[string]func() (delivery.Delivery, error){
		"retry":   func() (delivery.Delivery, error) { return w.p.Retry(ctx, arrived) },
		"dismiss": func() (delivery.Delivery, error) { return w.p.Dismiss(ctx, arrived, "") },
	} {
		if _, err := act(); !errors.As(err, &refused) {
			t.Errorf("%s of one that arrived: %v", name, err)
		}
	}
	var missing *delivery.NotFoundError
	if _, err := w.p.Retry(ctx, "01JE8A0000000000000000X4F2"); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
}

func TestTest(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"c": sh(`echo "to $CLAW_TO"`), "bad": sh("exit 1")})
	if d, err := w.p.Test(context.Background(), "c", "me"); err != nil || d.State != delivery.Delivered || d.Receipt != "to me" {
		t.Errorf("%+v, %v", d, err)
	}
	d, err := w.p.Test(context.Background(), "bad", "")
	if err != nil || d.State != delivery.Pending || d.Error == "" {
		t.Errorf("%+v, %v", d, err)
	}
	w.is(d.ID, delivery.Dismissed, 1, "exit code 1")
	if _, err := w.p.Test(context.Background(), "pigeon", ""); err == nil || !strings.Contains(err.Error(), "pigeon") {
		t.Errorf("%v", err)
	}
}

// TestList: what needs a look first, then what goes on, each newest first.
func TestList(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"c": sh("exit 70"), "later": sh("exit 75")})
	var want []string
	for _, channel := range []string{"inbox", "later", "c", "c"} {
		want = append([]string{w.intend(channel, channel)}, want...)
		w.advance(time.Second)
	}
	w.flush()
	all, err := deliver.List(w.s, w.p.Clock.Now(), false)
	var got []string
	for _, d := range all {
		got = append(got, d.ID)
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if d, err := deliver.Find(w.s, w.p.Clock.Now(), delivery.Short(want[0])); err != nil || d.ID != want[0] {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestQuietFlushWritesNothing and reads no record.
func TestQuietFlushWritesNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.intend("inbox", "x")
	w.flush()
	position := func() (n int64) {
		w.s.View(func(tx *state.Tx) error { n = tx.Position(); return nil })
		return n
	}
	before := position()
	w.flush()
	if position() != before {
		t.Error("something was written")
	}
}
