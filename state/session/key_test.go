package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claw/state/session"
)

// TestParse: the shapes of spec/tasks-recovery.md 6.6.
func TestParse(t *testing.T) {
	tests := []struct {
		key  string
		want session.Key
	}{
		{"agent:main:main", session.Key{Agent: "main", Kind: "main"}},
		{"agent:ops:subagent:9f1c", session.Key{Agent: "ops", Kind: "subagent", Rest: "9f1c"}},
		{"agent:ops:subagent:9f1c:x", session.Key{Agent: "ops", Kind: "subagent", Rest: "9f1c:x"}},
		{"agent:ops:telegram:group:-12", session.Key{Agent: "ops", Kind: "agent", Rest: "telegram:group:-12"}},
		{"agent:ops:subagent", session.Key{Agent: "ops", Kind: "agent", Rest: "subagent"}},
		{"session:notes", session.Key{Kind: "session", Rest: "notes"}},
		{"session:my notes: 1", session.Key{Kind: "session", Rest: "my notes: 1"}},
		{"cron:backup", session.Key{Kind: "cron", Rest: "backup"}},
		{"hook:gmail:17c", session.Key{Kind: "hook", Rest: "gmail:17c"}},
		{"Agent:Ops:MAIN", session.Key{Agent: "Ops", Kind: "main"}},
		{"agent:main:main:heartbeat", session.Key{Agent: "main", Kind: "main", Isolated: true}},
		{"agent:main:main:heartbeat:Heartbeat", session.Key{Agent: "main", Kind: "main", Isolated: true}},
		{"session:a:heartbeat", session.Key{Kind: "session", Rest: "a", Isolated: true}},
		{"agent:main:heartbeat", session.Key{Agent: "main", Kind: "agent", Rest: "heartbeat"}},
		{"session:heartbeat", session.Key{Kind: "session", Rest: "heartbeat"}},
		{"session:" + strings.Repeat("ü", 252), session.Key{Kind: "session", Rest: strings.Repeat("ü", 252)}}, // 512 bytes
	}
	for _, tt := range tests {
		got, err := session.Parse(tt.key)
		if err != nil {
			t.Errorf("%s: %v", tt.key, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.key, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ rule, key, why string }{
		{"blank", "", "is blank"},
		{"spaces", " \t", "is blank"},
		{"line feed", "session:a\nb", "control"},
		{"NUL", "session:\x00", "control"},
		{"DEL", "session:\x7f", "control"},
		{"C1", "session:\u0085a", "control"},
		{"zero width", "session:a\u200bb", "invisible"},
		{"line separator", "session:a\u2028b", "invisible"},
		{"not UTF-8", "session:\xff", "UTF-8"},
		{"513 bytes", "session:" + strings.Repeat("a", 505), "513 bytes, the most is 512"},
		{"space at the end", "session:a ", "space"},
		{"no shape", "main", "shape"},
		{"other prefix", "room:a", "shape"},
		{"no agent", "agent::main", "shape"},
		{"only an agent", "agent:main", "shape"},
		{"no id", "session:", "shape"},
		{"no job", "cron:", "shape"},
		{"blank agent", "agent: :main", "shape"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := session.Parse(tt.key)
			refused, ok := errors.AsType[*session.KeyError](err)
			if !ok || !strings.Contains(refused.Error(), tt.why) || refused.Remedy() == "" {
				t.Fatalf("got %v", err)
			}
			if len(refused.Error()) > 200 || strings.Contains(refused.Error(), "\n") {
				t.Errorf("%q is no sentence for a person", refused.Error())
			}
		})
	}
}

func TestIsolatedOnce(t *testing.T) {
	const want = "agent:main:main:heartbeat"
	for _, key := range []string{"agent:main:main", want, want + ":heartbeat", want + ":HEARTBEAT:heartbeat"} {
		if got := session.Isolated(key); got != want {
			t.Errorf("%s: %s", key, got)
		}
	}
}

func TestIsSubagent(t *testing.T) {
	for key, want := range map[string]bool{
		"agent:main:subagent:1": true, "agent:main:subagent:1:subagent:2": true, "agent:main:subagent:1:heartbeat": true, "AGENT:main:Subagent:1": true,
		"agent:main:main": false, "agent:subagent:main": false, "session:subagent:1": false, "agent:main:x:subagent:1": false, "": false,
	} {
		if session.IsSubagent(key) != want {
			t.Errorf("%s: %v", key, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"agent:main:main", "agent:a:subagent:b:heartbeat", "session:x", "hook::heartbeat", "agent:main:main:heartbeat:heartbeat", "cron:\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, err := session.Parse(s)
		if err != nil {
			if _, ok := errors.AsType[*session.KeyError](err); !ok {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		again, err := session.Parse(k.String())
		if err != nil || again != k {
			t.Fatalf("%q is %q, which reads as %+v, %v", s, k.String(), again, err)
		}
		if !strings.EqualFold(k.String(), session.Isolated(s)) && !strings.EqualFold(k.String(), s) {
			t.Fatalf("%q became %q", s, k.String())
		}
	})
}

// anyKey are keys that are hard to tell apart: case, dots, what the encoding
// itself uses, and lengths around the limit.
func anyKey() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("aAbB:+%~.-_ /\\2eäÄ\x00")), 1, 40, -1).Draw(t, "key")
		if rapid.Bool().Draw(t, "long") {
			s = strings.Repeat("agent:", rapid.IntRange(28, 36).Draw(t, "n")) + s
		}
		return s
	})
}

// TestFileNameIsInjective: two keys never share a name, also without case.
func TestFileNameIsInjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyKey().Draw(t, "a"), anyKey().Draw(t, "b")
		if a != b && strings.EqualFold(session.FileName(a), session.FileName(b)) {
			t.Fatalf("%q and %q share %s", a, b, session.FileName(a))
		}
	})
}

func TestFileNameIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := session.FileName(anyKey().Draw(t, "key"))
		if len(name) == 0 || len(name) > 200 || name != strings.ToLower(name) {
			t.Fatalf("%q has %d bytes", name, len(name))
		}
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_+%~") != "" || strings.ContainsAny(name, "./\\ ") {
			t.Fatalf("%q", name)
		}
	})
}

func TestFileName(t *testing.T) {
	long := "session:" + strings.Repeat("A", 300)
	tests := []struct{ name, key, want string }{
		{"read by people", "agent:main:main", "agent+main+main"},
		{"dots are no extension", "session:a.reset.1", "session+a%2ereset%2e1"},
		{"plus is not a colon", "session:a+b", "session+a%2bb"},
		{"case", "session:Ab", "session+%41b"},
		{"other letters", "session:ä", "session+%c3%a4"},
		{"out of the folder", "hook:../x", "hook+%2e%2e%2fx"},
		{"200 bytes stay", "session:" + strings.Repeat("a", 192), "session+" + strings.Repeat("a", 192)},
		{"not cut inside %41", long, "session+" + strings.Repeat("%41", 53) + "~"}, // 200-33 = 167 = 8 + 53×3
	}
	for _, tt := range tests {
		got, _, _ := strings.Cut(session.FileName(tt.key), "~")
		if strings.Contains(tt.want, "~") {
			got += "~"
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	if hash := session.FileName(long)[168:]; len(hash) != 32 || session.FileName(long+"x") == session.FileName(long) {
		t.Errorf("hash %q", hash)
	}
	// One character less, so that the cut falls inside a %41.
	if name := session.FileName("session:a" + strings.Repeat("A", 300)); !strings.HasPrefix(name, "session+a"+strings.Repeat("%41", 52)+"~") {
		t.Errorf("got %s", name)
	}
}

// TestNamesFitTheFileSystem: the longest names can be made, beside each other.
func TestNamesFitTheFileSystem(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 30, 22, 10, 0, 5, time.FixedZone("", 3600))
	long := "session:" + strings.Repeat("Ä", 200)
	for _, name := range []string{
		session.FileName(long) + ".jsonl", session.FileName(long) + ".lock",
		session.ArchiveName(long, session.ArchiveReset, at), session.ArchiveName(long, session.ArchiveDeleted, at),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	if got, want := session.ArchiveName("session:a", session.ArchiveReset, at), "session+a.reset.20261130T211000.000000005Z.jsonl"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMatch(t *testing.T) {
	keys := []string{"agent:main:main", "agent:ops:main", "session:Notes", "session:notes", "session:notebook", "cron:backup", "session:tide:heartbeat", "session:ab"}
	tests := []struct{ rule, query, want string }{
		{"exact", "session:notes", "session:notes"},
		{"exact wins over the beginning", "session:ab", "session:ab"},
		{"case", "CRON:Backup", "cron:backup"},
		{"an agent's name", "ops", "agent:ops:main"},
		{"an agent's name, case", "Main", "agent:main:main"},
		{"beginning", "cron", "cron:backup"},
		{"beginning, case", "SESSION:TIDE", "session:tide:heartbeat"},
		{"space around", " cron:backup\n", "cron:backup"},
	}
	for _, tt := range tests {
		if got, err := session.Match(tt.query, keys); got != tt.want || err != nil {
			t.Errorf("%s: got %q, %v", tt.rule, got, err)
		}
	}
}

func TestMatchRefuses(t *testing.T) {
	keys := []string{"agent:main:main", "session:Notes", "session:notes", "session:notebook"}
	for _, query := range []string{"", "  ", "x", "cro", "cron:backup", "sess:"} {
		_, err := session.Match(query, keys)
		if e, ok := errors.AsType[*session.NotFoundError](err); !ok || e.Remedy() == "" {
			t.Errorf("%q: %v", query, err)
		}
	}
	for query, want := range map[string][]string{
		"SESSION:NOTES": {"session:Notes", "session:notes"},
		"session:note":  {"session:Notes", "session:notebook", "session:notes"},
	} {
		_, err := session.Match(query, keys)
		e, ok := errors.AsType[*session.AmbiguousError](err)
		if !ok || e.Remedy() == "" {
			t.Fatalf("%q: %v", query, err)
		}
		if diff := cmp.Diff(want, e.Candidates); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}
