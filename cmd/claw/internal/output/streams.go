package output

import (
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// ColorMode says when to colour.
type ColorMode string

// The modes, as --color and CLAW_COLOR spell them.
const (
	Auto   ColorMode = "auto" // on a terminal
	Always ColorMode = "always"
	Never  ColorMode = "never"
)

// defaultWidth is how wide a terminal is that does not say.
const defaultWidth = 80

// Streams are where a command's words go. Out is unbuffered: what a command
// writes there arrives at once.
type Streams struct {
	Out, Err       io.Writer
	OutTTY, ErrTTY bool
	Width          int // columns of the terminal at Out; 0 is 80
	Color          ColorMode
}

// Standard is the process's own stdout and stderr.
func Standard(getenv func(string) string) *Streams {
	return New(os.Stdout, os.Stderr, getenv)
}

// New finds out what out and errOut are. Colour follows, strongest first,
// CLAW_COLOR (auto, always, never), NO_COLOR (no-color.org), TERM=dumb, and
// whether there is a terminal; SetColor overrides all of them.
func New(out, errOut *os.File, getenv func(string) string) *Streams {
	s := &Streams{
		Out: &recorder{file: out}, Err: errOut,
		OutTTY: term.IsTerminal(int(out.Fd())), ErrTTY: term.IsTerminal(int(errOut.Fd())),
		Color: colorOf(getenv),
	}
	if s.OutTTY {
		s.Width = widthOf(out, getenv)
	}
	return s
}

// Joined tells that both streams go to the same place, as on a terminal or
// with 2>&1. A command then writes into one pipe: with two, the order of what
// it wrote to both could not be known.
func (s *Streams) Joined() bool {
	out, ok := s.Out.(*recorder)
	errOut, isFile := s.Err.(*os.File)
	if !ok || !isFile {
		return false
	}
	a, err1 := out.file.Stat()
	b, err2 := errOut.Stat()
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

func colorOf(getenv func(string) string) ColorMode {
	switch mode := ColorMode(getenv("CLAW_COLOR")); {
	case mode == Auto, mode == Always, mode == Never:
		return mode
	case getenv("NO_COLOR") != "", getenv("TERM") == "dumb":
		return Never
	}
	return Auto
}

// widthOf asks the terminal, then COLUMNS: a terminal without a size says 0.
func widthOf(out *os.File, getenv func(string) string) int {
	if w, _, err := term.GetSize(int(out.Fd())); err == nil && w > 0 {
		return w
	}
	if w, err := strconv.Atoi(getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return defaultWidth
}

// SetColor applies --color. "auto" and "" leave what the environment says.
func (s *Streams) SetColor(mode string) {
	if m := ColorMode(mode); m == Always || m == Never {
		s.Color = m
	}
}

func (s *Streams) width() int {
	if s.Width <= 0 {
		return defaultWidth
	}
	return s.Width
}

// HelpWidth is where help is wrapped: the terminal's width, at most 100, and
// 80 in a pipe.
func (s *Streams) HelpWidth() int {
	if !s.OutTTY {
		return defaultWidth
	}
	return min(s.width(), 100)
}

// colored tells whether text for a terminal (or not) is coloured.
func (s *Streams) colored(tty bool) bool {
	return s.Color == Always || tty && s.Color != Never
}

// Flush returns the first error of writing to Out, nil when all is well. A
// command whose output did not arrive has failed, whatever else it did.
func (s *Streams) Flush() error {
	if r, ok := s.Out.(*recorder); ok {
		return r.first()
	}
	return nil
}

// WriteError is an output that did not arrive.
type WriteError struct{ Err error }

// Error names the stream and the system's reason.
func (e *WriteError) Error() string {
	reason := e.Err
	var path *os.PathError
	if errors.As(reason, &path) {
		reason = path.Err
	}
	return "standard output: " + reason.Error()
}

// Unwrap gives the error of the write.
func (e *WriteError) Unwrap() error { return e.Err }

// Gone tells that the reader of a pipe has left, as head does: nothing is
// wrong, nobody wants to hear more, so exit without a word.
func Gone(err error) bool { return errors.Is(err, syscall.EPIPE) }

// recorder passes writes on and keeps their first error. Safe for concurrent
// use: a foreground command's output is pumped from another goroutine.
type recorder struct {
	file *os.File

	mu  sync.Mutex
	err error
}

func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.file.Write(p)
	return n, r.note(err)
}

func (r *recorder) note(err error) error {
	if err == nil {
		return nil
	}
	err = &WriteError{err}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	return err
}

func (r *recorder) first() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
