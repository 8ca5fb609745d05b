// Package recovery compares what the ledgers say with what is there, for
// doctor: the same code reports and mends.
package recovery

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"claw/runner/settle"
	"claw/state"
)

// Levels of a finding.
const (
	Wrong  = "error"   // something is damaged or will be lost
	Odd    = "warning" // it works, but will not in some situation
	Mended = "mended"
)

// Finding is one thing that is not as it should be.
type Finding struct {
	Where string `json:"where"` // a path in the state directory, or what of the machine is meant
	Level string `json:"level"`
	What  string `json:"what"`
	Hint  string `json:"hint,omitempty"`
}

// Report is everything that was found.
type Report struct {
	OK       bool      `json:"ok"` // nothing is wrong (it may be odd)
	Dir      string    `json:"dir"`
	Findings []Finding `json:"findings"`
}

// Examine looks at the state directory and at what of the machine claw
// depends on. With fix it mends what it can; without, it writes nothing.
func Examine(ctx context.Context, store *state.Store, fix bool) (Report, error) {
	r := Report{OK: true, Dir: store.Dir(), Findings: []Finding{}}
	if err := r.ledgers(ctx, store, fix); err != nil {
		return r, err
	}
	if err := r.abandoned(ctx, store, fix); err != nil {
		return r, err
	}
	if err := r.strays(store, fix); err != nil {
		return r, err
	}
	r.Findings = append(r.Findings, machine()...)
	return r, nil
}

func (r *Report) add(f Finding) {
	if f.Level == Wrong {
		r.OK = false
	}
	r.Findings = append(r.Findings, f)
}

// ledgers shows damaged lines and files.
func (r *Report) ledgers(ctx context.Context, store *state.Store, fix bool) error {
	look, level := store.Check, Wrong
	if fix {
		look, level = func() ([]state.Problem, error) { return store.Repair(ctx) }, Mended
	}
	problems, err := look()
	for _, p := range problems {
		where := p.Path
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", p.Path, p.Line)
		}
		r.add(Finding{Where: where, Level: level, What: p.Why, Hint: p.Hint})
	}
	return err
}

// abandoned shows processes whose supervisor died and that nobody has looked
// at since.
func (r *Report) abandoned(ctx context.Context, store *state.Store, fix bool) error {
	if fix {
		gone, err := settle.Lost(ctx, store)
		for _, p := range gone {
			r.add(Finding{Where: p.Slug, Level: Mended, What: "its supervisor died; it is recorded as lost"})
		}
		return err
	}
	return store.View(func(tx *state.Tx) error {
		rows, err := state.Processes.All(tx)
		for _, row := range rows {
			if settle.Abandoned(store, row.Rec) {
				r.add(Finding{Where: row.Rec.Slug, Level: Odd, What: "its supervisor died; it will be recorded as lost", Hint: "claw doctor --fix records it now"})
			}
			for _, l := range settle.Survivors(row.Rec) {
				r.add(Finding{Where: row.Rec.Slug, Level: Odd, What: fmt.Sprintf("left %q (pid %d) running", l.Command, l.PID), Hint: "claw process kill " + row.Rec.Slug + " ends it"})
			}
		}
		return err
	})
}

// strays shows folders of processes that no row knows: an exec that died
// before its claim was written leaves one.
func (r *Report) strays(store *state.Store, fix bool) error {
	entries, err := os.ReadDir(store.ProcessDir(""))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		known, err := isKnown(store, e.Name())
		if err != nil {
			return err
		}
		dir := store.ProcessDir(e.Name())
		if held, err := state.Held(settle.Lifeline(dir)); known || held || err != nil {
			continue
		}
		r.add(r.stray(dir, e.Name(), fix))
	}
	return nil
}

func (r *Report) stray(dir, id string, fix bool) Finding {
	f := Finding{Where: "processes/" + id, Level: Odd, What: "no record knows this folder", Hint: "claw doctor --fix moves it to quarantine/"}
	if !fix {
		return f
	}
	to := filepath.Join(r.Dir, "quarantine", id)
	err := os.MkdirAll(filepath.Dir(to), 0o700)
	if err == nil {
		err = os.Rename(dir, to)
	}
	if err != nil {
		f.What, f.Hint = "no record knows this folder, and it cannot be moved: "+err.Error(), ""
		return f
	}
	f.Level, f.What, f.Hint = Mended, "no record knew this folder; it is in quarantine/ now", ""
	return f
}

func isKnown(store *state.Store, id string) (known bool, err error) {
	err = store.View(func(tx *state.Tx) error {
		_, known, err = state.Processes.Find(tx, id)
		return err
	})
	return known, err
}
