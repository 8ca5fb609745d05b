package proc

// run waits for the root alone: macOS has no subreaper, so no orphan is ever
// adopted and there is nothing else to collect.
func (r *Reaper) run(root int) {
	defer close(r.done)
	st, _ := wait4(root)
	r.mu.Lock()
	r.last = &st
	r.mu.Unlock()
	r.exit <- st
	r.poke()
}
