package hook

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"claw/runner/heartbeat"
	"claw/runner/internal/http1"
	"claw/state/event"
	"claw/state/external"
	"claw/state/session"
	"claw/state/ulid"
)

// Gate is what webhooks are posted to; spec/heartbeat-automations.md 3.2.
type Gate struct {
	*Dispatcher
	Path     string                 // "/hooks"
	Token    func() (string, error) // read for each request
	Mappings []external.Mapping     // the first that fits counts
	// Secret reads one of Mapping.Secret; it is asked for each request.
	Secret func(file string) (string, error)
	Agent  string // asked where nobody is named
	// ChooseKey: whoever posts may name the session, if it begins with one of
	// Prefixes; none: hook: alone.
	ChooseKey bool
	Prefixes  []string
	Wake      func() error // has whoever does the work look now
	Log       func(line string)
	// Waiting is how many requests may wait for their beginning at once; 0:
	// mostWaiting.
	Waiting int

	crowd *crowd
}

// crowd are those who post: it is the same for each gate that a server has.
type crowd struct {
	wrong   guard
	waiting places // for the beginning
	ending  places // for the end
}

// How many requests may wait at once. The others of the connections that there
// may be are for those that need not wait.
const (
	mostWaiting = 128
	mostEnding  = 64
)

// places are so many.
type places struct{ taken atomic.Int32 }

// take takes one, if there is one; give gives it back.
func (p *places) take(most int32) (give func(), ok bool) {
	if p.taken.Add(1) > most {
		p.taken.Add(-1)
		return nil, false
	}
	return func() { p.taken.Add(-1) }, true
}

// Accept looks at a request before its body is read.
func (g *Gate) Accept(r *http1.Request) *http1.Response {
	no := func(status int, why string, header ...[2]string) *http1.Response {
		out := http1.Error(status, why)
		out.Header = header
		return &out
	}
	if _, ok := g.below(r); !ok {
		return no(404, "there is nothing here")
	}
	if _, ok := r.Query["token"]; ok {
		return no(400, "the token belongs into the header Authorization: Bearer, not into the address")
	}
	if g.signed(r) {
		return nil // Handle looks at the signature: it is of the body
	}
	want, err := g.Token()
	if err != nil || want == "" {
		g.log("the token of webhooks cannot be read; all of them are refused")
		return no(503, "the token cannot be read here")
	}
	if !same(bearer(r), want) {
		out := g.stranger(r, "the token is missing or wrong")
		return &out
	}
	if r.Method != "POST" {
		return no(405, "POST is all that is understood here", [2]string{"Allow", "POST"})
	}
	return nil
}

// stranger answers whoever cannot show who he is.
func (g *Gate) stranger(r *http1.Request, why string) http1.Response {
	if wait := g.crowd.wrong.failed(r.Remote, g.Clock.Elapsed()); wait > 0 {
		out := http1.Error(429, "too many wrong tokens")
		out.Header = [][2]string{{"Retry-After", strconv.Itoa(int(wait/time.Second) + 1)}}
		return out
	}
	out := http1.Error(401, why)
	out.Header = [][2]string{{"WWW-Authenticate", "Bearer"}}
	return out
}

// below is the path of a request below the base path.
func (g *Gate) below(r *http1.Request) (string, bool) {
	rest, ok := strings.CutPrefix(r.Path, g.Path+"/")
	return strings.TrimSuffix(rest, "/"), ok && rest != "" && path.Clean(r.Path) == strings.TrimSuffix(r.Path, "/")
}

// bearer is the token of a request.
func bearer(r *http1.Request) string {
	if kind, token, ok := strings.Cut(r.Get("authorization"), " "); ok && strings.EqualFold(kind, "bearer") {
		return strings.TrimSpace(token)
	}
	return r.Get("x-openclaw-token")
}

// same compares in a time that says nothing about either.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1 && a != ""
}

func (g *Gate) log(line string) {
	if g.Log != nil {
		g.Log(line)
	}
}

// Handle answers a request that Accept has let in.
func (g *Gate) Handle(ctx context.Context, r *http1.Request) http1.Response {
	signed := g.signed(r)
	if signed && !g.provenBy(r, g.secretsOf(r)...) {
		return g.stranger(r, "the signature is wrong")
	}
	raw := jsonOf(r)
	v, err := external.Decode(raw)
	body, ok := v.(map[string]any)
	if err != nil || !ok {
		return http1.Error(400, "the body is no JSON object")
	}
	sub, _ := g.below(r)
	switch sub {
	case "wake":
		return g.wake(ctx, raw)
	case "agent":
		return g.agent(ctx, r, raw)
	}
	external.Unpack(body)
	m, ok := external.Match(g.Mappings, sub, body)
	switch {
	case !ok:
		return http1.Error(404, "nothing is mapped to "+g.Path+"/"+external.Line(sub, 100))
	case signed && !g.provenBy(r, m.Secret): // of another mapping with this path
		return g.stranger(r, "the signature is wrong")
	}
	return g.mapped(ctx, r, m, body, sub)
}

// wakeBody is what is posted to /hooks/wake.
type wakeBody struct {
	Text       string `json:"text"`
	Mode       string `json:"mode"`
	AgentID    string `json:"agentId"`
	SessionKey string `json:"sessionKey"`
}

func (g *Gate) wake(ctx context.Context, raw []byte) http1.Response {
	var b wakeBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return http1.Error(400, wrongType(err))
	}
	if b.SessionKey != "" {
		if why := g.mayName(b.SessionKey); why != "" {
			return http1.Error(400, why)
		}
	}
	return g.tell(ctx, b)
}

// tell queues an event for a session, and wakes it.
func (g *Gate) tell(ctx context.Context, b wakeBody) http1.Response {
	mode := b.Mode
	if mode == "" {
		mode = "now"
	}
	if mode != "now" && mode != "next-heartbeat" {
		return http1.Error(400, "mode must be now or next-heartbeat")
	}
	agent := first(b.AgentID, g.Agent)
	if g.Known != nil && !g.Known(agent) {
		return http1.Error(404, "agent not found: "+external.Line(agent, 100))
	}
	key := first(b.SessionKey, session.Main(agent))
	k, err := session.Parse(key)
	if err != nil || k.Agent != "" && k.Agent != agent {
		return http1.Error(400, "sessionKey is none of agent "+external.Line(agent, 100))
	}
	_, why, err := heartbeat.Send(ctx, g.Store, event.Event{
		Kind: event.KindEvent, SessionKey: key, Agent: agent, Text: external.Clean(b.Text), Untrusted: true, NextTurn: mode != "now",
		Tools: session.LimitTo(g.Tools),
	})
	if no, ok := errors.AsType[*heartbeat.Refused](err); ok {
		return http1.Error(400, no.Error())
	}
	if err != nil {
		return g.broken(err)
	}
	outcome := "queued"
	if why != "" {
		outcome = "coalesced"
	}
	if mode == "now" {
		g.poke()
	}
	return answer(200, map[string]any{"ok": true, "mode": mode, "eventOutcome": outcome})
}

func first(values ...string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

func (g *Gate) poke() {
	if g.Wake == nil {
		return
	}
	if err := g.Wake(); err != nil {
		g.log("nobody could be told of a webhook: " + err.Error())
	}
}

// agentBody is what is posted to /hooks/agent.
type agentBody struct {
	Message           string `json:"message"`
	Name              string `json:"name"`
	AgentID           string `json:"agentId"`
	SessionKey        string `json:"sessionKey"`
	SessionMode       string `json:"sessionMode"`
	WakeMode          string `json:"wakeMode"`
	Deliver           *bool  `json:"deliver"`
	Channel           string `json:"channel"`
	To                string `json:"to"`
	AccountID         string `json:"accountId"`
	Model             string `json:"model"`
	Thinking          string `json:"thinking"`
	TimeoutSeconds    int64  `json:"timeoutSeconds"`
	IdempotencyKey    string `json:"idempotencyKey"`
	WaitForCompletion bool   `json:"waitForCompletion"`
}

func (g *Gate) agent(ctx context.Context, r *http1.Request, raw []byte) http1.Response {
	var b agentBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return http1.Error(400, wrongType(err))
	}
	switch {
	case b.SessionMode != "" && b.SessionMode != "isolated":
		return http1.Error(400, "sessionMode must be isolated: each message has a turn with a new transcript")
	case b.WakeMode != "" && b.WakeMode != external.WakeNow && b.WakeMode != external.WakeNext:
		return http1.Error(400, "wakeMode must be now or next-heartbeat")
	}
	req := external.Request{
		Name: b.Name, Agent: first(b.AgentID, g.Agent), SessionKey: b.SessionKey, Message: b.Message, Deliver: b.Deliver == nil || *b.Deliver,
		To: b.To, Account: b.AccountID, Model: b.Model, Thinking: b.Thinking, TimeoutSeconds: b.TimeoutSeconds, Lane: external.LaneHTTP,
		WakeMode: b.WakeMode, IdempotencyKey: first(idempotency(r), b.IdempotencyKey),
	}
	if b.Channel != "last" {
		req.Channel = b.Channel
	}
	if req.SessionKey != "" {
		if why := g.mayName(req.SessionKey); why != "" {
			return http1.Error(400, why)
		}
	}
	req.Caller = g.caller(r)
	if req.SessionKey == "" {
		req.SessionKey = g.fresh(req)
	}
	req.Source = external.SourceOf(req.SessionKey)
	all, out := g.admit(ctx, req)
	switch {
	case out.Status != 200:
		return out
	case b.WaitForCompletion:
		return g.completion(ctx, all[0])
	}
	return begun(all[0].ID)
}

// fresh is the session of a request that names none. With a key it is always
// the same, so that the repetition is one.
func (g *Gate) fresh(req external.Request) string {
	if d := external.Digest(req); d != "" {
		return "hook:" + d
	}
	return "hook:" + strings.ToLower(ulid.New(g.Clock.Now()))
}

// mayName tells why a caller may not choose a session.
func (g *Gate) mayName(key string) string {
	if !g.ChooseKey {
		return "sessionKey is not allowed here (hooks.allowRequestSessionKey)"
	}
	prefixes := g.Prefixes
	if len(prefixes) == 0 {
		prefixes = []string{"hook:"}
	}
	for _, p := range prefixes {
		if strings.HasPrefix(key, p) {
			return ""
		}
	}
	return "sessionKey must begin with one of " + strings.Join(prefixes, ", ") + " (hooks.allowedSessionKeyPrefixes)"
}

// caller is the scope of an idempotency key: who posts, and where.
func (g *Gate) caller(r *http1.Request) string {
	sum := sha256.Sum256([]byte(bearer(r)))
	return "http:" + hex.EncodeToString(sum[:8]) + ":" + r.Path
}

// idempotency is the key of a request in its headers.
func idempotency(r *http1.Request) string {
	return first(r.Get("idempotency-key"), r.Get("x-openclaw-idempotency-key"))
}

// admit accepts requests, all or none of them, and waits until they have begun.
func (g *Gate) admit(ctx context.Context, reqs ...external.Request) ([]external.Dispatch, http1.Response) {
	most := int32(mostWaiting)
	if g.Waiting > 0 {
		most = int32(g.Waiting)
	}
	give, ok := g.crowd.waiting.take(most)
	if !ok {
		return nil, refused(503, "too many requests wait here; try again")
	}
	defer give()
	all, _, err := g.AcceptAll(ctx, reqs)
	if err == nil && !slices.ContainsFunc(all, func(d external.Dispatch) bool { return !d.Status.Ended() }) {
		return all, http1.Response{Status: 200}
	}
	if err == nil {
		g.poke()
	}
	for i := range all {
		if err != nil {
			break
		}
		if all[i], err = g.Await(ctx, all[i]); err != nil && ctx.Err() != nil {
			// What is answered "try again" must not begin after that.
			all[i], err = g.GiveUp(ctx, all[i])
		}
	}
	no, isRefusal := errors.AsType[*RefusedError](err)
	switch {
	case err == nil:
		return all, http1.Response{Status: 200}
	case isRefusal && len(reqs) > 1 && no.Reason.Class() == 400:
		return nil, refused(400, strconv.Itoa(no.Item+1)+". item: "+no.Error()+"; none was accepted")
	case isRefusal:
		return nil, refused(no.Reason.Class(), no.Error())
	case ctx.Err() != nil:
		return nil, http1.Error(503, "claw is about to end; try again")
	}
	return nil, g.broken(err)
}

// retryAfter is after how many seconds whoever was answered 503 may try again.
const retryAfter = "30"

// refused is a refusal as whoever asked reads it.
func refused(status int, words string) http1.Response {
	out := answer(status, map[string]any{"ok": false, "reason": words, "error": words})
	if status == 503 {
		out.Header = [][2]string{{"Retry-After", retryAfter}}
	}
	return out
}

// broken is an error of claw itself: what it is nobody outside is told.
func (g *Gate) broken(err error) http1.Response {
	g.log("error: a webhook could not be written down: " + err.Error())
	return http1.Error(503, "it could not be written down; try again")
}

// waitMost is how long one waits for a completion at most.
const waitMost = 10 * time.Minute

// completion waits for the end, and says how it was.
func (g *Gate) completion(ctx context.Context, d external.Dispatch) http1.Response {
	most := waitMost
	if give, ok := g.crowd.ending.take(mostEnding); ok {
		defer give()
	} else {
		most = 0 // as if it had taken too long
	}
	d, pending, err := g.AwaitEnd(ctx, d.ID, most)
	switch {
	case err != nil && ctx.Err() == nil:
		return g.broken(err)
	case pending || err != nil:
		return answer(200, map[string]any{"ok": true, "runId": d.ID, "status": "pending"})
	case d.Status == external.OK:
		return answer(200, map[string]any{"ok": true, "runId": d.ID, "status": d.Status, "report": d.Report})
	}
	return answer(502, map[string]any{"ok": false, "runId": d.ID, "status": d.Status, "error": d.Error})
}

// begun is the answer to what has begun.
func begun(id string) http1.Response {
	return answer(200, map[string]any{"ok": true, "runId": id})
}

func wrongType(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return t.Field + " is not of the right type"
	}
	return "the body is no JSON object"
}

func answer(status int, v any) http1.Response {
	raw, err := json.Marshal(v)
	if err != nil {
		return http1.Error(500, "a bug of claw")
	}
	return http1.Response{Status: status, Body: append(raw, '\n')}
}
