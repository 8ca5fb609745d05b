package session

import (
	"slices"
	"strings"
)

// everyTool is the name that stands for all tools.
const everyTool = "*"

// Narrow is what two lists of tools both allow. Nil, and one with "*", allow
// all; empty is none. What it returns is nil where both allow all.
func Narrow(a, b []string) []string {
	switch {
	case anyTool(a) && anyTool(b):
		return nil
	case anyTool(a):
		return slices.Clone(b)
	case anyTool(b):
		return slices.Clone(a)
	}
	out := []string{}
	for _, tool := range a {
		if slices.Contains(b, tool) {
			out = append(out, tool)
		}
	}
	return out
}

// Limit is a list of tools as the row of a session has it, which can be compared:
// names with commas between them, "none", or nothing, which allows all.
type Limit string

const noTools = "none"

// LimitTo is a list as a Limit.
func LimitTo(list []string) Limit {
	switch {
	case anyTool(list):
		return ""
	case len(list) == 0:
		return noTools
	}
	return Limit(strings.Join(list, ","))
}

// List is the list again; nil allows all.
func (l Limit) List() []string {
	switch l {
	case "":
		return nil
	case noTools:
		return []string{}
	}
	return strings.Split(string(l), ",")
}

func anyTool(list []string) bool { return list == nil || slices.Contains(list, everyTool) }

// Unasked tells a turn that nobody has asked for: neither a person nor an
// automation. It may use no more than what it follows from.
func (t Turn) Unasked() bool { return t.Kind != KindUser && t.RunID == "" }
