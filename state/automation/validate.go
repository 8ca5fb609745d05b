package automation

import (
	"strings"
	"time"
)

// The bounds of spec/heartbeat-automations.md 2.2 and 2.3.
const (
	pastAllowed    = time.Minute
	futureAllowed  = 10 * 366 * 24 * time.Hour
	minTriggerStep = 30 * time.Second
)

// Validate checks what a person wrote. The error is an *Error.
func Validate(a Automation, now time.Time, zone Zones) error {
	for _, check := range [...]func(Automation, time.Time, Zones) *Error{
		checkName, checkSchedule, checkStream, checkPayload, checkTarget, checkDelivery, checkExtras, checkPolicies,
	} {
		if err := check(a, now, zone); err != nil {
			return err
		}
	}
	return nil
}

func checkName(a Automation, _ time.Time, _ Zones) *Error {
	if strings.TrimSpace(a.Name) == "" {
		return refuse("name", "", "is blank", "give a short one: --name backup")
	}
	if strings.ContainsAny(a.ID, "/\\\x00@#") {
		return refuse("id", a.ID, "has one of / \\ @ # or NUL in it", "use letters, digits and dashes")
	}
	return nil
}

func checkSchedule(a Automation, now time.Time, zone Zones) *Error {
	s := a.Schedule
	switch s.Kind {
	case KindAt:
		return checkAt(s, now)
	case KindEvery, KindCron:
		return checkRecurring(a, now, zone)
	case KindOnExit:
		if strings.TrimSpace(s.Command) == "" {
			return refuse("on-exit", "", "names no command", "write the command whose end is waited for")
		}
	case KindWatch:
		if s.Dir == "" {
			return refuse("watch", "", "names no directory", "write --watch DIR")
		}
	case KindStream, KindBoot:
	default:
		return refuse("schedule", string(s.Kind), "is of no known kind", "write one of --at, --every, --cron, --on-exit, --stream-command and --watch, or @reboot")
	}
	if s.TZ != "" {
		return refuse("time zone", s.TZ, "means nothing with "+string(s.Kind), "leave --tz out")
	}
	return nil
}

func checkAt(s Schedule, now time.Time) *Error {
	shown := stamp(s.At)
	switch {
	case s.At.IsZero():
		return refuse("at", "", "has no time", "write --at 2026-12-01T09:00 or --at 20m")
	case now.Sub(s.At) > pastAllowed:
		return refuse("at", shown, "is in the past", "write a time to come, or --at 1s for at once")
	case s.At.Sub(now) > futureAllowed:
		return refuse("at", shown, "is more than 10 years ahead", "")
	}
	return nil
}

func checkRecurring(a Automation, now time.Time, zone Zones) *Error {
	s := a.Schedule
	if s.Kind == KindEvery && s.TZ != "" {
		return refuse("time zone", s.TZ, "means nothing with every", "leave --tz out: an interval is the same everywhere")
	}
	if s.StaggerMs != nil && (s.Kind != KindCron || *s.StaggerMs < 0) {
		return refuse("stagger", itoa64(*s.StaggerMs), "is for cron expressions, and not negative", "leave --stagger and --exact out")
	}
	slots, err := a.Slots(zone)
	if err != nil {
		return err.(*Error) //nolint: Slots says so
	}
	if _, ok := slots.Next(now); !ok {
		return refuse("cron expression", s.Expr, "has no upcoming run time and would never fire", "take other years, or none")
	}
	return nil
}

func checkStream(a Automation, _ time.Time, _ Zones) *Error {
	s := a.Schedule
	if s.Kind != KindStream {
		return nil
	}
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return refuse("stream", "", "has no command", "write --stream-command with a program")
	case a.Payload.Kind == PayloadCommand:
		return refuse("stream", "", "cannot start a command", "use a message or an event as payload")
	case s.Mode != "" && s.Mode != "line" && s.Mode != "match":
		return refuse("stream mode", s.Mode, "is neither line nor match", "")
	case (s.Match != "") != (s.Mode == "match"):
		return refuse("stream match", s.Match, "and mode match belong together", "give both --stream-mode match and --stream-match")
	case s.BatchMs != 0 && (s.BatchMs < 50 || s.BatchMs > 5000):
		return refuse("stream batch", itoa64(s.BatchMs), "is not between 50 and 5000 ms", "")
	case s.MaxBatchBytes != 0 && (s.MaxBatchBytes < 1024 || s.MaxBatchBytes > 65536):
		return refuse("stream batch size", itoa64(s.MaxBatchBytes), "is not between 1024 and 65536 bytes", "")
	}
	return nil
}

func checkPayload(a Automation, _ time.Time, _ Zones) *Error {
	switch p := a.Payload; p.Kind {
	case PayloadEvent:
		if strings.TrimSpace(p.Text) == "" {
			return refuse("event", "", "has no text", "write --system-event TEXT")
		}
	case PayloadTurn:
		if strings.TrimSpace(p.Message) == "" {
			return refuse("message", "", "is blank", "write --message TEXT")
		}
	case PayloadCommand:
		if len(p.Argv) == 0 || p.Argv[0] == "" {
			return refuse("command", "", "is empty", "write --command TEXT, or a program and its arguments after --")
		}
	default:
		return refuse("payload", string(p.Kind), "is of no known kind", "write one of --system-event, --message and --command")
	}
	return nil
}

func checkTarget(a Automation, _ time.Time, _ Zones) *Error {
	id, named := strings.CutPrefix(a.SessionTarget, "session:")
	switch {
	case a.SessionTarget == "":
		return nil
	case named && (strings.TrimSpace(id) == "" || strings.ContainsAny(id, "/\\\x00")):
		return refuse("session", a.SessionTarget, "has a blank id, or / \\ or NUL in it", "write session:NAME")
	case !named && a.SessionTarget != "main" && a.SessionTarget != "isolated" && a.SessionTarget != "current":
		return refuse("session", a.SessionTarget, "is none of main, isolated, current and session:ID", "")
	case a.SessionTarget == "main" && a.Payload.Kind != PayloadEvent:
		return refuse("session", "main", "takes events only", "use --system-event, or --session isolated")
	case a.SessionTarget != "main" && a.Payload.Kind == PayloadEvent:
		return refuse("session", a.SessionTarget, "takes no events", "use --message, or --session main")
	}
	return nil
}

func checkDelivery(a Automation, _ time.Time, _ Zones) *Error {
	d := a.Delivery
	if a.WakeMode != "" && a.WakeMode != "now" && a.WakeMode != "next-heartbeat" {
		return refuse("wake", a.WakeMode, "is neither now nor next-heartbeat", "")
	}
	if d == nil {
		return nil
	}
	switch {
	case d.Mode != "" && d.Mode != "none" && d.Mode != "announce" && d.Mode != "webhook":
		return refuse("delivery", d.Mode, "is none of none, announce and webhook", "")
	case (d.Mode == "announce" || d.Mode == "") && a.SessionTarget == "main":
		return refuse("delivery", "announce", "is not for events of the main session", "the agent's answer is what is delivered; leave --announce out")
	case d.Mode == "webhook" && !strings.HasPrefix(d.URL, "http://") && !strings.HasPrefix(d.URL, "https://"):
		return refuse("webhook", d.URL, "is no http or https address", "")
	}
	return nil
}

func checkExtras(a Automation, now time.Time, zone Zones) *Error {
	kind := a.Schedule.Kind
	recurring := kind == KindEvery || kind == KindCron
	switch {
	case a.DeleteAfterRun && kind != KindAt && kind != KindOnExit:
		return refuse("delete-after-run", "", "is for automations that run once", "leave it out, or use --at")
	case a.Pacing != nil && !recurring:
		return refuse("pacing", "", "is for every and cron", "leave --pacing-min and --pacing-max out")
	case a.Pacing != nil && (a.Pacing.MinMs < 0 || a.Pacing.MaxMs < 0 || a.Pacing.MaxMs > 0 && a.Pacing.MaxMs < a.Pacing.MinMs):
		return refuse("pacing", "", "has its bounds the wrong way round", "")
	case a.Trigger == nil:
		return nil
	case !recurring && kind != KindStream:
		return refuse("trigger", "", "is for every, cron and stream", "")
	case recurring && shortest(a, now, zone) < minTriggerStep:
		return refuse("trigger", "", "may be asked every 30 s at most", "take a longer interval")
	}
	return nil
}

// shortest is the least time between the next slots.
func shortest(a Automation, now time.Time, zone Zones) time.Duration {
	slots, err := a.Slots(zone)
	if err != nil {
		return 0
	}
	least := time.Duration(1<<63 - 1)
	at, ok := slots.Next(now)
	for range 100 {
		next, more := slots.Next(at)
		if !ok || !more {
			break
		}
		least, at = min(least, next.Sub(at)), next
	}
	return least
}

func checkPolicies(a Automation, _ time.Time, _ Zones) *Error {
	switch a.Missed.Policy {
	case "", MissedSkip, MissedOnce, MissedAll:
	default:
		return refuse("missed", string(a.Missed.Policy), "is none of skip, once and all", "")
	}
	if a.Missed.Limit < 0 || a.Missed.Limit > countLimit || a.Missed.WindowMs < 0 {
		return refuse("missed", "", "has a limit or window out of range", "limit is 1 to "+itoa(countLimit))
	}
	switch a.Overlap {
	case "", OverlapSkip, OverlapQueue, OverlapReplace, OverlapAllow:
		return nil
	}
	return refuse("overlap", string(a.Overlap), "is none of skip, queue, replace and allow", "")
}
