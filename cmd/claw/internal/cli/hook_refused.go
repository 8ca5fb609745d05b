package cli

import (
	"claw/runner/hook"
	"claw/state/external"
)

// hookRefusal is a refusal for a person: the answer on stdout is for the program
// that asked, which seldom shows it to anybody.
func (a *app) hookRefusal(agent string, no *hook.RefusedError) error {
	f := &failure{code: codeOfReason(no.Reason), text: "hook dispatch: " + no.Error(), err: no, remedy: nonEmpty(wayOut(no.Reason))}
	if cfg, err := a.config(); err == nil && no.Reason == external.ReasonPrepare && len(cfg.Agent(agent).Command) == 0 {
		f.remedy = a.configuringAgents()
	}
	return f
}

// wayOut is what to do about a refusal.
func wayOut(r external.Reason) string {
	switch r {
	case external.ReasonAgent:
		return "--agent NAME names one"
	case external.ReasonKey:
		return "for example --session-key hook:mail"
	case external.ReasonSource:
		return "--source email"
	case external.ReasonEmpty:
		return "the message is read from stdin: claw hook dispatch … < message"
	case external.ReasonTooLong:
		return "--format mail shows the beginning of a mail's text, however long it is"
	case external.ReasonUnknown:
		return "claw config show has those that are configured"
	case external.ReasonAccount:
		return "claw channels list shows where a reply can go"
	case external.ReasonPrepare:
		return "claw doctor looks at the agents of claw.toml"
	case external.ReasonLate:
		return "try again; or --queue lets it wait for its turn"
	case external.ReasonHeld:
		return "--queue lets it wait; claw runner status says for how long that may be"
	case external.ReasonWithdrawn:
		return "its task was cancelled; try again if that was a mistake"
	}
	return ""
}

// codeOfReason is the exit code of a refusal.
func codeOfReason(r external.Reason) int {
	switch r {
	case external.ReasonUnknown:
		return exitNotFound
	case external.ReasonLate, external.ReasonHeld, external.ReasonWithdrawn, external.ReasonPrepare, external.ReasonAccount:
		return exitRefused
	}
	return exitUsage
}
