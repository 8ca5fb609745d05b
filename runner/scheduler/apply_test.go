package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claw/runner/scheduler"
	"claw/state/automation"
)

// Many at once are one transaction; what is refused stops none of the others.
func TestApply(t *testing.T) {
	w := newWorld(t)
	is := w.add("is", "1h", nil)
	w.clock.Advance(time.Second) // those of one millisecond have no order
	before := w.position()
	made := func(name, key string) scheduler.Wish {
		a := is
		a.ID, a.Name, a.DeclarationKey, a.State = "", name, key, automation.State{}
		return scheduler.Wish{New: a}
	}
	rename := func(to string) scheduler.Wish {
		return scheduler.Wish{ID: is.ID, Change: func(a *automation.Automation) error { a.Name = to; return nil }}
	}
	wishes := []scheduler.Wish{
		made("a", "k"), made("IS", ""), rename("was"), made("is", ""), made("A", ""), made("b", "k"),
		{ID: "nobody", Change: func(*automation.Automation) error { return nil }},
		{ID: is.ID, Change: func(*automation.Automation) error { return fmt.Errorf("it cannot be") }},
		made("c", ""),
	}
	refused, err := w.Apply(t.Context(), wishes)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "called is already", "", "", "called a already", "is that of a", "no automation nobody", "it cannot be", ""} {
		if got := fmt.Sprint(refused[i]); want == "" && refused[i] != nil || !strings.Contains(got, want) {
			t.Errorf("wish %d: %s; want %q", i, got, want)
		}
	}
	var names []string
	for _, a := range w.autos() {
		names = append(names, a.Name)
	}
	if got := strings.Join(names, " "); got != "was a is c" {
		t.Errorf("there are %s", got)
	}
	if n := w.position() - before; n <= 0 {
		t.Errorf("%d bytes were written", n)
	}
}

// Two thousand are added in a moment: names are not looked for anew each time.
func TestApplyMany(t *testing.T) {
	w := newWorld(t)
	is := w.add("is", "1h", nil)
	wishes := make([]scheduler.Wish, 2000)
	for i := range wishes {
		a := is
		a.ID, a.Name, a.State = "", fmt.Sprint("job-", i), automation.State{}
		wishes[i] = scheduler.Wish{New: a}
	}
	refused, err := w.Apply(t.Context(), wishes)
	if err != nil || len(refused) != len(wishes) {
		t.Fatal(err)
	}
	list := w.autos()
	if len(list) != 2001 || list[2000].Name != "job-1999" {
		t.Errorf("%d automations, the last %s", len(list), list[len(list)-1].Name)
	}
}
