package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/term"

	"claw/cmd/claw/internal/output"
	"claw/runner/deliver"
	"claw/state/delivery"
	"claw/state/process"
)

// deliveriesCmd is `claw deliveries`; spec/tasks-recovery.md 2.6.
type deliveriesCmd struct {
	List    deliveriesList    `cmd:"" default:"withargs" aliases:"ls" help:"Show deliveries; what needs a look comes first."`
	Show    deliveriesShow    `cmd:"" help:"Show everything that is known about one delivery."`
	Retry   deliveriesRetry   `cmd:"" help:"Send one now: one that waits, has failed, or may not have arrived."`
	Dismiss deliveriesDismiss `cmd:"" help:"Settle one without sending it."`
}

// Help shows examples.
func (deliveriesCmd) Help() string {
	return "A delivery is one intent to send a message to a person, with its attempts and its receipt. What may or may not have arrived is unknown, and is never sent again by itself. Without an action, list.\n\n" +
		examples("claw deliveries list", "claw deliveries retry d-00x4f2")
}

type deliveriesList struct {
	State string `help:"Only deliveries in this state: pending, sending, delivered, failed, unknown, dismissed." enum:",pending,sending,delivered,failed,unknown,dismissed" default:"" placeholder:"STATE"`
	Limit int    `help:"At most so many (default 50)." default:"50" placeholder:"N"`
	All   bool   `help:"All that are kept, the archive included."`
	JSON  bool   `name:"json" help:"Print {\"deliveries\": [{\"id\", \"state\", \"route\", \"text\", \"attempts\", …}], \"count\", \"total\"}."`
}

// Help shows examples.
func (deliveriesList) Help() string {
	return examples("claw deliveries list --state unknown", "claw deliveries list --all --json | jq -r '.deliveries[].receipt'")
}

// Run prints the list.
func (c *deliveriesList) Run(a *app) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	all, err := deliver.List(store, a.now(), c.All)
	if err != nil {
		return err
	}
	shown := make([]delivery.Delivery, 0, len(all))
	for _, d := range all {
		if c.State == "" || string(d.State) == c.State {
			shown = append(shown, d)
		}
	}
	total := len(shown)
	if !c.All && c.Limit > 0 {
		shown = shown[:min(total, c.Limit)]
	}
	if c.JSON {
		return a.io.JSON(map[string]any{"deliveries": shown, "count": len(shown), "total": total})
	}
	if total == 0 {
		a.io.Note("No deliveries.")
		return nil
	}
	if err := a.io.Table(c.table(a, shown)); err != nil {
		return err
	}
	if len(shown) < total {
		a.io.Note(fmt.Sprintf("%d of %d; --limit and --all show more", len(shown), total))
	}
	return nil
}

// table has the short id for people; a pipe gets the whole one in front.
func (c *deliveriesList) table(a *app, rows []delivery.Delivery) output.Table {
	t := output.Table{Columns: []output.Column{
		{Name: "DELIVERY"}, {Name: "STATE", State: true}, {Name: "WHEN"}, {Name: "TO"}, {Name: "MESSAGE", Flex: true}, {Name: "WHY", Flex: true},
	}}
	if !a.io.OutTTY {
		t.Columns = append([]output.Column{{Name: "ID"}}, t.Columns...)
	}
	for _, d := range rows {
		row := []string{delivery.Short(d.ID), string(d.State), a.ago(d.CreatedAt), routeText(d.Route), headline(d.Title, d.Text), d.Error}
		if !a.io.OutTTY {
			row = append([]string{d.ID}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// routeText is a route as --notify takes it.
func routeText(r delivery.Route) string {
	s := r.Channel
	if r.To != "" {
		s += ":" + r.To
	}
	return s
}

// headline is a message in one line.
func headline(title, text string) string {
	if title == "" {
		title = text
	}
	return process.Collapse(title)
}

type deliveriesShow struct {
	ID   string `arg:"" help:"Its id, or four or more characters from its beginning or end." placeholder:"ID"`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Help shows examples.
func (deliveriesShow) Help() string {
	return examples("claw deliveries show d-00x4f2", "claw deliveries show d-00x4f2 --json | jq .receipt")
}

// Run shows one delivery.
func (c *deliveriesShow) Run(a *app) error {
	d, err := a.delivery("deliveries show", c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.io.JSON(d)
	}
	return a.io.Pairs(deliveryPairs(d))
}

func (a *app) delivery(command, query string) (delivery.Delivery, error) {
	store, err := a.store()
	if err != nil {
		return delivery.Delivery{}, err
	}
	d, err := deliver.Find(store, a.now(), query)
	return d, asked(command, err)
}

// asked gives the errors about a delivery that a person named their codes.
func asked(command string, err error) error {
	if err == nil {
		return nil
	}
	code := 0
	if _, ok := errors.AsType[*delivery.NotFoundError](err); ok {
		code = exitNotFound
	}
	if _, ok := errors.AsType[*delivery.AmbiguousError](err); ok {
		code = exitUsage
	}
	if _, ok := errors.AsType[*deliver.RefusedError](err); ok {
		code = exitRefused
	}
	if code == 0 {
		return err
	}
	return &failure{code: code, text: command + ": " + err.Error(), remedy: remedyOf(err), err: err}
}

// deliveryPairs is what a person reads about one delivery.
func deliveryPairs(d delivery.Delivery) [][2]string {
	all := [][2]string{
		{"delivery", delivery.Short(d.ID)},
		{"id", d.ID},
		{"state", string(d.State)},
		{"to", routeText(d.Route)},
		{"account", d.Route.Account},
		{"thread", d.Route.Thread},
		{"about", strings.TrimSpace(d.Source.Kind + " " + d.Source.Name)},
		{"task", d.Source.TaskID},
		{"session", d.Source.SessionKey},
		{"attempts", fmt.Sprintf("%d of %d", d.Attempts, delivery.MaxAttempts)},
		{"created", exact(d.CreatedAt)},
		{"tried", exact(d.AttemptedAt)},
		{"next", nextTry(d)},
		{"ended", exact(d.EndedAt)},
		{"key", d.IdempotencyKey},
		{"error", d.Error},
		{"asked", askedText(d)},
		{"answer", d.Answer},
		{"receipt", d.Receipt},
		{"note", d.DismissedNote},
		{"title", d.Title},
		{"text", strings.TrimRight(d.Text, "\n")},
	}
	pairs := all[:0]
	for _, p := range all {
		if p[1] != "" {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// askedText is how often the channel was asked about an unknown outcome.
func askedText(d delivery.Delivery) string {
	if d.Asked == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d times", d.Asked, delivery.MaxAttempts)
}

func nextTry(d delivery.Delivery) string {
	at, waits := delivery.Next(d)
	switch {
	case d.State != delivery.Pending || !waits:
		return ""
	case at.IsZero():
		return "with the next tick"
	}
	return at.Local().Format(time.RFC3339)
}

type deliveriesRetry struct {
	ID   string `arg:"" help:"Its id, or four or more characters from its beginning or end." placeholder:"ID"`
	Yes  bool   `short:"y" help:"Do not ask whether a message that may have arrived is to be sent again."`
	JSON bool   `name:"json" help:"Print the delivery as one JSON object."`
}

// Help shows examples.
func (deliveriesRetry) Help() string {
	return "It is sent at once, also beside a runner, with the same idempotency key as before; one that is being sent already is waited for. Exits 0 when it was delivered, else 1. On a terminal it asks before it sends again what may have arrived.\n\n" +
		examples("claw deliveries retry d-00x4f2", "claw deliveries retry d-00x4f2 --yes")
}

// Run sends one again.
func (c *deliveriesRetry) Run(a *app) error {
	d, err := a.delivery("deliveries retry", c.ID)
	if err != nil {
		return err
	}
	if d.State == delivery.Unknown && !c.Yes && !a.agrees(delivery.Short(d.ID)+" may have arrived already. Send it again?") {
		return &failure{code: exitRefused, text: "deliveries retry: nothing was sent"}
	}
	post, err := a.posting()
	if err != nil {
		return err
	}
	in := a.interruptible()
	defer in.done()
	err = a.sending(in.ctx, func() error {
		d, err = post.Retry(a.ctx, d.ID)
		return err
	})
	if err != nil {
		return asked("deliveries retry", err)
	}
	if c.JSON {
		if err := a.io.JSON(d); err != nil {
			return err
		}
		return codeOfDelivery(d)
	}
	return a.tellHow("deliveries retry", d)
}

// agrees asks a question that yes answers, on a terminal; elsewhere nobody can
// be asked, and who calls it there has decided.
func (a *app) agrees(question string) bool {
	if a.stdin == nil || !a.io.ErrTTY || !term.IsTerminal(int(a.stdin.Fd())) {
		return true
	}
	fmt.Fprintf(a.io.Err, "claw: %s [y/N] ", question)
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

type deliveriesDismiss struct {
	ID   string `arg:"" help:"Its id, or four or more characters from its beginning or end." placeholder:"ID"`
	Note string `help:"Why, for whoever looks later." placeholder:"TEXT"`
	JSON bool   `name:"json" help:"Print the delivery as one JSON object."`
}

// Help shows examples.
func (deliveriesDismiss) Help() string {
	return "It is not looked at again.\n\n" +
		examples("claw deliveries dismiss d-00x4f2", `claw deliveries dismiss d-00x4f2 --note "told them by phone"`)
}

// Run settles one.
func (c *deliveriesDismiss) Run(a *app) error {
	d, err := a.delivery("deliveries dismiss", c.ID)
	if err != nil {
		return err
	}
	post, err := a.posting()
	if err != nil {
		return err
	}
	if d, err = post.Dismiss(a.ctx, d.ID, c.Note); err != nil {
		return asked("deliveries dismiss", err)
	}
	if c.JSON {
		return a.io.JSON(d)
	}
	a.io.Note(delivery.Short(d.ID) + " dismissed")
	return nil
}
