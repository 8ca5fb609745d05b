package session

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// KeyKind is what a session's key says about it.
type KeyKind string

// The kinds of keys; spec/tasks-recovery.md 6.6.
const (
	KeyMain     KeyKind = "main"     // agent:NAME:main
	KeySubagent KeyKind = "subagent" // agent:NAME:subagent:ID
	KeyAgent    KeyKind = "agent"    // agent:NAME:ID…, any other session of an agent
	KeySession  KeyKind = "session"  // session:ID
	KeyCron     KeyKind = "cron"     // cron:JOB
	KeyHook     KeyKind = "hook"     // hook:…
)

// Key is a session's key taken apart; String puts it together again.
type Key struct {
	Agent    string // "" for those that name no agent
	Kind     KeyKind
	Rest     string // what follows the prefix of the kind; "" for KeyMain
	Isolated bool   // it ended with ":heartbeat", see Isolated
}

// MaxKey is the most bytes a key may have.
const MaxKey = 512

const isolatedSuffix = ":heartbeat"

// KeyError refuses a session's key.
type KeyError struct {
	Key  string
	Why  string
	Hint string
}

func (e *KeyError) Error() string { return "session key " + e.quoted() + " " + e.Why }

// quoted is the key, cut so that a sentence stays one.
func (e *KeyError) quoted() string {
	const most = 80
	if len(e.Key) <= most {
		return strconv.Quote(e.Key)
	}
	return strconv.Quote(strings.ToValidUTF8(e.Key[:most], "")) + "…"
}

// Remedy says what a key looks like.
func (e *KeyError) Remedy() string { return e.Hint }

// Main is the key of an agent's main session: agent:NAME:main.
func Main(agent string) string { return "agent:" + agent + ":main" }

// Parse takes a key apart. The prefixes are read without regard to case, what
// is a name stays as it is. The error is a *KeyError: a key is refused when it
// is blank, has space at an end, control characters, bytes that are no UTF-8,
// more than MaxKey bytes, or none of the shapes above.
func Parse(key string) (Key, error) {
	if why := unfit(key); why != "" {
		return Key{}, &KeyError{key, why, "give a short printable name, such as session:notes"}
	}
	base, isolated := key, false
	for {
		shorter, ok := cutSuffixFold(base, isolatedSuffix)
		if _, fits := shape(shorter); !ok || !fits {
			break
		}
		base, isolated = shorter, true
	}
	if k, ok := shape(base); ok {
		k.Isolated = isolated
		return k, nil
	}
	return Key{}, &KeyError{key, "has no known shape", "keys look like agent:NAME:main, session:NAME, cron:JOB or hook:NAME"}
}

func unfit(key string) string {
	switch {
	case strings.TrimSpace(key) == "":
		return "is blank"
	case len(key) > MaxKey:
		return "has " + strconv.Itoa(len(key)) + " bytes, the most is " + strconv.Itoa(MaxKey)
	case !utf8.ValidString(key):
		return "is not UTF-8"
	case strings.ContainsFunc(key, unseen):
		return "has control or invisible characters"
	case strings.TrimSpace(key) != key:
		return "has space at an end"
	}
	return ""
}

// unseen are characters that a person cannot tell apart from nothing: two keys
// must not look the same.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

func shape(key string) (Key, bool) {
	for _, kind := range [...]KeyKind{KeySession, KeyCron, KeyHook} {
		if rest, ok := cutFold(key, string(kind)+":"); ok {
			return Key{Kind: kind, Rest: rest}, strings.TrimSpace(rest) != ""
		}
	}
	rest, ok := cutFold(key, "agent:")
	agent, rest, more := strings.Cut(rest, ":")
	if !ok || !more || strings.TrimSpace(agent) == "" || strings.TrimSpace(rest) == "" {
		return Key{}, false
	}
	if strings.EqualFold(rest, "main") {
		return Key{Agent: agent, Kind: KeyMain}, true
	}
	if id, ok := cutFold(rest, "subagent:"); ok && id != "" {
		return Key{Agent: agent, Kind: KeySubagent, Rest: id}, true
	}
	return Key{Agent: agent, Kind: KeyAgent, Rest: rest}, true
}

// String is the key in its canonical spelling.
func (k Key) String() string {
	s := string(k.Kind) + ":" + k.Rest
	switch k.Kind {
	case KeyMain:
		s = Main(k.Agent)
	case KeySubagent:
		s = "agent:" + k.Agent + ":subagent:" + k.Rest
	case KeyAgent:
		s = "agent:" + k.Agent + ":" + k.Rest
	}
	if k.Isolated {
		s += isolatedSuffix
	}
	return s
}

// Isolated is the key of the session in which an isolated heartbeat of key
// runs: key + ":heartbeat". Suffixes that are there already collapse into one
// (spec/heartbeat-automations.md 1.1).
func Isolated(key string) string {
	for {
		base, ok := cutSuffixFold(key, isolatedSuffix)
		if !ok {
			return key + isolatedSuffix
		}
		key = base
	}
}

// IsSubagent tells the key of a sub-agent's session: it is queued events, but
// never woken (spec/exec-process.md 4.4).
func IsSubagent(key string) bool {
	k, err := Parse(key)
	return err == nil && k.Kind == KeySubagent
}

// cutFold is strings.CutPrefix without regard to case, for ASCII prefixes.
func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func cutSuffixFold(s, suffix string) (base string, ok bool) {
	n := len(s) - len(suffix)
	if n < 0 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}
