package agent_test

import (
	"os"
	"strings"
	"testing"

	"claw/runner/agent"
	"claw/runner/control"
	"claw/runner/supervisor"
	"claw/state"
	"claw/state/event"
	"claw/state/process"
	"claw/state/session"
)

// What follows from a turn that may do little may do no more: not through the
// end of a command that it has left running, and not through what it queues.
func TestToolsOfWhatFollows(t *testing.T) {
	limited := func(key string, tools []string) agent.Request {
		req := wake("do it")
		req.Kind, req.SessionKey, req.RunID, req.Tools = session.KindCron, key, "job@1", tools
		return req
	}
	const cron = "cron:01J00000000000000000000000"
	person := func() agent.Request { req := send("hello"); req.SessionKey = cron; return req }
	follows := func(key string, events ...string) agent.Request {
		req := wake("it has ended")
		req.SessionKey, req.EventIDs = key, events
		return req
	}
	for _, tt := range []struct {
		rule   string
		before []agent.Request
		event  []string // what may be used by what the event is about; nil: no event
		last   agent.Request
		want   string
	}{
		{"a wake that follows from nothing", nil, nil, follows(main), "all"},
		{"the session of an automation with few tools", []agent.Request{limited(cron, []string{"read"})}, nil, follows(cron), "read"},
		{"with none", []agent.Request{limited(cron, []string{})}, nil, follows(cron), "none"},
		{"with all", []agent.Request{limited(cron, []string{"*"})}, nil, follows(cron), "all"},
		{"with more by now", []agent.Request{limited(cron, []string{"read"}), limited(cron, []string{"read", "write"})}, nil, follows(cron), "read,write"},
		{"a person who writes there may do everything", []agent.Request{limited(cron, []string{"read"})}, nil, person(), "all"},
		{"and what follows then may not", []agent.Request{limited(cron, []string{"read"}), person()}, nil, follows(cron), "read"},
		{"a wake after another", []agent.Request{limited(cron, []string{"read"}), follows(cron)}, nil, follows(cron), "read"},
		{"another session is as it was", []agent.Request{limited(main, []string{"read"})}, nil, follows(main), "all"},
		{"but not for what was begun in that turn", []agent.Request{limited(main, []string{"read"})}, []string{"read"}, follows(main, "E"), "read"},
		{"an event is no reason for more", []agent.Request{limited(cron, []string{"read"})}, []string{"exec"}, follows(cron, "E"), "none"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w := newWorld(t).sh(`printf %s "$CLAW_TOOLS"`)
			for _, req := range tt.before {
				w.run(req)
			}
			err := w.Store.Update(t.Context(), func(tx *state.Tx) error {
				if tt.event == nil {
					return nil
				}
				return state.Events.Add(tx, "E", event.Event{ID: "E", State: event.Queued, Kind: event.KindExec, SessionKey: main, Tools: session.LimitTo(tt.event), CreatedAt: tx.Now()})
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := w.run(tt.last).Reply; got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

// A command that is begun within a turn knows what that turn may do.
func TestToolsOfACommandWithinATurn(t *testing.T) {
	for _, tt := range []struct {
		rule    string
		environ []string
		want    string
	}{
		{"within the turn", []string{"CLAW_TURN_ID=x"}, "read"},
		{"within it, by its session", []string{"CLAW_SESSION=" + main}, "read"},
		{"by a person, meanwhile", nil, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w := newWorld(t).sh("cat >/dev/null; while ! test -e go; do sleep 0.01; done")
			req := wake("do it")
			req.RunID, req.Tools = "job@1", []string{"read"}
			ended := make(chan agent.Result, 1)
			go func() { ended <- w.run(req) }()
			until(t, "the turn runs", func() bool { return w.session(main).Status == session.Running })
			e := control.Exec{Argv: []string{"true"}, Session: main, Agent: "main", Background: true, Cwd: w.Cwd, MaxOutput: 1 << 20, Stdin: supervisor.StdinNull, Environ: append(w.Environ, tt.environ...)}
			r, err := e.Request()
			if err != nil {
				t.Fatal(err)
			}
			spare, err := supervisor.Prepare(w.Store.Dir())
			if err != nil {
				t.Fatal(err)
			}
			h, err := spare.Launch(t.Context(), w.Store, r)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			if got := strings.Join(h.Row.Tools, ","); got != tt.want {
				t.Errorf("%q; want %q", got, tt.want)
			}
			if got := event.Completion("E", process.Process{Tools: h.Row.Tools}, h.Row.CreatedAt).Tools; strings.Join(got.List(), ",") != tt.want {
				t.Errorf("its end: %q", got)
			}
			os.WriteFile(w.Cwd+"/go", nil, 0o600)
			<-ended
		})
	}
}
