package program

import (
	"io"
	"os"
	"sync"
	"time"
)

// wires are the pipes between a child and us, and what is kept of what comes
// through them.
type wires struct {
	theirs   [3]*os.File // descriptors 0, 1 and 2 of the child; nil: the null device
	in       *os.File    // our end of each
	outR     *os.File
	errR     *os.File // nil: stderr is a part of stdout
	out, err keeper
	carriers sync.WaitGroup
}

// wires opens what the child needs.
func (s *Spec) wires() (_ *wires, err error) {
	w := &wires{out: keeper{Keep: s.Stdout}, err: keeper{Keep: s.Stderr}}
	defer func() {
		if err != nil {
			w.closeTheirs()
			w.closeOurs()
		}
	}()
	if s.Stdin != "" {
		if w.theirs[0], w.in, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	if w.outR, w.theirs[1], err = os.Pipe(); err != nil {
		return nil, err
	}
	if s.Merge {
		w.theirs[2] = w.theirs[1]
		return w, nil
	}
	w.errR, w.theirs[2], err = os.Pipe()
	return w, err
}

func (w *wires) closeTheirs() { closeAll(w.theirs[:]) } // one that is there twice is closed twice, which is harmless
func (w *wires) closeOurs()   { closeAll([]*os.File{w.in, w.outR, w.errR}) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// carry moves bytes in both directions at once, so that neither side waits for
// the other for ever. A write that finds nobody who reads is no error here.
func (w *wires) carry(stdin string) {
	if w.in != nil {
		w.carriers.Go(func() {
			io.WriteString(w.in, stdin)
			w.in.Close()
		})
	}
	w.carriers.Go(func() { io.Copy(&w.out, w.outR) })
	if w.errR != nil {
		w.carriers.Go(func() { io.Copy(&w.err, w.errR) })
	}
}

// drain moves what is left after the child's end. The child's own last words
// are in the pipes already; something in the background that holds them gets
// drainGrace.
func (w *wires) drain() {
	soon := time.Now().Add(drainGrace)
	for _, f := range []*os.File{w.in, w.outR, w.errR} {
		if f != nil {
			f.SetDeadline(soon)
		}
	}
	w.carriers.Wait()
	w.closeOurs()
}
