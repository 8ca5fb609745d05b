package runner

import (
	"errors"
	"runtime/debug"

	"claw/runner/supervisor"
)

// restLimit bounds the memory of Go in a runner that idles.
const restLimit = 8 << 20

// rest gives back memory once nothing has happened for a second.
func (l *life) rest() {
	if l.resting || len(l.shift.busy) > 0 || l.due() || l.nears() || l.Clock.Elapsed()-l.lastPass < idleAfter {
		return
	}
	l.resting = true
	l.tellWatch()
	l.write()
	l.shift.spares.Discard()
	l.letGo()
	supervisor.TrimMemory()
	// While it is on, everything is collected anew every two minutes, which is
	// more than the rest of what idling costs. The few bytes of each look are
	// collected when they have become some megabytes.
	l.collect, l.limit = debug.SetGCPercent(-1), debug.SetMemoryLimit(restLimit)
}

// letGo closes the stores. Nothing is in flight.
func (l *life) letGo() {
	if l.shift.r != nil {
		l.replaced = append(l.replaced, l.shift.r)
		l.shift.r = nil
	}
	for _, r := range l.replaced {
		r.Store.Close()
	}
	l.replaced = nil
}

// reload makes a new Runner because the configuration may have changed; asked
// is by a signal, which is always answered.
func (l *life) reload(asked bool) {
	if asked {
		l.Ready.tell(reloading())
		defer l.Ready.tell("READY=1")
		l.badConfig = ""
		l.configured = stamps(l.Config)
	}
	if l.load(true) == nil {
		l.first = true // what is configured anew may be due
	}
}

// load makes a Runner. With a configuration that cannot be used the one before
// stays, and that is said once.
func (l *life) load(anew bool) error {
	r, err := l.Load()
	switch {
	case err != nil && err.Error() != l.badConfig:
		l.badConfig = err.Error()
		note := ""
		if r != nil || l.shift.r != nil {
			note = "; going on with the configuration before"
		}
		l.Log("error: " + err.Error() + note)
	case err == nil && l.badConfig != "":
		l.badConfig = ""
		l.Log("the configuration can be used again")
	case err == nil && anew:
		l.Log("configuration read anew")
	}
	if r == nil {
		return firstError(err, errors.New("nothing was loaded"))
	}
	if l.shift.r != nil {
		l.replaced = append(l.replaced, l.shift.r)
	}
	l.shift.r = r
	return nil
}
