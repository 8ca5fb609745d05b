package cli

import (
	"os"
	"sync"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/runner/hook"
)

// door has the gate of webhooks by the configuration as it is: it is made anew
// for the first request after claw.toml was changed.
type door struct {
	a         *app
	tokenFile string
	log       func(string)

	mu  sync.Mutex
	now *hook.Gate
	of  stamp
	bad string // what is wrong with claw.toml, once it was said
}

// stamp tells one state of a file from another.
type stamp struct {
	at   time.Time
	size int64
}

func stampOf(name string) stamp {
	info, err := os.Stat(name)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// door is of a configuration that has just been read.
func (a *app) door(cfg *config.Config, tokenFile string, log func(string)) (*door, error) {
	d := &door{a: a, tokenFile: tokenFile, log: log, of: configured(a)}
	g, err := a.gate(cfg, tokenFile)
	if err != nil {
		return nil, err
	}
	g.Log = log
	d.now = g
	if file := firstOf(tokenFile, cfg.Hooks.TokenFile); file != "" {
		if info, err := os.Stat(file); err == nil && info.Mode()&0o077 != 0 {
			log("others than you may open the file with the token: chmod 600 " + file)
		}
	}
	return d, nil
}

// configured is claw.toml as it is.
func configured(a *app) stamp {
	places, err := config.Paths(a.getenv)
	if err != nil {
		return stamp{}
	}
	return stampOf(places.Config)
}

// gate is the gate as it is now. With a configuration that cannot be used the one
// before stays, and that is said once.
func (d *door) gate() *hook.Gate {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := configured(d.a)
	if of == d.of {
		return d.now
	}
	cfg, err := config.Load(d.a.getenv)
	if err == nil {
		b := *d.a
		b.cfg = cfg
		var g *hook.Gate
		if g, err = b.gate(cfg, d.tokenFile); err == nil {
			g.Log = d.log
			d.now, d.of, d.bad = g, of, ""
			d.log("webhooks: configuration read anew")
			return g
		}
	}
	if d.of = of; err.Error() != d.bad {
		d.bad = err.Error()
		d.log("error: " + d.bad + "; webhooks go on with the configuration before")
	}
	return d.now
}
