package subagent

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"claw/state/session"
)

// Code is why something was refused.
type Code string

// The codes.
const (
	NoAgent         Code = "agent_required"
	NoMessage       Code = "message_required"
	TooLong         Code = "message_too_long"
	BadMode         Code = "prompt_mode"
	BadDelivery     Code = "completion_delivery"
	BadCleanup      Code = "cleanup"
	BadLabel        Code = "label"
	BadTool         Code = "tool_name"
	CoreTool        Code = "tool_core"
	ForeignTool     Code = "tool_not_owned"
	BothTools       Code = "tools_contradict"
	NotRequester    Code = "not_requester_bound"
	ModelNotAllowed Code = "model_override"
	ModelUnlisted   Code = "model_not_allowed"
	TooDeep         Code = "depth_limit"
	TooMany         Code = "children_limit"
	NotYours        Code = "not_owner"
)

// Refusal says why a wish is not carried out; nothing was written.
type Refusal struct {
	Code Code
	Text string
	Hint string
}

func (e *Refusal) Error() string { return e.Text }

// Remedy is the way out.
func (e *Refusal) Remedy() string { return e.Hint }

// Ask is a wish as its caller has put it. Who the caller is, and where the end is
// told, is no part of it: claw sees that for itself.
type Ask struct {
	Kind       Kind
	Agent      string
	Message    string
	Label      string
	System     string
	Model      string
	Thinking   string
	AlsoAllow  []string
	NoTools    bool
	PromptMode string
	Delivery   string
	Cleanup    Cleanup
	Timeout    time.Duration // 0: the agent's; less: none
}

// maxLabel is how many characters a label may have.
const maxLabel = 200

// Check is what is wrong with a wish whatever the circumstances; nil: nothing.
func Check(a Ask) *Refusal {
	switch {
	case strings.TrimSpace(a.Agent) == "":
		return &Refusal{NoAgent, "it is not said which agent", "--agent NAME names one"}
	case strings.TrimSpace(a.Message) == "":
		return &Refusal{NoMessage, "the message is empty", "--message TEXT says what is to be done; - reads it from stdin"}
	case len(a.Message)+len(a.System) > session.MaxMessage-4096:
		return &Refusal{TooLong, "the message has " + strconv.Itoa(len(a.Message)+len(a.System)) + " bytes; the most is " + strconv.Itoa(session.MaxMessage-4096), "put it into a file and tell the agent where it is"}
	case a.PromptMode != "" && a.PromptMode != Minimal:
		return &Refusal{BadMode, "there is no prompt mode " + strconv.Quote(a.PromptMode), "minimal is the only one; without it the agent has its full prompt"}
	case a.Delivery != "" && a.Delivery != CurrentRequester:
		return &Refusal{BadDelivery, "there is no completion delivery " + strconv.Quote(a.Delivery), "current-requester is the only one; requester and route cannot be given"}
	case a.Cleanup != "" && a.Cleanup != Keep && a.Cleanup != Delete:
		return &Refusal{BadCleanup, "there is no cleanup " + strconv.Quote(string(a.Cleanup)), "keep or delete"}
	case utf8.RuneCountInString(a.Label) > maxLabel:
		return &Refusal{BadLabel, "the label has more than " + strconv.Itoa(maxLabel) + " characters", "shorten it"}
	case a.NoTools && len(a.AlsoAllow) > 0:
		return &Refusal{BothTools, "no tools and more tools cannot be had together", "leave one of --disable-tools and --tools-also-allow out"}
	}
	return checkTools(a.AlsoAllow)
}

// core are the names of claw's own tools, and of what is none: nobody adds them.
var core = []string{"*", "all", "none", "read-only", "exec", "process", "read", "write", "edit", "apply_patch", "cron", "heartbeat_respond", "message", "sessions_spawn", "sessions_send", "subagents"}

func checkTools(names []string) *Refusal {
	for _, name := range names {
		switch {
		case name == "" || strings.ContainsAny(name, ", \t\r\n") || !utf8.ValidString(name) || len(name) > 100:
			return &Refusal{BadTool, strconv.Quote(name) + " is not the name of a tool", "give exact names, one --tools-also-allow for each"}
		case slices.Contains(core, strings.ToLower(name)):
			return &Refusal{CoreTool, "the tool " + name + " is claw's own and cannot be added", "leave it out: what the agent may use of these follows from whoever asks"}
		}
	}
	return nil
}

// Surface is what a run may use: what its agent's sub-agents may (nil: all) and
// the tools that were added, of these no more than its caller (nil: all). Added
// tools must be the caller's own.
func Surface(a Ask, configured, caller []string) ([]string, *Refusal) {
	if a.NoTools {
		return []string{}, nil
	}
	for _, name := range a.AlsoAllow {
		if caller != nil && !slices.Contains(caller, "*") && !slices.Contains(caller, name) {
			return nil, &Refusal{ForeignTool, "the tool " + name + " is not one of the caller's", "a run may use no more than the turn that asks for it"}
		}
	}
	if configured != nil && !slices.Contains(configured, "*") {
		configured = slices.Clone(configured)
		for _, name := range a.AlsoAllow {
			if !slices.Contains(configured, name) {
				configured = append(configured, name)
			}
		}
	}
	return session.Narrow(configured, caller), nil
}

// Models is who may have which model: the caller's opt-in and list, and the model
// of the agent that is asked.
type Models struct {
	Operator   bool // a person asks, who may have any
	Override   bool // allowModelOverride
	Allowed    []string
	Configured string
}

// Choose is the model of a run; "" is the agent's. The configured one can always
// be asked for by its name. A bare name is of the provider of the configured one.
func (m Models) Choose(model string) (string, *Refusal) {
	model = strings.TrimSpace(model)
	if model == "" || model == m.Configured {
		return "", nil
	}
	full := canonical(model, m.Configured)
	switch {
	case full == m.Configured:
		return "", nil
	case m.Operator:
		return model, nil
	case !m.Override:
		return "", &Refusal{ModelNotAllowed, "another model than the agent's may not be asked for", "leave --model out, or set allowModelOverride = true for the agent that asks"}
	case len(m.Allowed) > 0 && !slices.Contains(m.Allowed, "*") && !slices.Contains(m.Allowed, full):
		return "", &Refusal{ModelUnlisted, "the model " + strconv.Quote(full) + " is not among the allowed ones", "allowedModels has " + strings.Join(m.Allowed, ", ")}
	}
	return full, nil
}

func canonical(model, configured string) string {
	provider, _, ok := strings.Cut(configured, "/")
	if strings.Contains(model, "/") || !ok {
		return model
	}
	return provider + "/" + model
}
