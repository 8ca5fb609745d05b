package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claw/runner/agent"
	"claw/state"
	"claw/state/session"
)

func transcriptFile(w *world, key string) string {
	return filepath.Join(w.Store.Dir(), "sessions", session.FileName(key)+".jsonl")
}

// lines is a transcript as "role text", with what must hold for every one
// checked: a header, parents in a chain, no id twice, no damage.
func lines(w *world, key string) (said []string) {
	w.t.Helper()
	tr, raw, err := w.Transcript(key)
	if err != nil || len(tr.Problems) > 0 {
		w.t.Errorf("%v %v", err, tr.Problems)
	}
	if raw != nil && tr.Header.ID == "" {
		w.t.Errorf("no header in %q", raw)
	}
	last := ""
	for _, e := range tr.Entries {
		if e.ParentID != last {
			w.t.Errorf("%s has the parent %q, want %q", e.ID, e.ParentID, last)
		}
		last = e.ID
		text, _ := session.MessageText(e.Message)
		said = append(said, e.Message.Role+" "+text)
	}
	if n := strings.Count(string(raw), "\n"); raw != nil && n != len(tr.Entries)+1 {
		w.t.Errorf("%d lines, %d entries", n, len(tr.Entries))
	}
	return said
}

func equal(a, b []string) bool { return slices.Equal(a, b) }

func TestTranscript(t *testing.T) {
	w := newWorld(t).sh("cat; [ -e fail ] && exit 3; [ -e refuse ] && exit 75; true")
	var want []string
	for i := range 4 {
		message := fmt.Sprintf("message %d", i)
		switch i {
		case 1:
			os.WriteFile(w.Cwd+"/fail", nil, 0o600)
		case 2:
			os.Remove(w.Cwd + "/fail")
			os.WriteFile(w.Cwd+"/refuse", nil, 0o600)
		case 3:
			os.Remove(w.Cwd + "/refuse")
		}
		w.run(send(message))
		if i != 2 { // an agent that saw nothing has no part in the conversation
			want = append(want, "user "+message, "assistant "+message)
		}
	}
	if got := lines(w, main); !equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	tr, _, _ := w.Transcript(main)
	if s := w.session(main); tr.Header.ID != s.ID || tr.Header.Key != main || tr.Entries[3].Status != session.TurnFailed {
		t.Errorf("%+v %+v", tr.Header, tr.Entries[3])
	}
	if info, err := os.Stat(transcriptFile(w, main)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// What was cut off in the middle of a line is left where it is; whatever comes
// after it can be read.
func TestATornTranscriptGoesOn(t *testing.T) {
	w := newWorld(t).sh("cat")
	w.run(send("one"))
	path := transcriptFile(w, main)
	whole := read(t, path)
	if err := os.Truncate(path, int64(len(whole)-10)); err != nil {
		t.Fatal(err)
	}
	w.run(send("two"))
	tr, _, err := w.Transcript(main)
	if err != nil || len(tr.Problems) != 1 || len(tr.Entries) != 3 {
		t.Errorf("%v, %v, %d entries", err, tr.Problems, len(tr.Entries))
	}
}

// A transcript of years is not read to its beginning for every turn, and still
// its chain holds.
func TestLongTranscript(t *testing.T) {
	w := newWorld(t).sh("head -c 300000 /dev/zero | tr '\\0' x")
	for range 4 {
		w.run(send(strings.Repeat("long ", 20000)))
	}
	if got := lines(w, main); len(got) != 8 {
		t.Errorf("%d entries", len(got))
	}
}

func TestATranscriptThatCannotBeWrittenHoldsUpNothing(t *testing.T) {
	w := newWorld(t).sh("cat")
	w.run(send("one"))
	path := transcriptFile(w, main)
	os.Remove(path)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	res := w.run(send("two"))
	if res.Turn.Status != session.TurnSucceeded || res.Reply != "two" || !strings.Contains(res.Turn.Error, "transcript") {
		t.Errorf("%+v", res.Turn)
	}
	os.Remove(path)
}

// context = "transcript": the conversation, without what was quiet, and then
// the message.
func TestContext(t *testing.T) {
	w := newWorld(t)
	w.sh("cat >/dev/null; echo HEARTBEAT_OK")
	w.run(send("remember 42"))
	w.run(wake("[OpenClaw heartbeat poll]\n\nlook around"))
	hook := filepath.Join(t.TempDir(), "seen")
	w.agents["main"] = agent.Agent{Command: []string{"cat"}, Context: "transcript", Hooks: [][]string{{"sh", "-c", "cat > " + hook}}}
	got := w.run(send("which number?")).Reply
	if !strings.HasSuffix(got, "which number?") || !strings.Contains(got, "remember 42") || strings.Contains(got, "look around") {
		t.Errorf("%q", got)
	}
	if seen := read(t, hook); seen != got {
		t.Errorf("the hook saw %q, the agent %q", seen, got)
	}
}

func TestSessionsBeginAnewAndGo(t *testing.T) {
	w := newWorld(t).sh("cat")
	w.run(send("one"))
	old := w.session(main)
	s, archive, err := w.Renew(t.Context(), main, "main")
	if err != nil || s.ID == old.ID || s.Turns != 0 || s.Status != session.New || s.Key != main {
		t.Fatalf("%+v %v", s, err)
	}
	if !strings.Contains(filepath.Base(archive), ".reset.") || !strings.Contains(read(t, archive), old.ID) {
		t.Errorf("%s", archive)
	}
	w.run(send("two"))
	if got := lines(w, main); !equal(got, []string{"user two", "assistant two"}) {
		t.Errorf("%q", got)
	}
	gone, err := w.Remove(t.Context(), main)
	if err != nil || !strings.Contains(filepath.Base(gone), ".deleted.") || w.session(main).Key != "" {
		t.Errorf("%s %v %+v", gone, err, w.session(main))
	}
	if n := len(w.turns()); n != 2 {
		t.Errorf("%d turns are left, want both", n)
	}
	if _, archive, err := w.Renew(t.Context(), "session:fresh", "main"); err != nil || archive != "" || w.session("session:fresh").Status != session.New {
		t.Errorf("%q %v", archive, err)
	}
}

// A death between the row and the file: the transcript of an old id is put
// aside when the next turn is recorded.
func TestAnOldTranscriptIsPutAside(t *testing.T) {
	w := newWorld(t).sh("cat")
	w.run(send("one"))
	path := transcriptFile(w, main)
	before := read(t, path)
	if _, _, err := w.Renew(t.Context(), main, "main"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(send("two"))
	if got := lines(w, main); !equal(got, []string{"user two", "assistant two"}) {
		t.Errorf("%q", got)
	}
}

func TestBusySessionsStay(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	done := make(chan agent.Result, 1)
	go func() { done <- w.run(send("one")) }()
	g.await(1)
	_, _, err1 := w.Renew(t.Context(), main, "main")
	_, err2 := w.Remove(t.Context(), main)
	for _, err := range []error{err1, err2} {
		if _, ok := err.(*agent.BusyError); !ok {
			t.Errorf("%v", err)
		}
	}
	if all, err := w.Sessions(""); err != nil || len(all) != 1 || all[0].Status != session.Running || !strings.Contains(all[0].Holder, "turn ") {
		t.Errorf("%+v %v", all, err)
	}
	g.open()
	<-done
}

// The list shows what is, without writing it down.
func TestSessionsAreSeenAsTheyAre(t *testing.T) {
	w := newWorld(t)
	w.dies("turn-admitted", "cat")
	all, err := w.Sessions("main")
	if err != nil || len(all) != 1 || all[0].Status != session.Interrupted || all[0].Holder != "" {
		t.Errorf("%+v %v", all, err)
	}
	if s := w.session(main); s.Status != session.Running {
		t.Errorf("looking has changed the row: %+v", s)
	}
	if s, err := w.Session("main"); err != nil || s.Key != main {
		t.Errorf("%+v %v", s, err)
	}
	w.settled()
}

// TestRemoveIsNoWayAcrossATombstone: a session that takes no new work is not taken
// away either, also where the tombstone is only due (spec/tasks-recovery.md 4.4,
// 4.7); of what waits, or is over, anybody may let go.
func TestRemoveIsNoWayAcrossATombstone(t *testing.T) {
	cycle := session.Cycle{ID: "01CUTOFF", SourceTurnID: "01CUTOFF", DispatchID: "01CUTOFF", Revision: 7}
	for _, tt := range []struct {
		name   string
		change func(*session.Cycle)
		want   string // fenced, busy, or empty: it is taken away
	}{
		{"tombstoned", func(c *session.Cycle) { c.Phase, c.Charged = session.CycleTombstoned, 3 }, "fenced"},
		{"all attempts made", func(c *session.Cycle) { c.Phase, c.Charged = session.CycleInterrupted, 3 }, "fenced"},
		{"two attempts made", func(c *session.Cycle) { c.Phase, c.Charged = session.CycleInterrupted, 2 }, ""},
		{"an attempt is about to begin", func(c *session.Cycle) {
			c.Phase, c.Charged, c.Reservation = session.CycleReserved, 3, session.Reservation{TurnID: "01THIRD", Attempt: 3}
		}, "busy"},
		{"over", func(c *session.Cycle) { c.Phase, c.Charged, c.Ending = session.CycleClosed, 3, session.EndCompleted }, ""},
		{"a tombstone of an older conversation", func(c *session.Cycle) { c.Phase, c.Charged, c.SessionID = session.CycleTombstoned, 3, "01OLDER" }, ""},
	} {
		w := newWorld(t).sh("cat")
		w.run(send("one"))
		s := w.session(main)
		s.Recovery = cycle
		s.Recovery.SessionID = s.ID
		tt.change(&s.Recovery)
		err := w.Store.Update(t.Context(), func(tx *state.Tx) error {
			row, _, err := state.Sessions.Get(tx, main)
			return errors.Join(err, state.Sessions.Put(tx, main, row.Rev, s))
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Remove(t.Context(), main)
		_, fenced := errors.AsType[*agent.FencedError](err)
		_, busy := errors.AsType[*agent.BusyError](err)
		if gone := w.session(main).Key == ""; fenced != (tt.want == "fenced") || busy != (tt.want == "busy") || gone != (tt.want == "") {
			t.Errorf("%s: gone %t, %v", tt.name, gone, err)
		}
	}
}
