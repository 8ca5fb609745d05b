package deliver

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"claw/runner/internal/program"
	"claw/state/delivery"
)

// RunHook is the channel of the webhooks of automations. It is not configured
// and not listed: the recipient of a route is the address, the body is the
// Report.
const RunHook = "automation-webhook"

// Hook is what is configured for RunHook.
type Hook struct {
	Token        string // cron.webhookToken; empty: none is sent
	TokenFile    string // cron.webhookTokenFile, read at each attempt; its first line counts
	AllowPrivate bool   // cron.webhookAllowPrivate: addresses of this machine and of networks at home too
}

// toRunHook posts the report about a run. The token goes through curl's stdin,
// as the address does.
func (p *Post) toRunHook(ch Channel, d delivery.Delivery) (func() outcome, *outcome) {
	ch.URL = d.Route.To
	at, ok := target(ch.URL)
	if !ok || d.Report == nil {
		return nil, &outcome{verdict: delivery.Permanent, why: "webhook: the address is no http or https one"}
	}
	token, err := p.Hook.token()
	if err != nil {
		return nil, notReady("cron.webhookTokenFile: " + err.Error())
	}
	prog, not := p.program(ch, d, []string{"curl", "-q", "--config", "-"})
	if not != nil {
		not.why += "; install curl"
		return nil, not
	}
	var more [][2]string
	if token != "" {
		more = append(more, [2]string{"header", "Authorization: Bearer " + header(token)})
	}
	prog.Limit = ch.Timeout + curlPatience
	return func() outcome {
		if !p.Hook.AllowPrivate {
			public, not := at.public(prog.Env)
			if not != nil {
				return *not
			}
			more = append(more, [2]string{"resolve", at.host + ":" + at.port + ":" + public}, [2]string{"noproxy", at.host})
		}
		prog.Stdin = curlConfig(ch, d, reported(*d.Report), more...)
		return answered(run(prog), ch.Failure)
	}, nil
}

func reported(r delivery.Report) string {
	return shortened(r.Summary, func(text string) any {
		r.Summary = text
		return r
	})
}

// token is what proves to the receiver who asks.
func (h Hook) token() (string, error) {
	if h.TokenFile == "" {
		return strings.TrimSpace(h.Token), nil
	}
	raw, err := os.ReadFile(h.TokenFile)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
	if err == nil && line == "" {
		err = errors.New("it is empty")
	}
	return strings.TrimSpace(line), err
}

// endpoint is whom a URL speaks to.
type endpoint struct{ host, port string }

// target reads the host and the port of a URL as curl does; false for one that
// is not http or https, or has no host.
func target(url string) (endpoint, bool) {
	scheme, rest, ok := strings.Cut(url, "://")
	port := "80"
	switch {
	case ok && strings.EqualFold(scheme, "https"):
		port = "443"
	case !ok || !strings.EqualFold(scheme, "http"):
		return endpoint{}, false
	}
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host, tail := rest, ""
	if strings.HasPrefix(rest, "[") {
		host, tail, ok = strings.Cut(rest[1:], "]")
		if !ok {
			return endpoint{}, false
		}
	} else if i := strings.IndexByte(rest, ':'); i >= 0 {
		host, tail = rest[:i], rest[i:]
	}
	if p := strings.TrimPrefix(tail, ":"); p != "" {
		port = p
	}
	return endpoint{host, port}, host != "" && !strings.ContainsFunc(host+port, unfit)
}

// unfit is what stands in no host and no port, and would mean something to
// curl's options.
func unfit(r rune) bool { return r <= ' ' || r == ',' || r == '"' || r == '*' }

// lookTime bounds the question for the addresses of a name.
const lookTime = 10 * time.Second

// public is an address of the host, if none of its addresses is private: the
// request goes there and nowhere else, whatever the name means a moment later.
func (e endpoint) public(env []string) (string, *outcome) {
	var found []netip.Addr
	if ip, err := netip.ParseAddr(e.host); err == nil {
		found = []netip.Addr{ip}
	} else {
		text, why := resolve(e.host, env)
		if found = addresses(text); len(found) == 0 {
			return "", &outcome{verdict: delivery.NotSent, why: "webhook: the address of " + e.host + " cannot be found" + why}
		}
	}
	for _, ip := range found {
		if private(ip) {
			return "", &outcome{
				verdict: delivery.Permanent,
				why:     "webhook: " + e.host + " is on this machine or in a private network (" + ip.String() + "); cron.webhookAllowPrivate = true allows that",
			}
		}
	}
	if found[0].Is6() {
		return "[" + found[0].String() + "]", nil
	}
	return found[0].String(), nil
}

// Private tells a URL whose host, as it stands there, is on this machine or in a
// private network; names but localhost are not looked up.
func Private(url string) bool {
	e, ok := target(url)
	ip, err := netip.ParseAddr(e.host)
	return ok && (err == nil && private(ip) || strings.EqualFold(e.host, "localhost"))
}

// private tells an address that strangers must not be able to have a request
// sent to: of this machine, of a network at home, of a link, of nobody.
func private(ip netip.Addr) bool {
	ip = ip.Unmap()
	return !ip.IsGlobalUnicast() || ip.IsPrivate() || slices.ContainsFunc(reserved[:], func(p string) bool {
		return netip.MustParsePrefix(p).Contains(ip)
	})
}

// reserved are further networks that are not public: this network, carriers'
// own, protocol assignments, benchmarks, what is kept back, and IPv4 in IPv6.
var reserved = [...]string{
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "fec0::/10",
}

// resolve asks the system for the addresses of a name. The resolver of Go costs
// every command of claw its start.
func resolve(host string, env []string) (text, why string) {
	argv := []string{"getent", "ahosts", host}
	if runtime.GOOS == "darwin" {
		argv = []string{"dscacheutil", "-q", "host", "-a", "name", host}
	}
	prog := program.Spec{Argv: argv, Env: env, Dir: "/", Limit: lookTime}
	if err := prog.Resolve(); err != nil {
		return "", ": " + err.Error()
	}
	e := run(prog)
	return e.stdout, ""
}

// addresses are the addresses among the words of a text.
func addresses(text string) (found []netip.Addr) {
	for word := range strings.FieldsSeq(text) {
		if ip, err := netip.ParseAddr(word); err == nil {
			found = append(found, ip.WithZone(""))
		}
	}
	return found
}
