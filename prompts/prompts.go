package prompts

// Set is the texts in use: the embedded ones, or those of a folder over them.
type Set struct {
	dir string
}

// Default is the embedded texts.
func Default() *Set { return &Set{} }

// Load is the embedded texts with the files of dir (NAME.txt) over them. A
// missing folder is no error. A file is read when it is first needed; one that
// cannot be read, or lacks a placeholder that carries the content, is an error
// then, never silently the default.
func Load(dir string) *Set { return &Set{dir: dir} }

// Exec is what the prompt about ended commands is made of;
// spec/exec-process.md 5.2.
type Exec struct {
	Details    []string // one event's text with its details each, in queue order
	Deliver    bool     // the delivery system can address the user
	Structured bool     // heartbeat respond is asked for instead of an acknowledgement
	Waiting    int      // events that the next turn will show
}

// Exec is the text that follows the marker and a blank line.
func (s *Set) Exec(e Exec) (string, error) { return "", nil }

// Cron is a reminder's text.
type Cron struct {
	Texts   []string
	Deliver bool
	Waiting int
}

// Cron is the text that follows the marker and a blank line.
func (s *Set) Cron(c Cron) (string, error) { return "", nil }

// Event is other events of a session.
type Event struct {
	Lines   []string // rendered, "System: [time] text"
	Deliver bool
	Waiting int
}

// Event is the text that follows the marker and a blank line.
func (s *Set) Event(e Event) (string, error) { return "", nil }

// Heartbeat is the periodic check;
// spec/heartbeat-automations.md 1.1, 1.9-1.12.
type Heartbeat struct {
	Prompt   string   // the configured one; empty: the embedded default (generation B)
	Scratch  string   // the monitor's scratch
	File     string   // content of HEARTBEAT.md, outside its tasks: block
	FilePath string   // its absolute path, named when the prompt mentions HEARTBEAT.md
	Tasks    []string // "NAME: PROMPT" of the due ones; they are the prompt then
	Checks   []string // output of the checks that have something to say
	Lines    []string // other events, rendered
	Now      string   // the current time in the user's zone, as a line
	Waiting  int
}

// Heartbeat is the text that follows the marker and a blank line.
func (s *Set) Heartbeat(h Heartbeat) (string, error) { return "", nil }
