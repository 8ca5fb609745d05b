package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"claw/runner/internal/http1"
)

// signature is the header in which GitHub, and others after it, send the
// HMAC-SHA256 of a body under a secret that both know.
const signature = "x-hub-signature-256"

// signed tells a request that shows a signature instead of the token, where that
// is allowed. Only a POST has anything to sign.
func (g *Gate) signed(r *http1.Request) bool {
	sub, _ := g.below(r)
	return r.Method == "POST" && bearer(r) == "" && r.Get(signature) != "" && g.Secrets[sub] != nil
}

// proven tells that a signature is that of the body.
func (g *Gate) proven(r *http1.Request) bool {
	sub, _ := g.below(r)
	secret, err := g.Secrets[sub]()
	if err != nil || secret == "" {
		g.log("the secret of webhooks to " + sub + " cannot be read; they are refused")
		return false
	}
	digits, ok := strings.CutPrefix(r.Get(signature), "sha256=")
	got, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(r.Body)
	return hmac.Equal(got, mac.Sum(nil))
}
