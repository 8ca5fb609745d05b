package cli

import (
	"fmt"
	"strings"
	"time"

	"claw/cmd/claw/internal/config"
	"claw/runner/deliver"
	"claw/runner/scheduler"
	"claw/state/automation"
	"claw/state/delivery"
)

// ontoDelivery is where results go: one mode takes the place of the other.
func (t typed) ontoDelivery(s *scheduler.Scheduler, to *config.Automation) error {
	if t.NoDeliver && (t.Announce != "" || t.Webhook != "") {
		return t.refuse("--no-deliver excludes --announce and --webhook", "leave one of them out")
	}
	channel, recipient, err := t.channel(s, "--announce", t.Announce)
	switch {
	case err != nil:
		return err
	case t.NoDeliver:
		clearDelivery(to)
		to.DeliveryMode = "none"
	case t.Announce != "":
		clearPlace(to)
		to.DeliveryMode, to.DeliveryChannel, to.DeliveryTo, to.DeliveryURL = "announce", channel, recipient, t.Webhook
	case t.Webhook != "":
		clearPlace(to)
		to.DeliveryMode, to.DeliveryURL = "webhook", t.Webhook
	}
	if silent := to.DeliveryMode == "none" || to.DeliveryMode == "webhook"; silent && t.ThreadID+t.Account != "" {
		return t.refuse("--thread-id and --account say nothing where nothing is announced", "give --announce too, or leave them out")
	}
	if t.BestEffort && to.DeliveryMode == "none" {
		return t.refuse("--best-effort says nothing where nothing is sent", "leave it out")
	}
	set(&to.DeliveryThread, t.ThreadID)
	set(&to.DeliveryAccount, t.Account)
	set(&to.DeliveryBestEffort, t.BestEffort)
	return nil
}

// clearPlace takes away where on a channel messages go.
func clearPlace(to *config.Automation) {
	to.DeliveryChannel, to.DeliveryTo, to.DeliveryThread, to.DeliveryAccount = "", "", "", ""
}

func clearDelivery(to *config.Automation) {
	clearPlace(to)
	to.DeliveryMode, to.DeliveryURL, to.DeliveryBestEffort = "", "", false
}

// channel takes CHANNEL[:TO] apart, and refuses what cannot be reached.
func (t typed) channel(s *scheduler.Scheduler, flag, value string) (channel, to string, err error) {
	if value == "" {
		return "", "", nil
	}
	channel, to, named := strings.Cut(value, ":")
	if channel == "last" && !named {
		return channel, "", nil
	}
	if where := s.Post.Resolve(channel, to, "", delivery.Route{}); channel == "" || channel == "none" || where.Reason != "" || named && to == "" {
		return "", "", t.refuse(fmt.Sprintf("%s %q: there is no such channel or recipient", flag, value), "known are "+strings.Join(s.Post.Names(), ", "))
	}
	return channel, to, nil
}

func (t typed) ontoAlert(s *scheduler.Scheduler, to *config.Automation) error {
	channel, recipient, err := t.channel(s, "--failure-alert-channel", t.FailureAlertChannel)
	if err != nil {
		return err
	}
	var cooldown time.Duration
	if err := t.durations(duration{"--failure-alert-cooldown", t.FailureAlertCooldown, &cooldown}); err != nil {
		return err
	}
	if t.FailureAlert != nil && !*t.FailureAlert {
		if cooldown != 0 || t.FailureAlertAfter != 0 || t.FailureAlertSkipped || firstOf(t.FailureAlertMode, channel, t.FailureAlertTo, t.FailureAlertAccountID) != "" {
			return t.refuse("--no-failure-alert excludes the other flags of failure alerts", "leave one of them out")
		}
		clearAlert(to)
	}
	set(&to.AlertAfter, t.FailureAlertAfter)
	set(&to.AlertCooldownSeconds, int64((cooldown+time.Second-1)/time.Second))
	set(&to.AlertMode, t.FailureAlertMode)
	set(&to.AlertChannel, channel)
	set(&to.AlertTo, firstOf(t.FailureAlertTo, recipient))
	set(&to.AlertAccount, t.FailureAlertAccountID)
	set(&to.AlertSkipped, t.FailureAlertSkipped)
	if t.FailureAlert != nil {
		to.AlertEnabled = *t.FailureAlert
	}
	return nil
}

// clearAlert takes away what an automation itself says of alerts.
func clearAlert(to *config.Automation) {
	to.AlertEnabled, to.AlertAfter, to.AlertCooldownSeconds, to.AlertMode = true, 0, 0, ""
	to.AlertChannel, to.AlertTo, to.AlertAccount, to.AlertSkipped = "", "", "", false
}

// aboutWebhook says that nothing will be posted to a webhook as it is.
func (a *app) aboutWebhook(made automation.Automation) {
	cfg, err := a.config()
	if err != nil || made.Delivery == nil || cfg.Cron.WebhookAllowPrivate || !deliver.Private(made.Delivery.URL) {
		return
	}
	a.io.Say(made.Name+": nothing will be posted to "+made.Delivery.URL+": it is on this machine or in a private network", "cron.webhookAllowPrivate = true allows that")
}
