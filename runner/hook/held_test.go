package hook_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/runner/hook"
	"claw/state/external"
)

// TestHeld: where nothing begins, whoever waits for the beginning is told so at
// once and nothing is written; what may wait is taken, and a repetition is
// answered all the same.
func TestHeld(t *testing.T) {
	w := newWorld(t, "true")
	key := mail("one")
	key.IdempotencyKey = "k"
	before := w.accept(key)
	w.Held = func() string { return "safe mode" }
	if _, _, err := w.Accept(t.Context(), mail("two")); reason(err) != external.ReasonHeld || !strings.Contains(err.Error(), "safe mode") || external.ReasonHeld.Class() != 503 {
		t.Error(err)
	}
	if d, again, err := w.Accept(t.Context(), key); err != nil || !again || d.ID != before.ID {
		t.Error(d.ID, again, err)
	}
	patient := mail("three")
	patient.Patient = true
	if d := w.accept(patient); d.Status != external.Queued || len(w.all().hooks) != 2 {
		t.Errorf("%+v", d)
	}
}

// TestAllOrNone: of several that are asked for together all are written down, in
// their order, or none.
func TestAllOrNone(t *testing.T) {
	w := newWorld(t, "true")
	reqs := []external.Request{mail("1"), mail("2"), mail("3")}
	reqs[2].Deliver, reqs[2].Channel = true, "nowhere"
	_, _, err := w.AcceptAll(t.Context(), reqs)
	if no, ok := err.(*hook.RefusedError); !ok || no.Reason != external.ReasonAccount || no.Item != 2 || len(w.all().hooks)+len(w.all().tasks) != 0 {
		t.Errorf("%v, %d written", err, len(w.all().hooks))
	}
	reqs[2] = mail("3")
	all, again, err := w.AcceptAll(t.Context(), reqs)
	if err != nil || again || len(all) != 3 || all[0].ID >= all[1].ID || all[1].ID >= all[2].ID {
		t.Errorf("%+v %v %v", all, again, err)
	}
	for i, d := range all {
		if !strings.Contains(d.Message, "---\n"+reqs[i].Message+"\n<<<END") {
			t.Errorf("%d: %q", i, d.Message)
		}
	}
}

// TestPromisedAndRefused: what was taken without anybody waiting for its beginning,
// and cannot begin, is told to the main session.
func TestPromisedAndRefused(t *testing.T) {
	w := newWorld(t, "true")
	r := mail("1")
	r.Patient = true
	d := w.accept(r)
	w.agent = agent.Agent{}
	w.pass()
	all := w.all()
	switch got := w.get(d.ID); {
	case got.Status == external.Running || got.Status == external.Queued:
		t.Errorf("%+v", got)
	case len(all.events) != 1 || !strings.HasPrefix(all.events[0].Text, "Hook Mail (") || all.events[0].NextTurn:
		t.Errorf("%+v: %+v", got, all.events)
	}
}

// TestWakeMode: when the main session is woken for what it is told of the end.
func TestWakeMode(t *testing.T) {
	for _, tt := range []struct {
		mode, script string
		later        bool
	}{
		{"", "echo NO_REPLY", true},
		{"", "exit 1", false},
		{external.WakeNow, "echo NO_REPLY", false},
		{external.WakeNow, "exit 1", false},
		{external.WakeNext, "echo NO_REPLY", true},
		{external.WakeNext, "exit 1", true},
	} {
		w := newWorld(t, tt.script)
		r := mail("1")
		r.Deliver, r.WakeMode = true, tt.mode
		w.accept(r)
		w.pass()
		if e := w.all().events; len(e) != 1 || e[0].NextTurn != tt.later {
			t.Errorf("%q, %s: %+v", tt.mode, tt.script, e)
		}
	}
}

// TestModes: what is posted about sessions and wakes is carried out or refused.
func TestModes(t *testing.T) {
	g := newGate(t, "true", nil)
	for body, want := range map[string]int{
		`{"message":"1","sessionMode":"isolated"}`:    200,
		`{"message":"2","sessionMode":"persistent"}`:  400,
		`{"message":"3","wakeMode":"now"}`:            200,
		`{"message":"4","wakeMode":"next-heartbeat"}`: 200,
		`{"message":"5","wakeMode":"sideways"}`:       400,
		`{"message":"6","wakeMode":1}`:                400,
	} {
		if status, got := g.post("/agent", body); status != want {
			t.Errorf("%s: %d %s, want %d", body, status, got, want)
		}
	}
}

// TestForm: GitHub sends a form unless it is told to send JSON.
func TestForm(t *testing.T) {
	g := newGate(t, "true", func(g *hook.Gate) {
		g.Mappings = []external.Mapping{{Path: "gh", Action: external.Ask, Message: "{{a}}"}}
	})
	const form = "application/x-www-form-urlencoded"
	for body, want := range map[string]int{"payload=%7B%22a%22%3A1%7D": 200, `{"a":2}`: 200, "payload=x": 400, "a=b": 400, "payload=%zz": 400} {
		if status, got := g.post("/gh", body, "Content-Type", form); status != want {
			t.Errorf("%s: %d %s, want %d", body, status, got, want)
		}
	}
}

// TestForEachIsWhole: one item that cannot be taken keeps all from it.
func TestForEachIsWhole(t *testing.T) {
	g := newGate(t, "true", func(g *hook.Gate) {
		g.Mappings = []external.Mapping{{Path: "l", Action: external.Ask, Message: "{{item}}", ForEach: "l", SessionKey: "{{item}}"}}
	})
	if status, got := g.post("/l", `{"l":["hook:1","x","hook:2"]}`); status != 400 || !strings.Contains(got, "2. item: sessionKey") || len(g.all().hooks) != 0 {
		t.Errorf("%d %s", status, got)
	}
	if status, got := g.post("/l", `{"l":["hook:1","hook:2","hook:3"]}`); status != 200 || len(g.all().hooks) != 3 {
		t.Errorf("%d %s", status, got)
	}
}

// TestEndWhileWaiting: what is answered "try again" because the server ends does
// not begin after that.
func TestEndWhileWaiting(t *testing.T) {
	w := newWorld(t, "true")
	ctx, end := context.WithCancel(context.Background())
	g := &hook.Gate{Dispatcher: w.Dispatcher, Path: "/hooks", Agent: "main", Token: func() (string, error) { return token, nil }, Log: func(line string) { t.Log(line) }}
	g.Wake = func() error { end(); return nil } // it is written down, and nobody comes
	l, err := hook.Listen("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() { g.Serve(ctx, l) })
	status, got := (&gate{g, w, hook.Address(l) + "/hooks"}).post("/agent", `{"message":"x"}`)
	all.Wait()
	if status != 503 || !strings.Contains(got, string(external.ReasonEnding)) {
		t.Errorf("%d %s", status, got)
	}
	if d := w.all().hooks; len(d) != 1 || d[0].Status != external.Refused {
		t.Errorf("%+v", d)
	}
}

// TestHouse: requests that wait do not keep out those that need not.
func TestHouse(t *testing.T) {
	g := newGate(t, "true", func(g *hook.Gate) { g.Wake, g.Call, g.Waiting = nil, nil, 8 }) // nobody comes
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = -1
	status := make(chan int, 20)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			req, _ := http.NewRequestWithContext(ctx, "POST", g.url+"/agent", strings.NewReader(`{"message":"x"}`))
			req.Header.Set("Authorization", "Bearer "+token)
			if res, err := http.DefaultClient.Do(req); err == nil {
				res.Body.Close()
				status <- res.StatusCode
			}
		})
	}
	for range 20 - 8 { // those that are too many are told at once
		select {
		case got := <-status:
			if got != 503 {
				t.Errorf("%d", got)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("they wait")
		}
	}
	if got, body := g.post("/wake", `{"text":"x","mode":"next-heartbeat"}`); got != 200 {
		t.Errorf("%d %s", got, body)
	}
	if n := len(g.all().hooks); n != 8 {
		t.Errorf("%d are written down", n)
	}
	cancel()
	all.Wait()
}
