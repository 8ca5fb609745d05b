package scheduler

import (
	"strconv"
	"strings"
	"time"

	"claw/runner/deliver"
	"claw/state"
	"claw/state/automation"
	"claw/state/delivery"
	"claw/state/heartbeat"
	"claw/state/process"
	"claw/state/session"
	"claw/state/ulid"
)

// Why there is no message about a run that succeeded
// (spec/heartbeat-automations.md 2.13).
const (
	SaidNothing   = "empty"     // it has printed or replied nothing
	SaidSilent    = "silent"    // NO_REPLY and nothing else
	SaidHeartbeat = "heartbeat" // an acknowledgement and nothing else
)

// StaleText is why a result was not announced by itself.
const StaleText = "it came more than 3 hours after its slot; claw deliveries retry sends it all the same"

// unsaid is why a text is not told; empty when it is.
func unsaid(text string) string {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return SaidNothing
	case text == "NO_REPLY":
		return SaidSilent
	case heartbeat.PureAck(text):
		return SaidHeartbeat
	}
	return ""
}

// tells is whether a success with such a text is to reach somebody. Until it
// has, a one-shot that goes with its success stays.
func tells(a automation.Automation, text string) bool {
	d := a.Delivery
	return d != nil && (d.Mode == "announce" || d.Mode == "webhook") && unsaid(text) == ""
}

// report writes the messages about a run that has ended: its result or the
// alert of its failure, and the webhook. What it notes in the automation and in
// the run is not written yet. done: the automation was to run once and is done
// with, see automation.Receipt.
func (s *Scheduler) report(tx *state.Tx, a automation.Automation, r automation.Run, text string) (_ automation.Automation, _ automation.Run, done bool, err error) {
	id, why := "", ""
	if r.Status == automation.Succeeded {
		id, why, err = s.announce(tx, a, r, text)
	}
	alert, alertErr := "", error(nil)
	if rule, on := a.AlertRule(s.Alerts); on && err == nil {
		var tell bool
		if a.State, tell = automation.Alert(a, r, rule, tx.Now()); tell {
			alert, alertErr = s.alert(tx, a, r, rule, text)
		}
	}
	if err != nil || alertErr != nil {
		return a, r, false, first(err, alertErr)
	}
	hook, err := s.posted(tx, a, r, text)
	switch {
	case err != nil:
		return a, r, false, err
	case a.Delivery != nil && a.Delivery.Mode == "webhook" && hook != "":
		id = hook
	case id == "":
		id = alert
	}
	switch r.DeliveryID = id; {
	case id != "":
	case r.Status == automation.Succeeded || r.Status == automation.Failed || r.Status == automation.TimedOut:
		a, r, done = automation.Receipt(a, r, automation.NotRequested, why)
		return a, r, done, nil
	default:
		return a, r, false, nil // there is no message about what did not run
	}
	return s.late(tx, a, r)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// late notes of a message that is not sent by itself that it is not.
func (s *Scheduler) late(tx *state.Tx, a automation.Automation, r automation.Run) (automation.Automation, automation.Run, bool, error) {
	row, ok, err := state.Deliveries.Get(tx, r.DeliveryID)
	if err != nil || !ok || row.Rec.State != delivery.Failed {
		return a, r, false, err
	}
	a, r, done := automation.Receipt(a, r, automation.NotDelivered, row.Rec.Error)
	return a, r, done, nil
}

// announce writes the intent to tell a person what a run has to say; why is the
// reason when nobody is told. One that comes too late is a message that has
// failed already: it is listed with its reason, and a person may have it sent
// (openclaw 131491).
func (s *Scheduler) announce(tx *state.Tx, a automation.Automation, r automation.Run, text string) (id, why string, err error) {
	if why = unsaid(text); why != "" {
		return "", why, nil
	}
	if a.Delivery == nil || a.Delivery.Mode != "announce" {
		return "", "", nil
	}
	body := strings.TrimSpace(text)
	d := delivery.Delivery{Title: called(a), Body: body, Text: called(a) + "\n" + body, IdempotencyKey: "run:" + r.ID, Source: about(a, r)}
	route, err := s.route(tx, a, *a.Delivery)
	if err != nil {
		return "", "", err
	}
	d.Route = route
	d, err = s.Post.Intend(tx, d)
	if err == nil && automation.Stale(r, tx.Now()) {
		err = hold(tx, d)
	}
	return d.ID, "", err
}

// hold makes an intent one that a person has to look at.
func hold(tx *state.Tx, d delivery.Delivery) error {
	row, ok, err := state.Deliveries.Get(tx, d.ID)
	if err != nil || !ok || row.Rec.State != delivery.Pending {
		return err
	}
	held, err := delivery.Fail(row.Rec, StaleText, true, tx.Now())
	if err != nil {
		return err
	}
	return state.Deliveries.Put(tx, d.ID, row.Rev, held)
}

// called is what messages call an automation.
func called(a automation.Automation) string {
	if a.DisplayName != "" {
		return a.DisplayName
	}
	return a.Name
}

func about(a automation.Automation, r automation.Run) delivery.Source {
	return delivery.Source{Kind: "cron", Name: a.Name, RunID: r.ID}
}

// alert writes the intent to tell a person of a failure, where the rule says
// and else where the automation announces.
func (s *Scheduler) alert(tx *state.Tx, a automation.Automation, r automation.Run, rule automation.AlertRule, text string) (string, error) {
	d := delivery.Delivery{IdempotencyKey: "alert:" + r.ID, Source: about(a, r)}
	d.Title, d.Body = failure(a, r, text)
	d.Text = strings.TrimRight(d.Title+"\n"+d.Body, "\n")
	if rule.Mode == "webhook" {
		d.Route, d.Report = delivery.Route{Channel: deliver.RunHook, To: rule.To}, s.reportOf(a, r, text)
		d, err := s.Post.Intend(tx, d)
		return d.ID, err
	}
	to := automation.Delivery{Channel: rule.Channel, To: rule.To, AccountID: rule.AccountID}
	if rule.Channel == "" && rule.To == "" && a.Delivery != nil {
		to = *a.Delivery
	}
	var err error
	if d.Route, err = s.route(tx, a, to); err != nil {
		return "", err
	}
	d, err = s.Post.Intend(tx, d)
	return d.ID, err
}

// failure is the message about a run that failed: its first line and the rest.
func failure(a automation.Automation, r automation.Run, text string) (title, body string) {
	reason := r.Error
	if reason == "" {
		reason = r.Why
	}
	how, _, _ := strings.Cut(reason, ":")
	title = called(a) + " " + strings.ReplaceAll(string(r.Status), "_", " ")
	if how != "" {
		title += " (" + process.Elide(how, 80) + ")"
	}
	if n := a.State.ConsecutiveErrors; n > 1 {
		title += ", " + strconv.Itoa(n) + " times in a row"
	}
	body = strings.TrimSpace(text)
	if body == "" {
		body = reason
	}
	return title, body
}

// posted writes the intent to post a run to the automation's webhook: every
// end, but no success that has nothing to say.
func (s *Scheduler) posted(tx *state.Tx, a automation.Automation, r automation.Run, text string) (string, error) {
	to := a.Delivery
	if to == nil || to.URL == "" || to.Mode != "webhook" && to.Mode != "announce" || r.Status == automation.Succeeded && unsaid(text) != "" {
		return "", nil
	}
	rep := s.reportOf(a, r, text)
	d, err := s.Post.Intend(tx, delivery.Delivery{
		Route: delivery.Route{Channel: deliver.RunHook, To: to.URL}, Title: called(a), Body: rep.Summary, Text: strings.TrimSpace(called(a) + " " + rep.Status + "\n" + rep.Summary),
		IdempotencyKey: "webhook:" + r.ID, Source: about(a, r), Report: rep,
	})
	return d.ID, err
}

// reportOf is a run that ended as a webhook gets it.
func (s *Scheduler) reportOf(a automation.Automation, r automation.Run, text string) *delivery.Report {
	rep := &delivery.Report{
		AutomationID: a.ID, Name: a.Name, RunID: r.ID, Status: string(r.Status), Error: r.Error, Summary: strings.TrimSpace(text),
		DurationMs: a.State.LastDurationMs,
	}
	if !r.Slot.IsZero() {
		slot := r.Slot.UTC()
		rep.Slot = &slot
	}
	if next, ok := automation.Upcoming(a, nil, r.EndedAt, s.Zone); ok && s.Enabled {
		next = next.UTC()
		rep.NextRunAt = &next
	}
	return rep
}

// intend writes a message to where the automation announces.
func (s *Scheduler) intend(tx *state.Tx, a automation.Automation, d delivery.Delivery) error {
	to := automation.Delivery{}
	if a.Delivery != nil {
		to = *a.Delivery
	}
	var err error
	if d.Route, err = s.route(tx, a, to); err != nil {
		return err
	}
	d.ID, d.Source = ulid.New(tx.Now()), delivery.Source{Kind: "cron", Name: a.Name}
	_, err = s.Post.Intend(tx, d)
	return err
}

// route is where an automation announces: the channel that it names, else
// where the agent's main session was last reached, else the default channel. A
// channel that is not configured any more must not swallow the message.
func (s *Scheduler) route(tx *state.Tx, a automation.Automation, to automation.Delivery) (delivery.Route, error) {
	main, _, err := state.Sessions.Get(tx, session.Main(s.agent(a)))
	if err != nil {
		return delivery.Route{}, err
	}
	if to.Channel == "" {
		to.Channel = "last"
	}
	where := s.Post.Resolve(to.Channel, to.To, to.AccountID, main.Rec.Route)
	if where.Reason != "" {
		where = s.Post.Resolve("last", "", "", delivery.Route{})
	}
	if to.ThreadID != "" {
		where.Route.Thread = to.ThreadID
	}
	return where.Route, nil
}

// notify tells a person something about an automation, whatever its delivery:
// it has stopped running.
func (s *Scheduler) notify(tx *state.Tx, a automation.Automation, n automation.Notice) error {
	text := n.Text
	if n.Hint != "" {
		text += "\n" + n.Hint
	}
	return s.intend(tx, a, delivery.Delivery{
		Title: n.Text, Text: text, Body: n.Hint, IdempotencyKey: "cron:" + n.AutomationID + ":" + n.Code + ":" + tx.Now().UTC().Format(time.RFC3339Nano),
	})
}
