package cli

import (
	"fmt"
	"strings"

	"claw/cmd/claw/internal/config"
	"claw/state"
	"claw/state/delivery"
)

// origin is whom --notify names, CHANNEL or CHANNEL:TO; the recipient may hold
// colons. Without it nobody is told directly; an empty one is no channel, for
// whoever gives a variable that is not set wants somebody to be told.
func (c *execCmd) origin(a *app, cfg *config.Config, store *state.Store) (delivery.Route, error) {
	if c.Notify == nil {
		return delivery.Route{}, nil
	}
	channel, to, named := strings.Cut(*c.Notify, ":")
	if channel == "" {
		return delivery.Route{}, usagef(fmt.Sprintf("exec: --notify %q: it names no channel", *c.Notify), "known are "+strings.Join(a.post(cfg, store, nil).Names(), ", "))
	}
	if named && to == "" {
		return delivery.Route{}, usagef(fmt.Sprintf("exec: --notify %q: there is no recipient behind the colon", *c.Notify), "--notify "+channel+" takes the channel's own")
	}
	post := a.post(cfg, store, nil)
	where := post.Resolve(channel, to, "", delivery.Route{})
	if channel == "last" || channel == "none" || where.Reason != "" {
		return delivery.Route{}, usagef(fmt.Sprintf("exec: --notify %q: there is no such channel", *c.Notify), "known are "+strings.Join(post.Names(), ", "), "claw channels list shows them")
	}
	return where.Route, nil
}
