package cli

import (
	"slices"
	"testing"

	"claw/cmd/claw/internal/output"
)

// TestSplitCommand: what is a flag of exec, what is its value, and where the
// command begins (claw-exec(1)).
func TestSplitCommand(t *testing.T) {
	a := &app{args: []string{"exec"}, io: &output.Streams{}, getenv: func(string) string { return "" }}
	var root struct{ globals }
	k, err := a.parser(&root, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	flags := execFlags(k)
	for _, tt := range []struct {
		args, own, command []string
	}{
		{[]string{"-b", "true"}, []string{"-b"}, []string{"true"}},
		{[]string{"-b", "--", "ls", "-l"}, []string{"-b"}, []string{"--", "ls", "-l"}},
		{[]string{"--name", "x", "make", "-j2"}, []string{"--name", "x"}, []string{"make", "-j2"}},
		{[]string{"--name=x", "make"}, []string{"--name=x"}, []string{"make"}},
		{[]string{"--timeout", "5", "--env", "A=b c", "--pty", "vim"}, []string{"--timeout", "5", "--env", "A=b c", "--pty"}, []string{"vim"}},
		{[]string{"--state-dir", "/tmp/x", "ls"}, []string{"--state-dir", "/tmp/x"}, []string{"ls"}},
		{[]string{"--help"}, []string{"--help"}, nil},
		{[]string{"--nope", "ls"}, []string{"--nope"}, []string{"ls"}},
		{[]string{"-", "x"}, nil, []string{"-", "x"}},
		{nil, nil, nil},
	} {
		own, command := splitCommand(flags, tt.args)
		if !slices.Equal(own, tt.own) || !slices.Equal(command, tt.command) {
			t.Errorf("%q: flags %q, command %q; want %q, %q", tt.args, own, command, tt.own, tt.command)
		}
	}
}
