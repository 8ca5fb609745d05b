package boot_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claw/state/boot"
	"claw/state/process"
)

// TestBreakerAgainstALog drives runners that start, end and die at random, and
// compares the breaker with a log of what happened.
func TestBreakerAgainstALog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type death struct {
			id string
			at time.Time
		}
		var rows []boot.Boot
		var deaths []death // of runners that did not end in order
		now, safe := epoch, false
		for step := range rapid.IntRange(1, 40).Draw(t, "lives") {
			now = now.Add(time.Duration(rapid.IntRange(0, 200_000).Draw(t, "pause")) * time.Millisecond)
			recent := 0
			for _, d := range deaths {
				if now.Sub(d.at) <= 5*time.Minute {
					recent++
				}
			}
			was := safe
			safe = recent >= 3 || was && recent > 0
			seen := boot.Assess(rows, "", now)
			if (seen.Mode == boot.Safe) != safe || seen.Trip != (safe && !was) {
				t.Fatalf("step %d: %+v; by the log safe %v, before %v, %d deaths", step, seen, safe, was, recent)
			}
			if len(seen.Unclean) != recent {
				t.Fatalf("step %d: %v count, by the log %d", step, seen.Unclean, recent)
			}
			for i, b := range rows {
				if slices.Contains(seen.Recovered, b.ID) {
					rows[i] = b.Recover(now)
				}
			}
			b := boot.Begin(string(rune('A'+step)), process.Identity{}, "", seen, now)
			lived := now
			switch rapid.SampledFrom([]string{"die", "stop", "fail", "refuse"}).Draw(t, "end") {
			case "die":
				deaths = append(deaths, death{b.ID, now})
			case "stop":
				b, _ = b.Ready(now).End(boot.CleanStop, "", now)
			case "fail":
				lived = now.Add(time.Duration(rapid.IntRange(0, 60_000).Draw(t, "tried")) * time.Millisecond)
				b, _ = b.End(boot.StartupFailed, "broken", lived)
				deaths = append(deaths, death{b.ID, lived})
			case "refuse":
				b, _ = b.End(boot.StartupFailed, boot.ReasonAlreadyRunning, now)
			}
			rows, now = append(rows, b), lived
		}
	})
}
