package deliver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claw/runner/deliver"
	"claw/state"
	"claw/state/delivery"
)

func needCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
}

// TestWebhookBody: what arrives, and that the address is nowhere in an argv.
func TestWebhookBody(t *testing.T) {
	needCurl(t)
	var got struct {
		Text, Title, To, IdempotencyKey string
		Source                          delivery.Source
		At                              time.Time
	}
	var key, method, kind, argvs string
	url, _ := server(t, func(rw http.ResponseWriter, r *http.Request) {
		argvs = everyArgv()
		key, method, kind = r.Header.Get("Idempotency-Key"), r.Method, r.Header.Get("Content-Type")
		json.NewDecoder(r.Body).Decode(&got)
		io.WriteString(rw, "receipt "+strings.Repeat("x", 10000))
	})
	w := newWorld(t, map[string]deliver.Channel{"hook": {Type: "webhook", URL: url}})
	text := "line \"one\"\n\\two\tü \u2028 <&> %{http_code} \x01"
	id := w.add(delivery.Delivery{
		IdempotencyKey: "key:1", Route: delivery.Route{Channel: "hook", To: "me"}, Title: "Hi \"you\"", Text: text, Source: delivery.Source{Kind: "turn", Name: "main"},
	})
	w.flush()
	d := w.is(id, delivery.Delivered, 1, "")
	if len(d.Receipt) != 4<<10 || !strings.HasPrefix(d.Receipt, "receipt xxx") {
		t.Errorf("receipt of %d bytes", len(d.Receipt))
	}
	if key != "key:1" || method != "POST" || kind != "application/json" {
		t.Errorf("%s %s %s", method, kind, key)
	}
	if got.Text != text || got.Title != "Hi \"you\"" || got.To != "me" || got.IdempotencyKey != "key:1" || got.Source != d.Source || !got.At.Equal(d.CreatedAt) {
		t.Errorf("%+v", got)
	}
	if strings.Contains(argvs, "token=secret") || !strings.Contains(argvs, "curl") {
		t.Errorf("argvs:\n%s", argvs)
	}
}

// everyArgv is what a list of processes shows now.
func everyArgv() string {
	out, _ := exec.Command("ps", "axww", "-o", "args").Output()
	return string(out)
}

// TestWebhookAnswers: receivers that answer, and some that do not.
func TestWebhookAnswers(t *testing.T) {
	needCurl(t)
	status := func(code int) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(code)
			io.WriteString(rw, "because")
		}
	}
	hang := func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
		<-r.Context().Done()
	}
	drop := func(rw http.ResponseWriter, _ *http.Request) {
		conn, _, _ := rw.(http.Hijacker).Hijack()
		conn.Close()
	}
	tests := []struct {
		name    string
		handle  http.HandlerFunc
		failure string
		state   delivery.State
		why     string
	}{
		{"200", status(200), "", "delivered", ""},
		{"204", status(204), "", "delivered", ""},
		{"500", status(500), "", "unknown", "HTTP 500: because"},
		{"500 is not sent where the channel says so", status(500), "not_sent", "pending", "HTTP 500: because"},
		{"502", status(502), "", "unknown", "HTTP 502"},
		{"503", status(503), "", "pending", "HTTP 503"},
		{"429", status(429), "unknown", "pending", "HTTP 429"},
		{"404", status(404), "", "failed", "HTTP 404: because"},
		{"413", status(413), "", "failed", "HTTP 413"},
		{"301 is not followed", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "/elsewhere", http.StatusMovedPermanently)
		}, "", "failed", "HTTP 301, a redirect, which is not followed"},
		{"accepts and drops", drop, "", "unknown", "curl: (52)"},
		{"accepts and drops, whatever the channel says", drop, "not_sent", "unknown", "curl: (52)"},
		{"hangs", hang, "", "unknown", "curl: (28)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url, hits := server(t, tt.handle)
			w := newWorld(t, map[string]deliver.Channel{"hook": {Type: "webhook", URL: url, Failure: tt.failure, Timeout: time.Second}})
			id := w.intend("hook", "x")
			w.flush()
			d := w.is(id, tt.state, 1, tt.why)
			if strings.Contains(d.Error, "secret") {
				t.Errorf("the address is in the error: %q", d.Error)
			}
			if d.State != delivery.Pending {
				w.advance(time.Hour)
				w.flush()
			}
			if hits.Load() != 1 {
				t.Errorf("%d requests", hits.Load())
			}
		})
	}
}

// TestWebhookBeforeTheRequest: what fails before a request went out was not
// sent, and is tried again.
func TestWebhookBeforeTheRequest(t *testing.T) {
	needCurl(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	url, hits := server(t, func(http.ResponseWriter, *http.Request) {})
	for name, address := range map[string]string{
		"nobody listens":   "http://" + closed + "/",
		"no such host":     "http://no-such-host.invalid/",
		"no TLS there":     strings.Replace(url, "http:", "https:", 1),
		"no address":       "http:///",
		"another protocol": "file:///etc/passwd",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]deliver.Channel{"hook": {Type: "webhook", URL: address, Failure: "unknown", Timeout: 5 * time.Second}})
			id := w.intend("hook", "x")
			w.flush()
			w.is(id, delivery.Pending, 1, "curl: (")
		})
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests", hits.Load())
	}
}

// TestWebhookLongText: as much as every curl takes, and still JSON.
func TestWebhookLongText(t *testing.T) {
	needCurl(t)
	var n int
	url, _ := server(t, func(_ http.ResponseWriter, r *http.Request) {
		var got struct{ Text string }
		json.NewDecoder(r.Body).Decode(&got)
		n = len(got.Text)
	})
	w := newWorld(t, map[string]deliver.Channel{"hook": {Type: "webhook", URL: url}})
	for text, least := range map[string]int{strings.Repeat("x", 64<<10): 64 << 10, strings.Repeat("\x01\"", 32<<10): 10 << 10} {
		id := w.intend("hook", text)
		w.flush()
		w.is(id, delivery.Delivered, 1, "")
		if n < least {
			t.Errorf("%d bytes arrived, want %d", n, least)
		}
	}
}

// TestKilledBeforeTheReceipt: the receiver has it and says 200, and claw is
// killed before it can write that down. It is unknown, and never sent again.
func TestKilledBeforeTheReceipt(t *testing.T) {
	needCurl(t)
	var claw atomic.Int64
	url, hits := server(t, func(rw http.ResponseWriter, _ *http.Request) {
		syscall.Kill(int(claw.Load()), syscall.SIGKILL)
		rw.WriteHeader(200)
	})
	w := newWorld(t, map[string]deliver.Channel{"c": {Type: "webhook", URL: url}})
	id := w.intend("c", "x")
	cmd := other(t, w.s.Dir(), "webhook "+url, "")
	hold, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	claw.Store(int64(cmd.Process.Pid))
	io.Copy(io.Discard, hold)
	if err := cmd.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
	if d := w.get(id); d.State != delivery.Sending || deliver.Seen(d, time.Now()).State != delivery.Unknown {
		t.Errorf("%s, seen as %s", d.State, deliver.Seen(d, time.Now()).State)
	}
	if done := w.flush(); done.Unknown != 1 || done.Delivered != 0 {
		t.Errorf("%+v", done)
	}
	for range 3 {
		w.advance(time.Hour)
		w.flush()
	}
	w.is(id, delivery.Unknown, 1, "may or may not have arrived")
	if hits.Load() != 1 {
		t.Errorf("%d requests", hits.Load())
	}
}

// TestDeaths: kill -9 at both ends of the send. What the channel has seen
// decides how often it may be asked: once in either case.
func TestDeaths(t *testing.T) {
	for point, sends := range map[string]int{"delivery-begun": 0, "delivery-sent": 1} {
		t.Run(point, func(t *testing.T) {
			w := newWorld(t, map[string]deliver.Channel{"c": sh("echo x >> $WORK/sends")})
			id := w.intend("c", "x")
			cmd := other(t, w.s.Dir(), "command echo x >> "+w.work+"/sends", point)
			if err := cmd.Run(); err == nil {
				t.Fatal("it was not killed")
			}
			w.flush()
			w.is(id, delivery.Unknown, 1, "may or may not have arrived")
			w.advance(time.Hour)
			w.flush()
			if got := strings.Count(w.file("sends"), "x"); got != sends {
				t.Errorf("%d sends, want %d", got, sends)
			}
		})
	}
}

// TestReconcile: the channel's own word about an unknown outcome, and what it
// said is kept until there is another attempt.
func TestReconcile(t *testing.T) {
	tests := []struct {
		answer   string
		state    delivery.State
		attempts int
		asked    int
		sends    int
		receipt  string
		kept     string
	}{
		{"echo sent; echo id-9", "delivered", 1, 0, 0, "reconciled id-9", "sent\nid-9"},
		{"echo sent msg-7", "delivered", 1, 0, 0, "reconciled msg-7", "sent msg-7"},
		{"echo sent", "delivered", 1, 0, 0, "reconciled", "sent"},
		{"echo not_sent", "delivered", 2, 0, 1, "", ""}, // and sent again, by itself
		{"echo not_sent no such key", "delivered", 2, 0, 1, "", ""},
		{"echo unresolved", "unknown", 1, 5, 0, "", "unresolved"},
		{"echo maybe; echo later", "unknown", 1, 5, 0, "", "maybe\nlater"},
		{"echo not_sentinel", "unknown", 1, 5, 0, "", "not_sentinel"},
		{"true", "unknown", 1, 5, 0, "", "it printed nothing"},
		{"echo who >&2", "unknown", 1, 5, 0, "", "it printed nothing: who"},
		{"echo sent; exit 1", "unknown", 1, 5, 0, "", "exit code 1"},
		{"kill -KILL $$", "unknown", 1, 5, 0, "", "it was ended by SIGKILL"},
	}
	for _, tt := range tests {
		t.Run(tt.answer, func(t *testing.T) {
			t.Parallel()
			ch := sh("echo x >> $WORK/sends")
			ch.Reconcile = []string{"sh", "-c", "echo ask >> $WORK/asked; cat > /dev/null; " + tt.answer}
			w := newWorld(t, map[string]deliver.Channel{"c": ch})
			id := w.intend("c", "x")
			if err := other(t, w.s.Dir(), "command true", "delivery-begun").Run(); err == nil {
				t.Fatal("it was not killed")
			}
			for range 9 {
				w.flush()
				w.advance(11 * time.Minute)
			}
			d := w.is(id, tt.state, tt.attempts, "")
			if d.Asked != tt.asked || strings.Count(w.file("asked"), "ask") != max(1, tt.asked) {
				t.Errorf("asked %d times: %q", d.Asked, w.file("asked"))
			}
			if got := strings.Count(w.file("sends"), "x"); got != tt.sends {
				t.Errorf("%d sends, want %d", got, tt.sends)
			}
			if d.Receipt != tt.receipt || d.Answer != tt.kept {
				t.Errorf("receipt %q, answer %q; want %q, %q", d.Receipt, d.Answer, tt.receipt, tt.kept)
			}
		})
	}
}

// TestTwoProcesses flush at once: each message is sent by one of them.
func TestTwoProcesses(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"c": sh("cat >> $WORK/sends")})
	const n = 8
	for i := range n {
		w.intend("c", fmt.Sprint("message ", i))
	}
	var all sync.WaitGroup
	for range 3 {
		cmd := other(t, w.s.Dir(), "command cat >> "+w.work+"/sends", "")
		all.Go(func() {
			if out, err := cmd.Output(); err != nil || !strings.HasSuffix(string(out), "<nil>\n") {
				t.Errorf("%s %v", out, err)
			}
		})
	}
	for range 2 { // and two of one process
		all.Go(func() { w.flush() })
	}
	all.Wait()
	sent := w.file("sends")
	for i := range n {
		if got := strings.Count(sent, fmt.Sprintf("message %d\n", i)); got != 1 {
			t.Errorf("message %d was sent %d times", i, got)
		}
	}
	if err := w.s.View(func(tx *state.Tx) error {
		rows, err := state.Deliveries.All(tx)
		for _, r := range rows {
			if r.Rec.State != delivery.Delivered || r.Rec.Attempts != 1 {
				t.Errorf("%s after %d", r.Rec.State, r.Rec.Attempts)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestMail: a stand-in for sendmail gets the letter and the recipient.
func TestMail(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"mail": {Type: "mail", To: "me@example.org"}})
	w.script("sendmail", `printf '%s\n' "$@" > $WORK/args; cat > $WORK/letter; test -z "$FAIL" || exit $FAIL`)
	id := w.add(delivery.Delivery{Route: delivery.Route{Channel: "mail"}, Title: "Grüße\nBcc: all@example.org", Text: "first\n.\nlast"})
	w.flush()
	w.is(id, delivery.Delivered, 1, "")
	if got := w.file("args"); got != "-i\nme@example.org\n" {
		t.Errorf("arguments %q", got)
	}
	head, body, _ := strings.Cut(w.file("letter"), "\n\n")
	if body != "first\n.\nlast\n" {
		t.Errorf("body %q", body)
	}
	for _, line := range []string{"To: me@example.org", "Content-Type: text/plain; charset=utf-8", "Message-ID: <" + strings.ToLower(id) + "@claw.invalid>", "X-Claw-Idempotency-Key: " + id} {
		if !strings.Contains(head+"\n", line+"\n") {
			t.Errorf("no %q in\n%s", line, head)
		}
	}
	if strings.Contains(head, "\nBcc:") {
		t.Errorf("a title became a header:\n%s", head)
	}

	w.p.Environ = append(w.p.Environ, "FAIL=75")
	busy := w.intend("mail", "x")
	w.flush()
	w.is(busy, delivery.Pending, 1, "exit code 75")
	w.p.Environ = append(w.p.Environ, "FAIL=67")
	nobody := w.intend("mail", "x")
	w.flush()
	w.is(nobody, delivery.Failed, 1, "exit code 67")
	evil := w.add(delivery.Delivery{Route: delivery.Route{Channel: "mail", To: "-oQ/tmp"}, Text: "x"})
	w.flush()
	w.is(evil, delivery.Failed, 0, "cannot be a recipient")
}

// TestMailToOneself: as cron does.
func TestMailToOneself(t *testing.T) {
	w := newWorld(t, nil)
	w.script("sendmail", `printf '%s\n' "$@" > $WORK/args`)
	w.p.Environ = append(w.p.Environ, "LOGNAME=ann")
	w.intend("mail", "x")
	w.flush()
	if got := w.file("args"); got != "-i\nann\n" {
		t.Errorf("arguments %q", got)
	}
}

func TestDesktop(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"notify-send", "osascript"} {
		w.script(name, `for a; do echo "$a"; done | tail -2 > $WORK/shown`)
	}
	id := w.add(delivery.Delivery{Route: delivery.Route{Channel: "desktop"}, Title: "-x title", Body: "1 < 2 & \x1b[31mred", Text: "long"})
	w.flush()
	w.is(id, delivery.Delivered, 1, "")
	if got := w.file("shown"); got != "-x title\n1 &lt; 2 &amp; red\n" && os.Getenv("GOOS") != "darwin" {
		t.Errorf("%q", got)
	}
}
