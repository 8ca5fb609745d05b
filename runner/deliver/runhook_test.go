package deliver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claw/runner/deliver"
	"claw/state"
	"claw/state/delivery"
)

func (w *world) hook(url string) string {
	w.t.Helper()
	slot := time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)
	return w.add(delivery.Delivery{
		Route: delivery.Route{Channel: deliver.RunHook, To: url}, Text: "backup\nall fine", Source: delivery.Source{Kind: "cron", Name: "backup", RunID: "01A@1"},
		Report: &delivery.Report{AutomationID: "01A", Name: "backup", RunID: "01A@1", Slot: &slot, Status: "succeeded", Summary: "all \"fine\"", DurationMs: 1500},
	})
}

// What a webhook about a run gets, and that neither address nor token stands
// in an argv.
func TestRunHook(t *testing.T) {
	needCurl(t)
	var body, auth, argvs string
	url, _ := server(t, func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body, auth, argvs = string(raw), r.Header.Get("Authorization"), everyArgv()
	})
	w := newWorld(t, nil)
	w.p.Hook = deliver.Hook{Token: "s3cret-token", AllowPrivate: true}
	id := w.hook(url)
	w.flush()
	w.is(id, delivery.Delivered, 1, "")
	want := `{"automationId":"01A","name":"backup","runId":"01A@1","slot":"2026-12-01T03:00:00Z","status":"succeeded","error":"","summary":"all \"fine\"","durationMs":1500,"nextRunAt":null}`
	if body != want {
		t.Errorf("body %s\nwant %s", body, want)
	}
	if auth != "Bearer s3cret-token" {
		t.Errorf("Authorization %q", auth)
	}
	if strings.Contains(argvs, "s3cret-token") || strings.Contains(argvs, "token=secret") {
		t.Errorf("argvs:\n%s", argvs)
	}
}

func TestRunHookToken(t *testing.T) {
	needCurl(t)
	var auth string
	url, hits := server(t, func(_ http.ResponseWriter, r *http.Request) { auth = r.Header.Get("Authorization") })
	w := newWorld(t, nil)
	file := filepath.Join(w.work, "token")
	w.p.Hook = deliver.Hook{Token: "other", TokenFile: file, AllowPrivate: true}

	id := w.hook(url)
	w.flush()
	w.is(id, delivery.Pending, 0, "cron.webhookTokenFile: no such file")
	if hits.Load() != 0 {
		t.Error("posted without the token")
	}
	if err := os.WriteFile(file, []byte("from-file\nsecond\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.advance(time.Hour)
	w.flush()
	w.is(id, delivery.Delivered, 1, "")
	if auth != "Bearer from-file" {
		t.Errorf("Authorization %q", auth)
	}
}

// A long summary is cut, and the body is still JSON.
func TestRunHookLongSummary(t *testing.T) {
	needCurl(t)
	var got delivery.Report
	url, _ := server(t, func(_ http.ResponseWriter, r *http.Request) { json.NewDecoder(r.Body).Decode(&got) })
	w := newWorld(t, nil)
	w.p.Hook.AllowPrivate = true
	id := w.add(delivery.Delivery{
		Route: delivery.Route{Channel: deliver.RunHook, To: url}, Text: "x", Report: &delivery.Report{RunID: "r", Status: "failed", Summary: strings.Repeat(`"\`, 60<<10)},
	})
	w.flush()
	w.is(id, delivery.Delivered, 1, "")
	if got.RunID != "r" || len(got.Summary) < 10<<10 || !strings.HasPrefix(got.Summary, `"\`) {
		t.Errorf("summary of %d bytes, run %q", len(got.Summary), got.RunID)
	}
}

// Nothing is sent to this machine or to private networks, however the address
// is written.
func TestRunHookPrivate(t *testing.T) {
	needCurl(t)
	_, hits := server(t, func(http.ResponseWriter, *http.Request) {})
	url, hits := server(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	port := url[strings.LastIndex(url, ":"):]
	port = port[:strings.Index(port, "/")]
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "0.0.0.0", "[::ffff:127.0.0.1]", "user:pw@127.0.0.1",
		"10.1.2.3", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "[fe80::1]", "[fc00::1]", "[64:ff9b::7f00:1]", "224.0.0.1", "255.255.255.255",
	} {
		t.Run(host, func(t *testing.T) {
			w := newWorld(t, nil)
			id := w.hook("http://" + host + port + "/x")
			w.flush()
			d := w.is(id, delivery.Failed, 1, "cron.webhookAllowPrivate")
			if hits.Load() != 0 {
				t.Errorf("it was sent: %+v", d)
			}
		})
	}
}

func TestRunHookAddresses(t *testing.T) {
	needCurl(t)
	for _, tt := range []struct{ url, why string }{
		{"ftp://example.org/x", "is no http or https one"},
		{"http:///x", "is no http or https one"},
		{"http://a b/x", "is no http or https one"},
		{"http://{127.0.0.1,8.8.8.8}/x", "is no http or https one"},
		{"http://no-such-host.invalid/x", "the address of no-such-host.invalid cannot be found"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			w := newWorld(t, nil)
			id := w.hook(tt.url)
			w.flush()
			if d := w.get(id); !strings.Contains(d.Error, tt.why) || d.State == delivery.Delivered {
				t.Errorf("%s: %s", d.State, d.Error)
			}
		})
	}
}

// OnEnd is called in the transaction of every end, and of every further one.
func TestOnEnd(t *testing.T) {
	w := newWorld(t, map[string]deliver.Channel{"c": {Type: "command", Command: []string{"sh", "-c", `test -f "$WORK/fixed" || exit 65`}}})
	var seen []string
	w.p.OnEnd = func(tx *state.Tx, d delivery.Delivery) error {
		row, ok, err := state.Deliveries.Get(tx, d.ID)
		if !ok || row.Rec.State != d.State {
			t.Errorf("in the transaction the row is %+v", row.Rec)
		}
		seen = append(seen, d.Text+" "+string(d.State))
		return err
	}
	w.intend("inbox", "one")
	w.flush()
	id := w.intend("c", "two")
	w.flush()
	if err := os.WriteFile(filepath.Join(w.work, "fixed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.p.Retry(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	id = w.intend("stdout", "three") // there is no foreground: it waits
	w.flush()
	if _, err := w.p.Dismiss(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(seen, ", "), "one delivered, two failed, two delivered, three dismissed"; got != want {
		t.Errorf("ends: %s\nwant: %s", got, want)
	}
}

// What can be seen without asking for an address.
func TestPrivate(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:8080/x": true, "https://[::1]/": true, "http://localhost/x": true, "http://u@192.168.1.5": true, "HTTP://LOCALHOST:1": true,
		"https://example.org/127.0.0.1": false, "https://8.8.8.8/": false, "ftp://127.0.0.1/": false, "": false, "localhost": false,
	} {
		if got := deliver.Private(url); got != want {
			t.Errorf("%q: %v", url, got)
		}
	}
}
