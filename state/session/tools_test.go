package session_test

import (
	"testing"

	"claw/state/session"

	"github.com/google/go-cmp/cmp"
)

func TestNarrow(t *testing.T) {
	for _, tt := range []struct {
		rule       string
		a, b, want []string
	}{
		{"nothing is said", nil, nil, nil},
		{"all and all", []string{"*"}, nil, nil},
		{"all and some", nil, []string{"read"}, []string{"read"}},
		{"some and all", []string{"read"}, []string{"*"}, []string{"read"}},
		{"all and none", nil, []string{}, []string{}},
		{"none and some", []string{}, []string{"read"}, []string{}},
		{"some and others", []string{"read", "write"}, []string{"exec", "read"}, []string{"read"}},
		{"nothing in common", []string{"write"}, []string{"read"}, []string{}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, session.Narrow(tt.a, tt.b)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.want, session.LimitTo(tt.want).List()); diff != "" {
				t.Error("in the row of a session:", diff)
			}
		})
	}
}
