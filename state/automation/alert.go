package automation

import "time"

// AlertRule is when a failure is told to a person
// (spec/heartbeat-automations.md 2.13).
type AlertRule struct {
	After          int           // failures in a row
	Cooldown       time.Duration // between two alerts
	IncludeSkipped bool
	// Where to, as in Delivery.
	Mode, Channel, To, AccountID string
}
