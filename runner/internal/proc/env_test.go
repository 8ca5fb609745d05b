package proc_test

import (
	"slices"
	"testing"

	"claw/runner/internal/proc"
)

func TestEnvironment(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=3", "EMPTY=", "bare"}
	for name, want := range map[string]string{"A": "3", "AB": "2", "EMPTY": "", "bare": "", "B": ""} {
		if got := proc.Getenv(env, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	before := slices.Clone(env)
	for _, row := range []struct {
		name string
		want []string
	}{
		{"A", []string{"AB=2", "EMPTY=", "bare", "A=x"}},
		{"NEW", []string{"A=1", "AB=2", "A=3", "EMPTY=", "bare", "NEW=x"}},
		{"bare", []string{"A=1", "AB=2", "A=3", "EMPTY=", "bare=x"}},
	} {
		if got := proc.Setenv(env, row.name, "x"); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if !slices.Equal(env, before) {
			t.Fatalf("%s: the caller's environment is %q now", row.name, env)
		}
	}
}
