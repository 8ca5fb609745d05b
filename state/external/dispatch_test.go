package external_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/external"
	"claw/state/session"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

// TestCheck: the order and the words of spec/tasks-recovery.md 5.2.
func TestCheck(t *testing.T) {
	good := external.Request{Agent: "main", SessionKey: "hook:mail", Source: external.Email, Message: "x", Lane: external.LaneCLI}
	tests := []struct {
		name   string
		change func(r *external.Request)
		want   external.Reason
	}{
		{"good", func(*external.Request) {}, ""},
		{"everything is wrong", func(r *external.Request) { *r = external.Request{TimeoutSeconds: -1} }, external.ReasonAgent},
		{"a blank agent", func(r *external.Request) { r.Agent = " \t" }, external.ReasonAgent},
		{"key and source", func(r *external.Request) { r.SessionKey, r.Source = "x", "x" }, external.ReasonKey},
		{"no key", func(r *external.Request) { r.SessionKey = "" }, external.ReasonKey},
		{"nothing after it", func(r *external.Request) { r.SessionKey = "hook:" }, external.ReasonKey},
		{"another prefix", func(r *external.Request) { r.SessionKey = "agent:main:main" }, external.ReasonKey},
		{"upper case", func(r *external.Request) { r.SessionKey = "Hook:a" }, external.ReasonKey},
		{"space before", func(r *external.Request) { r.SessionKey = " hook:a" }, external.ReasonKey},
		{"space behind", func(r *external.Request) { r.SessionKey = "hook:a " }, external.ReasonKey},
		{"space within", func(r *external.Request) { r.SessionKey = "hook:a b" }, external.ReasonKey},
		{"a wide space", func(r *external.Request) { r.SessionKey = "hook:a\u00A0b" }, external.ReasonKey},
		{"a control character", func(r *external.Request) { r.SessionKey = "hook:a\x00" }, external.ReasonKey},
		{"an invisible character", func(r *external.Request) { r.SessionKey = "hook:a\u200B" }, external.ReasonKey},
		{"more colons", func(r *external.Request) { r.SessionKey = "hook:gmail:17" }, ""},
		{"no source", func(r *external.Request) { r.Source = "" }, external.ReasonSource},
		{"webhook, from elsewhere", func(r *external.Request) { r.Source = external.Webhook }, external.ReasonSource},
		{"webhook", func(r *external.Request) { r.Source, r.Lane = external.Webhook, external.LaneHTTP }, ""},
		{"source before message", func(r *external.Request) { r.Source, r.Message = "Email", "" }, external.ReasonSource},
		{"blank", func(r *external.Request) { r.Message = " \n" }, external.ReasonEmpty},
		{"the longest", func(r *external.Request) { r.Message = strings.Repeat("x", external.MaxContent) }, ""},
		{"longer", func(r *external.Request) { r.Message = strings.Repeat("x", external.MaxContent+1) }, external.ReasonTooLong},
		{"the longest key", func(r *external.Request) { r.IdempotencyKey = strings.Repeat("ü", 256) }, ""},
		{"a longer key", func(r *external.Request) { r.IdempotencyKey = strings.Repeat("x", 257) }, external.ReasonIdemKey},
	}
	for _, tt := range tests {
		r := good
		tt.change(&r)
		if got := external.Check(r); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestDigest: whatever differs makes another dispatch.
func TestDigest(t *testing.T) {
	base := external.Request{Agent: "a", SessionKey: "hook:a", Message: "m", Source: external.Email, Caller: "c", IdempotencyKey: "k"}
	seen := map[string]string{}
	for name, change := range map[string]func(r *external.Request){
		"base": func(*external.Request) {}, "agent": func(r *external.Request) { r.Agent = "b" }, "key": func(r *external.Request) { r.SessionKey = "hook:b" },
		"message": func(r *external.Request) { r.Message = "n" }, "from": func(r *external.Request) { r.From = "x" }, "subject": func(r *external.Request) { r.Subject = "x" },
		"deliver": func(r *external.Request) { r.Deliver = true }, "to": func(r *external.Request) { r.To = "x" }, "model": func(r *external.Request) { r.Model = "x" },
		"thinking": func(r *external.Request) { r.Thinking = "x" }, "timeout": func(r *external.Request) { r.TimeoutSeconds = 1 }, "caller": func(r *external.Request) { r.Caller = "d" },
		"idempotency": func(r *external.Request) { r.IdempotencyKey = "l" }, "name": func(r *external.Request) { r.Name = "x" },
	} {
		r := base
		change(&r)
		d := external.Digest(r)
		if other, ok := seen[d]; ok || d == "" {
			t.Errorf("%s and %s have one digest %q", name, other, d)
		}
		seen[d] = name
	}
	base.IdempotencyKey = ""
	if external.Digest(base) != "" {
		t.Error("a digest without a key")
	}
}

// TestAnswers: spec/tasks-recovery.md 5.3.
func TestAnswers(t *testing.T) {
	const five = 5 * time.Minute
	at := func(s external.Status, ago time.Duration) external.Dispatch {
		return external.Dispatch{Status: s, Digest: "d", EndedAt: noon.Add(-ago)}
	}
	tests := []struct {
		name string
		d    external.Dispatch
		want bool
	}{
		{"queued for hours", external.Dispatch{Status: external.Queued, Digest: "d"}, true},
		{"queued until its deadline", external.Dispatch{Status: external.Queued, Digest: "d", Deadline: noon.Add(1)}, true},
		{"queued beyond it", external.Dispatch{Status: external.Queued, Digest: "d", Deadline: noon}, false},
		{"running for hours", external.Dispatch{Status: external.Running, Digest: "d"}, true},
		{"just ended", at(external.OK, 0), true},
		{"failed within the window", at(external.Failed, five-1), true},
		{"ended before it", at(external.OK, five), false},
		{"refused", at(external.Refused, 0), false},
		{"another", external.Dispatch{Status: external.Queued, Digest: "e"}, false},
	}
	for _, tt := range tests {
		if got := tt.d.Answers("d", noon, five); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	if (external.Dispatch{Status: external.Queued}).Answers("", noon, five) {
		t.Error("without a key nothing is a repetition")
	}
}

// TestMoves: one begins once, before its deadline, or never.
func TestMoves(t *testing.T) {
	d := external.Dispatch{Status: external.Queued, Deadline: noon.Add(external.StartDeadline), Message: "m"}
	if _, err := external.Begin(d, "t", d.Deadline); err == nil {
		t.Error("it began at its deadline")
	}
	begun, err := external.Begin(d, "t", d.Deadline.Add(-1))
	if err != nil || begun.Status != external.Running || begun.TurnID != "t" || begun.Message == "" {
		t.Fatal(begun, err)
	}
	if _, err := external.Begin(begun, "u", noon); err == nil {
		t.Error("it began twice")
	}
	if _, ok := external.Refuse(begun, external.ReasonLate, "", noon); ok {
		t.Error("it was refused after it had begun")
	}
	no, ok := external.Refuse(d, external.ReasonLate, "", noon)
	if !ok || no.Status != external.Refused || no.Error != string(external.ReasonLate) || no.Message != "" {
		t.Error(no)
	}
	if _, err := external.Begin(no, "t", noon); err == nil {
		t.Error("a refused one began")
	}

	waits := []time.Duration{time.Minute, 5 * time.Minute}
	for i, wait := range waits {
		next, ok := external.Retry(begun, noon)
		if !ok || !next.NotBefore.Equal(noon.Add(wait)) || !next.Deadline.IsZero() {
			t.Fatalf("try %d: %+v", i+1, next)
		}
		if begun, err = external.Begin(next, "t", noon.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := external.Retry(begun, noon); ok || begun.Tries != 3 {
		t.Error("a fourth try")
	}
}

// TestPlan: spec/tasks-recovery.md 5.3 and scenario 37.
func TestPlan(t *testing.T) {
	late := noon.Add(-time.Second)
	q := func(id, key string, change ...func(d *external.Dispatch)) external.Dispatch {
		d := external.Dispatch{ID: id, SessionKey: "hook:" + key, Status: external.Queued, Lane: external.LaneCLI, Deadline: noon.Add(10 * time.Second)}
		for _, c := range change {
			c(&d)
		}
		return d
	}
	http := func(d *external.Dispatch) { d.Lane = external.LaneHTTP }
	runs := func(d *external.Dispatch) { d.Status = external.Running }
	old := func(d *external.Dispatch) { d.Deadline = late }
	later := func(d *external.Dispatch) { d.NotBefore, d.Deadline = noon.Add(time.Minute), time.Time{} }
	tests := []struct {
		name          string
		all           []external.Dispatch
		b             external.Budget
		inHand        string
		start, refuse string
	}{
		{"no limit", []external.Dispatch{q("1", "a"), q("2", "b")}, external.Budget{}, "", "1 2", ""},
		{"one of a key", []external.Dispatch{q("1", "a"), q("2", "a"), q("3", "b")}, external.Budget{Max: 8}, "", "1 3", ""},
		{"a key in another spelling", []external.Dispatch{q("1", "a"), q("2", "A")}, external.Budget{Max: 8}, "", "1", ""},
		{"behind one that runs", []external.Dispatch{q("1", "a", runs), q("2", "a"), q("3", "b")}, external.Budget{Max: 8}, "", "3", ""},
		{"behind one in hand", []external.Dispatch{q("1", "a"), q("2", "a")}, external.Budget{Max: 8}, "1", "", ""},
		{"too late", []external.Dispatch{q("1", "a", old), q("2", "a")}, external.Budget{Max: 8}, "", "2", "1"},
		{"too late behind another", []external.Dispatch{q("1", "a", runs), q("2", "a", old)}, external.Budget{Max: 8}, "", "", "2"},
		{"one that is asked again keeps its place", []external.Dispatch{q("1", "a", later), q("2", "a")}, external.Budget{Max: 8}, "", "", ""},
		{"a full house", []external.Dispatch{q("1", "a"), q("2", "b")}, external.Budget{Max: 2, Others: 2}, "", "", ""},
		{"one place", []external.Dispatch{q("1", "a"), q("2", "b")}, external.Budget{Max: 2, Others: 1}, "", "1", ""},
		{"in hand counts", []external.Dispatch{q("1", "a"), q("2", "b")}, external.Budget{Max: 1}, "1", "", ""},
		{"the last one is kept", []external.Dispatch{q("1", "a"), q("2", "b", http)}, external.Budget{Max: 2, Others: 1, Reserved: true}, "", "2", ""},
		{"not when nobody listens", []external.Dispatch{q("1", "a")}, external.Budget{Max: 2, Others: 1}, "", "1", ""},
		{"a minimum, not a cap", []external.Dispatch{q("1", "a", http), q("2", "b", http), q("3", "c", http)}, external.Budget{Max: 3, Reserved: true}, "", "1 2 3", ""},
		{"used by one", []external.Dispatch{q("1", "a", http, runs), q("2", "b"), q("3", "c")}, external.Budget{Max: 2, Reserved: true}, "", "2", ""},
		{"one place cannot be kept", []external.Dispatch{q("1", "a")}, external.Budget{Max: 1, Reserved: true}, "", "1", ""},
		{"never more than all", []external.Dispatch{q("1", "a", http)}, external.Budget{Max: 2, Others: 2, Reserved: true}, "", "", ""},
	}
	for _, tt := range tests {
		w := external.Plan(tt.all, tt.b, func(id string) bool { return id == tt.inHand }, noon)
		if got := strings.Join(w.Start, " "); got != tt.start {
			t.Errorf("%s: starts %q, want %q", tt.name, got, tt.start)
		}
		if got := strings.Join(w.Refuse, " "); got != tt.refuse {
			t.Errorf("%s: refuses %q, want %q", tt.name, got, tt.refuse)
		}
		slices.Sort(w.Start)
	}
	w := external.Plan([]external.Dispatch{q("1", "a", runs), q("2", "a")}, external.Budget{}, func(string) bool { return false }, noon)
	if !w.Next.Equal(noon.Add(10 * time.Second)) {
		t.Errorf("next %v", w.Next)
	}
}

// TestSettle: spec/tasks-recovery.md 5.4.
func TestSettle(t *testing.T) {
	const ok, failed = session.TurnSucceeded, session.TurnFailed
	tests := []struct {
		name      string
		status    session.TurnStatus
		reply     string
		cancelled bool
		deliver   bool
		want      external.Report
		tells     bool
		words     string
	}{
		{"visible", ok, "All is  well.\n", false, false, external.Report{Status: external.OK, Disposition: external.Visible, Summary: "All is well."}, false, "Hook Mail: All is well."},
		{"nothing", ok, " \n", false, true, external.Report{Status: external.OK, Disposition: external.Empty, Suppression: "empty"}, true, "Hook Mail: (no reply)"},
		{"quiet", ok, "NO_REPLY", false, true, external.Report{Status: external.OK, Disposition: external.Silent, Suppression: "silent", Summary: "NO_REPLY"}, true, "Hook Mail: NO_REPLY"},
		{"an acknowledgement that was to be delivered", ok, "HEARTBEAT_OK", false, true, external.Report{Status: external.OK, Disposition: external.Silent, Suppression: "heartbeat", Summary: "HEARTBEAT_OK"}, true, "Hook Mail: HEARTBEAT_OK"},
		{"an acknowledgement", ok, "HEARTBEAT_OK", false, false, external.Report{Status: external.OK, Disposition: external.Silent, Summary: "HEARTBEAT_OK"}, false, "Hook Mail: HEARTBEAT_OK"},
		{"failed", failed, "half", false, false, external.Report{Status: external.Failed, Disposition: external.Visible, Summary: "it broke", Error: "it broke"}, true, "Hook Mail (error): it broke"},
		{"cancelled", failed, "", true, true, external.Report{Status: external.Skipped, Disposition: external.Empty, Summary: "it broke", Error: "it broke"}, true, "Hook Mail (skipped): it broke"},
	}
	for _, tt := range tests {
		turn := session.Turn{Status: tt.status}
		if tt.status != ok {
			turn.Error = "it\nbroke"
		}
		got := external.Settle(turn, tt.reply, tt.cancelled, tt.deliver)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if got.Tells(tt.deliver) != tt.tells {
			t.Errorf("%s: tells %v", tt.name, !tt.tells)
		}
		if w := got.Words("Mail"); w != tt.words {
			t.Errorf("%s: %q", tt.name, w)
		}
	}
	r := external.Settle(session.Turn{Status: ok}, strings.Repeat("ü", 600), false, true)
	if r.DeliveryAttempted = true; r.Tells(true) || len([]rune(r.Summary)) != 500 {
		t.Error("a reply that was sent is not announced, and a summary has at most 500 characters")
	}
}

func TestNameOf(t *testing.T) {
	for in, want := range map[string]string{
		"": "Hook", " \n": "Hook", "a\tb\x00 c\r\n d ": "a b c d", strings.Repeat("x", 600): strings.Repeat("x", 499) + "…",
	} {
		if got := external.NameOf(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestLog: the reply is never in it, and it is one line of at most 500.
func TestLog(t *testing.T) {
	r := external.Settle(session.Turn{Status: session.TurnSucceeded}, "secret reply", false, false)
	line, bad := external.Close(external.Dispatch{ID: "1", Name: "Mail", SessionKey: "hook:a", Warnings: []string{"rm -rf"}}, r, noon).Log()
	if line != "Mail: hook 1 in hook:a: ok, reply visible, suspicious: rm -rf" || bad {
		t.Errorf("%q %v", line, bad)
	}
	r = external.Settle(session.Turn{Status: session.TurnFailed, Error: strings.Repeat("e\n", 400)}, "secret reply", false, false)
	line, bad = external.Close(external.Dispatch{ID: "1", Name: "Mail"}, r, noon).Log()
	if !bad || strings.Contains(line, "secret") || strings.Contains(line, "\n") || len([]rune(line)) > 500 {
		t.Errorf("%q %v", line, bad)
	}
}
