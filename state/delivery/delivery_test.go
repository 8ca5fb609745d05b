package delivery_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/state/delivery"
	"claw/state/ulid"
)

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

var us = delivery.Sender{Boot: "b", PID: 7, Start: 9}

// TestLadder: spec/tasks-recovery.md 2.6.
func TestLadder(t *testing.T) {
	for attempts, want := range []time.Duration{0, 5 * time.Second, 25 * time.Second, 2 * time.Minute, 10 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		if got := delivery.Ladder(attempts); got != want {
			t.Errorf("after %d attempts: %v, want %v", attempts, got, want)
		}
	}
}

// TestClassify: design.md section 5.
func TestClassify(t *testing.T) {
	for code := range 256 {
		want := delivery.NotSent
		switch {
		case code == 0:
			want = delivery.Sent
		case code == 75:
		case code >= 64 && code <= 70, code >= 76 && code <= 78:
			want = delivery.Permanent
		}
		exit := delivery.Exit{Started: true, Code: code}
		for _, failure := range []string{"", "not_sent"} {
			if got := delivery.Classify(exit, failure); got != want {
				t.Errorf("exit %d, failure %q: %s, want %s", code, failure, got, want)
			}
		}
		if want == delivery.NotSent && code != 75 {
			want = delivery.Uncertain
		}
		if got := delivery.Classify(exit, "unknown"); got != want {
			t.Errorf("exit %d, failure unknown: %s, want %s", code, got, want)
		}
	}
	tests := []struct {
		name string
		exit delivery.Exit
		want delivery.Verdict
	}{
		{"cannot be started", delivery.Exit{}, "not_ready"},
		{"timeout", delivery.Exit{Started: true, TimedOut: true}, "unknown"},
		{"timeout, and it said 0 then", delivery.Exit{Started: true, TimedOut: true, Code: 0}, "unknown"},
		{"signal", delivery.Exit{Started: true, Signalled: true}, "unknown"},
	}
	for _, tt := range tests {
		for _, failure := range []string{"", "not_sent", "unknown"} {
			if got := delivery.Classify(tt.exit, failure); got != tt.want {
				t.Errorf("%s, failure %q: %s, want %s", tt.name, failure, got, tt.want)
			}
		}
	}
}

func TestClassifyHTTP(t *testing.T) {
	tests := []struct {
		status             int
		request            bool
		byDefault, notSent delivery.Verdict
	}{
		{0, false, "not_sent", "not_sent"}, // no connection
		{0, true, "unknown", "unknown"},    // connected, sent, no answer
		{200, true, "sent", "sent"},
		{202, true, "sent", "sent"},
		{299, true, "sent", "sent"},
		{100, true, "unknown", "unknown"},
		{301, true, "permanent", "permanent"},
		{400, true, "permanent", "permanent"},
		{401, true, "permanent", "permanent"},
		{404, true, "permanent", "permanent"},
		{408, true, "not_sent", "not_sent"},
		{413, true, "permanent", "permanent"},
		{425, true, "not_sent", "not_sent"},
		{429, true, "not_sent", "not_sent"},
		{499, true, "permanent", "permanent"},
		{500, true, "unknown", "not_sent"},
		{502, true, "unknown", "not_sent"},
		{503, true, "not_sent", "not_sent"},
		{504, true, "unknown", "not_sent"},
	}
	for _, tt := range tests {
		h := delivery.HTTP{Status: tt.status, Request: tt.request}
		for failure, want := range map[string]delivery.Verdict{"": tt.byDefault, "unknown": tt.byDefault, "not_sent": tt.notSent} {
			if got := delivery.ClassifyHTTP(h, failure); got != want {
				t.Errorf("%d, request %v, failure %q: %s, want %s", tt.status, tt.request, failure, got, want)
			}
		}
	}
}

func TestRedirect(t *testing.T) {
	for status, want := range map[int]bool{200: false, 300: false, 301: true, 302: true, 303: true, 304: false, 307: true, 308: true, 400: false} {
		if (delivery.HTTP{Status: status}).Redirect() != want {
			t.Errorf("%d: %v", status, !want)
		}
	}
}

// inState is a delivery of one attempt in a state.
func inState(s delivery.State) delivery.Delivery {
	d := delivery.Delivery{ID: "01JE8A000000000000000ABCDE", State: s, CreatedAt: epoch, Attempts: 1}
	if s == delivery.Sending {
		d.Sender = us
	}
	return d
}

// moves are the acts on a delivery, and from which states they are legal.
var moves = []struct {
	name string
	act  func(d delivery.Delivery) (delivery.Delivery, error)
	from string
	to   delivery.State
}{
	{"begin", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Begin(d, us, at(1)) }, "pending", "sending"},
	{"succeed", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Succeed(d, "r", at(1)) }, "sending unknown", "delivered"},
	{"fail", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Fail(d, "no", false, at(1)) }, "sending", "pending"},
	{"fail for good", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Fail(d, "no", true, at(1)) }, "pending sending", "failed"},
	{"defer", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Defer(d, "wait", at(1)) }, "pending sending", "pending"},
	{"lose", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Lose(d, "died", at(1)) }, "sending", "unknown"},
	{"unresolved", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Unresolved(d, at(1)) }, "unknown", "unknown"},
	{"refute", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Refute(d, "no", at(1)) }, "unknown", "pending"},
	{"retry", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Retry(d, at(1)) }, "pending failed unknown", "pending"},
	{"dismiss", func(d delivery.Delivery) (delivery.Delivery, error) { return delivery.Dismiss(d, "seen", at(1)) }, "pending failed unknown", "dismissed"},
}

func TestMoves(t *testing.T) {
	for _, m := range moves {
		for from := range strings.SplitSeq("pending sending delivered failed unknown dismissed asleep", " ") {
			before := inState(delivery.State(from))
			got, err := m.act(before)
			if !strings.Contains(" "+m.from+" ", " "+from+" ") {
				var me *delivery.MoveError
				if !errors.As(err, &me) || string(me.From) != from || me.To == "" || !strings.Contains(err.Error(), from) {
					t.Errorf("%s from %s: %v", m.name, from, err)
				}
				if diff := cmp.Diff(before, got); diff != "" {
					t.Errorf("%s from %s was refused and changed it: %s", m.name, from, diff)
				}
				continue
			}
			if err != nil || got.State != m.to {
				t.Errorf("%s from %s: %s, %v; want %s", m.name, from, got.State, err, m.to)
			}
			if (got.State == delivery.Sending) != (got.Sender == us) {
				t.Errorf("%s from %s: sender %+v", m.name, from, got.Sender)
			}
			if got.State.Ended() == got.EndedAt.IsZero() && m.name != "unresolved" {
				t.Errorf("%s from %s: %s ended at %v", m.name, from, got.State, got.EndedAt)
			}
		}
	}
}

// TestFiveAttempts: each failure waits for the ladder, and the fifth is the
// last.
func TestFiveAttempts(t *testing.T) {
	d := inState(delivery.Pending)
	d.Attempts = 0
	now := epoch
	for n, wait := range []time.Duration{5 * time.Second, 25 * time.Second, 2 * time.Minute, 10 * time.Minute} {
		d, _ = delivery.Begin(d, us, now)
		d, _ = delivery.Fail(d, "no route", false, now)
		if d.State != delivery.Pending || d.Attempts != n+1 || !d.NextAt.Equal(now.Add(wait)) || d.Error != "no route" {
			t.Fatalf("attempt %d: %+v", n+1, d)
		}
		if delivery.Due(d, now.Add(wait-1)) || !delivery.Due(d, now.Add(wait)) {
			t.Errorf("attempt %d is due at another time", n+2)
		}
		now = d.NextAt
	}
	d, _ = delivery.Begin(d, us, now)
	d, _ = delivery.Fail(d, "no route", false, now)
	if d.State != delivery.Failed || d.Attempts != 5 || !d.EndedAt.Equal(now) || delivery.Due(d, now.Add(time.Hour)) {
		t.Errorf("after the fifth: %+v", d)
	}
	if d, _ = delivery.Retry(d, now); d.Attempts != 0 || !delivery.Due(d, now) {
		t.Errorf("a person's retry begins anew: %+v", d)
	}
}

// TestDeferral: nothing is charged, and the wait grows with the age.
func TestDeferral(t *testing.T) {
	d := inState(delivery.Pending)
	d.Attempts = 0
	for age, wait := range map[time.Duration]time.Duration{
		0: time.Minute, 30 * time.Second: time.Minute, 4 * time.Minute: 4 * time.Minute, 24 * time.Hour: 10 * time.Minute, -time.Hour: time.Minute,
	} {
		now := epoch.Add(age)
		begun, _ := delivery.Begin(d, us, now)
		for name, from := range map[string]delivery.Delivery{"pending": d, "begun": begun} {
			got, err := delivery.Defer(from, "not there", now)
			if err != nil || got.Attempts != 0 || got.NextAt.Sub(now) != wait || got.Error != "not there" {
				t.Errorf("%s, age %v: %v, %+v", name, age, err, got)
			}
		}
	}
}

func TestTooOld(t *testing.T) {
	d := inState(delivery.Pending)
	day := 24 * time.Hour
	tests := []struct {
		name    string
		age     time.Duration
		retried time.Duration
		want    bool
	}{
		{"fresh", 0, 0, false},
		{"a moment before", 3*day - 1, 0, false},
		{"72 hours", 3 * day, 0, true},
		{"asked for again", 4 * day, 3 * day, false},
		{"asked for again, long ago", 8 * day, 3 * day, true},
		{"from the future", -day, 0, false},
	}
	for _, tt := range tests {
		d.RetriedAt = time.Time{}
		if tt.retried > 0 {
			d.RetriedAt = epoch.Add(tt.retried)
		}
		if got := delivery.TooOld(d, epoch.Add(tt.age)); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	if !delivery.TooOld(delivery.Delivery{State: delivery.Pending}, epoch) {
		t.Error("one without a time is sent")
	}
	if delivery.TooOld(inState(delivery.Unknown), epoch.Add(9*day)) {
		t.Error("only what waits can be too old")
	}
}

// TestUnknownIsOnlyAskedAbout: five questions on the ladder, then none.
func TestUnknownIsOnlyAskedAbout(t *testing.T) {
	d, _ := delivery.Lose(inState(delivery.Sending), "died", epoch)
	now := epoch
	for n, wait := range []time.Duration{5 * time.Second, 25 * time.Second, 2 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		if !delivery.Due(d, now) {
			t.Fatalf("question %d is not due", n+1)
		}
		d, _ = delivery.Unresolved(d, now)
		if d.State != delivery.Unknown || d.Attempts != 1 || !d.EndedAt.Equal(epoch) || !d.NextAt.Equal(now.Add(wait)) {
			t.Fatalf("%+v", d)
		}
		now = d.NextAt
	}
	if delivery.Due(d, now.Add(time.Hour)) {
		t.Error("a sixth question")
	}
	last := inState(delivery.Unknown)
	last.Attempts = 5
	if got, err := delivery.Refute(last, "no", now); err != nil || got.State != delivery.Failed {
		t.Errorf("refuted without an attempt left: %+v, %v", got, err)
	}
}

// TestReadAnswer: the first word answers, what follows is the receipt.
func TestReadAnswer(t *testing.T) {
	for _, tt := range []struct {
		stdout  string
		answer  delivery.Answer
		receipt string
	}{
		{"sent", "sent", ""},
		{"sent\n", "sent", ""},
		{" \n sent msg-7\n", "sent", "msg-7"},
		{"sent\tmsg-7", "sent", "msg-7"},
		{"sent\nmsg-7\nat noon\n", "sent", "msg-7\nat noon"},
		{"sent\r\nmsg-7\r\n", "sent", "msg-7"},
		{"sent  two  words ", "sent", "two  words"},
		{"not_sent", "not_sent", ""},
		{"not_sent 404", "not_sent", "404"},
		{"unresolved", "unresolved", ""},
		{"unresolved sent", "unresolved", ""},
		{"", "unresolved", ""},
		{"sent: msg-7", "unresolved", ""},
		{"sentry is down", "unresolved", ""},
		{"not sent", "unresolved", ""},
		{"not_sent_yet", "unresolved", ""},
		{"was it sent?", "unresolved", ""},
	} {
		if a, receipt := delivery.ReadAnswer(tt.stdout); a != tt.answer || receipt != tt.receipt {
			t.Errorf("%q: %s %q, want %s %q", tt.stdout, a, receipt, tt.answer, tt.receipt)
		}
	}
}

// FuzzReadAnswer: nothing but the bare word lets anything be sent again, and no
// receipt is made up.
func FuzzReadAnswer(f *testing.F) {
	for _, s := range []string{"sent msg-7", "not_sent\n", "not_sent\u00a0x", "\xffsent", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stdout string) {
		a, receipt := delivery.ReadAnswer(stdout)
		words := strings.Fields(stdout)
		for word, want := range map[string]delivery.Answer{"sent": delivery.AnswerSent, "not_sent": delivery.AnswerNotSent} {
			if said := len(words) > 0 && words[0] == word; said != (a == want) {
				t.Errorf("%q: %s", stdout, a)
			}
		}
		if !strings.HasSuffix(strings.TrimSpace(stdout), receipt) || a == delivery.AnswerUnresolved && receipt != "" {
			t.Errorf("%q: receipt %q", stdout, receipt)
		}
	})
}

// TestAnswerIsOfItsAttempt: what was said about one is not said about the next.
func TestAnswerIsOfItsAttempt(t *testing.T) {
	d := inState(delivery.Unknown)
	d.Answer = "unresolved"
	for name, act := range map[string]func() (delivery.Delivery, error){
		"refuted": func() (delivery.Delivery, error) { return delivery.Refute(d, "no", epoch) },
		"retried": func() (delivery.Delivery, error) { return delivery.Retry(d, epoch) },
	} {
		again, err := act()
		if err == nil {
			again, err = delivery.Begin(again, us, epoch)
		}
		if err != nil || again.Answer != "" {
			t.Errorf("%s: %q, %v", name, again.Answer, err)
		}
	}
}

// TestModel runs any acts in any order against what must always hold.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := delivery.Delivery{ID: "01JE8A000000000000000ABCDE", IdempotencyKey: "k", State: delivery.Pending, CreatedAt: epoch}
		sends, byHand := 0, 0 // attempts begun since the last retry by hand
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			m := moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")]
			before := d
			var err error
			d, err = m.act(d)
			if err != nil {
				if diff := cmp.Diff(before, d); diff != "" {
					t.Fatalf("%s was refused and changed it: %s", m.name, diff)
				}
				continue
			}
			switch {
			case m.name == "begin":
				sends++
			case m.name == "defer" && before.State == delivery.Sending:
				sends-- // given back
			case m.name == "retry" && before.State != delivery.Pending:
				sends, byHand = 0, byHand+1
			}
			if before.State == delivery.Unknown && d.State == delivery.Pending && m.name != "retry" && m.name != "refute" {
				t.Fatalf("%s sends an unknown outcome again", m.name)
			}
			if before.State == delivery.Delivered || before.State == delivery.Dismissed {
				t.Fatalf("%s left %s", m.name, before.State)
			}
			if d.Attempts != sends || sends > delivery.MaxAttempts {
				t.Fatalf("%d attempts charged, %d made", d.Attempts, sends)
			}
			if d.IdempotencyKey != "k" || d.ID != before.ID || !d.CreatedAt.Equal(epoch) {
				t.Fatalf("%s changed what it is", m.name)
			}
			if (d.State == delivery.Delivered) != !d.ReceiptAt.IsZero() {
				t.Fatalf("%s: %s with a receipt of %v", m.name, d.State, d.ReceiptAt)
			}
		}
	})
}

// TestKeys: spec/tasks-recovery.md 2.3.
func TestKeys(t *testing.T) {
	moment := time.UnixMilli(1764504000123)
	for want, got := range map[string]string{
		"task-terminal:T:succeeded:default":    delivery.KeyTaskEnd("T", "succeeded", ""),
		"task-terminal:T:succeeded:blocked":    delivery.KeyTaskEnd("T", "succeeded", "blocked"),
		"task-event:T:1764504000123:progress":  delivery.KeyTaskChange("T", moment, "progress"),
		"flow-terminal:F:T:failed:default":     delivery.KeyFlowEnd("F", "T", "failed", ""),
		"flow-event:F:T:1764504000123:running": delivery.KeyFlowChange("F", "T", moment, "running"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	ids := []string{"01JE8A0000000000000000X4F2", "01JE8A0000000000000001X4F2", "01JE9B0000000000000000PQRS"}
	tests := []struct {
		query string
		want  int
		err   string
	}{
		{"d-00x4f2", 0, ""},
		{"D-01X4F2", 1, ""},
		{"d-pqrs", 2, ""},
		{"pqrs", 2, ""},
		{"01JE9B", 2, ""},
		{"01je9b0000000000000000pqrs", 2, ""},
		{" d-0000pqrs ", 2, ""},
		{"x4f2", -1, "fits 2"},
		{"d-x4f2", -1, "fits 2"},
		{"01JE8A", -1, "fits 2"},
		{"d-01je9b", -1, "no delivery"}, // a short form is from the end
		{"qrs", -1, "no delivery"},
		{"d-", -1, "no delivery"},
		{"", -1, "no delivery"},
		{"zzzz", -1, "no delivery"},
	}
	for _, tt := range tests {
		got, err := delivery.Resolve(tt.query, ids)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %d, %v; want %d, %q", tt.query, got, err, tt.want, tt.err)
		}
	}
	for range 100 {
		id := ulid.New(epoch)
		short := delivery.Short(id)
		if len(short) != 8 || short != strings.ToLower(short) {
			t.Fatalf("%q", short)
		}
		if i, err := delivery.Resolve(short, []string{"01JE8A0000000000000000X4F2", id}); i != 1 || err != nil {
			t.Fatalf("%s is not found as %s: %v", id, short, err)
		}
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("d-00x4f2", "01JE8A0000000000000000X4F2")
	f.Add("D-", "")
	f.Fuzz(func(t *testing.T, query, id string) {
		i, err := delivery.Resolve(query, []string{id})
		if (i == 0) != (err == nil) || i > 0 {
			t.Errorf("%d, %v", i, err)
		}
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		delivery.Short(id)
	})
}

func TestUnder(t *testing.T) {
	for _, tt := range []struct{ title, body, want string }{
		{"", "", "text"}, {"title", "", "text"}, {"", "body", "text"}, {"title", "body", "body"},
	} {
		d := delivery.Delivery{Title: tt.title, Body: tt.body, Text: "text"}
		m := delivery.Message{Title: tt.title, Body: tt.body, Text: "text"}
		if d.Under() != tt.want || m.Under() != tt.want {
			t.Errorf("%+v: %q", tt, d.Under())
		}
	}
}
