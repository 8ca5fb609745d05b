package automation

import (
	"path"
	"strings"
	"time"
)

// checkStream: 3.5.
func checkStream(a Automation, _ time.Time, _ Zones) *Error {
	s := a.Schedule
	if s.Kind != KindStream {
		if len(s.Argv) > 0 || s.Mode != "" || s.Match != "" || s.BatchMs != 0 || s.MaxBatchBytes != 0 {
			return refuse("stream", "", "is how a command is listened to, and this is "+s.Kind.typed(), "leave what begins with --stream out")
		}
		return nil
	}
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return refuse("stream", "", "has no command", "write --stream-command with a program")
	case a.Payload.Kind == PayloadCommand:
		return refuse("stream", "", "cannot start a command", "use a message or an event as payload")
	case s.Mode != "" && s.Mode != modeLine && s.Mode != modeMatch:
		return refuse("stream mode", s.Mode, "is neither line nor match", "")
	case (s.Match != "") != (s.Mode == modeMatch):
		return refuse("stream match", s.Match, "and mode match belong together", "give both --stream-mode match and --stream-match")
	case s.BatchMs != 0 && (s.BatchMs < 50 || s.BatchMs > 5000):
		return refuse("stream batch", itoa64(s.BatchMs), "is not between 50 and 5000 ms", "")
	case s.MaxBatchBytes != 0 && (s.MaxBatchBytes < 1024 || s.MaxBatchBytes > 65536):
		return refuse("stream batch size", itoa64(s.MaxBatchBytes), "is not between 1024 and 65536 bytes", "")
	}
	_, err := s.matcher()
	return err
}

// checkWatch: pains B30.
func checkWatch(a Automation, _ time.Time, _ Zones) *Error {
	s := a.Schedule
	if s.Kind != KindWatch {
		switch {
		case s.Dir != "":
			return refuse("watch", s.Dir, "is a trigger of its own, and this is "+s.Kind.typed(), "leave --watch out")
		case s.Recursive || s.Glob != "":
			return refuse("watch", s.Glob, "is not what this is: --recursive and --glob belong to --watch", "leave them out")
		}
		return nil
	}
	switch {
	case s.Dir == "":
		return refuse("watch", "", "names no directory", "write --watch DIR")
	case !path.IsAbs(s.Dir):
		return refuse("watch", s.Dir, "is not a whole path, and what it is relative to may change", "write it from / on")
	case strings.ContainsRune(s.Dir, 0):
		return refuse("watch", s.Dir, "has NUL in it", "")
	}
	if _, err := path.Match(s.Glob, ""); err != nil {
		return refuse("glob", s.Glob, "is no pattern", "write one such as *.csv")
	}
	return nil
}
