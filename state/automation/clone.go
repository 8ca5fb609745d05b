package automation

import (
	"maps"
	"slices"
)

// Clone is a copy that shares nothing that could be changed through it.
func (a Automation) Clone() Automation {
	a.Schedule.StaggerMs = copied(a.Schedule.StaggerMs)
	a.Schedule.Argv = slices.Clone(a.Schedule.Argv)
	a.Pacing, a.Trigger = copied(a.Pacing), copied(a.Trigger)
	a.Delivery, a.FailureAlert = copied(a.Delivery), copied(a.FailureAlert)
	p := &a.Payload
	p.Fallbacks, p.ToolsAllow, p.Argv = slices.Clone(p.Fallbacks), slices.Clone(p.ToolsAllow), slices.Clone(p.Argv)
	p.Env, p.TimeoutSeconds = maps.Clone(p.Env), copied(p.TimeoutSeconds)
	a.State.AutoDisabled = copied(a.State.AutoDisabled)
	return a
}

// Clone is a copy that shares nothing that could be changed through it.
func (r Run) Clone() Run {
	r.Owner = copied(r.Owner)
	return r
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
