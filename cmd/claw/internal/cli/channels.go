package cli

import (
	"fmt"
	"strings"

	"claw/cmd/claw/internal/output"
	"claw/runner/deliver"
	"claw/state/delivery"
)

// channelsCmd is `claw channels`; design.md section 5.
type channelsCmd struct {
	List channelsList `cmd:"" default:"withargs" aliases:"ls" help:"Show the channels, and whether each can be used now."`
	Test channelsTest `cmd:"" help:"Send a test message through a channel, and say how it went."`
}

// Help shows examples.
func (channelsCmd) Help() string {
	return "A channel brings a message to a person: one of the built-in ones (inbox, stdout, desktop, webhook, mail), or a program named in claw.toml. Without an action, list.\n\n" +
		examples("claw channels list", "claw channels test desktop")
}

type channelsList struct {
	JSON bool `name:"json" help:"Print {\"channels\": [{\"name\", \"type\", \"to\", \"default\", \"ready\", \"why\", …}]}."`
}

// Help shows examples.
func (channelsList) Help() string {
	return "STATE is ok, or not ready: what is sent there waits until NOTE has been seen to.\n\n" +
		examples("claw channels list", "claw channels list --json | jq -r '.channels[] | select(.ready) | .name'")
}

// shownChannel is one channel as JSON.
type shownChannel struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	To         string `json:"to,omitempty"`
	Configured bool   `json:"configured"`
	Default    bool   `json:"default"`
	Ready      bool   `json:"ready"`
	Why        string `json:"why,omitempty"` // it is not ready
}

// Run prints the list.
func (c *channelsList) Run(a *app) error {
	post, err := a.posting()
	if err != nil {
		return err
	}
	shown := make([]shownChannel, 0, 8)
	for _, name := range post.Names() {
		ch, _ := post.Channel(name)
		_, configured := post.Channels[name]
		why := post.Ready(name)
		shown = append(shown, shownChannel{
			Name: name, Type: ch.Type, To: ch.To, Configured: configured, Default: name == post.Default, Ready: why == "", Why: why,
		})
	}
	if c.JSON {
		return a.io.JSON(map[string]any{"channels": shown})
	}
	t := output.Table{Columns: []output.Column{{Name: "CHANNEL"}, {Name: "TYPE"}, {Name: "STATE", State: true}, {Name: "TO", Flex: true}, {Name: "NOTE", Flex: true}}}
	for _, s := range shown {
		t.Rows = append(t.Rows, []string{s.Name, s.Type, s.state(), s.To, s.note()})
	}
	return a.io.Table(t)
}

func (s shownChannel) state() string {
	if s.Ready {
		return "ok"
	}
	return "not ready"
}

func (s shownChannel) note() string {
	if s.Default && s.Why == "" {
		return "default"
	}
	return s.Why
}

// posting opens what sends messages, with our stdout as the foreground.
func (a *app) posting() (*deliver.Post, error) {
	cfg, store, err := a.opened()
	if err != nil {
		return nil, err
	}
	return a.post(cfg, store, a.io.Out), nil
}

type channelsTest struct {
	Name string `arg:"" help:"Its name; claw channels list shows them." placeholder:"CHANNEL"`
	To   string `help:"The recipient; default the channel's own." placeholder:"TO"`
	JSON bool   `name:"json" help:"Print the delivery as one JSON object."`
}

// Help shows examples.
func (channelsTest) Help() string {
	return "It is a delivery like any other, with its receipt; one that has not arrived is dismissed.\n\n" +
		examples("claw channels test desktop", "claw channels test mail --to me@example.org")
}

// Run sends the message.
func (c *channelsTest) Run(a *app) error {
	post, err := a.posting()
	if err != nil {
		return err
	}
	if _, known := post.Channel(c.Name); !known {
		return &failure{code: exitNotFound, text: fmt.Sprintf("channels test: there is no channel %q", c.Name), remedy: []string{"known are " + strings.Join(post.Names(), ", ")}}
	}
	var d delivery.Delivery
	in := a.interruptible()
	defer in.done()
	err = a.sending(in.ctx, func() error {
		d, err = post.Test(a.ctx, c.Name, c.To)
		return err
	})
	if err != nil {
		return asked("channels test", err)
	}
	if c.JSON {
		if err := a.io.JSON(d); err != nil {
			return err
		}
		return codeOfDelivery(d)
	}
	return a.tellHow("channels test", d)
}

// tellHow says how an attempt went, as an error where it did not arrive.
func (a *app) tellHow(command string, d delivery.Delivery) error {
	name := delivery.Short(d.ID)
	switch d.State {
	case delivery.Delivered:
		a.io.Note(strings.TrimSpace("delivered " + a.quotedReceipt(d.Receipt)))
		return nil
	case delivery.Unknown:
		return &failure{code: exitFailed, text: command + ": it may or may not have arrived: " + d.Error}
	case delivery.Sending:
		return &failure{code: exitRefused, text: command + ": " + name + " is being sent by another claw at this moment", remedy: []string{"claw deliveries show " + name + " says how it went"}}
	}
	return &failure{code: exitFailed, text: command + ": not delivered: " + d.Error}
}

// quotedReceipt is as much of the first line of a receipt as there is room for
// on the line that says so; claw deliveries show has all of it.
func (a *app) quotedReceipt(receipt string) string {
	line, _, _ := strings.Cut(receipt, "\n")
	if line = strings.TrimSpace(line); line == "" {
		return ""
	}
	return "(" + a.io.Cut(line, len("claw: delivered ()")) + ")"
}

func codeOfDelivery(d delivery.Delivery) error {
	if d.State == delivery.Delivered {
		return nil
	}
	return silent(exitFailed)
}
