package boot_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claw/state/boot"
	"claw/state/process"
)

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func ms(n int) time.Time { return epoch.Add(time.Duration(n) * time.Millisecond) }

var outcomes = []boot.Outcome{boot.Open, boot.CleanStop, boot.PlannedRestart, boot.ForcedStop, boot.StartupFailed}

func TestABootEndsOnce(t *testing.T) {
	for _, from := range outcomes {
		for _, to := range append(outcomes, "exploded") {
			legal := from == boot.Open && to != boot.Open && to != "exploded"
			err := boot.CanMove(from, to)
			if (err == nil) != legal {
				t.Errorf("from %q to %q: %v", from, to, err)
			}
			b := boot.Boot{ID: "a", StartedAt: ms(0), Outcome: from}
			got, err := b.End(to, "why", ms(5))
			move, isMove := errors.AsType[*boot.MoveError](err)
			switch {
			case legal && (err != nil || got.Outcome != to || got.Reason != "why" || !got.CompletedAt.Equal(ms(5))):
				t.Errorf("from %q to %q: %+v, %v", from, to, got, err)
			case !legal && (!isMove || move.From != from || move.To != to || got != b):
				t.Errorf("from %q to %q: %+v, %v; want it unchanged and a MoveError", from, to, got, err)
			}
		}
	}
}

func TestWhatHasWorkedHasNotFailedToStart(t *testing.T) {
	b := boot.Begin("a", process.Identity{}, "1", boot.Breaker{Mode: boot.Normal}, ms(0)).Ready(ms(1))
	if got, err := b.End(boot.StartupFailed, "", ms(2)); err == nil || got != b {
		t.Errorf("%+v, %v", got, err)
	}
	if again := b.Ready(ms(9)); again != b {
		t.Errorf("ready a second time: %+v", again)
	}
	ended, err := b.End(boot.CleanStop, "", ms(2))
	if err != nil || ended.Ready(ms(3)) != ended {
		t.Errorf("%+v, %v", ended, err)
	}
}

func TestAClockSetBackDoesNotEndABootBeforeItBegan(t *testing.T) {
	b, err := boot.Boot{StartedAt: ms(1000)}.End(boot.ForcedStop, "", ms(0))
	if err != nil || !b.CompletedAt.Equal(ms(1000)) {
		t.Errorf("completed %v, %v", b.CompletedAt, err)
	}
}

func TestFate(t *testing.T) {
	known := process.Identity{Boot: "m1", PID: 7, Start: 9}
	for _, tt := range []struct {
		name    string
		owner   process.Identity
		outcome boot.Outcome
		alive   bool
		machine string
		want    boot.Fate
	}{
		{"it holds the lock", known, boot.Open, true, "m1", boot.Alive},
		{"the lock is free, and the machine is the same", known, boot.Open, false, "m1", boot.Died},
		{"the machine was started anew", known, boot.Open, false, "m2", boot.Outage},
		{"no identity", process.Identity{}, boot.Open, false, "m1", boot.Unknown},
		{"no boot id on this machine", known, boot.Open, false, "", boot.Unknown},
		{"the lock counts more than what is written", known, boot.Open, true, "m2", boot.Alive},
		{"it has ended", known, boot.ForcedStop, false, "m1", boot.Ended},
		{"it has ended, and the lock is still held", known, boot.CleanStop, true, "m1", boot.Ended},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := boot.FateOf(boot.Boot{Owner: tt.owner, Outcome: tt.outcome}, tt.alive, tt.machine); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestModes(t *testing.T) {
	always := map[boot.Act]bool{boot.Look: true, boot.Repair: true, boot.Ask: true, boot.Command: true, boot.SendByHand: true}
	byHand := map[boot.Act]bool{boot.TurnByHand: true, boot.RunByHand: true, boot.ResumeByHand: true}
	for _, a := range boot.Acts() {
		want := map[boot.Mode]bool{boot.Normal: true, boot.Safe: always[a] || byHand[a], boot.Draining: always[a]}
		for m, ok := range want {
			if m.Allows(a) != ok {
				t.Errorf("%s, %s: %v, want %v", m, a, !ok, ok)
			}
		}
	}
	for m, quiet := range map[boot.Mode]bool{boot.Normal: true, boot.Safe: false, boot.Draining: false} {
		if (m.Why() == "") != quiet || (m.Remedy() == "") != quiet {
			t.Errorf("%s: %q, %q", m, m.Why(), m.Remedy())
		}
	}
}

// end is a boot that ended.
func end(id string, started, completed int, o boot.Outcome, reason string) boot.Boot {
	return boot.Boot{ID: id, StartedAt: ms(started), CompletedAt: ms(completed), Outcome: o, Reason: reason}
}

func open(id string, started int) boot.Boot { return boot.Boot{ID: id, StartedAt: ms(started)} }

// latched began in safe mode.
func latched(b boot.Boot) boot.Boot {
	b.StartupReason = boot.CrashLoop
	return b
}

// TestAssess: spec/tasks-recovery.md 4.11 and 9.10. Now is minute 10.
func TestAssess(t *testing.T) {
	const now = 600_000
	for _, tt := range []struct {
		name  string
		boots []boot.Boot
		self  string
		want  boot.Breaker
	}{
		{"no rows", nil, "", boot.Breaker{Mode: boot.Normal}},
		{"two deaths", []boot.Boot{open("a", now-3), open("b", now-2)}, "", boot.Breaker{Mode: boot.Normal, Unclean: []string{"a", "b"}}},
		{
			"three deaths, the first 299,999 ms ago",
			[]boot.Boot{open("a", now-299_999), open("b", now-2), open("c", now-1)},
			"",
			boot.Breaker{Mode: boot.Safe, Unclean: []string{"a", "b", "c"}, Trip: true, Until: ms(now - 1 + 300_001)},
		},
		{
			"in any order",
			[]boot.Boot{open("c", now-1), open("a", now-299_999), open("b", now-2)},
			"",
			boot.Breaker{Mode: boot.Safe, Unclean: []string{"c", "a", "b"}, Trip: true, Until: ms(now - 1 + 300_001)},
		},
		{
			"the first 300,000 ms ago",
			[]boot.Boot{open("a", now-300_000), open("b", now-2), open("c", now-1)},
			"",
			boot.Breaker{Mode: boot.Safe, Unclean: []string{"a", "b", "c"}, Trip: true, Until: ms(now - 1 + 300_001)},
		},
		{
			"the first 300,001 ms ago",
			[]boot.Boot{open("a", now-300_001), open("b", now-2), open("c", now-1)},
			"",
			boot.Breaker{Mode: boot.Normal, Unclean: []string{"b", "c"}},
		},
		{
			"starts that failed count from their end",
			[]boot.Boot{
				end("a", now-900_000, now-299_000, boot.StartupFailed, "no such directory"), end("b", now-2, now-2, boot.StartupFailed, "x"),
				end("c", now-1, now-1, boot.StartupFailed, ""),
			},
			"",
			boot.Breaker{Mode: boot.Safe, Unclean: []string{"a", "b", "c"}, Trip: true, Until: ms(now - 1 + 300_001)},
		},
		{
			"refusals are no failures",
			[]boot.Boot{
				end("a", now-3, now-3, boot.StartupFailed, boot.ReasonAlreadyRunning), end("b", now-2, now-2, boot.StartupFailed, boot.ReasonNewerFormat),
				end("c", now-1, now-1, boot.StartupFailed, boot.ReasonDraining), open("d", now-1), open("e", now-1),
			},
			"",
			boot.Breaker{Mode: boot.Normal, Unclean: []string{"d", "e"}},
		},
		{
			"stops that somebody wanted do not count",
			[]boot.Boot{
				end("a", now-3, now-3, boot.ForcedStop, ""), end("b", now-2, now-2, boot.CleanStop, ""), end("c", now-1, now-1, boot.PlannedRestart, ""),
				open("d", now-1), open("e", now-1),
			},
			"",
			boot.Breaker{Mode: boot.Normal, Unclean: []string{"d", "e"}},
		},
		{
			"the one that lives does not count",
			[]boot.Boot{open("a", now-3), open("b", now-2), open("c", now-1)},
			"c",
			boot.Breaker{Mode: boot.Normal, Unclean: []string{"a", "b"}},
		},
		{
			"a clock that was set back by less than the window",
			[]boot.Boot{open("a", now+1), open("b", now+2), open("c", now+300_000)},
			"",
			boot.Breaker{Mode: boot.Safe, Unclean: []string{"a", "b", "c"}, Trip: true, Until: ms(now + 300_000 + 300_001)},
		},
		{
			"a clock that was set back by hours",
			[]boot.Boot{open("a", now+1), open("b", now+2), open("c", now+300_001)},
			"",
			boot.Breaker{Mode: boot.Normal, Unclean: []string{"a", "b"}},
		},
		{
			"tripped already: it is not said again",
			[]boot.Boot{open("a", now-4), open("b", now-3), open("c", now-2), latched(open("d", now-1))},
			"d",
			boot.Breaker{Mode: boot.Safe, Unclean: []string{"a", "b", "c"}, Until: ms(now - 2 + 300_001)},
		},
		{
			"latched: one unclean boot in the window is enough to stay",
			[]boot.Boot{open("a", now-300_002), open("b", now-300_001), open("c", now-300_000), latched(open("d", now-290_000))},
			"d",
			boot.Breaker{Mode: boot.Safe, Unclean: []string{"c"}, Until: ms(now + 1)},
		},
		{
			"recovered 300,001 ms after the last unclean boot",
			[]boot.Boot{open("a", now-300_003), open("b", now-300_002), open("c", now-300_001), latched(open("d", now-290_000))},
			"d",
			boot.Breaker{Mode: boot.Normal, Recovered: []string{"d"}},
		},
		{
			"the runner in safe mode died too: it counts as well",
			[]boot.Boot{open("c", now-300_001), latched(open("d", now-290_000))},
			"",
			boot.Breaker{Mode: boot.Safe, Unclean: []string{"d"}, Until: ms(now - 290_000 + 300_001)},
		},
		{
			"a clean stop does not end safe mode",
			[]boot.Boot{open("c", now-200_000), latched(end("d", now-190_000, now-180_000, boot.CleanStop, "")), open("e", now-1)},
			"e",
			boot.Breaker{Mode: boot.Safe, Unclean: []string{"c"}, Until: ms(now - 200_000 + 300_001)},
		},
		{
			"recovered once: two more deaths are two",
			[]boot.Boot{latched(end("d", now-190_000, now-180_000, boot.CleanStop, "")).Recover(ms(now - 185_000)), open("e", now-2), open("f", now-1)},
			"",
			boot.Breaker{Mode: boot.Normal, Unclean: []string{"e", "f"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, boot.Assess(tt.boots, tt.self, ms(now))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCrashLoop is a story: a runner dies every 20 s, is started anew each
// time, and is then left alone.
func TestCrashLoop(t *testing.T) {
	var rows []boot.Boot
	start := func(at int) boot.Breaker {
		seen := boot.Assess(rows, "", ms(at))
		rows = append(rows, boot.Begin(string(rune('a'+len(rows))), process.Identity{}, "1", seen, ms(at)))
		return seen
	}
	for i, want := range []struct {
		mode boot.Mode
		trip bool
	}{{boot.Normal, false}, {boot.Normal, false}, {boot.Normal, false}, {boot.Safe, true}, {boot.Safe, false}} {
		if seen := start(20_000 * i); seen.Mode != want.mode || seen.Trip != want.trip {
			t.Fatalf("start %d: %+v, want %+v", i+1, seen, want)
		}
	}
	// The fifth lives; the fourth died in safe mode at 80 s, begun at 60 s.
	self := rows[4].ID
	for at, want := range map[int]boot.Mode{80_000: boot.Safe, 359_999: boot.Safe, 360_000: boot.Safe, 360_001: boot.Normal} {
		if seen := boot.Assess(rows, self, ms(at)); seen.Mode != want {
			t.Errorf("after %d ms: %+v, want %s", at, seen, want)
		}
	}
	over := boot.Assess(rows, self, ms(360_001))
	if diff := cmp.Diff([]string{"d", "e"}, over.Recovered); diff != "" {
		t.Error(diff)
	}
	for i := range rows {
		rows[i] = rows[i].Recover(ms(360_001))
	}
	if again := boot.Assess(rows, self, ms(360_002)); again.Mode != boot.Normal || again.Recovered != nil {
		t.Errorf("after the recovery: %+v", again)
	}
	if rows[0].RecoveredAt.IsZero() != true || rows[3].RecoveredAt.IsZero() {
		t.Errorf("recovered: %v, %v", rows[0].RecoveredAt, rows[3].RecoveredAt)
	}
}
