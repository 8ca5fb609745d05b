package heartbeat

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"claw/state/heartbeat"
)

// maxFile is how much of HEARTBEAT.md is read.
const maxFile = 256 << 10

// notes is HEARTBEAT.md as found. An agent's working directory goes before the
// configuration directory.
type notes struct {
	path  string
	there bool // it was read; a file that cannot be read does not skip a heartbeat
	text  string
}

func (e *Engine) notes(s Settings) notes {
	for _, dir := range []string{s.Workdir, e.ConfigDir} {
		if dir == "" {
			continue
		}
		path := filepath.Join(dir, "HEARTBEAT.md")
		f, err := os.Open(path)
		if err != nil {
			if os.IsNotExist(err) {
				continue
			}
			return notes{path: path}
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxFile))
		return notes{path: path, there: err == nil, text: string(text)}
	}
	return notes{}
}

// zone is the first of the names that the machine knows; the last resort is
// the machine's own.
func zone(name, user string) *time.Location {
	for _, name := range heartbeat.ZoneNames(name, user) {
		if loc, err := time.LoadLocation(name); err == nil {
			return loc
		}
	}
	return time.Local
}

func hoursOf(s Settings) heartbeat.Hours {
	h, _ := heartbeat.ParseHours(s.Start, s.End)
	return h
}
