package automation_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"claw/state/automation"
)

// turnOf is an automation that asks an agent, with these tools.
func turnOf(owner string, tools []string, change ...func(*automation.Automation)) automation.Automation {
	return hourly(append([]func(*automation.Automation){func(a *automation.Automation) {
		a.Owner = owner
		a.Payload = automation.Payload{Kind: automation.PayloadTurn, Message: "look", ToolsAllow: tools}
	}}, change...)...)
}

func TestActor(t *testing.T) {
	for _, tt := range []struct {
		actor    automation.Actor
		operator bool
		owner    string
	}{
		{automation.Actor{}, true, "operator"},
		{automation.Actor{Agent: "main"}, false, "agent:main"},
		{automation.Actor{Agent: "main", Tools: []string{"*"}}, false, "agent:main"},
	} {
		if tt.actor.Operator() != tt.operator || tt.actor.Owner() != tt.owner {
			t.Errorf("%+v: %v, %s", tt.actor, tt.actor.Operator(), tt.actor.Owner())
		}
	}
}

// Seed 003 section 10: what an actor may make. Every row is a new automation.
func TestAuthoriseNew(t *testing.T) {
	operator := automation.Actor{}
	agent := automation.Actor{Agent: "main", Tools: []string{"read", "web"}}
	every := automation.Actor{Agent: "main", Tools: []string{"*"}}
	bare := automation.Actor{Agent: "main"}
	command := hourly()
	event := hourly(func(a *automation.Automation) {
		a.Payload = automation.Payload{Kind: automation.PayloadEvent, Text: "tea"}
	})
	of := func(s automation.Schedule) automation.Automation {
		return turnOf("", nil, func(a *automation.Automation) { a.Schedule = s })
	}
	with := func(change func(*automation.Automation)) automation.Automation { return turnOf("", nil, change) }
	for _, tt := range []struct {
		rule    string
		actor   automation.Actor
		a       automation.Automation
		refused string
		tools   []string
	}{
		{"an operator's command", operator, command, "", nil},
		{"an operator's turn may use all", operator, turnOf("", nil), "", []string{"*"}},
		{"an operator's turn may use what it says", operator, turnOf("", []string{"read"}), "", []string{"read"}},
		{"an operator's turn may use nothing", operator, turnOf("", []string{}), "", []string{}},
		{"an agent's turn may use what the agent may", agent, turnOf("", nil), "", []string{"read", "web"}},
		{"an agent may give less", agent, turnOf("", []string{"web"}), "", []string{"web"}},
		{"an agent may give none", agent, turnOf("", []string{}), "", []string{}},
		{"an agent may not give more", agent, turnOf("", []string{"read", "exec"}), `tool "exec" is more than`, nil},
		{"an agent may not give all", agent, turnOf("", []string{"*"}), `tool "*" is more than`, nil},
		{"an agent that may use all may give all", every, turnOf("", []string{"*"}), "", []string{"*"}},
		{"an agent that may use all may give some", every, turnOf("", []string{"exec"}), "", []string{"exec"}},
		{"an agent that may use all gives all", every, turnOf("", nil), "", []string{"*"}},
		{"an agent without tools gives none", bare, turnOf("", nil), "", []string{}},
		{"an agent without tools may not give any", bare, turnOf("", []string{"read"}), `tool "read"`, nil},
		{"an agent's command", every, command, "command is for operators", nil},
		{"an agent's event: the turn that is told it may do no more", agent, event, "", []string{"read", "web"}},
		{"an agent's on-exit", every, of(automation.Schedule{Kind: automation.KindOnExit, Command: "make"}), "on-exit is for operators", nil},
		{"an agent's stream", every, of(automation.Schedule{Kind: automation.KindStream, Argv: []string{"tail"}}), "stream is for operators", nil},
		{"an agent's watch", agent, of(automation.Schedule{Kind: automation.KindWatch, Dir: "/in"}), "", []string{"read", "web"}},
		{"an agent's @reboot", agent, of(automation.Schedule{Kind: automation.KindBoot}), "", []string{"read", "web"}},
		{"an agent's trigger script", every, with(func(a *automation.Automation) { a.Trigger = &automation.Trigger{Script: "true"} }), "trigger is for operators", nil},
		{"an agent that asks itself", agent, with(func(a *automation.Automation) { a.AgentID = "main" }), "", []string{"read", "web"}},
		{"an agent that has another asked", every, with(func(a *automation.Automation) { a.AgentID = "root" }), `agent "root" is another one`, nil},
		{"an agent in its own session", agent, with(func(a *automation.Automation) { a.SessionKey = "agent:main:main" }), "", []string{"read", "web"}},
		{"an agent in a session of another", every, with(func(a *automation.Automation) { a.SessionKey = "Agent:root:main" }), "one of another agent", nil},
		{"an agent in a named session", agent, with(func(a *automation.Automation) { a.SessionKey = "session:notes" }), "", []string{"read", "web"}},
		{"an operator may have any agent asked", operator, with(func(a *automation.Automation) { a.AgentID, a.SessionKey = "root", "agent:root:main" }), "", []string{"*"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			tt.a.Owner = "agent:somebody" // whatever was written
			got, err := tt.actor.Authorise(nil, tt.a)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) || err.Remedy() == "" {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tools := got.Payload.ToolsAllow; !slices.Equal(tools, tt.tools) || (tools == nil) != (tt.tools == nil) {
				t.Errorf("tools %q", tools)
			}
			if got.Owner != tt.actor.Owner() {
				t.Errorf("owner %s", got.Owner)
			}
			if !tt.actor.Operator() && got.AgentID != tt.actor.Agent {
				t.Errorf("agent %s", got.AgentID)
			}
		})
	}
}

// 2.2: an edit by an agent never widens, by an operator it may.
func TestAuthoriseEdit(t *testing.T) {
	operator := automation.Actor{}
	narrow := automation.Actor{Agent: "main", Tools: []string{"read"}}
	agent := automation.Actor{Agent: "main", Tools: []string{"read", "web", "exec"}}
	every := automation.Actor{Agent: "main", Tools: []string{"*"}}
	mine := func(tools ...string) automation.Automation { return turnOf("agent:main", tools) }
	for _, tt := range []struct {
		rule    string
		actor   automation.Actor
		old     automation.Automation
		change  func(*automation.Automation)
		refused string
		tools   []string
		owner   string
	}{
		{"without the flag it keeps them", agent, mine("read", "web"), func(a *automation.Automation) { a.Name = "x" }, "", []string{"read", "web"}, "agent:main"},
		{"an agent may narrow", agent, mine("read", "web"), func(a *automation.Automation) { a.Payload.ToolsAllow = []string{"web"} }, "", []string{"web"}, "agent:main"},
		{"an agent may take all away", agent, mine("read"), func(a *automation.Automation) { a.Payload.ToolsAllow = []string{} }, "", []string{}, "agent:main"},
		{"an agent may not widen, although it may use more by now", agent, mine("read"), func(a *automation.Automation) { a.Payload.ToolsAllow = []string{"read", "exec"} }, `"exec"`, nil, ""},
		{"an agent that may use all may not widen", every, mine("read"), func(a *automation.Automation) { a.Payload.ToolsAllow = []string{"*"} }, `"*"`, nil, ""},
		{"an empty list is not widened", every, turnOf("agent:main", []string{}), func(a *automation.Automation) { a.Payload.ToolsAllow = []string{"read"} }, `"read"`, nil, ""},
		{"a turn with less may not hand on what it has not", narrow, mine("read", "web"), func(a *automation.Automation) { a.Payload.Message = "send it all" }, `"web"`, nil, ""},
		{"cleared by an agent: what both allow", narrow, mine("web", "read"), func(a *automation.Automation) { a.Payload.ToolsAllow = nil }, "", []string{"read"}, "agent:main"},
		{"cleared, of one that may use all: what the turn may", narrow, mine("*"), func(a *automation.Automation) { a.Payload.ToolsAllow = nil }, "", []string{"read"}, "agent:main"},
		{"cleared by an agent that may use all: what was stored", every, mine("web"), func(a *automation.Automation) { a.Payload.ToolsAllow = nil }, "", []string{"web"}, "agent:main"},
		{"through a reminder and back it is not widened", every, mine("web"), func(a *automation.Automation) {
			a.Payload = automation.Payload{Kind: automation.PayloadEvent, Text: "tea"}
		}, "", []string{"web"}, "agent:main"},
		{"cleared by an operator: all", operator, mine("web"), func(a *automation.Automation) { a.Payload.ToolsAllow = nil }, "", []string{"*"}, "agent:main"},
		{"widened by an operator", operator, mine("web"), func(a *automation.Automation) { a.Payload.ToolsAllow = []string{"web", "exec"} }, "", []string{"web", "exec"}, "agent:main"},
		{"an operator's", every, turnOf("operator", []string{"read"}), func(a *automation.Automation) { a.Name = "x" }, "is an operator's", nil, ""},
		{"one made before owners were written down", every, turnOf("", nil), func(a *automation.Automation) { a.Name = "x" }, "is an operator's", nil, ""},
		{"another agent's", every, turnOf("agent:root", []string{"read"}), func(a *automation.Automation) { a.Name = "x" }, "is of root", nil, ""},
		{"one of claw.toml", every, turnOf("config", []string{"*"}), func(a *automation.Automation) { a.Name = "x" }, "a table of claw.toml", nil, ""},
		{"it may not become a command", every, mine("*"), func(a *automation.Automation) {
			a.Payload = automation.Payload{Kind: automation.PayloadCommand, Argv: []string{"id"}}
		}, "command is for operators", nil, ""},
		{"the owner cannot be written", agent, mine("read"), func(a *automation.Automation) { a.Owner, a.System = "operator", true }, "", []string{"read"}, "agent:main"},
		{"an operator's edit does not take it over", operator, mine("read"), func(a *automation.Automation) { a.Name = "x" }, "", []string{"read"}, "agent:main"},
		{"an old one of an operator has an owner now", operator, turnOf("", nil), func(a *automation.Automation) { a.Name = "x" }, "", []string{"*"}, "operator"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			a := tt.old
			tt.change(&a)
			got, err := tt.actor.Authorise(&tt.old, a)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) || err.Remedy() == "" {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tools := got.Payload.ToolsAllow; !slices.Equal(tools, tt.tools) || tools == nil {
				t.Errorf("tools %q", tools)
			}
			if got.Owner != tt.owner || got.System {
				t.Errorf("owner %s, system %v", got.Owner, got.System)
			}
		})
	}
}

// What is filled in is a list of its own.
func TestAuthoriseSharesNoList(t *testing.T) {
	x := automation.Actor{Agent: "main", Tools: []string{"read"}}
	got, err := x.Authorise(nil, turnOf("", nil))
	if err != nil {
		t.Fatal(err)
	}
	got.Payload.ToolsAllow[0] = "exec"
	if x.Tools[0] != "read" {
		t.Error("an agent's tools were changed through an automation")
	}
	got, _ = automation.Actor{}.Authorise(nil, turnOf("", nil))
	got.Payload.ToolsAllow[0] = "none"
	if automation.AllTools[0] != "*" {
		t.Error("the tools of operators were changed through an automation")
	}
}

// 2.2: nothing said, and none, are two things, on disk as well.
func TestToolsOnDisk(t *testing.T) {
	for _, tt := range []struct {
		tools []string
		json  string
	}{
		{nil, ""},
		{[]string{}, `"toolsAllow":[]`},
		{[]string{"*"}, `"toolsAllow":["*"]`},
		{[]string{"read", "web"}, `"toolsAllow":["read","web"]`},
	} {
		line, err := json.Marshal(automation.Payload{Kind: automation.PayloadTurn, ToolsAllow: tt.tools})
		if err != nil || tt.json == "" && strings.Contains(string(line), "toolsAllow") || !strings.Contains(string(line), tt.json) {
			t.Errorf("%q: %s, %v", tt.tools, line, err)
		}
		var back automation.Payload
		if err := json.Unmarshal(line, &back); err != nil || !slices.Equal(back.ToolsAllow, tt.tools) || (back.ToolsAllow == nil) != (tt.tools == nil) {
			t.Errorf("%q: back as %q, %v", tt.tools, back.ToolsAllow, err)
		}
	}
}
