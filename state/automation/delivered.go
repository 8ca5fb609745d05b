package automation

// DeliveryStatus is what became of the message about a run. It never changes
// how the run itself ended (spec/heartbeat-automations.md 2.13).
type DeliveryStatus string

// The states of the message.
const (
	Delivered    DeliveryStatus = "delivered"
	NotDelivered DeliveryStatus = "not-delivered"
	DeliveryLost DeliveryStatus = "unknown"
	NotRequested DeliveryStatus = "not-requested" // there was nothing to tell, or nobody to tell it to
)
