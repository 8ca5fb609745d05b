package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"claw/state/automation"
	"claw/state/session"
)

// given is a key of which one of several is to be written, and its value.
type given struct{ key, value string }

func written(all ...given) (out []given) {
	for _, g := range all {
		if g.value != "" {
			out = append(out, g)
		}
	}
	return out
}

// schedules are those that are written.
func (a Automation) schedules() []given {
	return written(given{"schedule", a.Schedule}, given{"at", a.At}, given{"every", a.Every}, given{"cron", a.Cron},
		given{"onExit", a.OnExit}, given{"stream", strings.Join(a.Stream, " ")}, given{"watch", a.Watch})
}

// HasSchedule tells that one is written.
func (a Automation) HasSchedule() bool { return len(a.schedules()) > 0 }

// ClearSchedule takes away when it runs, for another schedule. What belongs to
// a cron expression stays if that is one too.
func (a *Automation) ClearSchedule(cron bool) {
	tz, stagger, exact := a.TZ, a.Stagger, a.Exact
	was := a.Cron != ""
	a.Schedule, a.At, a.Every, a.Anchor, a.Cron, a.OnExit, a.OnExitCwd = "", "", "", "", "", "", ""
	a.Stream, a.StreamCwd, a.StreamMode, a.StreamMatch, a.StreamBatchMs, a.StreamMaxBatchBytes = nil, "", "", "", 0, 0
	a.Watch, a.Recursive, a.Glob, a.TZ, a.Stagger, a.Exact = "", false, "", "", 0, false
	if cron && was {
		a.TZ, a.Stagger, a.Exact = tz, stagger, exact
	}
}

// oneOf says that not exactly one of several keys is written.
func oneOf(none, several string, keys []given, all string) error {
	if len(keys) == 0 {
		return wrong("", none, "give one of "+all)
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = fmt.Sprintf("%s %q", k.key, k.value)
	}
	return wrong(keys[1].key, fmt.Sprintf("there are %d %s: %s", len(keys), several, strings.Join(names, ", ")), "leave one of "+all)
}

func (a Automation) buildSchedule(out *automation.Automation, now time.Time, zone automation.Zones) (err error) {
	keys := a.schedules()
	if len(keys) != 1 {
		return oneOf("no schedule is given", "schedules", keys, "schedule, at, every, cron, onExit, stream and watch")
	}
	s := &out.Schedule
	switch keys[0].key {
	case "schedule":
		if *s, err = positional(a.Schedule, a.TZ, now, zone); err != nil {
			return err
		}
	case "at":
		*s, err = once(a.At, a.TZ, now, zone)
	case "every":
		*s, err = automation.ParseEvery(a.Every)
		s.TZ = a.TZ
	case "cron":
		*s = automation.Schedule{Kind: automation.KindCron, Expr: a.Cron, TZ: a.TZ}
	case "onExit":
		*s = automation.Schedule{Kind: automation.KindOnExit, Command: a.OnExit, Cwd: a.OnExitCwd, TZ: a.TZ}
	case "stream":
		*s = a.stream()
	case "watch":
		*s = automation.Schedule{Kind: automation.KindWatch, Dir: filepath.Clean(a.Watch), Recursive: a.Recursive, Glob: a.Glob, TZ: a.TZ}
	}
	if err != nil {
		return err
	}
	out.DeleteAfterRun = a.DeleteAfterRun || s.Kind == automation.KindAt && !a.KeepAfterRun
	return a.buildSpread(s, now)
}

func (a Automation) stream() automation.Schedule {
	mode := a.StreamMode
	if mode == "" && a.StreamMatch != "" {
		mode = "match"
	}
	return automation.Schedule{
		Kind: automation.KindStream, Argv: a.Stream, Cwd: a.StreamCwd, Mode: mode, Match: a.StreamMatch,
		BatchMs: a.StreamBatchMs, MaxBatchBytes: a.StreamMaxBatchBytes, TZ: a.TZ,
	}
}

// positional is what is said in one word: @reboot, or what
// automation.ParseSchedule reads.
func positional(text, tz string, now time.Time, zone automation.Zones) (automation.Schedule, error) {
	if strings.EqualFold(strings.TrimSpace(text), "@reboot") {
		return automation.Schedule{Kind: automation.KindBoot, TZ: tz}, nil
	}
	return automation.ParseSchedule(text, tz, now, zone)
}

// once is a time alone: what is an expression or an interval is none.
func once(text, tz string, now time.Time, zone automation.Zones) (automation.Schedule, error) {
	loc := time.UTC
	if tz != "" {
		var err error
		if loc, err = zone(tz); err != nil {
			return automation.Schedule{}, &automation.Error{Field: "time zone", Value: tz, Why: "is not known here", Hint: "write an IANA name such as Europe/Berlin"}
		}
	}
	at, err := automation.ParseAt(text, now, loc)
	return automation.Schedule{Kind: automation.KindAt, At: at, TZ: tz}, err
}

// buildSpread is what a schedule has besides: stagger and anchor, and no key
// that belongs to another kind.
func (a Automation) buildSpread(s *automation.Schedule, now time.Time) error {
	switch {
	case a.Exact && a.Stagger > 0:
		return wrong("stagger", "exact and stagger exclude one another", "leave one of them out")
	case a.Exact || a.Stagger > 0:
		ms := a.Stagger.Milliseconds()
		s.StaggerMs = &ms
	}
	if a.Anchor != "" {
		at, err := automation.ParseAt(a.Anchor, now, nil)
		if err != nil || s.Kind != automation.KindEvery {
			return wrong("anchor", fmt.Sprintf("anchor %q is for intervals, and a time", a.Anchor), "write 2026-12-01T09:00Z, or leave it out")
		}
		s.AnchorMs = at.UnixMilli()
	}
	return a.misplaced(s.Kind)
}

// misplaced refuses what means nothing with a kind of schedule.
func (a Automation) misplaced(kind automation.Kind) error {
	for _, m := range [...]struct {
		key   string
		set   bool
		kind  automation.Kind
		needs string
	}{
		{"onExitCwd", a.OnExitCwd != "", automation.KindOnExit, "onExit"},
		{"streamCwd", a.StreamCwd != "", automation.KindStream, "stream"},
		{"streamMode", a.StreamMode != "", automation.KindStream, "stream"},
		{"streamMatch", a.StreamMatch != "", automation.KindStream, "stream"},
		{"streamBatchMs", a.StreamBatchMs != 0, automation.KindStream, "stream"},
		{"streamMaxBatchBytes", a.StreamMaxBatchBytes != 0, automation.KindStream, "stream"},
		{"recursive", a.Recursive, automation.KindWatch, "watch"},
		{"glob", a.Glob != "", automation.KindWatch, "watch"},
		{"keepAfterRun", a.KeepAfterRun, automation.KindAt, "at"},
		{"stagger", a.Stagger > 0, automation.KindCron, "a cron expression"},
		{"exact", a.Exact, automation.KindCron, "a cron expression"},
	} {
		if m.set && m.kind != kind {
			return wrong(m.key, m.key+" means nothing without "+m.needs, "leave it out")
		}
	}
	return nil
}

// target is the session that is written: a shape, session:ID, or a key.
func target(out *automation.Automation, key string) error {
	switch {
	case key == "isolated" || key == "main" || key == "current" || strings.HasPrefix(key, "session:"):
		out.SessionTarget = key
	default:
		if _, err := session.Parse(key); err != nil {
			hint := ""
			if r, ok := err.(interface{ Remedy() string }); ok {
				hint = r.Remedy()
			}
			return wrong("session", "session: "+err.Error(), hint)
		}
		out.SessionKey = key
	}
	return nil
}
