package external

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"claw/state/session"
)

// Request is what somebody outside asks for.
type Request struct {
	Name           string   `json:"name,omitempty"`
	Agent          string   `json:"agentId"`
	SessionKey     string   `json:"sessionKey"`
	Message        string   `json:"message"`
	From           string   `json:"from,omitempty"`
	Subject        string   `json:"subject,omitempty"`
	Source         Source   `json:"externalContentSource"`
	Deliver        bool     `json:"deliver"`
	Channel        string   `json:"channel,omitempty"`
	To             string   `json:"to,omitempty"`
	Account        string   `json:"accountId,omitempty"`
	Model          string   `json:"model,omitempty"`
	Thinking       string   `json:"thinking,omitempty"`
	TimeoutSeconds int64    `json:"timeoutSeconds,omitempty"`
	Tools          []string `json:"tools,omitempty"`
	WakeMode       string   `json:"wakeMode,omitempty"` // WakeNow, WakeNext; empty: a failure now, the rest later

	Lane Lane `json:"lane"`
	// Patient is not refused at the deadline: it is enough that it is written down.
	Patient bool `json:"patient,omitempty"`
	// Caller and IdempotencyKey, with everything above, are what tells a
	// repetition; without a key nothing is one.
	Caller         string `json:"caller"`
	IdempotencyKey string `json:"idempotencyKey"`
}

// Check is why a request is refused, in the order of spec/tasks-recovery.md 5.2;
// empty: it is not. A webhook says itself what it is; anybody else sends mail.
func Check(r Request) Reason {
	switch {
	case strings.TrimSpace(r.Agent) == "":
		return ReasonAgent
	case !validKey(r.SessionKey):
		return ReasonKey
	case r.Source != Email && (r.Lane != LaneHTTP || r.Source != Webhook):
		return ReasonSource
	case strings.TrimSpace(r.Message) == "":
		return ReasonEmpty
	case len(r.Message) > MaxContent:
		return ReasonTooLong
	case utf8.RuneCountInString(r.IdempotencyKey) > MaxKey:
		return ReasonIdemKey
	case r.TimeoutSeconds < 0:
		return ReasonTimeout
	}
	return ""
}

// MaxContent is how many bytes one piece of content may have.
const MaxContent = 256 << 10

// validKey tells the key of a hook's session, as it is written in full.
func validKey(key string) bool {
	rest, ok := strings.CutPrefix(key, "hook:")
	if !ok || rest == "" || strings.ContainsFunc(key, unfit) {
		return false
	}
	k, err := session.Parse(key)
	return err == nil && k.Kind == session.KeyHook && !k.Isolated
}

func unfit(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// Digest is of the key of a request and of everything in it, so that something
// else under the same key is not taken for a repetition. Empty without a key.
func Digest(r Request) string {
	if r.IdempotencyKey == "" {
		return ""
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// maxName is how many characters the name of a hook may have.
const maxName = 500

// NameOf is the name of a hook as it is shown: on one line, "Hook" when it has
// none.
func NameOf(name string) string {
	if name = Line(name, maxName); name == "" {
		return "Hook"
	}
	return name
}
