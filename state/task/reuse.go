package task

// Reuse is the index of the row that t would only repeat; -1: t is new work
// (spec/tasks-recovery.md 1.3). Without a run every task is new. The same run of
// the same owner, child and flow, with the same words, is the same task; of acp
// the run alone counts, so that two who watch it make one row. Different owners
// never share one.
func Reuse(rows []Task, t Task) int {
	best := -1
	if t.RunID == "" {
		return best
	}
	for i, r := range rows {
		if repeats(r, t) && (best < 0 || Newest(rows[best], r) < 0) {
			best = i // the oldest
		}
	}
	return best
}

func repeats(r, t Task) bool {
	if r.RunID != t.RunID || r.Runtime != t.Runtime || r.ScopeKind != t.ScopeKind || r.OwnerKey != t.OwnerKey {
		return false
	}
	flow := t.ParentFlowID == "" || r.ParentFlowID == t.ParentFlowID
	return r.Runtime == ACP || flow && r.ChildSessionKey == t.ChildSessionKey && r.Label == t.Label && r.Task == t.Task
}

// Fill is old with what t knows more of it, and whether that is anything. Only
// blanks are filled; a policy is raised from silent alone, and only while
// somebody can still be told.
func Fill(old, t Task) (Task, bool) {
	next := old
	if next.RequesterOrigin.IsZero() {
		next.RequesterOrigin = t.RequesterOrigin
	}
	for _, f := range [...]struct {
		to   *string
		from string
	}{
		{&next.SourceID, t.SourceID},
		{&next.Kind, t.Kind},
		{&next.ParentFlowID, t.ParentFlowID},
		{&next.ChildSessionKey, t.ChildSessionKey},
		{&next.AgentID, t.AgentID},
		{&next.Label, t.Label},
	} {
		*f.to = filled(*f.to, f.from)
	}
	if next.Executor == nil {
		next.Executor = t.Executor // an identity is captured once
	}
	if next.Status.Active() && next.NotifyPolicy == Silent {
		next.NotifyPolicy = t.NotifyPolicy
	}
	if next.Status.Active() && next.DeliveryStatus != DeliveryDelivered && t.DeliveryStatus == DeliveryPending {
		next.DeliveryStatus = DeliveryPending
	}
	return next, next != old
}
