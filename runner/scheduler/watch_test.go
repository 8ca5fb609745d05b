package scheduler_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"claw/runner/source"
	"claw/state/automation"
)

func watching(dir string) automation.Schedule {
	return automation.Schedule{Kind: automation.KindWatch, Dir: dir, Recursive: true}
}

func (w *world) put(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func TestWatchFires(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Dir(w.put("watched/a", "1"))
	w.on("tests", watching(dir), keeps("told"))
	w.round()
	w.round()
	if w.story() != "" {
		t.Fatalf("what was there at first has fired: %s", w.story())
	}
	w.Eyes = source.NewSet(w.clock, false)
	eyes := w.Eyes
	w.pass()
	w.put("watched/b/c", "2")
	w.clock.Advance(3 * time.Second)
	w.pass()
	w.settle()
	w.tells("by hand succeeded")
	if got := w.text("told"); got != "b\nb/c" {
		t.Errorf("it was told %q", got)
	}
	w.Eyes = eyes
	if err := os.RemoveAll(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(3 * time.Second)
	w.pass()
	w.settle()
	w.tells("by hand succeeded, by hand succeeded")
	if got := w.text("told"); got != "b\nb/cdeleted: b\ndeleted: b/c" {
		t.Errorf("it was told %q", got)
	}
}

// Ticks alone, which remember nothing, name what is gone and what was moved there
// with an older time.
func TestWatchByTicksNamesAll(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Dir(w.put("watched/a", "1"))
	report := w.put("report", "2")
	if err := os.Chtimes(report, noon.Add(-time.Hour), noon.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.on("tests", watching(dir), keeps("told"))
	w.round()
	if err := os.Rename(report, filepath.Join(dir, "report")); err != nil {
		t.Fatal(err)
	}
	w.rounds("it is told", func() bool { return w.text("told") == "report" })
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	w.rounds("it is told", func() bool { return w.text("told") == "reportdeleted: a" })
	w.settle()
}

// What changes while nothing of claw runs is noticed once, and while a run goes
// on after its end.
func TestWatchMissesNothing(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Dir(w.put("watched/a", "1"))
	w.on("tests", watching(dir), sh("echo x >> ran; until test -f go; do sleep 0.02; done"))
	w.round()
	w.put("watched/b", "2")
	w.put("watched/c", "2")
	w.rounds("it runs", func() bool { return len(w.lines("ran")) == 1 })
	w.put("watched/d", "3")
	for range 3 {
		w.round()
	}
	if n := len(w.runs()); n != 1 {
		t.Fatalf("%d runs at once", n)
	}
	w.write("go")
	w.rounds("it has run for both", w.has(automation.Succeeded, 2))
	for range 3 {
		w.round()
	}
	w.tells("by hand succeeded, by hand succeeded")
}

func TestWatchAndItsDirectory(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "watched")
	w.on("tests", watching(dir), nil)
	w.round()
	w.round()
	if src := w.source(); !strings.Contains(src.Error, "no such file") {
		t.Errorf("source %+v", src)
	}
	w.put("watched/a", "1")
	w.round()
	if src := w.source(); src.Error != "" || src.Seen == "" || w.story() != "" {
		t.Errorf("source %+v, runs %s", src, w.story())
	}
	away := dir + ".away"
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	w.round()
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.round()
	w.tells("") // it is what it was
}

// claw's own files below a watched directory fire nothing.
func TestWatchOfItsOwnState(t *testing.T) {
	w := newWorld(t)
	w.on("tests", watching(filepath.Dir(w.Store.Dir())), nil)
	for range 4 {
		w.clock.Advance(3 * time.Second)
		w.round()
		w.add("other"+strconv.Itoa(int(w.position())), "1h", nil)
	}
	w.tells("")
}

// Off, and on again: what changed in between is nothing.
func TestWatchThatWasOff(t *testing.T) {
	w := newWorld(t)
	a := w.on("tests", watching(filepath.Dir(w.put("watched/a", "1"))), nil)
	w.round()
	w.clock.Advance(time.Second)
	if _, _, err := w.Enable(t.Context(), a.Name, false); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.put("watched/b", "2")
	w.clock.Advance(time.Second)
	if _, _, err := w.Enable(t.Context(), a.Name, true); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.round()
	w.tells("")
	w.put("watched/c", "3")
	w.rounds("it has fired", w.has(automation.Succeeded, 1))
}

// A run that writes what it watches is stopped before the seventh follows, and a person
// is told which file it was.
func TestWatchLoop(t *testing.T) {
	w := newWorld(t)
	w.clock.Step(time.Since(noon)) // the times of files are those of the machine
	a := w.on("tests", watching(filepath.Dir(w.put("watched/a", "1"))), sh("echo x >> watched/log"))
	w.round()
	w.put("watched/b", "2")
	w.rounds("it is switched off", func() bool {
		w.clock.Step(time.Since(w.clock.Now()))
		return !w.row(a.ID).Enabled
	})
	if off := w.row(a.ID).State.AutoDisabled; off == nil || off.Reason != automation.ReasonLoop {
		t.Errorf("switched off for %+v", off)
	}
	if sent := w.sent(); len(sent) != 1 || !strings.Contains(sent[0].Text, "log") {
		t.Errorf("messages %+v", sent)
	}
	if n := len(w.runs()); n > automation.LoopsToStop {
		t.Errorf("%d runs", n)
	}
}
