package config_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/cmd/claw/internal/config"
)

// FuzzParse: no text makes it panic or hang, every problem names the file and
// is one line, and what is accepted is shown and read back as the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", rich, "[tools.exec]\nbackgroundMs = 1e3", "a.b.c = [[1], {x = 1979-05-27}]", "[[agents]]\n[[agents]]", "x = \"\\u009b\\n\"",
		"[agents.defaults.heartbeat]\nevery = \"-0.0000001d\"\nactiveHours.end = \"24:00\"", "\xef\xbb\xbfwake.onExit = \"off\"", "\x00", "\"\" = 1", "[channels.\"\"]",
		"agents.a.heartbeat.every = 9223372036854775807", "tools.exec.maxOutput = \"1.5e9G\"", "[agents.a]\nhooks.before_agent_run = [[], [\"a\"]]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Parse("/etc/claw.toml", []byte(text), "/home/u")
		if err != nil {
			for _, p := range asError(t, err).Problems {
				if line := p.Error(); !strings.HasPrefix(line, "/etc/claw.toml:") || strings.ContainsAny(line, "\n\x1b\x00") {
					t.Errorf("%q", line)
				}
			}
			return
		}
		var shown bytes.Buffer
		must(t, c.Show(&shown, false))
		back, err := config.Parse("shown", shown.Bytes(), "/home/u")
		if err != nil {
			t.Fatalf("%v\n%s", err, shown.String())
		}
		if diff := cmp.Diff(c, back, ignored); diff != "" {
			t.Error(diff)
		}
	})
}

// FuzzCadence: whatever is read is printed and read back as the same.
func FuzzCadence(f *testing.F) {
	for _, seed := range []string{"30m", "1s1ms", "1h30m5s", "0.1ms", "-1h", "9e9d", "106751d", "1d2h3m4s5ms"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, _ := config.ParseEvery(text)
		if d < 0 {
			t.Fatalf("%q: %v", text, d)
		}
		if back, ok := config.ParseEvery(config.FormatEvery(d)); !ok || back != d {
			t.Errorf("%q: %v, printed as %q, read back as %v", text, d, config.FormatEvery(d), back)
		}
	})
}
