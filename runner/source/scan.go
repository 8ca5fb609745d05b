package source

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claw/runner/wake"
	"claw/state/automation"
)

// The bounds of one scan.
const (
	MostEntries = 20_000           // names that are kept
	mostVisited = 200_000          // names that are looked at, a glob's misses too
	scanTime    = 10 * time.Second // of one scan
)

// Spec is what a watch looks at.
type Spec struct {
	Dir       string // absolute
	Recursive bool
	Glob      string // only names like this, as path.Match has it; with a slash: of the whole path below Dir
	Skip      string // claw's state directory: what it writes itself is no change
}

// SpecOf is the watch of an automation; stateDir is not looked into.
func SpecOf(s automation.Schedule, stateDir string) Spec {
	return Spec{Dir: s.Dir, Recursive: s.Recursive, Glob: s.Glob, Skip: stateDir}
}

// TooManyError says that there is more below a directory than is looked at.
type TooManyError struct {
	Dir  string
	Most int
}

// Error says how many are allowed.
func (e *TooManyError) Error() string {
	return e.Dir + " holds more than " + strconv.Itoa(e.Most) + " names"
}

// Remedy says what to watch instead.
func (e *TooManyError) Remedy() string {
	return "watch a smaller directory, without --recursive, or only some names with --glob"
}

// ErrSlow is a scan that was given up.
var ErrSlow = errors.New("looking at it took longer than 10 s")

// Scan lists what is there, in the order of the names: of files and links
// their size and time, of directories that they exist. Links are not followed,
// but Dir may be one. What vanishes meanwhile, or cannot be read, is left out;
// only Dir itself must be readable.
func Scan(ctx context.Context, s Spec) ([]automation.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	w := &walk{ctx: ctx, Spec: s, root: wake.Resolved(s.Dir)}
	if s.Skip != "" {
		w.Skip = wake.Resolved(s.Skip)
	}
	if err := w.dir(w.root, ""); err != nil {
		return nil, err
	}
	slices.SortFunc(w.found, func(a, b automation.Entry) int { return cmp.Compare(a.Name, b.Name) })
	return w.found, nil
}

type walk struct {
	Spec
	ctx     context.Context
	root    string
	found   []automation.Entry
	visited int
}

// dir lists one directory, whose name below the root is under.
func (w *walk) dir(dir, under string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && len(entries) == 0 {
		if under == "" {
			return err
		}
		return nil
	}
	for _, e := range entries {
		if w.visited++; w.visited > mostVisited {
			return &TooManyError{Dir: w.Dir, Most: mostVisited}
		}
		if w.visited%256 == 0 && w.ctx.Err() != nil {
			return ErrSlow
		}
		if err := w.entry(dir, under, e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(dir, under string, e fs.DirEntry) error {
	name, full := under+e.Name(), filepath.Join(dir, e.Name())
	if full == w.Skip {
		return nil
	}
	if err := w.keep(name, e); err != nil {
		return err
	}
	if w.Recursive && e.IsDir() {
		return w.dir(full, name+"/")
	}
	return nil
}

// keep notes one name, if it is asked for.
func (w *walk) keep(name string, e fs.DirEntry) error {
	if !w.counts(name, e.IsDir()) {
		return nil
	}
	if len(w.found) >= MostEntries {
		return &TooManyError{Dir: w.Dir, Most: MostEntries}
	}
	info, err := e.Info()
	switch {
	case err != nil: // it is gone already
	case e.IsDir():
		w.found = append(w.found, automation.Entry{Name: name, Dir: true})
	default:
		w.found = append(w.found, automation.Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()})
	}
	return nil
}

// counts tells a name that is asked for. With a glob directories are not:
// what is in them has names of its own.
func (w *walk) counts(name string, dir bool) bool {
	if w.Glob == "" || dir {
		return w.Glob == ""
	}
	if !strings.Contains(w.Glob, "/") {
		name = path.Base(name)
	}
	ok, err := path.Match(w.Glob, name)
	return ok && err == nil
}

// Check tells why a directory cannot be watched, or only by looking at it
// every two seconds: it is missing, no directory or not readable, it is
// claw's own, or holds too much (fs.PathError, *OwnError, *TooManyError), or
// *wake.RemoteError and *wake.LimitError, with which it is polled. nil: all is
// well. Whatever the answer, an automation may be made: directories come and
// go.
func Check(s Spec) error {
	root := wake.Resolved(s.Dir)
	if own := wake.Resolved(s.Skip); s.Skip != "" && (root == own || strings.HasPrefix(root, own+"/")) {
		return &OwnError{Dir: s.Dir}
	}
	if _, err := Scan(context.Background(), s); err != nil {
		return err
	}
	return wake.Try(wake.TreeSpec{Dir: s.Dir, Deep: s.Recursive, Skip: s.Skip})
}

// OwnError refuses the directory in which claw keeps its state.
type OwnError struct{ Dir string }

// Error names the directory.
func (e *OwnError) Error() string { return e.Dir + " is where claw keeps its state" }

// Remedy says what to watch instead.
func (e *OwnError) Remedy() string { return "watch another directory" }
