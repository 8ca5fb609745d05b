package heartbeat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/state/heartbeat"
	"claw/state/session"
)

const (
	failedBuild = "make failed (exit 2)\nlink: no space"
	failedTests = "go test failed (exit 1)"
)

// said is the reply of a periodic check that has somewhere to go.
func said(text string) heartbeat.Reply {
	return heartbeat.Reply{Kind: session.KindHeartbeat, Text: text, Start: noon, AckMaxChars: 300, ShowAlerts: true, UseIndicator: true}
}

// relayed is the reply of a turn about ended commands.
func relayed(text string, failures ...string) heartbeat.Reply {
	in := said(text)
	in.Kind, in.Failures = session.KindExec, failures
	return in
}

func edit(in heartbeat.Reply, f func(*heartbeat.Reply)) heartbeat.Reply { f(&in); return in }

func answer(outcome string, notify bool) *session.Response {
	return &session.Response{Outcome: outcome, Notify: notify, Summary: "looked at it"}
}

// spec/heartbeat-automations.md 1.7; exec-process.md 5.2 and 5.4 row 20;
// reports 26 and 27.
func TestJudge(t *testing.T) {
	type outcome = heartbeat.Outcome
	quiet := func(status string) outcome {
		return outcome{Status: status, Silent: true, Consume: true, StampTasks: true, Indicator: "ok"}
	}
	sent := func(text string) outcome {
		return outcome{Status: "sent", Send: text, Consume: true, StampTasks: true, Remember: true, Indicator: "alert"}
	}
	told := func(text string) outcome { o := sent(text); o.Remember = false; return o } // by a turn that something woke
	held := func(reason string) outcome {
		return outcome{Status: "skipped", Reason: reason, Consume: true, StampTasks: true}
	}
	noted := func(o outcome, note string) outcome { o.Note = note; return o }
	line := `{"outcome":"no_change","notify":false,"summary":"nothing"}`
	long := strings.Repeat("A", 301)
	repeat := func(text string, ago time.Duration) heartbeat.Reply {
		return edit(said(text), func(in *heartbeat.Reply) { in.LastText, in.LastSentAt = "Disk is full", noon.Add(-ago) })
	}
	for _, c := range []struct {
		rule string
		in   heartbeat.Reply
		want outcome
	}{
		{"the turn failed", edit(said("HEARTBEAT_OK"), func(in *heartbeat.Reply) { in.Failed = true }), outcome{Status: "failed", Indicator: "error"}},
		{"the turn failed after an answer", edit(said("x"), func(in *heartbeat.Reply) { in.Failed, in.Response = true, answer("blocked", true) }), outcome{Status: "failed", Send: "looked at it", Remember: true, Indicator: "error"}},
		{"an answer of a failed turn that is no news", edit(said("x"), func(in *heartbeat.Reply) {
			in.Failed, in.Response, in.LastText, in.LastSentAt = true, answer("blocked", true), "looked at it", noon.Add(-time.Hour)
		}), outcome{Status: "failed", Indicator: "error"}},
		{"an answer of a failed turn, but nowhere to send it", edit(said("x"), func(in *heartbeat.Reply) {
			in.Failed, in.Response, in.NoRoute = true, answer("blocked", true), "no-target"
		}), outcome{Status: "failed", Indicator: "error"}},
		{"a silent answer of a failed turn is noted", edit(said("x"), func(in *heartbeat.Reply) { in.Failed, in.Response = true, answer("progress", false) }), outcome{Status: "failed", Note: "looked at it", Indicator: "error"}},
		{"an answer that a failed turn only printed", edit(said(`{"outcome":"blocked","notify":true,"summary":"s"}`), func(in *heartbeat.Reply) { in.Failed = true }), outcome{Status: "failed", Indicator: "error"}},
		{"nothing", said(" \n"), quiet("ok-empty")},
		{"a token", said("HEARTBEAT_OK"), quiet("ok-token")},
		{"a token and a remark", said("HEARTBEAT_OK all good"), quiet("ok-token")},
		{"a token and a report, on its lines", said(long + "\nB\nHEARTBEAT_OK"), sent(long + "\nB")},
		{"a text", said("Disk is full"), sent("Disk is full")},
		{"a token in the middle", said("Status HEARTBEAT_OK due to watchdog failure"), sent("Status HEARTBEAT_OK due to watchdog failure")},
		{"a word that begins like a token", said("HEARTBEAT_OKAY"), sent("HEARTBEAT_OKAY")},
		{"no remark is allowed", edit(said("HEARTBEAT_OK all good"), func(in *heartbeat.Reply) { in.AckMaxChars = 0 }), sent("all good")},
		{"the last line says notify=false", said("Disk is fine.\nnotify=false"), noted(quiet("ok-token"), "Disk is fine.")},
		{"only notify=false", said("notify=false"), quiet("ok-token")},
		{"showOk shows the token", edit(said("HEARTBEAT_OK"), func(in *heartbeat.Reply) { in.ShowOk = true }), outcome{Status: "ok-token", Send: "HEARTBEAT_OK", Consume: true, StampTasks: true, Indicator: "ok"}},
		{"showOk without a destination", edit(said("HEARTBEAT_OK"), func(in *heartbeat.Reply) { in.ShowOk, in.NoRoute = true, "no-target" }), quiet("ok-token")},
		{"showOk does not count for nothing", edit(said(""), func(in *heartbeat.Reply) { in.ShowOk = true }), quiet("ok-empty")},
		{"nor for notify=false", edit(said(line), func(in *heartbeat.Reply) { in.ShowOk = true }), quiet("ok-token")},
		{"no indicator is wanted", edit(said("x"), func(in *heartbeat.Reply) { in.UseIndicator = false }), func() outcome { o := sent("x"); o.Indicator = ""; return o }()},

		{"the same as before", repeat("Disk is full", 23*time.Hour+59*time.Minute), held("duplicate")},
		{"but for white space around it", repeat(" Disk is full\n", time.Hour), held("duplicate")},
		{"a day later it is sent again", repeat("Disk is full", 24*time.Hour), sent("Disk is full")},
		{"white space within it counts", repeat("Disk  is full", time.Hour), sent("Disk  is full")},
		{"by a clock that was put back", repeat("Disk is full", -time.Hour), held("duplicate")},
		{"or put back far", repeat("Disk is full", -25*time.Hour), sent("Disk is full")},
		{"nothing was sent before", edit(said("Disk is full"), func(in *heartbeat.Reply) { in.LastText = "Disk is full" }), sent("Disk is full")},

		{"no destination", edit(said("x"), func(in *heartbeat.Reply) { in.NoRoute = "no-target" }), held("no-target")},
		{"an account that is not there", edit(said("x"), func(in *heartbeat.Reply) { in.NoRoute = "unknown-account" }), held("unknown-account")},
		{"alerts are off", edit(said("x"), func(in *heartbeat.Reply) { in.ShowAlerts = false }), held("alerts-disabled")},
		{"a duplicate without a destination is a duplicate", edit(repeat("Disk is full", time.Hour), func(in *heartbeat.Reply) { in.NoRoute = "no-target" }), held("duplicate")},

		{"an answer: nothing", edit(said("Disk is full"), func(in *heartbeat.Reply) { in.Response = answer("no_change", false) }), quiet("ok-token")},
		{"an answer: progress is noted", edit(said(""), func(in *heartbeat.Reply) { in.Response = answer("progress", false) }), noted(quiet("ok-token"), "looked at it")},
		{"an answer: notify", edit(said("HEARTBEAT_OK"), func(in *heartbeat.Reply) { in.Response = answer("done", true) }), sent("looked at it")},
		{"an answer on the last line", said("I looked.\n" + line), quiet("ok-token")},
		{"an answer in the text with its own words", said(`{"outcome":"blocked","notify":true,"summary":"s","notificationText":"Disk is full"}`), sent("Disk is full")},
		{"an answer that lacks something is a text", said(`{"outcome":"blocked","notify":true}`), sent(`{"outcome":"blocked","notify":true}`)},
		{"the command's answer outranks the text's", edit(said(line), func(in *heartbeat.Reply) { in.Response = answer("done", true) }), sent("looked at it")},
		{"an answer is no second alert", edit(repeat("", time.Hour), func(in *heartbeat.Reply) {
			in.Response = &session.Response{Outcome: "blocked", Notify: true, Summary: "s", NotificationText: "Disk is full"}
		}), held("duplicate")},

		{"a success and a token", relayed("HEARTBEAT_OK"), quiet("ok-token")},
		{"a success and NO_REPLY", relayed("**NO_REPLY**."), quiet("ok-token")},
		{"a success and nothing", relayed(""), quiet("ok-empty")},
		{"a short text about a success", relayed("Build passed"), told("Build passed")},
		{"also beside a token", relayed("HEARTBEAT_OK Build passed, 3 tests"), told("Build passed, 3 tests")},
		{"the same words about another command", edit(relayed("Build passed"), func(in *heartbeat.Reply) { in.LastText, in.LastSentAt = "Build passed", noon }), told("Build passed")},

		{"a failure and a token", relayed("HEARTBEAT_OK", failedBuild), told(failedBuild)},
		{"a failure and nothing", relayed("", failedBuild), func() outcome { o := told(failedBuild); return o }()},
		{"two failures", relayed("NO_REPLY", failedBuild, failedTests), told(failedBuild + "\n\n" + failedTests)},
		{"a failure, a token and a remark (5.4 row 20)", relayed("HEARTBEAT_OK. exit 2, as usual", failedBuild), told("exit 2, as usual\n\n" + failedBuild)},
		{"a failure that is told", relayed("The build failed: the disk is full.", failedBuild), told("The build failed: the disk is full.")},
		{"a failure, a token and a report", relayed(long+" HEARTBEAT_OK", failedBuild), told(long)},
		{"a failure and notify=false alone", relayed("HEARTBEAT_OK\nnotify=false", failedBuild), told(failedBuild)},
		{"a failure and a line of dashes", relayed("---", failedBuild), told(failedBuild)},
		{"a success and a line of dashes", relayed("---"), told("---")},
		{"a failure, a remark beside a token, notify=false", relayed("HEARTBEAT_OK as usual\nnotify=false", failedBuild), told("as usual\n\n" + failedBuild)},
		{"a failure, a line of dashes, notify=false", relayed("---\nnotify=false", failedBuild), told(failedBuild)},
		{"a failure and notify=false behind words", relayed("Fixed the path, started it again.\nnotify=false", failedBuild), noted(quiet("ok-token"), "Fixed the path, started it again.")},
		{"a failure and no_change", edit(relayed("", failedBuild), func(in *heartbeat.Reply) { in.Response = answer("no_change", false) }), told(failedBuild)},
		{"a failure and blocked, but do not notify", edit(relayed("", failedBuild), func(in *heartbeat.Reply) { in.Response = answer("blocked", false) }), noted(told(failedBuild), "looked at it")},
		{"a failure that the agent works on", edit(relayed("", failedBuild), func(in *heartbeat.Reply) { in.Response = answer("progress", false) }), noted(quiet("ok-token"), "looked at it")},
		{"a failure, but nowhere to tell it", edit(relayed("HEARTBEAT_OK", failedBuild), func(in *heartbeat.Reply) { in.NoRoute = "no-target" }), held("no-target")},
		{"a failed turn about a failure, with an answer", edit(relayed("", failedBuild), func(in *heartbeat.Reply) { in.Failed, in.Response = true, answer("blocked", true) }), outcome{Status: "failed", Send: "looked at it", Indicator: "error"}},
		{"a failed turn that found nothing: the failure is shown again", edit(relayed("", failedBuild), func(in *heartbeat.Reply) { in.Failed, in.Response = true, answer("no_change", false) }), outcome{Status: "failed", Indicator: "error"}},
		{"a failed turn about a failure", edit(relayed("HEARTBEAT_OK", failedBuild), func(in *heartbeat.Reply) { in.Failed = true }), outcome{Status: "failed", Indicator: "error"}},

		{"a reminder and a remark beside a token", edit(said("HEARTBEAT_OK Stand up"), func(in *heartbeat.Reply) { in.Kind = session.KindCron }), told("Stand up")},
		{"a reminder that comes again", edit(repeat("Disk is full", time.Hour), func(in *heartbeat.Reply) { in.Kind = session.KindCron }), told("Disk is full")},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if diff := cmp.Diff(c.want, heartbeat.Judge(c.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJudgeTakesTheScratch(t *testing.T) {
	resp := answer("progress", false)
	resp.Scratch = scratch("watch /var")
	for _, failed := range []bool{false, true} {
		got := heartbeat.Judge(edit(said("x"), func(in *heartbeat.Reply) { in.Response, in.Failed = resp, failed }))
		if got.Scratch == nil || *got.Scratch != "watch /var" {
			t.Errorf("failed %t: %+v", failed, got)
		}
	}
}

func TestNotesAreBounded(t *testing.T) {
	resp := answer("done", false)
	resp.Summary = strings.Repeat("ä", 5000)
	for _, in := range []heartbeat.Reply{
		edit(said(""), func(in *heartbeat.Reply) { in.Response = resp }),
		said(resp.Summary + "\nnotify=false"),
	} {
		if got := heartbeat.Judge(in).Note; got != strings.Repeat("ä", heartbeat.MaxNote) {
			t.Errorf("%d bytes", len(got))
		}
	}
}

// Whatever the reply is made of: as long as there is somebody to tell, a
// failed completion is told, unless the agent has said something of substance
// about it; and a turn that succeeded is done with its events.
func TestNoAcknowledgementSwallowsAFailure(t *testing.T) {
	parts := rapid.SliceOf(rapid.SampledFrom([]string{"HEARTBEAT_OK", "NO_REPLY", "*", "**", "`", "_", "~~", ".", "!", " ", "\n", "<b>", "</b>", "&nbsp;", "notify=false\n", "---"}))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(parts.Draw(t, "parts"), "")
		in := relayed(text, failedBuild)
		in.AckMaxChars = rapid.IntRange(-1, 400).Draw(t, "ackMaxChars")
		got := heartbeat.Judge(in)
		if !got.Consume || got.Status == "failed" {
			t.Fatalf("%+v", got)
		}
		if got.Send == "" && got.Note == "" {
			t.Fatalf("%q: %+v", text, got)
		}
		says := letters(strings.NewReplacer("<b>", "", "</b>", "", "&nbsp;", "").Replace(text)) != ""
		if (heartbeat.PureAck(text) || !says) && !strings.Contains(got.Send, failedBuild) {
			t.Fatalf("%q: %+v", text, got)
		}
	})
}

func TestPreview(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		" a\n\tb ":                 "a b",
		strings.Repeat("ä", 200):   strings.Repeat("ä", 200),
		strings.Repeat("ä", 201):   strings.Repeat("ä", 199) + "…",
		strings.Repeat("a\n", 300): strings.Repeat("a ", 99) + "a…",
	} {
		if got := heartbeat.Preview(in); got != want {
			t.Errorf("%q", got)
		}
	}
}
