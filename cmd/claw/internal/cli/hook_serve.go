package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/runner/clock"
	"claw/runner/hook"
	"claw/runner/poke"
	"claw/state/external"
)

type hookServe struct {
	Listen    string `help:"127.0.0.1:PORT or unix:PATH; default hooks.listen, or 127.0.0.1:18789." placeholder:"ADDRESS"`
	Public    bool   `help:"Listen also on an address that others than this machine can reach."`
	TokenFile string `name:"token-file" help:"File that holds the bearer token; default hooks.tokenFile, or $$CLAW_HOOKS_TOKEN." placeholder:"FILE"`
}

// Help shows examples.
func (hookServe) Help() string {
	return "Takes POST requests with Authorization: Bearer TOKEN to /hooks/wake, /hooks/agent and what [hooks.mappings] says, until it is told to end. With hooks.enabled the runner does the same itself. There is no TLS.\n\n" +
		examples("claw hook serve --listen 127.0.0.1:18789 --token-file ~/.claw-token", "CLAW_HOOKS_TOKEN=$(cat t) claw hook serve --listen unix:hooks.sock")
}

// defaultListen is where it listens when nothing is said.
const defaultListen = "127.0.0.1:18789"

// Run serves until it is told to end.
func (c *hookServe) Run(a *app) error {
	cfg, store, err := a.opened()
	if err != nil {
		return err
	}
	door, err := a.door(cfg, c.TokenFile, func(line string) { a.io.Note(line) })
	if err != nil {
		return err
	}
	g := door.gate()
	if _, err := g.Token(); err != nil {
		return &failure{code: exitUsage, text: "hook serve: " + err.Error(), err: err, remedy: []string{"openssl rand -hex 24 > FILE, and --token-file FILE or hooks.tokenFile"}}
	}
	l, err := hook.Listen(firstOf(c.Listen, cfg.Hooks.Listen, defaultListen), c.Public || cfg.Hooks.Public)
	if err != nil {
		return listenFailure("hook serve", err)
	}
	ctx, _ := a.toldToEnd()
	a.io.Note("listening on " + hook.Address(l) + g.Path + " for " + store.Dir())
	return hook.Serve(ctx, l, door.gate)
}

func listenFailure(command string, err error) error {
	code := exitRefused
	if no, ok := errors.AsType[*hook.ListenError](err); ok && no.Err == nil {
		code = exitUsage
	}
	return &failure{code: code, text: command + ": " + err.Error(), err: err, remedy: remedyOf(err)}
}

// gate is what webhooks are posted to, by the configuration.
func (a *app) gate(cfg *config.Config, tokenFile string) (*hook.Gate, error) {
	r, err := a.runner(nil)
	if err != nil {
		return nil, err
	}
	base := "/" + strings.Trim(cfg.Hooks.Path, "/")
	if base == "/" || strings.ContainsAny(base, "?#% ") {
		return nil, usagef(fmt.Sprintf("hooks.path %q is no base path", cfg.Hooks.Path), `hooks.path = "/hooks"`)
	}
	r.Hooks.KeepHTTP = true
	r.Hooks.Call = func() error { return poke.Act(r.Store.Dir(), poke.Auto, poke.Outside(a.environ)) }
	g := &hook.Gate{
		Dispatcher: r.Hooks, Path: base, Agent: firstOf(cfg.Hooks.Agent, mainOf(cfg)), ChooseKey: cfg.Hooks.ChooseKey, Prefixes: cfg.Hooks.Prefixes,
		Wake:  r.Hooks.Call,
		Token: a.token(firstOf(tokenFile, cfg.Hooks.TokenFile)), Secret: secretIn,
	}
	for _, m := range cfg.Hooks.Mappings {
		g.Mappings = append(g.Mappings, m.Mapping)
	}
	for range cfg.Hooks.Presets {
		g.Mappings = append(g.Mappings, external.Gmail()...)
	}
	return g, nil
}

// mainOf is the agent that is asked where nobody is named.
func mainOf(cfg *config.Config) string {
	names := cfg.AgentNames()
	for _, name := range names {
		if name == "main" {
			return name
		}
	}
	if len(names) > 0 {
		return names[0]
	}
	return "main"
}

// How long until the runner tries again to listen.
var listenPauses = []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, time.Minute}

// serveHooks is hook serve beside the runner, by the configuration as it is when
// that begins. What is wrong with it is said, and keeps the runner from nothing.
func (a *app) serveHooks(ctx context.Context, log func(string)) (stop func()) {
	cfg, err := a.config()
	if err != nil || !cfg.Hooks.Enabled {
		return func() {}
	}
	own := *a // with a store of its own: the runner closes its own while it rests
	own.st, own.spare = nil, nil
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer own.close()
		own.listenOn(ctx, cfg, log)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (a *app) listenOn(ctx context.Context, cfg *config.Config, log func(string)) {
	door, err := a.door(cfg, "", log)
	if err == nil {
		_, err = door.gate().Token()
	}
	if err != nil {
		log("error: no webhooks are listened to: " + err.Error())
		return
	}
	for tries := 0; ctx.Err() == nil; tries++ {
		l, err := hook.Listen(firstOf(cfg.Hooks.Listen, defaultListen), cfg.Hooks.Public)
		if err == nil {
			log("webhooks are listened to on " + hook.Address(l) + door.gate().Path)
			if err = hook.Serve(ctx, l, door.gate); err == nil {
				return
			}
		}
		log("error: webhooks: " + err.Error())
		if no, ok := errors.AsType[*hook.ListenError](err); ok && no.Err == nil {
			return // it cannot become right by itself
		}
		if clock.Sleep(ctx, a.clock, listenPauses[min(tries, len(listenPauses)-1)]) != nil {
			return
		}
	}
}
