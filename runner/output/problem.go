package output

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// Problem is something that kept output from the disk. The command knew
// nothing of it.
type Problem struct {
	Time  time.Time // when it was last met
	Op    string    // "write", "create", "index", "removed", "replaced", "truncated", "remove"
	Path  string
	Err   error
	Count int   // times met
	Bytes int64 // bytes dropped because of it
}

// Error says what happened, without the remedy.
func (p Problem) Error() string {
	s := fmt.Sprintf("output: %s %s", p.Op, p.Path)
	if p.Err != nil {
		s += ": " + p.Err.Error()
	}
	if p.Bytes > 0 {
		s += fmt.Sprintf(" (%d bytes dropped)", p.Bytes)
	}
	return s
}

// Unwrap gives the cause.
func (p Problem) Unwrap() error { return p.Err }

// Hint is the remedy, "" when there is none to name.
func (p Problem) Hint() string {
	switch {
	case errors.Is(p.Err, syscall.ENOSPC), errors.Is(p.Err, syscall.EDQUOT):
		return "free some space; capture goes on by itself"
	case errors.Is(p.Err, syscall.EROFS):
		return "the file system has become read-only; see the kernel log"
	case errors.Is(p.Err, syscall.EIO):
		return "the disk reports an error; see the kernel log"
	case errors.Is(p.Err, fs.ErrPermission):
		return "give the folder back to its owner (chmod u+rwx); capture goes on by itself"
	case p.Op == "removed", p.Op == "replaced", p.Op == "truncated":
		return "leave the files of a running process alone; limit them with --max-output"
	}
	return ""
}

const maxProblems = 16

// note remembers a problem, together with earlier ones of the same kind.
func (w *Writer) note(op, path string, err error, now time.Time) {
	w.blame = -1
	for i := range w.problems {
		if p := &w.problems[i]; p.Op == op && sameCause(p.Err, err) {
			p.Time, p.Path, p.Err = now, path, err
			p.Count++
			w.blame = i
			return
		}
	}
	if len(w.problems) == maxProblems {
		return
	}
	w.problems = append(w.problems, Problem{Time: now, Op: op, Path: path, Err: err, Count: 1})
	w.blame = len(w.problems) - 1
}

// charge counts dropped bytes against the last problem met.
func (w *Writer) charge(n int64) {
	if w.blame >= 0 && w.blame < len(w.problems) {
		w.problems[w.blame].Bytes += n
	}
}

func sameCause(a, b error) bool {
	var x, y syscall.Errno
	if errors.As(a, &x) && errors.As(b, &y) {
		return x == y
	}
	return (a == nil) == (b == nil)
}

// Problems returns what has gone wrong so far, in order of first appearance.
func (w *Writer) Problems() []Problem {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Problem(nil), w.problems...)
}
