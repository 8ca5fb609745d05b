package recovery

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claw/runner/internal/proc"
	"claw/runner/wake"
	"claw/state"
	"claw/state/automation"
)

// recently is how long after a tick it is believed that another will come.
const recently = 15 * time.Minute

// tickers asks what of this machine makes ticks, and what automations need of
// it: after the rows have been read, for those say what is needed.
func (x *exam) tickers() question {
	return question{"cron, and the files of units", func(ctx context.Context) (found []Finding) {
		crons, silent := x.crontabs(ctx)
		if silent {
			found = append(found, x.noAnswer("crontab"))
		}
		all := append(append(x.systemdUnits(), x.launchAgents()...), crons...)
		paths := map[string]bool{proc.Getenv(x.Environ, "PATH"): true}
		for _, t := range all {
			found = append(found, x.ticker(ctx, t)...)
			found = append(found, x.pathOf(t, paths)...)
		}
		found = append(found, x.ticking(all)...)
		return append(found, x.needs()...)
	}}
}

// ticker looks at one of them.
func (x *exam) ticker(ctx context.Context, t ticker) (found []Finding) {
	path, err := proc.LookPath(t.program, x.home(), pathIn(t.env))
	switch {
	case err != nil:
		found = append(found, Found("unit_binary_missing", t.where, "it starts "+t.program+", which is not there", "make install puts it there; else edit "+editable(t.where)+", and claw is "+x.Self))
	default:
		found = append(found, x.version(ctx, t, path)...)
	}
	if dir, ok := x.stateDirOf(t); ok && !sameDir(dir, x.Dir) {
		found = append(found, Found("unit_other_state", t.where, "it works on "+dir+", and you look at "+x.Dir, "set CLAW_STATE_DIR there, or nowhere: "+editable(t.where)))
	}
	if !t.on {
		found = append(found, Found("unit_off", t.where, "it is there, and not switched on", t.enable))
	}
	return found
}

// editable is how a person changes it.
func editable(where string) string {
	if where == "crontab" {
		return "crontab -e"
	}
	return where
}

// version asks another program for its version. This one need not be asked.
func (x *exam) version(ctx context.Context, t ticker, path string) []Finding {
	a, err1 := os.Stat(path)
	b, err2 := os.Stat(x.Self)
	if x.Version == "" || err1 == nil && err2 == nil && os.SameFile(a, b) {
		return nil
	}
	said := x.output(ctx, path, "version")
	answer := strings.TrimSpace(said.text)
	switch {
	case said.silent || !said.ok():
		return []Finding{Found("unit_binary_other", t.where, "it starts "+path+", which does not say its version", path+" version")}
	case answer != x.Version:
		return []Finding{Found("unit_binary_other", t.where, "it starts "+path+", which is "+firstLine(answer)+"; this is "+x.Version, "make install, or edit "+editable(t.where)+"; then restart it")}
	}
	return nil
}

// pathIn is the PATH of an environment; empty: the usual one.
func pathIn(env []string) string { return proc.Getenv(env, "PATH") }

// pathOf tells what cannot be started from there although it can from here: the
// PATH of a service manager is short.
func (x *exam) pathOf(t ticker, asked map[string]bool) (found []Finding) {
	path := pathIn(t.env)
	if x.Unstartable == nil || path == "" || asked[path] {
		return nil
	}
	asked[path] = true
	here := x.Unstartable(proc.Getenv(x.Environ, "PATH"))
	for _, key := range x.Unstartable(path) {
		if !slices.Contains(here, key) {
			found = append(found, Found("unit_path", t.where, key+" is found in your PATH, and not in the PATH that it has there", "set PATH in "+editable(t.where)+", or write the whole path in claw.toml"))
		}
	}
	return found
}

// stateDirOf is the state directory that it means.
func (x *exam) stateDirOf(t ticker) (string, bool) {
	if t.stateIn != "" {
		return t.stateIn, filepath.IsAbs(t.stateIn)
	}
	if x.StateDirOf == nil {
		return "", false
	}
	dir, err := x.StateDirOf(func(name string) string {
		if v := proc.Getenv(t.env, name); v != "" || name != "HOME" {
			return v
		}
		return x.home()
	})
	return dir, err == nil
}

// sameDir compares two paths, and what they lead to.
func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	i, err1 := os.Stat(a)
	j, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(i, j)
}

// ticking tells whether somebody makes ticks, and whether it is more than one.
func (x *exam) ticking(all []ticker) (found []Finding) {
	var ways []string
	for _, t := range all {
		dir, known := x.stateDirOf(t)
		if t.on && known && sameDir(dir, x.Dir) {
			ways = append(ways, fmt.Sprintf("%s (%s)", t.where, t.runs))
		}
	}
	now := x.Ticks()
	runs := slices.ContainsFunc(all, func(t ticker) bool { return t.on && t.runs == "runner run" })
	if now.Running && !runs {
		ways = append(ways, "a runner that somebody started")
	}
	wanted := now.Wanted
	if x.jobs > 0 {
		wanted = times(x.jobs, "automation") + " waiting"
	}
	quiet := x.Clock.Now().Sub(now.LastTick) > recently
	switch {
	case len(ways) > 1:
		found = append(found, Found("two_tickers", "ticks", strings.Join(ways, " and ")+": harmless, for one does the work and the others see that", "nothing need be done; one of them is enough"))
	case len(ways) == 0 && !now.Running && quiet && wanted != "":
		found = append(found, Found("nobody_ticks", "ticks", wanted+": nothing runs by the clock, for there is no runner, and no cron", "claw runner run, or one of the files in contrib/ (cron, systemd, launchd)"))
	}
	if now.Running && now.Polls != "" {
		found = append(found, Found("runner_polls", "runner", "it looks every two seconds: "+now.Polls, "claw runner status"))
	}
	return found
}

// needs looks at what automations start and watch.
func (x *exam) needs() (found []Finding) {
	if x.store == nil {
		return nil
	}
	var rows []state.Row[automation.Automation]
	if err := x.store.View(func(tx *state.Tx) (err error) {
		rows, err = state.Automations.All(tx)
		return err
	}); err != nil {
		return nil // it has been told already
	}
	for _, row := range rows {
		if row.Rec.Enabled {
			found = append(found, x.need(row.Rec)...)
		}
	}
	return found
}

func (x *exam) need(a automation.Automation) (found []Finding) {
	name := shownName(a)
	if dir := a.Schedule.Dir; dir != "" {
		if why, remote := wake.Remote(dir), (*wake.RemoteError)(nil); isRemote(why, &remote) {
			found = append(found, Found("source_polls", name, remote.Error(), remote.Remedy()))
		} else if why != nil {
			found = append(found, Found("source_missing", name, "it watches "+dir+": "+reason(why), "mkdir -p "+quoted(dir)+", or claw cron edit "+name))
		}
	}
	for _, argv := range [...]struct {
		argv []string
		cwd  string
		env  map[string]string
	}{{a.Payload.Argv, a.Payload.Cwd, a.Payload.Env}, {a.Schedule.Argv, a.Schedule.Cwd, nil}} {
		path := proc.Getenv(x.Environ, "PATH")
		if own, ok := argv.env["PATH"]; ok {
			path = own
		}
		if len(argv.argv) == 0 {
			continue
		}
		if _, err := proc.LookPath(argv.argv[0], argv.cwd, path); err != nil {
			found = append(found, Found("automation_program", name, err.Error(), "claw cron edit "+name))
		}
	}
	return found
}
