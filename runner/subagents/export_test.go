package subagents

// Answer has every agent say something at once.
func (s *Service) Answer(reply string) { s.answer = &reply }
