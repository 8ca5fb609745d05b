package hook_test

import (
	"context"
	"fmt"
	"testing"

	"claw/state"
	"claw/state/external"
	"claw/state/statetest"
)

// TestCrashOfAll: wherever it stops, of several that are asked for together there
// are all or none; and one that was given up, of which somebody was told so, is
// not carried out by whoever comes next.
func TestCrashOfAll(t *testing.T) {
	var accepted, gone bool
	requests := func() []external.Request {
		reqs := []external.Request{mail("1"), mail("2"), mail("3")}
		for i := range reqs {
			reqs[i].SessionKey += fmt.Sprint(i)
		}
		return reqs
	}
	flow := func(fs state.FS, dir string) error {
		accepted, gone = false, false
		w, err := at(t, fs, dir, noon)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		all, _, err := w.AcceptAll(context.Background(), requests())
		if err != nil {
			return err
		}
		accepted = true
		_, err = w.GiveUp(context.Background(), all[1])
		if reason(err) != external.ReasonEnding {
			return err
		}
		gone = true
		return nil
	}
	statetest.Crash(t, flow, func(dir string) error {
		w, err := at(t, nil, dir, noon)
		if err != nil {
			return err
		}
		defer w.Store.Close()
		r, err := everything(w.Store)
		if err != nil {
			return err
		}
		if n := len(r.hooks); n != 0 && n != 3 || accepted && n != 3 || len(r.tasks) != n {
			return fmt.Errorf("%d dispatches and %d tasks; accepted %v", n, len(r.tasks), accepted)
		}
		work, err := w.Pass(context.Background(), true, w.nobody)
		if err != nil {
			return err
		}
		for _, id := range work.Start {
			if _, err := w.Run(context.Background(), id); err != nil {
				return err
			}
		}
		r, err = everything(w.Store)
		if err != nil {
			return err
		}
		for i, d := range r.hooks {
			if want := i == 1 && gone; d.Status != external.OK && d.Status != external.Refused || want != (d.Status == external.Refused) && (gone || i != 1) {
				return fmt.Errorf("%d is %s; gone %v", i, d.Status, gone)
			}
		}
		return nil
	})
}
