package prompts

import "strings"

// Heartbeat is the periodic check;
// spec/heartbeat-automations.md 1.1, 1.9-1.12.
type Heartbeat struct {
	Prompt     string   // the configured one; blank: the text "heartbeat" (generation B)
	Scratch    string   // the monitor's scratch
	File       string   // content of HEARTBEAT.md, outside its tasks: block
	FilePath   string   // its absolute path, named when the prompt mentions HEARTBEAT.md
	Tasks      []string // "NAME: PROMPT" of the due ones; they are the prompt then
	Checks     []string // output of the checks that have something to say
	Lines      []string // other events, rendered
	Now        string   // the current time in the user's zone, as a line
	Waiting    int
	Structured bool // heartbeat respond is asked for instead of HEARTBEAT_OK
}

// fileName is what a prompt mentions to mean the file.
const fileName = "HEARTBEAT.md"

// Heartbeat is the text that follows the marker and a blank line: the prompt,
// then what there is to know, the time at the end.
func (s *Set) Heartbeat(h Heartbeat) (string, error) {
	parts, err := s.check(h)
	if err != nil {
		return "", err
	}
	for _, section := range [...]struct{ title, text string }{
		{fileName + ":\n", h.File},
		{"Heartbeat monitor scratch:\n", h.Scratch},
		{"Checks that report something:\n", joined(h.Checks, "\n\n")},
		{"", joined(h.Lines, "\n")},
		{"", h.Now},
	} {
		if text := strings.Trim(section.text, "\r\n"); strings.TrimSpace(text) != "" {
			parts = append(parts, section.title+text)
		}
	}
	return s.withWaiting(strings.Join(parts, "\n\n"), h.Waiting)
}

// check is what the agent is asked to do.
func (s *Set) check(h Heartbeat) ([]string, error) {
	prompt, err := s.ask(h)
	if err != nil {
		return nil, err
	}
	if h.FilePath != "" && strings.Contains(prompt, fileName) {
		prompt += "\n" + fileName + " is " + h.FilePath
	}
	parts := []string{prompt}
	if h.Structured {
		respond, err := s.fill("heartbeat-respond")
		if err != nil {
			return nil, err
		}
		parts = append(parts, respond)
	}
	return parts, nil
}

func (s *Set) ask(h Heartbeat) (string, error) {
	if len(h.Tasks) > 0 {
		return s.fill("heartbeat-tasks", "{details}", "- "+strings.Join(h.Tasks, "\n- "))
	}
	if strings.TrimSpace(h.Prompt) != "" {
		return h.Prompt, nil
	}
	return s.fill("heartbeat")
}
