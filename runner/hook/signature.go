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
	return r.Method == "POST" && bearer(r) == "" && r.Get(signature) != "" && len(g.secretsOf(r)) > 0
}

// secretsOf are the files with the secrets of the mappings that a request's path
// fits.
func (g *Gate) secretsOf(r *http1.Request) (files []string) {
	sub, _ := g.below(r)
	if sub == "wake" || sub == "agent" {
		return nil
	}
	for _, m := range g.Mappings {
		if m.Secret != "" && (m.Path == "" || m.Path == sub) {
			files = append(files, m.Secret)
		}
	}
	return files
}

// provenBy tells that a signature is that of the body, by one of these secrets.
func (g *Gate) provenBy(r *http1.Request, files ...string) bool {
	digits, ok := strings.CutPrefix(r.Get(signature), "sha256=")
	got, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return false
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		secret, err := g.Secret(file)
		if err != nil || secret == "" {
			g.log("error: the secret of webhooks in " + file + " cannot be read; they are refused")
			continue
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(r.Body)
		if hmac.Equal(got, mac.Sum(nil)) {
			return true
		}
	}
	return false
}
