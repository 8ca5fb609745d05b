package scheduler_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claw/runner/scheduler"
)

func refused(err error, is func(*scheduler.Refused) bool) bool {
	r, ok := errors.AsType[*scheduler.Refused](err)
	return ok && is(r)
}

func (w *world) write(name string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("it never happened that %s", what)
		}
	}
}

func contextFor(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

func exists(w *world, name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}

// files are those in a folder of the state directory with a text in the name.
func (w *world) files(folder, with string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(w.Store.Dir(), folder))
	for _, e := range entries {
		if strings.Contains(e.Name(), with) {
			names = append(names, e.Name())
		}
	}
	return names
}
