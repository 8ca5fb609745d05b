package flow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/state/flow"
	"claw/state/task"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

const week = 7 * 24 * time.Hour

func ptr[T any](v T) *T { return &v }

// made is a managed flow as New makes it.
func made(t testing.TB) flow.Flow {
	t.Helper()
	f, err := flow.New(flow.Flow{OwnerKey: "agent:main:main", ControllerID: "release", Goal: "ship"}, "01FLOW", noon)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// full is a flow in a status, with everything set.
func full(t testing.TB, s flow.Status) flow.Flow {
	f := made(t)
	f.Status, f.Revision, f.CurrentStep = s, 7, "build"
	f.BlockedTaskID, f.BlockedSummary = "01TASK", "no quota"
	f.StateJSON, f.WaitJSON = json.RawMessage(`{"a":1}`), json.RawMessage(`{"pr":17}`)
	return f
}

// TestNew: spec/tasks-recovery.md 3.1, 3.3.
func TestNew(t *testing.T) {
	want := flow.Flow{
		ID: "01FLOW", SyncMode: "managed", OwnerKey: "agent:main:main", ControllerID: "release", Goal: "ship", Status: "queued", NotifyPolicy: "done_only",
		CreatedAt: noon, UpdatedAt: noon,
	}
	if diff := cmp.Diff(want, made(t)); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		name, field string
		f           flow.Flow
	}{
		{"without an owner", "ownerKey", flow.Flow{ControllerID: "c", Goal: "g"}},
		{"a blank owner", "ownerKey", flow.Flow{OwnerKey: " ", ControllerID: "c", Goal: "g"}},
		{"without a controller", "controllerId", flow.Flow{OwnerKey: "o", Goal: "g"}},
		{"without a goal", "goal", flow.Flow{OwnerKey: "o", ControllerID: "c", Goal: "\n"}},
		{"one that has ended", "status", flow.Flow{OwnerKey: "o", ControllerID: "c", Goal: "g", Status: "succeeded"}},
		{"a status that is none", "status", flow.Flow{OwnerKey: "o", ControllerID: "c", Goal: "g", Status: "paused"}},
		{"a policy that is none", "notifyPolicy", flow.Flow{OwnerKey: "o", ControllerID: "c", Goal: "g", NotifyPolicy: "loud"}},
		{"a goal of 2001 bytes", "goal", flow.Flow{OwnerKey: "o", ControllerID: "c", Goal: strings.Repeat("x", 2001)}},
		{"a step that is not UTF-8", "currentStep", flow.Flow{OwnerKey: "o", ControllerID: "c", Goal: "g", CurrentStep: "\xff"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := flow.New(tt.f, "01FLOW", noon)
			wrong, ok := errors.AsType[*flow.InputError](err)
			if !ok || wrong.Field != tt.field || wrong.Remedy() == "" {
				t.Errorf("%v, want one about %s with a remedy", err, tt.field)
			}
		})
	}
	if _, err := flow.New(flow.Flow{OwnerKey: "o", ControllerID: "c", Goal: strings.Repeat("x", 2000)}, "01FLOW", noon); err != nil {
		t.Errorf("a goal of 2000 bytes: %v", err)
	}
}

// TestOperations: the table of spec/tasks-recovery.md 3.3, from every status that
// is no end.
func TestOperations(t *testing.T) {
	later := noon.Add(time.Minute)
	tests := []struct {
		name string
		c    flow.Change
		want func(f *flow.Flow) // of a flow that has everything
	}{
		{"wait", flow.Change{Op: "wait", Patch: flow.Patch{Step: ptr("review"), Wait: &flow.Value{JSON: json.RawMessage(`{"pr":18}`)}}}, func(f *flow.Flow) {
			f.Status, f.CurrentStep, f.WaitJSON, f.BlockedTaskID, f.BlockedSummary = "waiting", "review", json.RawMessage(`{"pr":18}`), "", ""
		}},
		{"wait: what is not said stays", flow.Change{Op: "wait"}, func(f *flow.Flow) {
			f.Status, f.BlockedTaskID, f.BlockedSummary = "waiting", "", ""
		}},
		{"wait: null takes away", flow.Change{Op: "wait", Patch: flow.Patch{Step: ptr(""), Wait: &flow.Value{Clear: true}, State: &flow.Value{Clear: true}}}, func(f *flow.Flow) {
			f.Status, f.CurrentStep, f.WaitJSON, f.StateJSON, f.BlockedTaskID, f.BlockedSummary = "waiting", "", nil, nil, "", ""
		}},
		{"wait: blocked by a task", flow.Change{Op: "wait", Patch: flow.Patch{BlockedTask: ptr("01T")}}, func(f *flow.Flow) {
			f.Status, f.BlockedTaskID, f.BlockedSummary = "blocked", "01T", ""
		}},
		{"wait: blocked in words", flow.Change{Op: "wait", Patch: flow.Patch{BlockedSummary: ptr("full")}}, func(f *flow.Flow) {
			f.Status, f.BlockedTaskID, f.BlockedSummary = "blocked", "", "full"
		}},
		{"resume", flow.Change{Op: "resume"}, func(f *flow.Flow) {
			f.Status, f.WaitJSON, f.BlockedTaskID, f.BlockedSummary = "queued", nil, "", ""
		}},
		{"resume: running", flow.Change{Op: "resume", To: "running", Patch: flow.Patch{State: &flow.Value{JSON: json.RawMessage(`2`)}}}, func(f *flow.Flow) {
			f.Status, f.StateJSON, f.WaitJSON, f.BlockedTaskID, f.BlockedSummary = "running", json.RawMessage(`2`), nil, "", ""
		}},
		{"finish", flow.Change{Op: "finish"}, func(f *flow.Flow) {
			f.Status, f.EndedAt, f.WaitJSON, f.BlockedTaskID, f.BlockedSummary = "succeeded", later, nil, "", ""
		}},
		{"fail: what blocked it stays", flow.Change{Op: "fail"}, func(f *flow.Flow) {
			f.Status, f.EndedAt, f.WaitJSON = "failed", later, nil
		}},
		{"fail: another reason", flow.Change{Op: "fail", Patch: flow.Patch{BlockedTask: ptr(""), BlockedSummary: ptr("tests")}}, func(f *flow.Flow) {
			f.Status, f.EndedAt, f.WaitJSON, f.BlockedTaskID, f.BlockedSummary = "failed", later, nil, "", "tests"
		}},
		{"cancel: only the wish", flow.Change{Op: "cancel"}, func(f *flow.Flow) { f.CancelRequestedAt = later }},
		{"cancel: with the state, in one write (112708)", flow.Change{Op: "cancel", Patch: flow.Patch{State: &flow.Value{JSON: json.RawMessage(`3`)}}}, func(f *flow.Flow) {
			f.CancelRequestedAt, f.StateJSON = later, json.RawMessage(`3`)
		}},
	}
	for _, from := range []flow.Status{"queued", "running", "waiting", "blocked"} {
		for _, tt := range tests {
			t.Run(string(from)+" "+tt.name, func(t *testing.T) {
				before := full(t, from)
				tt.c.Expect = ptr(int64(7))
				got, err := flow.Apply(before, tt.c, later)
				want := before
				want.Revision, want.UpdatedAt = 8, later
				tt.want(&want)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Error(err, diff)
				}
			})
		}
	}
}

// TestRejections: a rejection writes nothing and has the record as it is
// (spec/tasks-recovery.md 3.3 and its recommendation).
func TestRejections(t *testing.T) {
	seven, six := ptr(int64(7)), ptr(int64(6))
	ops := []flow.Op{"wait", "resume", "finish", "fail", "cancel"}
	type row struct {
		name   string
		f      flow.Flow
		expect *int64
		ops    []flow.Op
		want   flow.Code
	}
	mirrored := full(t, "running")
	mirrored.SyncMode = flow.Mirrored
	cancelling := full(t, "waiting")
	cancelling.CancelRequestedAt = noon
	blocked := full(t, "blocked")
	blocked.EndedAt = noon
	tests := []row{
		{"mirrored", mirrored, seven, ops, "not_managed"},
		{"mirrored, whatever the revision", mirrored, six, ops, "not_managed"},
		{"another revision", full(t, "running"), six, ops, "revision_conflict"},
		{"no revision", full(t, "running"), nil, ops[:4], "revision_conflict"},
		{"to be cancelled", cancelling, seven, ops[:4], "cancel_requested"},
		{"blocked with an end", blocked, seven, ops, "terminal"},
		{"a conflict counts before the end", blocked, six, ops, "revision_conflict"},
	}
	for _, s := range []flow.Status{"succeeded", "failed", "cancelled", "lost"} {
		f := full(t, s)
		f.EndedAt = noon
		tests = append(tests, row{"ended: " + string(s), f, seven, ops, "terminal"})
	}
	for _, tt := range tests {
		for _, op := range tt.ops {
			t.Run(tt.name+" "+string(op), func(t *testing.T) {
				got, err := flow.Apply(tt.f, flow.Change{Op: op, Expect: tt.expect}, noon.Add(time.Hour))
				no, ok := errors.AsType[*flow.Rejection](err)
				if !ok || no.Code != tt.want || no.Error() == "" {
					t.Fatalf("%v, want %s", err, tt.want)
				}
				if diff := cmp.Diff(tt.f, got) + cmp.Diff(tt.f, no.Flow); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestWrongValues: an error of the caller writes nothing.
func TestWrongValues(t *testing.T) {
	for name, c := range map[string]flow.Change{
		"resume as waiting":   {Op: "resume", To: "waiting"},
		"an unknown op":       {Op: "pause"},
		"a long step":         {Op: "wait", Patch: flow.Patch{Step: ptr(strings.Repeat("x", 2001))}},
		"a reason of no UTF8": {Op: "fail", Patch: flow.Patch{BlockedSummary: ptr("\xff")}},
	} {
		c.Expect = ptr(int64(7))
		before := full(t, "running")
		got, err := flow.Apply(before, c, noon)
		if _, ok := errors.AsType[*flow.InputError](err); !ok || cmp.Diff(before, got) != "" {
			t.Errorf("%s: %v, %s", name, err, cmp.Diff(before, got))
		}
	}
}

// TestWishStays: written twice it is written once, at any revision unless one is
// named.
func TestWishStays(t *testing.T) {
	f, err := flow.Apply(full(t, "running"), flow.Change{Op: "cancel"}, noon)
	if err != nil || f.Revision != 8 || !f.CancelRequestedAt.Equal(noon) {
		t.Fatal(f, err)
	}
	again, err := flow.Apply(f, flow.Change{Op: "cancel", Expect: ptr(int64(8))}, noon.Add(time.Hour))
	if diff := cmp.Diff(f, again); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := flow.Apply(f, flow.Change{Op: "cancel", Expect: ptr(int64(7))}, noon); err == nil {
		t.Error("another revision: no conflict")
	}
	more, err := flow.Apply(f, flow.Change{Op: "cancel", Patch: flow.Patch{Step: ptr("x")}}, noon.Add(time.Hour))
	if err != nil || more.Revision != 9 || !more.CancelRequestedAt.Equal(noon) || more.CurrentStep != "x" {
		t.Error(more, err)
	}
}

// TestClose: it ends with its last child, and after all that was written of it
// (spec/tasks-recovery.md 3.6).
func TestClose(t *testing.T) {
	f := full(t, "blocked")
	f.CancelRequestedAt, f.UpdatedAt = noon.Add(time.Minute), noon.Add(time.Minute)
	for _, tt := range []struct {
		name string
		at   time.Time
		want time.Time
	}{
		{"a child that ended later", noon.Add(time.Hour), noon.Add(time.Hour)},
		{"one that ended before the wish", noon, noon.Add(time.Minute)},
		{"no child", time.Time{}, noon.Add(time.Minute)},
	} {
		got := flow.Close(f, tt.at)
		want := f
		want.Status, want.Revision, want.EndedAt, want.UpdatedAt = "cancelled", 8, tt.want, tt.want
		want.WaitJSON, want.BlockedTaskID, want.BlockedSummary = nil, "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if !got.Terminal() || got.Cancelling() {
			t.Errorf("%s: it has not ended, or still counts as to be cancelled (117713)", tt.name)
		}
	}
}

// TestRevisions: whatever is done, by whoever, in whatever order: the revision
// grows by exactly one with each write, of two writes that have seen the same
// revision one applies, what has ended and the wish to cancel are final, and no
// time moves back.
func TestRevisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := flow.New(flow.Flow{OwnerKey: "o", ControllerID: "c", Goal: "g"}, "01FLOW", noon)
		if err != nil {
			t.Fatal(err)
		}
		now, taken := noon, map[int64]int{}
		for range rapid.IntRange(1, 40).Draw(t, "writes") {
			now = now.Add(time.Duration(rapid.IntRange(-90, 90).Draw(t, "seconds")) * time.Second)
			c := flow.Change{
				Op:     rapid.SampledFrom([]flow.Op{"wait", "resume", "finish", "fail", "cancel", "pause"}).Draw(t, "op"),
				Expect: ptr(max(0, f.Revision-int64(rapid.IntRange(0, 2).Draw(t, "behind")))),
				To:     rapid.SampledFrom([]flow.Status{"", "queued", "running", "lost"}).Draw(t, "to"),
			}
			if rapid.Bool().Draw(t, "blocked") {
				c.Patch.BlockedSummary = ptr("why")
			}
			before := f
			next, err := flow.Apply(f, c, now)
			if rapid.IntRange(0, 9).Draw(t, "close") == 0 && f.Cancelling() {
				next, err = flow.Close(f, now), nil
			}
			if err != nil || next.Revision == before.Revision {
				if diff := cmp.Diff(before, next); diff != "" {
					t.Fatalf("a write that was not applied changed something: %s", diff)
				}
				continue
			}
			if taken[before.Revision]++; taken[before.Revision] > 1 {
				t.Fatalf("two writes applied to revision %d", before.Revision)
			}
			f = next
			sound(t, before, f)
		}
	})
}

func sound(t *rapid.T, before, f flow.Flow) {
	switch {
	case f.Revision != before.Revision+1:
		t.Fatalf("revision %d after %d", f.Revision, before.Revision)
	case before.Terminal():
		t.Fatalf("%s became %s", before.Status, f.Status)
	case before.Cancelling() && f.Status != before.Status && f.Status != flow.Cancelled:
		t.Fatalf("to be cancelled, and became %s", f.Status)
	case !before.CancelRequestedAt.IsZero() && !f.CancelRequestedAt.Equal(before.CancelRequestedAt):
		t.Fatal("the wish moved")
	case f.UpdatedAt.Before(before.UpdatedAt), f.Terminal() != !f.EndedAt.IsZero(), f.Terminal() && !f.EndedAt.Equal(f.UpdatedAt):
		t.Fatalf("times: %+v", f)
	}
	if found := flow.Audit(f, nil, f.UpdatedAt); len(found) > 0 && found[0].Code == flow.FindTimestamps {
		t.Fatal(found[0].Detail)
	}
	if err := flow.Check(f); err != nil {
		t.Fatal(err)
	}
}

// TestJSON: what is kept is the value as it was given, compact.
func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{ "a" : [1, 2.50, 1e400] }`: `{"a":[1,2.50,1e400]}`, `"x"`: `"x"`, "null": "", " null ": "", "0": "0", "[]": "[]",
	} {
		got, err := flow.JSON("stateJson", in)
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	exactly := `"` + strings.Repeat("x", 64<<10-2) + `"`
	if got, err := flow.JSON("stateJson", exactly); err != nil || len(got) != 64<<10 {
		t.Errorf("64 KiB: %d bytes, %v", len(got), err)
	}
	for _, in := range []string{"", "{", "{} {}", "nil", "\"\xff\"", `"` + strings.Repeat("x", 64<<10-1) + `"`} {
		if got, err := flow.JSON("stateJson", in); err == nil {
			t.Errorf("%.20q: %q is kept", in, got)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "null", "[[[", `"\u0000"`, "1 2", " {} "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := flow.JSON("stateJson", in)
		if err != nil {
			if got != nil {
				t.Fatal("an error with a value")
			}
			return
		}
		if got == nil {
			if strings.TrimSpace(in) != "null" {
				t.Fatalf("%q is nothing", in)
			}
			return
		}
		again, err := flow.JSON("stateJson", string(got))
		if err != nil || string(again) != string(got) || len(got) > flow.MaxJSON || !json.Valid(got) {
			t.Fatalf("%q is kept as %q, then %q, %v", in, got, again, err)
		}
	})
}

// TestWords: stored words are read strictly (spec/tasks-recovery.md 1.2).
func TestWords(t *testing.T) {
	for _, s := range []string{"queued", "running", "waiting", "blocked", "succeeded", "failed", "cancelled", "lost"} {
		if got, err := flow.ParseStatus(s); err != nil || string(got) != s {
			t.Errorf("%s: %s, %v", s, got, err)
		}
	}
	for name, spoil := range map[string]func(f *flow.Flow){
		"status":       func(f *flow.Flow) { f.Status = "paused" },
		"syncMode":     func(f *flow.Flow) { f.SyncMode = "" },
		"notifyPolicy": func(f *flow.Flow) { f.NotifyPolicy = "loud" },
	} {
		f := made(t)
		spoil(&f)
		if word, ok := errors.AsType[*task.WordError](flow.Check(f)); !ok || word.Field != name {
			t.Errorf("%s: %v", name, flow.Check(f))
		}
	}
}
