package scheduler_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claw/runner/internal/proc"
	"claw/runner/output"
	"claw/state"
	"claw/state/automation"
)

// stream is a program that prints what is appended to the file "feed", until
// there is a file "stop".
func stream(change func(s *automation.Schedule)) automation.Schedule {
	s := automation.Schedule{Kind: automation.KindStream, Argv: []string{"sh", "-c", `echo x >> begun; n=1; touch feed
until test -f stop; do
	m=$(wc -l < feed)
	if test $m -ge $n; then tail -n +$n feed | head -n $((m-n+1)); n=$((m+1)); fi
	sleep 0.02
done
printf 'the last'`}}
	if change != nil {
		change(&s)
	}
	return s
}

// reminds makes the payload an event, which is over at once.
func reminds(a *automation.Automation) {
	a.Payload = automation.Payload{Kind: automation.PayloadEvent, Text: "look"}
}

func (w *world) say(lines ...string) {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.dir, "feed"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// told are all lines that runs were told, in order.
func (w *world) toldLines() (lines []string) {
	for _, r := range w.runs() {
		if r.Input != "" {
			lines = append(lines, strings.Split(r.Input, "\n")...)
		}
	}
	return lines
}

// printed waits until the stream's command has written so many bytes.
func (w *world) printed(n int64) {
	w.t.Helper()
	dir := w.Store.ProcessDir(w.command().ID)
	w.until("it has printed", func() bool {
		r, err := output.Open(dir)
		return err == nil && r.Size() >= n
	})
}

func TestStreamTellsEachLineOnce(t *testing.T) {
	w := newWorld(t)
	w.on("log", stream(nil), reminds)
	w.rounds("it runs", w.running)
	w.say("one", "two")
	w.rounds("it has fired", w.has(automation.Succeeded, 1))
	w.say("three")
	w.printed(int64(len("one\ntwo\nthree\n")))
	for range 3 {
		w.round()
	}
	w.tells("by hand succeeded") // 30 s have not passed
	w.say("four")
	w.printed(int64(len("one\ntwo\nthree\nfour\n")))
	w.clock.Advance(automation.StreamGap)
	w.rounds("it has fired again", w.has(automation.Succeeded, 2))
	for range 3 {
		w.clock.Advance(automation.StreamGap)
		w.round()
	}
	if got, want := w.toldLines(), []string{"one", "two", "three", "four"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	w.write("stop")
	w.rounds("its last words are told", func() bool { return slices.Contains(w.toldLines(), "the last") })
	if src := w.source(); src.Status != automation.SourceRestarting || src.Failures != 1 {
		t.Errorf("source %+v", src)
	}
}

// While a run goes on what is said stays in the file, and is told after it.
func TestStreamDuringItsRun(t *testing.T) {
	w := newWorld(t)
	w.agent.Command = []string{"sh", "-c", "cat >> asked; until test -f go; do sleep 0.02; done; echo NO_REPLY"}
	w.on("log", stream(nil), func(a *automation.Automation) {
		a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "what is it"}
	})
	w.rounds("it runs", w.running)
	w.say("one")
	done := make(chan error, 1)
	w.until("it is claimed", func() bool {
		work, err := w.Pass(t.Context(), nobody)
		if err != nil {
			t.Fatal(err)
		}
		if len(work.Start) == 0 {
			return false
		}
		go func() { done <- w.Start(t.Context(), work.Start[0]) }()
		return true
	})
	w.until("the agent is asked", func() bool { return strings.Contains(w.text("asked"), "one") })
	w.say("two")
	w.printed(int64(len("one\ntwo\n")))
	w.clock.Advance(time.Hour)
	busy := func(string) bool { return true }
	for range 3 {
		if work, err := w.Pass(t.Context(), busy); err != nil || len(work.Start) > 0 {
			t.Fatalf("%+v, %v", work, err)
		}
	}
	w.write("go")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.rounds("it is told the rest", w.has(automation.Succeeded, 2))
	if got, want := w.toldLines(), []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	w.write("stop")
	w.rounds("its last words are told", func() bool { return len(w.toldLines()) == 3 })
}

func TestStreamMatches(t *testing.T) {
	w := newWorld(t)
	w.on("log", stream(func(s *automation.Schedule) { s.Mode, s.Match = "match", "^error" }), reminds)
	w.rounds("it runs", w.running)
	w.say("all is well", "no error here")
	w.printed(int64(len("all is well\nno error here\n")))
	w.round()
	before := w.position()
	for range 3 {
		w.round()
	}
	if w.position() != before {
		t.Error("lines that are not asked for cost a transaction")
	}
	w.say("error: 7", "well again")
	w.rounds("it has fired", w.has(automation.Succeeded, 1))
	if got, want := w.toldLines(), []string{"error: 7"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	w.write("stop")
	w.rounds("it has ended", func() bool { return w.source().Failures == 1 })
}

// Two outputs are split into lines apart: what one has not finished does not
// run into the other, and is told whole.
func TestStreamOfTwoOutputs(t *testing.T) {
	w := newWorld(t)
	w.on("log", automation.Schedule{Kind: automation.KindStream, Argv: []string{
		"sh", "-c", `printf 'begin'; sleep 0.05; echo warning >&2; until test -f go; do sleep 0.02; done; echo ' end'; until test -f stop; do sleep 0.02; done`,
	}}, reminds)
	w.rounds("it has fired", w.has(automation.Succeeded, 1))
	w.write("go")
	w.clock.Advance(automation.StreamGap)
	w.rounds("it has fired again", w.has(automation.Succeeded, 2))
	if got, want := w.toldLines(), []string{"warning", "begin end"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	w.write("stop")
	w.rounds("it has ended", func() bool { return w.source().Failures == 1 })
}

// What the cap on output took, and what did not fit into a batch, is counted.
func TestStreamCountsWhatIsLost(t *testing.T) {
	w := newWorld(t)
	w.MaxOutput = 64 << 10
	w.on("log", automation.Schedule{Kind: automation.KindStream, MaxBatchBytes: 1024, Argv: []string{
		"sh", "-c", `until test -f go; do sleep 0.02; done; seq 100000; echo finished; until test -f stop; do sleep 0.02; done`,
	}}, reminds)
	w.rounds("it runs", w.running)
	w.write("go")
	w.until("it has printed all", func() bool {
		r, err := output.Open(w.Store.ProcessDir(w.command().ID))
		return err == nil && strings.HasSuffix(r.Tail(20), "finished\n")
	})
	w.rounds("it has fired", w.has(automation.Succeeded, 1))
	src := w.source()
	if src.Dropped == 0 || src.Offset < 500000 {
		t.Errorf("source %+v", src)
	}
	last := w.runs()[len(w.runs())-1]
	if !strings.HasPrefix(last.Input, "[") || !strings.Contains(last.Input, "bytes of output were not kept]") || !strings.HasSuffix(last.Input, "[truncated]") || len(last.Input) > 1200 {
		t.Errorf("it was told %q", last.Input)
	}
	w.write("stop")
	w.rounds("it has ended", func() bool { return w.source().Failures == 1 })
}

// Five short lives in a row, and it is given up until a person enables it.
func TestStreamGivesUp(t *testing.T) {
	w := newWorld(t)
	a := w.on("log", automation.Schedule{Kind: automation.KindStream, Argv: []string{"sh", "-c", "echo x >> begun; exit 1"}}, reminds)
	for i, wait := range []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute} {
		w.rounds("it has ended", func() bool { return len(w.sources()) == 1 && w.source().Failures == i+1 })
		w.clock.Advance(wait - time.Second)
		w.round()
		if n := len(w.lines("begun")); n != i+1 {
			t.Fatalf("after %d ends it began %d times", i+1, n)
		}
		w.clock.Advance(time.Second)
	}
	w.rounds("it is given up", func() bool { return w.source().Exhausted })
	if off := w.row(a.ID).State.AutoDisabled; w.row(a.ID).Enabled || off == nil || off.Reason != automation.ReasonExhausted {
		t.Errorf("%+v", w.row(a.ID))
	}
	if sent := w.sent(); len(sent) != 1 || !strings.Contains(sent[0].Text, "claw cron enable log") {
		t.Errorf("messages %+v", sent)
	}
	w.clock.Advance(time.Hour)
	w.round()
	if n := len(w.lines("begun")); n != automation.StreamTries {
		t.Errorf("it began %d times", n)
	}
	if _, _, err := w.Enable(t.Context(), a.Name, true); err != nil {
		t.Fatal(err)
	}
	w.rounds("it is tried again", func() bool { return len(w.lines("begun")) == automation.StreamTries+1 && w.source().Failures == 1 })
}

// A command whose supervisor died is ended before another one is started: two
// of them would say everything twice.
func TestStreamOfADeadSupervisor(t *testing.T) {
	w := newWorld(t)
	w.on("log", stream(nil), reminds)
	w.rounds("it runs", func() bool { return w.running() && len(w.lines("begun")) == 1 })
	p := w.command()
	if err := syscall.Kill(p.Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.rounds("its end is taken in", func() bool { return w.source().Failures == 1 })
	if proc.Alive(p.Root) {
		t.Error("what it left is still there")
	}
	w.clock.Advance(30 * time.Second)
	w.rounds("it runs again", func() bool { return w.running() && len(w.lines("begun")) == 2 })
	w.write("stop")
	w.rounds("it has ended", func() bool { return w.source().Failures == 2 })
}

// Wherever the program dies between reading and telling, no line is told twice
// and none is lost: a death at every second look.
func TestStreamAndDeaths(t *testing.T) {
	w := newWorld(t)
	w.on("log", stream(nil), reminds)
	w.rounds("it runs", w.running)
	var want []string
	for i := range 25 {
		line := fmt.Sprint("line ", i)
		want = append(want, line)
		w.say(line)
		w.clock.Advance(automation.StreamGap)
		if i%2 == 0 { // claimed and told by nobody: who claimed it has died
			if _, err := w.Pass(t.Context(), nobody); err != nil {
				t.Fatal(err)
			}
			w.Eyes = nil
			w.open(w.Store)
		} else {
			w.round()
		}
	}
	w.printed(int64(len(strings.Join(want, "\n")) + 1))
	w.write("stop")
	want = append(want, "the last")
	w.rounds("all is told", func() bool {
		w.clock.Advance(automation.StreamGap)
		return slices.Contains(w.toldLines(), "the last")
	})
	got := w.toldLines()
	if !slices.Equal(got, want) {
		t.Errorf("told %q\nwant %q", got, want)
	}
	if n := len(all(w, state.Sources)); n != 1 {
		t.Errorf("%d sources", n)
	}
}
