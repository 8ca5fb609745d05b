package cli_test

import (
	"testing"

	"claw/cmd/claw/internal/cli"
)

// The name of a uid is the first in the file that has it; a line that is none
// counts for nothing, and so does a name that is nobody's.
func TestPasswd(t *testing.T) {
	const file = "# comment\nroot:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/root:/bin/sh\njoe:x:1000:1000:Joe:/home/joe:/bin/sh\nbad\nworse:x:y:1\n:x:1000:1::/:\njoe:x:7:7::/:/bin/sh\n"
	for _, tt := range []struct {
		uid  int
		name string
		is   map[string]bool
	}{
		{0, "root", map[string]bool{"root": true, "toor": true, "joe": false, "bad": false}},
		{1000, "joe", map[string]bool{"joe": true, "root": false, "": false}},
		{99, "", map[string]bool{"joe": false}},
	} {
		name, is := cli.Passwd(file, tt.uid)
		if name != tt.name {
			t.Errorf("%d is %q, want %q", tt.uid, name, tt.name)
		}
		for who, want := range tt.is {
			if is(who) != want {
				t.Errorf("%d is %s: %v", tt.uid, who, !want)
			}
		}
	}
}
