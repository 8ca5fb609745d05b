package runner

import "claw/runner/scheduler"

// tendSources starts and ends the commands of sources, beside the passes.
func (s *shift) tendSources(w *parts, work scheduler.Work) {
	for _, src := range work.Begin {
		s.beside(src.Owner.ProcessID, func() error { return w.startSource(s.turns, src) })
	}
	for _, src := range work.Quit {
		s.beside("quit "+src.Owner.ProcessID, func() error { return w.stopSource(s.turns, src) })
	}
}

// beside does something under a key that a pass can ask for; once at a time.
func (s *shift) beside(key string, do func() error) {
	if s.runs[key] {
		return
	}
	s.runs[key] = true
	s.launch(landing{slot: slotRun, keys: []string{key}}, func(l *landing) { l.err = do() })
}

// see gives the passes what this program knows of files and streams, and its
// spare supervisors: they outlive what is made anew with each configuration.
func (s *shift) see() {
	if s.r.Scheduler != nil {
		s.r.Scheduler.Eyes, s.r.Scheduler.Spares = s.eyes, s.spares
	}
	if s.r.calmed != nil {
		s.r.calmed.Eyes, s.r.calmed.Spares = s.eyes, s.spares
	}
}
