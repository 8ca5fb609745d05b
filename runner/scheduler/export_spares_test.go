package scheduler

// IDs are the ULIDs of those that wait.
func (p *Spares) IDs() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.free {
		ids = append(ids, s.ID())
	}
	return ids
}

// PIDs are those of the same.
func (p *Spares) PIDs() (pids []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.free {
		pids = append(pids, s.PID())
	}
	return pids
}
