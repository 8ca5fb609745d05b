package retention_test

import (
	"context"
	"os"
	"testing"
	"time"

	"claw/runner/retention"
)

// A folder that has just been made is nobody's old output, though nothing is in
// it yet and others are over the budget: whoever makes it is about to take its
// life-line.
func TestWhatIsInTheMakingStays(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := opened(t)
	at := func(ago time.Duration) string {
		dir := made(t, s, now.Add(-ago), 0)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-ago), now.Add(-ago)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	fresh, left := at(time.Second), at(8*24*time.Hour)
	made(t, s, now, 5000) // the newest, and over the budget
	if _, err := retention.Sweep(context.Background(), s, retention.Policy{Budget: 1000, Keep: 7 * 24 * time.Hour}, now); err != nil {
		t.Fatal(err)
	}
	if !exists(fresh) {
		t.Error("the fresh one is gone")
	}
	if exists(left) {
		t.Error("one that somebody left there a week ago stays")
	}
}
