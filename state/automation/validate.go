package automation

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The bounds of spec/heartbeat-automations.md 2.2 and 2.3.
const (
	pastAllowed    = time.Minute
	futureAllowed  = 10 * 366 * 24 * time.Hour
	minTriggerStep = 30 * time.Second
)

// maxName is how many characters a name may have.
const maxName = 200

// Validate checks what a person wrote. The error is an *Error.
func Validate(a Automation, now time.Time, zone Zones) error {
	for _, check := range [...]func(Automation, time.Time, Zones) *Error{
		checkName, checkSchedule, checkStream, checkWatch, checkPayload, checkBounds, checkTarget, checkDelivery, checkAlert, checkExtras, checkTrigger,
		checkPolicies,
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
	if n := utf8.RuneCountInString(a.Name); n > maxName {
		return refuse("name", a.Name, "has "+itoa(n)+" characters, of "+itoa(maxName)+" at most", "give a short one, and the rest as --description")
	}
	if !utf8.ValidString(a.Name) || strings.ContainsFunc(a.Name, unicode.IsControl) || strings.ContainsFunc(a.DisplayName, unicode.IsControl) {
		return refuse("name", a.Name, "has a line end or another control character in it", "write it without")
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
	case KindStream, KindWatch, KindBoot:
	default:
		return refuse("schedule", string(s.Kind), "is of no known kind", "write one of --at, --every, --cron, --on-exit, --stream-command and --watch, or @reboot")
	}
	if s.TZ != "" {
		return refuse("time zone", s.TZ, "means nothing with "+s.Kind.typed(), "leave --tz out")
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
		return refuse("stagger", duration(time.Duration(*s.StaggerMs)*time.Millisecond), "is for cron expressions, and not negative", "leave --stagger and --exact out")
	}
	if s.Kind == KindEvery && s.EveryMs > 0 && s.EveryMs < leastEveryMs {
		return refuse("every", duration(time.Duration(s.EveryMs)*time.Millisecond), "is less than a second", "write --every 1s or more")
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

func checkPayload(a Automation, _ time.Time, _ Zones) *Error {
	switch p := a.Payload; p.Kind {
	case PayloadEvent:
		if strings.TrimSpace(p.Text) == "" {
			return refuse("event", "", "has no text", "write --reminder TEXT or --event TEXT")
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
		return refuse("payload", string(p.Kind), "is of no known kind", "write one of --command, --message, --reminder and --event")
	}
	return nil
}

// checkBounds: the limits of a command.
func checkBounds(a Automation, _ time.Time, _ Zones) *Error {
	switch p := a.Payload; {
	case p.NoOutputTimeoutSeconds < 0:
		return refuse("no-output timeout", itoa(p.NoOutputTimeoutSeconds), "is negative", "leave it out for none")
	case p.OutputMaxBytes < 0:
		return refuse("output limit", itoa64(p.OutputMaxBytes), "is negative", "leave it out for the default")
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
		return refuse("session", "main", "takes events only", "use --reminder or --event, or --session isolated")
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
	case (d.Mode == "webhook" || d.URL != "") && !isWeb(d.URL):
		return refuse("webhook", d.URL, "is no http or https address", "write one such as https://example.org/hook")
	}
	return nil
}

// isWeb tells an http or https address with a host.
func isWeb(url string) bool {
	rest, ok := cutFold(url, "https://")
	if !ok {
		rest, ok = cutFold(url, "http://")
	}
	return ok && rest != "" && !strings.ContainsAny(rest[:1], "/?#:@") && !strings.ContainsAny(url, " \t\r\n")
}

func checkAlert(a Automation, _ time.Time, _ Zones) *Error {
	f := a.FailureAlert
	switch {
	case f == nil:
	case f.After < 0 || f.CooldownMs < 0:
		return refuse("failure alert", "", "has a count or a cooldown that is negative", "")
	case f.Mode != "" && f.Mode != "announce" && f.Mode != "webhook":
		return refuse("failure alert", f.Mode, "is neither announce nor webhook", "")
	case f.Mode == "webhook" && !isWeb(f.To):
		return refuse("failure alert", f.To, "is no http or https address", "with the mode webhook, give the address with --failure-alert-to")
	case f.Off && (f.After > 0 || f.CooldownMs > 0 || f.Mode+f.Channel+f.To+f.AccountID != "" || f.IncludesSkipped):
		return refuse("failure alert", "", "is off, and says when to alert as well", "leave one of the two out")
	}
	return nil
}

func checkExtras(a Automation, _ time.Time, _ Zones) *Error {
	kind := a.Schedule.Kind
	recurring := kind == KindEvery || kind == KindCron
	switch {
	case a.DeleteAfterRun && kind != KindAt && kind != KindOnExit:
		return refuse("delete-after-run", "", "is for automations that run once", "leave it out, or use --at")
	case a.Pacing != nil && !recurring:
		return refuse("pacing", "", "is for every and cron", "leave --pacing-min and --pacing-max out")
	case a.Pacing != nil && (a.Pacing.MinMs < 0 || a.Pacing.MaxMs < 0 || a.Pacing.MaxMs > 0 && a.Pacing.MaxMs < a.Pacing.MinMs):
		return refuse("pacing", "", "has its bounds the wrong way round", "")
	}
	return nil
}

// checkTrigger: 3.6, and sources that fire more than once.
func checkTrigger(a Automation, now time.Time, zone Zones) *Error {
	kind := a.Schedule.Kind
	recurring := kind == KindEvery || kind == KindCron
	switch {
	case a.Trigger == nil:
		return nil
	case strings.TrimSpace(a.Trigger.Script) == "":
		return refuse("trigger", "", "has no script", "write --trigger-script with a shell command, or leave it out")
	case kind == KindAt || kind == KindOnExit:
		return refuse("trigger", "", "is not for "+string(kind)+", which runs once", "use every, cron, stream, watch or @reboot")
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
