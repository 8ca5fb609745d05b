package agent_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claw/runner/agent"
	"claw/state"
	"claw/state/session"
)

// play is what the test binary does as an agent.
func play(part string) {
	switch part {
	case "send":
		sendFromOutside()
	case "big":
		line := []byte(strings.Repeat("x", 63) + "\n")
		for range 1 << 14 {
			os.Stdout.Write(bytes.Repeat(line, 64))
		}
	}
}

// Each end of issue 3 section 1 and design.md section 5, by what the agent does.
func TestOutcomes(t *testing.T) {
	code := func(n int) *int { return &n }
	tests := []struct {
		name, script string
		kind         session.Kind
		timeout      time.Duration
		status       session.TurnStatus
		reply, error string // error: contained
		outcome      string
		code         *int
		session      session.Status
	}{
		{name: "a reply is a success", script: "cat", status: session.TurnSucceeded, reply: "hello", code: code(0), session: session.Done},
		{name: "exit 3 is a failure with the last words of stderr", script: "echo half; printf 'a\nno model\n\n' >&2; exit 3", status: session.TurnFailed, reply: "half\n", error: "exit code 3: no model", code: code(3), session: session.Failed},
		{name: "75 is not accepted", script: "echo busy >&2; exit 75", status: session.TurnNotAccepted, error: "75): busy", code: code(75), session: session.Failed},
		{name: "silence is no answer to a person", script: "true", status: session.TurnFailed, error: "it said nothing", code: code(0), session: session.Failed},
		{name: "blanks are silence", script: "printf ' \n\n'", status: session.TurnFailed, reply: " \n\n", error: "it said nothing", code: code(0), session: session.Failed},
		{name: "silence is an answer to a wake", script: "true", kind: session.KindExec, status: session.TurnSucceeded, outcome: "ok-empty", code: code(0), session: session.Done},
		{name: "a timeout", script: "echo partial; exec sleep 600", timeout: 300 * time.Millisecond, status: session.TurnTimedOut, reply: "partial\n", error: "ended after 300ms", session: session.Timeout},
		{name: "a signal", script: "kill -KILL $$", status: session.TurnFailed, error: "SIGKILL", session: session.Interrupted},
		{name: "a partial line is a reply", script: "printf 'no end'", status: session.TurnSucceeded, reply: "no end", code: code(0), session: session.Done},
		{name: "bytes that are no text", script: `printf 'a\377\000b'`, status: session.TurnSucceeded, reply: "a\xff\x00b", code: code(0), session: session.Done},
		{name: "a child that holds stdout is not waited for", script: "echo done; sleep 3 & exit 0", status: session.TurnSucceeded, reply: "done\n", code: code(0), session: session.Done},
		{name: "stdin need not be read", script: "echo ok", status: session.TurnSucceeded, reply: "ok\n", code: code(0), session: session.Done},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).sh(tt.script)
			req := send("hello")
			req.Timeout = tt.timeout
			if tt.kind != "" {
				req.Kind = tt.kind
			}
			res := w.run(req)
			got := res.Turn
			if got.Status != tt.status || res.Reply != tt.reply || got.Outcome != tt.outcome || (tt.error == "") != (got.Error == "") || !strings.Contains(got.Error, tt.error) {
				t.Errorf("%s, reply %q, outcome %q, error %q; want %s, %q, %q, …%q…", got.Status, res.Reply, got.Outcome, got.Error, tt.status, tt.reply, tt.outcome, tt.error)
			}
			if (got.ExitCode == nil) != (tt.code == nil) || (tt.code != nil && got.ExitCode != nil && *got.ExitCode != *tt.code) {
				t.Errorf("exit code %v, want %v", got.ExitCode, tt.code)
			}
			if s := w.session(main); s.Status != tt.session || s.TurnID != got.ID || s.Turns != 1 || s.EndedAt.IsZero() {
				t.Errorf("session %+v, want %s", s, tt.session)
			}
			if got.ReplyBytes != int64(len(tt.reply)) {
				t.Errorf("%d bytes of reply, want %d", got.ReplyBytes, len(tt.reply))
			}
		})
	}
}

func TestCannotBeStarted(t *testing.T) {
	for name, argv := range map[string][]string{
		"not found":      {"claw-no-such-program"},
		"not executable": {"/etc/passwd"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.agents["main"] = agent.Agent{Command: argv}
			got := w.run(send("hello")).Turn
			if got.Status != session.TurnNotAccepted || !strings.Contains(got.Error, argv[0]) || got.ExitCode != nil {
				t.Errorf("%s, %q, %v", got.Status, got.Error, got.ExitCode)
			}
		})
	}
}

// What the agent sees: the message on stdin, its place in the environment, and
// words that stay words.
func TestWhatTheAgentSees(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	w.agents["main"] = agent.Agent{
		Model: "m 1", Env: map[string]string{"MINE": "a b"}, Workdir: dir,
		Command: []string{"sh", "-c", `printf '%s|' "$CLAW_AGENT" "$CLAW_SESSION" "$CLAW_TURN_ID" "$CLAW_STATE_DIR" "$CLAW_REASON" "$MINE" "$PWD" "$@"; cat`, "sh", "--model={model}", "{session}", "{tools}", "{other}"},
	}
	res := w.run(send("line 1\nline 2"))
	s := w.session(main)
	want := strings.Join([]string{"main", main, res.Turn.ID, w.Store.Dir(), "user", "a b", dir, "--model=m 1", s.ID, "all", "{other}", "line 1\nline 2"}, "|")
	if res.Reply != want {
		t.Errorf("got  %q\nwant %q", res.Reply, want)
	}
}

func TestRecoveryHasItsOwnArgv(t *testing.T) {
	w := newWorld(t)
	w.agents["main"] = agent.Agent{Command: []string{"sh", "-c", "kill -KILL $$"}, Recover: []string{"echo", "{tools}"}}
	w.run(wake("[OpenClaw exec completion]"))
	req := wake("go on")
	req.Kind, req.Recover = session.KindRecovery, &agent.Attempt{Seen: w.session(main).Recovery.Ticket(), Number: 1}
	if res := w.run(req); res.Reply != "read-only\n" {
		t.Errorf("%q, %+v", res.Reply, res.Turn)
	}
}

func TestAnswerIsATurnLikeAnyOther(t *testing.T) {
	w := newWorld(t)
	req, answer := wake("[OpenClaw exec completion]"), "one notice"
	req.Answer = &answer
	res := w.run(req)
	if res.Turn.Status != session.TurnSucceeded || res.Reply != answer || res.Turn.Reply != answer || res.Turn.ProcessID != "" {
		t.Errorf("%+v", res)
	}
}

func TestNoAgent(t *testing.T) {
	w := newWorld(t)
	if _, err := w.Run(t.Context(), send("hello")); !errors.Is(err, agent.ErrNoAgent) {
		t.Errorf("%v", err)
	}
	if n := len(w.turns()); n != 0 {
		t.Errorf("%d turns", n)
	}
}

func TestMessagesThatAreTooLong(t *testing.T) {
	w := newWorld(t).sh("wc -c")
	if res := w.run(send(strings.Repeat("x", session.MaxMessage))); strings.TrimSpace(res.Reply) != "1048576" {
		t.Errorf("%q", res.Reply)
	}
	for name, message := range map[string]string{
		"one byte more":                     strings.Repeat("x", session.MaxMessage+1),
		"more than the row can be, as JSON": strings.Repeat("\x01", session.MaxMessage),
	} {
		var long *agent.TooLongError
		if _, err := w.Run(t.Context(), send(message)); !errors.As(err, &long) || long.Remedy() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A reply of 64 MiB: the row has its beginning, the turn its head and tail, and
// whoever wants it all gets every byte.
func TestBigReply(t *testing.T) {
	w := newWorld(t)
	w.agents["main"] = agent.Agent{Command: []string{os.Args[0]}, Env: map[string]string{"CLAW_TEST_PART": "big"}}
	w.MaxOutput = 100 << 20
	res := w.run(send("go"))
	if res.Turn.Status != session.TurnSucceeded || res.Turn.ReplyBytes != 64<<20 || len(res.Turn.Reply) != session.MaxRowReply {
		t.Errorf("%s, %d bytes, %d in the row", res.Turn.Status, res.Turn.ReplyBytes, len(res.Turn.Reply))
	}
	if n := len(res.Reply); n > session.MaxTranscriptReply || n < session.MaxTranscriptReply-200 || !strings.Contains(res.Reply, "bytes are left out") {
		t.Errorf("%d bytes kept", n)
	}
	var all bytes.Buffer
	if err := w.CopyReply(&all, res.Turn); err != nil || all.Len() != 64<<20 {
		t.Errorf("%d bytes, %v", all.Len(), err)
	}
}

func TestAdmitRefuses(t *testing.T) {
	w := newWorld(t).sh("cat")
	no := errors.New("no")
	req := send("hello")
	req.Admit = func(*state.Tx, *session.Turn) error { return no }
	if _, err := w.Run(t.Context(), req); !errors.Is(err, no) {
		t.Errorf("%v", err)
	}
	if s := w.session(main); len(w.turns()) != 0 || s.Key != "" {
		t.Errorf("something has happened: %+v", s)
	}
}

// The claim is there before the agent can do anything, and the end, whatever
// follows from it, is one transaction.
func TestAdmissionComesFirst(t *testing.T) {
	w := newWorld(t)
	seen := filepath.Join(t.TempDir(), "seen")
	w.sh(`cat "$CLAW_STATE_DIR/journal.jsonl" "$CLAW_STATE_DIR"/ledgers/*.jsonl > ` + seen + `; cat`)
	calls := 0
	w.OnEnd = func(tx *state.Tx, turn *session.Turn, reply string) error {
		calls++
		turn.Outcome = "told " + reply
		_, ok, err := state.Turns.Get(tx, turn.ID)
		if !ok || !turn.Status.Ended() {
			t.Errorf("%v %s", ok, turn.Status)
		}
		return err
	}
	res := w.run(send("remember this"))
	if rows := read(t, seen); !strings.Contains(rows, "remember this") || !strings.Contains(rows, res.Turn.ID) || !strings.Contains(rows, `"running"`) {
		t.Error("the claim was not there when the agent ran")
	}
	if calls != 1 || w.turn(res.Turn.ID).Outcome != "told remember this" {
		t.Errorf("%d calls, %q", calls, w.turn(res.Turn.ID).Outcome)
	}
}

func TestStreams(t *testing.T) {
	w := newWorld(t).sh(`printf 'out\377'; printf err >&2`)
	var out, errOut bytes.Buffer
	req := send("hello")
	req.Stdout, req.Stderr = &out, &errOut
	w.run(req)
	if out.String() != "out\xff" || errOut.String() != "err" {
		t.Errorf("%q %q", out.String(), errOut.String())
	}
}

func TestStopEndsTheAgent(t *testing.T) {
	w := newWorld(t)
	ready := filepath.Join(t.TempDir(), "ready")
	w.sh("touch " + ready + "; exec sleep 600")
	stop := make(chan struct{})
	req := send("hello")
	req.Stop = stop
	go func() {
		until(t, "the agent runs", func() bool { _, err := os.Stat(ready); return err == nil })
		close(stop)
	}()
	res := w.run(req)
	if res.Turn.Status != session.TurnFailed || !strings.Contains(res.Turn.Error, "on purpose") || w.session(main).Status != session.Killed {
		t.Errorf("%s %q %s", res.Turn.Status, res.Turn.Error, w.session(main).Status)
	}
}

// Whoever loses patience leaves; the turn goes on and is ended by the next who
// looks, with its reply.
func TestItGoesOnWithoutTheCaller(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	w.sh("touch " + dir + "/ready; while ! [ -e " + dir + "/go ]; do sleep 0.01; done; echo late")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		until(t, "the agent runs", func() bool { _, err := os.Stat(dir + "/ready"); return err == nil })
		cancel()
	}()
	res, err := w.Run(ctx, send("hello"))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v %v", res, err)
	}
	if held, _, err := agent.Lane(w.Store, main); !held || err != nil {
		t.Errorf("the lane is free although the agent runs: %v", err)
	}
	if ended, going, err := w.Settle(t.Context()); len(ended) != 0 || len(going) != 1 || err != nil {
		t.Errorf("%v %v %v", ended, going, err)
	}
	os.WriteFile(dir+"/go", nil, 0o600)
	var ended []agent.Result
	until(t, "the turn is settled", func() bool {
		var err error
		if ended, _, err = w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(ended) > 0
	})
	if got := ended[0]; got.Turn.Status != session.TurnSucceeded || got.Reply != "late\n" || got.Turn.ID != res.Turn.ID {
		t.Errorf("%+v", got)
	}
	if ended, going, err := w.Settle(t.Context()); len(ended)+len(going) != 0 || err != nil {
		t.Errorf("settled again: %v %v %v", ended, going, err)
	}
}

// What heartbeat respond writes into the row while the agent runs is there when
// the turn ends.
func TestAResponseIsKept(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	var heard *session.Response
	w.OnEnd = func(_ *state.Tx, turn *session.Turn, _ string) error { heard = turn.Response; return nil }
	done := make(chan agent.Result, 1)
	go func() { done <- w.run(wake("[OpenClaw heartbeat poll]")) }()
	g.await(1)
	err := w.Store.Update(t.Context(), func(tx *state.Tx) error {
		rows, err := state.Turns.All(tx)
		if err != nil {
			return err
		}
		turn := rows[0].Rec
		turn.Response = &session.Response{Outcome: "done", Summary: "all is well"}
		return state.Turns.Put(tx, turn.ID, rows[0].Rev, turn)
	})
	if err != nil {
		t.Fatal(err)
	}
	g.open()
	if res := <-done; res.Turn.Response == nil || heard == nil || heard.Summary != "all is well" {
		t.Errorf("%+v", res.Turn)
	}
	if tr, _, _ := w.Transcript(main); len(tr.Entries) != 4 {
		t.Errorf("%d entries, want message, response, receipt, reply", len(tr.Entries))
	}
}

// A turn that is stopped while its hooks are asked has no agent to be ended.
func TestStopBeforeTheStart(t *testing.T) {
	w := newWorld(t).hooked("touch asked; exec sleep 600")
	stop := make(chan struct{})
	req := send("hello")
	req.Stop = stop
	go func() {
		until(t, "the hook is asked", func() bool { _, err := os.Stat(w.Cwd + "/asked"); return err == nil })
		close(stop)
	}()
	if res := w.run(req); res.Turn.Status != session.TurnNotAccepted || !strings.Contains(res.Turn.Error, "stopped") || w.agentRan() {
		t.Errorf("%+v", res.Turn)
	}
}
