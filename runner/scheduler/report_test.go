package scheduler_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"claw/runner/clock/clocktest"
	"claw/runner/deliver"
	"claw/runner/output"
	"claw/runner/scheduler"
	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/event"
	"claw/state/heartbeat"
	"claw/state/statetest"
)

// tells makes what a command prints go somewhere.
func announced(script string, d automation.Delivery) func(a *automation.Automation) {
	return func(a *automation.Automation) {
		sh(script)(a)
		a.Delivery = &d
	}
}

func (w *world) flush() {
	w.t.Helper()
	if _, err := w.Post.Flush(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// How a run ended and what became of its message are two things
// (spec/heartbeat-automations.md 2.13).
func TestWhatBecomesOfTheMessage(t *testing.T) {
	announce := automation.Delivery{Mode: "announce"}
	for _, tt := range []struct {
		name, script string
		to           automation.Delivery
		channel      string // what the channel "c" does
		status       automation.Status
		delivery     automation.DeliveryStatus
		why          string
		completion   string
	}{
		{"delivered", "echo fine", announce, "", automation.Succeeded, automation.Delivered, "", "succeeded"},
		{"it said nothing", "true", announce, "", automation.Succeeded, automation.NotRequested, "empty", "succeeded"},
		{"it has nothing to reply", "echo NO_REPLY", announce, "", automation.Succeeded, automation.NotRequested, "silent", "succeeded"},
		{"all is well", "echo HEARTBEAT_OK", announce, "", automation.Succeeded, automation.NotRequested, "heartbeat", "succeeded"},
		{"nobody is told", "echo fine", automation.Delivery{Mode: "none"}, "", automation.Succeeded, automation.NotRequested, "", "succeeded"},
		{"the channel refuses it", "echo fine", automation.Delivery{Mode: "announce", Channel: "c"}, "exit 65", automation.Succeeded, automation.NotDelivered, "exit code 65", "failed"},
		{"it need not arrive", "echo fine", automation.Delivery{Mode: "announce", Channel: "c", BestEffort: true}, "exit 65", automation.Succeeded, automation.NotDelivered, "exit code 65", "succeeded"},
		{"nobody knows", "echo fine", automation.Delivery{Mode: "announce", Channel: "c"}, "kill -9 $$", automation.Succeeded, automation.DeliveryLost, "SIGKILL", "unknown"},
		{"a failure is told", "exit 3", announce, "", automation.Failed, automation.Delivered, "", "failed"},
		{"a failure of what tells nobody", "exit 3", automation.Delivery{Mode: "none"}, "", automation.Failed, automation.NotRequested, "", "failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Post.Channels = map[string]deliver.Channel{"c": {Type: "command", Command: []string{"sh", "-c", "cat > /dev/null; " + tt.channel}}}
			w.add("job", "1m", announced(tt.script, tt.to))
			r := w.ran()
			if tt.delivery != automation.NotRequested && (r.Delivery != "" || r.Completion() != "" && r.Status == automation.Succeeded && !tt.to.BestEffort) {
				t.Errorf("before it is sent: %+v", r)
			}
			w.flush()
			r = w.runs()[0]
			if r.Status != tt.status || r.Delivery != tt.delivery || !strings.Contains(r.DeliveryError, tt.why) || tt.why == "" && r.DeliveryError != "" {
				t.Errorf("run %s, message %s (%s)", r.Status, r.Delivery, r.DeliveryError)
			}
			if got := r.Completion(); got != tt.completion {
				t.Errorf("completion %q, want %q", got, tt.completion)
			}
			if st := w.autos()[0].State; st.LastDelivery != tt.delivery || st.LastDeliveryError != r.DeliveryError {
				t.Errorf("state %+v", st)
			}
		})
	}
}

// Messages call it by its display name, people by its name.
func TestDisplayName(t *testing.T) {
	for script, want := range map[string]string{"echo fine": "Nightly backup", "exit 3": "Nightly backup failed (exit 3)"} {
		w := newWorld(t)
		w.add("backup", "1m", func(a *automation.Automation) {
			announced(script, automation.Delivery{Mode: "announce"})(a)
			a.DisplayName = "Nightly backup"
		})
		w.ran()
		if sent := w.sent(); len(sent) != 1 || sent[0].Title != want || sent[0].Source.Name != "backup" {
			t.Errorf("sent %+v, want %q", sent, want)
		}
	}
}

// A one-shot that goes with its success goes when its message has arrived.
func TestAOneShotStaysUntilItsMessageHasArrived(t *testing.T) {
	w := newWorld(t)
	w.Post.Channels = map[string]deliver.Channel{"c": {Type: "command", Command: []string{"sh", "-c", `cat > /dev/null; test -f "$HOME/fixed" || exit 65`}}}
	w.once("once", noon.Add(time.Minute), func(a *automation.Automation) {
		announced("echo fine", automation.Delivery{Mode: "announce", Channel: "c"})(a)
		a.DeleteAfterRun = true
	})
	w.ran()
	if a := w.autos(); len(a) != 1 || a[0].Enabled {
		t.Fatalf("before it is sent: %+v", a)
	}
	w.flush()
	if a := w.autos(); len(a) != 1 || a[0].State.LastDelivery != automation.NotDelivered {
		t.Fatalf("it could not be sent: %+v", a)
	}
	w.write("fixed")
	if _, err := w.Post.Retry(t.Context(), w.sent()[0].ID); err != nil {
		t.Fatal(err)
	}
	if a := w.autos(); len(a) != 0 {
		t.Errorf("it has arrived: %+v", a)
	}
	if r := w.runs()[0]; r.Delivery != automation.Delivered || r.DeliveryError != "" {
		t.Errorf("run %+v", r)
	}
	w.clock.Advance(time.Hour)
	w.settle()
	w.tells("12:01 succeeded")
}

func TestAOneShotThatSaysNothingGoesAtOnce(t *testing.T) {
	w := newWorld(t)
	w.once("once", noon.Add(time.Minute), func(a *automation.Automation) {
		announced("true", automation.Delivery{Mode: "announce"})(a)
		a.DeleteAfterRun = true
	})
	w.ran()
	if a := w.autos(); len(a) != 0 {
		t.Errorf("%+v", a)
	}
}

// openclaw 131491: a result that comes more than three hours after its slot is
// not announced by itself, and is not dropped silently either.
func TestALateResult(t *testing.T) {
	for _, tt := range []struct {
		name   string
		late   time.Duration
		manual bool
		want   automation.DeliveryStatus
	}{
		{"three hours", 3 * time.Hour, false, automation.Delivered},
		{"more", 3*time.Hour + time.Second, false, automation.NotDelivered},
		{"by hand", 5 * time.Hour, true, automation.Delivered},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			none := 0
			w.add("job", "24h", func(a *automation.Automation) {
				announced(`while test ! -f go; do sleep 0.02; done; echo fine`, automation.Delivery{Mode: "announce"})(a)
				a.Payload.TimeoutSeconds = &none
			})
			if tt.manual {
				if _, _, err := w.Run(t.Context(), "job", scheduler.RunOptions{}); err != nil {
					t.Fatal(err)
				}
			} else {
				w.clock.Advance(24 * time.Hour)
			}
			w.pass()
			w.clock.Advance(tt.late)
			w.write("go")
			w.settle()
			w.flush()
			r := w.runs()[0]
			if r.Status != automation.Succeeded || r.Delivery != tt.want {
				t.Fatalf("run %+v", r)
			}
			if tt.want == automation.Delivered {
				return
			}
			if r.DeliveryError != scheduler.StaleText || r.Completion() != "failed" {
				t.Errorf("run %+v", r)
			}
			sent := w.sent()
			if len(sent) != 1 || sent[0].State != delivery.Failed || sent[0].Body != "fine" {
				t.Fatalf("message %+v", sent)
			}
			if _, err := w.Post.Retry(t.Context(), sent[0].ID); err != nil {
				t.Fatal(err)
			}
			if r = w.runs()[0]; r.Delivery != automation.Delivered {
				t.Errorf("a person had it sent: %+v", r)
			}
		})
	}
}

// What a sleeping machine makes up is as new as its start.
func TestALateStartIsNoLateResult(t *testing.T) {
	w := newWorld(t)
	w.add("job", "24h", announced("echo fine", automation.Delivery{Mode: "announce"}))
	w.clock.Advance(32 * time.Hour)
	w.pass()
	w.settle()
	w.flush()
	if r := w.runs()[0]; !r.CatchUp || r.Delivery != automation.Delivered {
		t.Errorf("run %+v", r)
	}
}

// A webhook gets every end, but no success that has nothing to say.
func TestWebhookOfARun(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		to           automation.Delivery
		want         string // of each message: channel, status and summary
		primary      string // the channel whose outcome counts
	}{
		{"a success", "echo fine", automation.Delivery{Mode: "webhook", URL: "https://example.org/x"}, deliver.RunHook + " succeeded fine", deliver.RunHook},
		{"a silent success", "true", automation.Delivery{Mode: "webhook", URL: "https://example.org/x"}, "", ""},
		{"a failure", "echo broken >&2; exit 3", automation.Delivery{Mode: "webhook", URL: "https://example.org/x"}, deliver.RunHook + " failed broken", deliver.RunHook},
		{"beside a message", "echo fine", automation.Delivery{Mode: "announce", URL: "https://example.org/x"}, "inbox  , " + deliver.RunHook + " succeeded fine", "inbox"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.add("job", "1m", announced(tt.script, tt.to))
			r := w.ran()
			var got []string
			sent := w.sent()
			slices.SortFunc(sent, func(a, b delivery.Delivery) int { return -strings.Compare(a.Route.Channel, b.Route.Channel) })
			for _, d := range sent {
				words := d.Route.Channel
				if d.ID == r.DeliveryID && d.Route.Channel != tt.primary {
					t.Errorf("the outcome of %s counts", d.Route.Channel)
				}
				rep := delivery.Report{}
				if d.Report != nil {
					rep = *d.Report
					if rep.AutomationID != a.ID || rep.Name != "job" || rep.RunID != r.ID || !rep.Slot.Equal(r.Slot) || rep.Error != r.Error || !rep.NextRunAt.After(r.Slot) || d.Route.To != tt.to.URL {
						t.Errorf("report %+v to %+v", rep, d.Route)
					}
				}
				got = append(got, words+" "+rep.Status+" "+rep.Summary)
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("messages %q, want %q", got, tt.want)
			}
			if (r.DeliveryID == "") != (tt.primary == "") {
				t.Errorf("run %+v", r)
			}
		})
	}
}

// Alerts go their own way, after so many failures, once for an incident.
func TestAlerts(t *testing.T) {
	w := newWorld(t)
	w.Alerts = &automation.AlertRule{After: 2, Cooldown: time.Hour, Channel: "ops", To: "me"}
	w.Post.Channels = map[string]deliver.Channel{"ops": {Type: "command", Command: []string{"cat"}}}
	w.add("job", "2h", announced(`test -f "$HOME/fixed" || { echo broken >&2; exit 3; }`, automation.Delivery{Mode: "none"}))
	told := func() string {
		t.Helper()
		w.clock.Advance(2 * time.Hour)
		w.pass()
		w.settle()
		var all []string
		for _, d := range w.sent() {
			all = append(all, d.Route.Channel+" "+d.Route.To+" "+d.Title)
		}
		return strings.Join(all, ", ")
	}
	first := "ops me job failed (exit 3), 2 times in a row"
	for i, want := range []string{"", first, first, first} {
		if got := told(); got != want {
			t.Errorf("after %d failures: %q, want %q", i+1, got, want)
		}
	}
	w.write("fixed")
	told()
	if st := w.autos()[0].State; st.Incident != "" {
		t.Errorf("a success closes the incident: %+v", st)
	}
}

func TestAnAutomationsOwnAlert(t *testing.T) {
	for _, tt := range []struct {
		name string
		own  *automation.FailureAlert
		to   automation.Delivery
		want string
	}{
		{"as configured", nil, automation.Delivery{Mode: "announce"}, "ops"},
		{"off", &automation.FailureAlert{Off: true}, automation.Delivery{Mode: "announce"}, ""},
		{"elsewhere", &automation.FailureAlert{Channel: "mine"}, automation.Delivery{Mode: "announce"}, "mine"},
		{"a delivery that does not matter", nil, automation.Delivery{Mode: "announce", BestEffort: true}, ""},
		{"a webhook", &automation.FailureAlert{Mode: "webhook", To: "https://example.org/x"}, automation.Delivery{Mode: "none"}, deliver.RunHook},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Alerts = &automation.AlertRule{After: 1, Channel: "ops"}
			w.Post.Channels = map[string]deliver.Channel{"ops": {Type: "command", Command: []string{"cat"}}, "mine": {Type: "command", Command: []string{"cat"}}}
			w.add("job", "1m", func(a *automation.Automation) {
				announced("exit 3", tt.to)(a)
				a.FailureAlert = tt.own
			})
			w.ran()
			got := ""
			for _, d := range w.sent() {
				got += d.Route.Channel
			}
			if got != tt.want {
				t.Errorf("told %q, want %q", got, tt.want)
			}
		})
	}
}

// openclaw 18917: a one-shot reminder that nobody would be told, because
// heartbeats are switched off, tries again some times, and stays.
func TestAReminderWhileHeartbeatsAreOff(t *testing.T) {
	w := newWorld(t)
	w.heartbeats(false)
	w.once("oven", noon.Add(time.Minute), func(a *automation.Automation) {
		reminder("look at the oven", "now")(a)
		a.DeleteAfterRun = true
	})
	w.clock.Advance(time.Minute)
	w.pass()
	w.tells("12:01 skipped, 12:01 queued")
	if n := len(w.events()); n != 0 {
		t.Fatalf("%d events", n)
	}
	w.clock.Advance(31 * time.Second)
	w.heartbeats(true)
	w.pass()
	w.tells("12:01 skipped, 12:01 succeeded")
	if n := len(w.events()); n != 1 || len(w.autos()) != 0 {
		t.Errorf("%d events, automations %+v", n, w.autos())
	}
}

func TestAReminderThatNobodyIsEverTold(t *testing.T) {
	w := newWorld(t)
	w.heartbeats(false)
	w.once("oven", noon.Add(time.Minute), reminder("look at the oven", "now"))
	for range 8 {
		w.clock.Advance(10 * time.Minute)
		w.pass()
	}
	runs := w.runs()
	if len(runs) != 4 || runs[3].Status != automation.Skipped || !strings.Contains(runs[3].Error, "claw heartbeat enable") {
		t.Errorf("runs %+v", runs)
	}
	if a := w.autos(); len(a) != 1 || a[0].Enabled {
		t.Errorf("it stays, switched off: %+v", a)
	}
}

func (w *world) heartbeats(on bool) {
	w.t.Helper()
	err := w.Store.Update(w.t.Context(), func(tx *state.Tx) error {
		row, _, err := state.Switches.Get(tx, "switch")
		if err != nil {
			return err
		}
		return state.Switches.Put(tx, "switch", row.Rev, heartbeat.Switch{Disabled: !on})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// What a source has to say follows the text of the reminder, as somebody
// else's.
func TestInputOfAReminder(t *testing.T) {
	w := newWorld(t)
	a := w.add("build", "1h", reminder("the build has ended", "now"))
	w.queue(a, "exit 3")
	w.pass()
	if e := w.events(); len(e) != 1 || e[0].Text != "the build has ended\n\nexit 3" || !e[0].Untrusted || e[0].Kind != event.KindCron {
		t.Errorf("events %+v", e)
	}
}

// print is what a command that is not there has printed.
func print(w *world, id, text string) error {
	dir := w.Store.ProcessDir(id)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	out, err := output.OpenWriter(dir, output.WriterOptions{Cap: 1 << 20})
	if err != nil {
		return err
	}
	out.Write(output.Stdout, []byte(text))
	return out.Close()
}

// Wherever the machine stops between the end of a one-shot and the receipt of
// its message, there is one message in the inbox, and the automation is gone
// exactly when the run says that it was delivered.
func TestCrashReceipt(t *testing.T) {
	flow := func(w *world, runs int) error {
		for range runs {
			work, err := w.Pass(w.t.Context(), nobody)
			if err != nil {
				return err
			}
			for _, r := range work.Start {
				if err := begin(w, r); err != nil {
					return err
				}
			}
			for _, p := range w.processes() {
				if err := print(w, p.ID, "fine"); err != nil {
					return err
				}
				if err := conclude(w, p.ID); err != nil {
					return err
				}
			}
		}
		_, err := w.Post.Flush(w.t.Context())
		return err
	}
	statetest.Crash(t, func(fs state.FS, dir string) error {
		clock := clocktest.New(noon)
		w, err := at(t, clock, dir, fs)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		a := everyMinute("once", automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"true"}})
		a.Schedule = automation.Schedule{Kind: automation.KindAt, At: noon.Add(time.Minute)}
		a.DeleteAfterRun, a.Delivery = true, &automation.Delivery{Mode: "announce"}
		if _, _, err := w.Add(t.Context(), a); err != nil {
			return err
		}
		clock.Advance(time.Minute)
		return flow(w, 2)
	}, func(dir string) error {
		w, err := at(t, clocktest.New(noon.Add(time.Minute)), dir, state.OS())
		if err != nil {
			return err
		}
		defer w.Store.Close()
		if len(w.autos()) == 0 && len(w.runs()) == 0 {
			return nil // it was not added
		}
		if err := flow(w, 3); err != nil {
			return err
		}
		runs := w.runs()
		switch {
		case len(runs) != 1:
			return fmt.Errorf("runs %+v", runs)
		case runs[0].Delivery == "":
			return errors.New("nobody knows what became of the message")
		case runs[0].Delivery != automation.Delivered || len(all(w, state.Inbox)) != 1:
			return fmt.Errorf("%d messages have arrived, the run says %q", len(all(w, state.Inbox)), runs[0].Delivery)
		case len(w.autos()) != 0:
			return fmt.Errorf("it is still there: %+v, run %+v", w.autos(), runs[0])
		}
		return nil
	})
}
