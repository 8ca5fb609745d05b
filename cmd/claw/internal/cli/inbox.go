package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"claw/cmd/claw/internal/output"
	"claw/runner/clock"
	"claw/state"
	"claw/state/delivery"
	"claw/state/process"
)

// inboxCmd is `claw inbox`; design.md section 5.
type inboxCmd struct {
	Unread bool `short:"u" help:"Only what has not been read."`
	All    bool `help:"All that are kept, the archive included; without it, what is new and the last 20."`
	Peek   bool `help:"Do not mark what is shown as read."`
	Follow bool `short:"f" help:"Go on showing what comes."`
	JSON   bool `name:"json" help:"Print {\"messages\": [{\"id\", \"at\", \"title\", \"text\", \"source\", \"read\"}]}; with --follow one such object a line."`
}

// Help shows examples.
func (inboxCmd) Help() string {
	return "The inbox is the channel for what has nowhere else to go. What is shown counts as read from then on.\n\n" +
		examples("claw inbox", "claw inbox --unread --peek --json | jq '.messages | length'", "claw inbox --follow")
}

// inboxShown is how many messages are shown without --all, unless more are
// new.
const inboxShown = 20

// inboxPoll is how often --follow looks whether something has come.
const inboxPoll = 500 * time.Millisecond

// shownMessage is one message as JSON.
type shownMessage struct {
	ID     string          `json:"id"`
	At     time.Time       `json:"at"`
	Title  string          `json:"title"`
	Text   string          `json:"text"`
	Source delivery.Source `json:"source"`
	Read   bool            `json:"read"` // before it was shown now
}

// Run shows the messages.
func (c *inboxCmd) Run(a *app) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	seen, err := c.first(a, store)
	if err != nil || !c.Follow {
		return err
	}
	return c.follow(a, store, seen)
}

// first shows what is there, and returns it for follow.
func (c *inboxCmd) first(a *app, store *state.Store) (map[string]bool, error) {
	all, err := messages(store, c.All)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(all))
	for _, m := range all {
		seen[m.ID] = true
	}
	shown := c.choose(all)
	fresh := unread(shown)
	switch {
	case c.JSON && (!c.Follow || len(shown) > 0):
		err = a.io.JSON(asJSON(shown))
	case c.JSON:
	case len(shown) == 0 && !c.Follow:
		a.io.Note(nothing(len(all) > 0))
	default:
		err = c.print(a, shown, fresh)
	}
	if err == nil && !c.Peek {
		err = markRead(a, store, fresh)
	}
	return seen, err
}

func nothing(some bool) string {
	if some {
		return "Nothing new; claw inbox --all shows what was."
	}
	return "No messages."
}

// messages are the messages, oldest first.
func messages(store *state.Store, archived bool) ([]delivery.Message, error) {
	var all []delivery.Message
	err := store.View(func(tx *state.Tx) error {
		all = nil
		if archived {
			for r, err := range state.Inbox.Archived(tx) {
				if err != nil {
					return err
				}
				all = append(all, r.Rec)
			}
		}
		rows, err := state.Inbox.All(tx)
		for _, r := range rows {
			all = append(all, r.Rec)
		}
		return err
	})
	slices.SortStableFunc(all, func(x, y delivery.Message) int {
		if n := x.At.Compare(y.At); n != 0 {
			return n
		}
		return strings.Compare(x.ID, y.ID)
	})
	return all, err
}

// choose leaves out what was not asked for: the read ones with --unread, else,
// without --all, the older of those that have been read.
func (c *inboxCmd) choose(all []delivery.Message) []delivery.Message {
	if c.All && !c.Unread {
		return all
	}
	kept := make([]delivery.Message, 0, len(all))
	for i, m := range all {
		recent := !c.Unread && i >= len(all)-inboxShown
		if m.ReadAt.IsZero() || recent {
			kept = append(kept, m)
		}
	}
	return kept
}

func unread(all []delivery.Message) []delivery.Message {
	var fresh []delivery.Message
	for _, m := range all {
		if m.ReadAt.IsZero() {
			fresh = append(fresh, m)
		}
	}
	return fresh
}

func asJSON(all []delivery.Message) map[string]any {
	shown := make([]shownMessage, len(all))
	for i, m := range all {
		shown[i] = shownMessage{ID: m.ID, At: m.At, Title: m.Title, Text: m.Text, Source: m.Source, Read: !m.ReadAt.IsZero()}
	}
	return map[string]any{"messages": shown}
}

// print shows messages to a person. How many are new is said where it is no
// data.
func (c *inboxCmd) print(a *app, shown, fresh []delivery.Message) error {
	if n := len(fresh); n > 0 && a.io.OutTTY {
		fmt.Fprintf(a.io.Out, "%d new\n", n)
	} else if n > 0 && !c.Follow {
		a.io.Note(fmt.Sprintf("%d new", n))
	}
	lines := make([]output.Message, len(shown))
	for i, m := range shown {
		lines[i] = a.message(m)
	}
	return a.io.Messages(lines)
}

func (a *app) message(m delivery.Message) output.Message {
	title, body := m.Title, m.Under()
	if title == "" {
		title, body, _ = strings.Cut(strings.TrimSpace(m.Text), "\n")
	}
	if process.Collapse(body) == process.Collapse(title) {
		body = ""
	}
	return output.Message{New: m.ReadAt.IsZero(), When: a.clockTime(m.At), Title: title, Body: strings.TrimSpace(body), From: about(m.Source)}
}

// about says what a message is about, as somebody would look for it.
func about(s delivery.Source) string { return firstOf(s.Name, s.SessionKey, s.Kind) }

// clockTime is a time for people: of today, with the day before that; the full
// time in a pipe.
func (a *app) clockTime(t time.Time) string {
	now := a.now()
	t = t.In(now.Location())
	switch {
	case !a.io.OutTTY:
		return t.Format(time.RFC3339)
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format("15:04")
	case now.Sub(t) < 6*24*time.Hour && now.After(t):
		return t.Format("Mon 15:04")
	}
	return t.Format("2 Jan 2006 15:04")
}

// markRead notes that messages have been shown. Where nothing can be written
// they stay new, and that is all.
func markRead(a *app, store *state.Store, shown []delivery.Message) error {
	if len(shown) == 0 {
		return nil
	}
	err := store.Update(a.ctx, func(tx *state.Tx) error {
		for _, m := range shown {
			row, ok, err := state.Inbox.Get(tx, m.ID)
			if err != nil {
				return err
			}
			if !ok || !row.Rec.ReadAt.IsZero() {
				continue
			}
			row.Rec.ReadAt = tx.Now()
			if err := state.Inbox.Put(tx, m.ID, row.Rev, row.Rec); err != nil {
				return err
			}
		}
		return nil
	}, state.Relaxed())
	if errors.Is(err, state.ErrReadOnly) || errors.Is(err, state.ErrNewerFormat) || errors.Is(err, state.ErrPermissions) {
		return nil
	}
	return err
}

// follow shows what comes, until it is interrupted.
func (c *inboxCmd) follow(a *app, store *state.Store, seen map[string]bool) error {
	position := int64(-1)
	for {
		var now int64
		if err := store.View(func(tx *state.Tx) error { now = tx.Position(); return nil }); err != nil {
			return err
		}
		if now != position {
			position = now
			if err := c.arrived(a, store, seen); err != nil {
				return err
			}
		}
		if err := clock.Sleep(a.ctx, a.clock, inboxPoll); err != nil {
			return err
		}
	}
}

// arrived shows the messages that have not been seen.
func (c *inboxCmd) arrived(a *app, store *state.Store, seen map[string]bool) error {
	all, err := messages(store, false)
	if err != nil {
		return err
	}
	var fresh []delivery.Message
	for _, m := range all {
		if !seen[m.ID] {
			seen[m.ID] = true
			fresh = append(fresh, m)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if c.JSON {
		err = a.io.JSON(asJSON(fresh))
	} else {
		lines := make([]output.Message, len(fresh))
		for i, m := range fresh {
			lines[i] = a.message(m)
		}
		err = a.io.Messages(lines)
	}
	if err == nil && !c.Peek {
		err = markRead(a, store, fresh)
	}
	return err
}
