package cli_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claw/cmd/claw/internal/cli"
	"claw/cmd/claw/internal/config"
	"claw/man"
)

var update = flag.Bool("update", false, "write the generated parts of man/ anew")

// pages are the files of man/ that are manual pages.
func pages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../../man/claw*.[157]")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d manual pages, %v", len(files), err)
	}
	return files
}

func tables() man.Tables {
	t := man.Tables{Exit: cli.ExitCodes(), ExitOf: cli.ExitsOf, Decisions: decisions()}
	for _, k := range config.Keys() {
		t.Keys = append(t.Keys, man.Key{Name: k.Key, Type: k.Type, Default: k.Default, Range: k.Range, Help: k.Help})
	}
	return t
}

// The generated parts of every page are those of the grammar, the exit codes
// and the keys. `make docs` writes them.
func TestManual(t *testing.T) {
	app, err := cli.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range pages(t) {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := man.Fill(page, app, tables())
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if *update && !bytes.Equal(page, want) {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Error(err)
			}
			continue
		}
		if diff := cmp.Diff(string(want), string(page)); diff != "" {
			t.Errorf("%s has drifted, make docs writes it anew (-want +got):\n%s", filepath.Base(file), diff)
		}
	}
}

// Every command has its part in the manual, and every exit code and key.
func TestManualIsComplete(t *testing.T) {
	var all strings.Builder
	for _, file := range pages(t) {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(page)
		for i, r := range string(page) {
			if r >= utf8.RuneSelf {
				t.Errorf("%s: %q at %d is not ASCII", filepath.Base(file), r, i)
			}
		}
	}
	plain := strings.NewReplacer(`\-`, "-", `\fB`, "", `\fI`, "", `\fR`, "").Replace(all.String())
	for _, n := range everyNode(t) {
		if path := strings.TrimSpace("claw " + cli.NodePath(n)); !strings.Contains(plain, "\n"+path+" ") && !strings.Contains(plain, "\n"+path+"\n") {
			t.Errorf("no page has %q", path)
		}
	}
	for _, c := range cli.ExitCodes() {
		if !strings.Contains(plain, "\n"+c[0]+"\n") {
			t.Errorf("no page has exit status %s", c[0])
		}
	}
	for _, k := range config.Keys() {
		if !strings.Contains(plain, "\n"+k.Key) {
			t.Errorf("no page has the key %s", k.Key)
		}
	}
}

// The pages give no warning and fit 80 columns.
func TestManualIsClean(t *testing.T) {
	groff, mandoc := need(t, "groff"), need(t, "mandoc")
	for _, file := range pages(t) {
		cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-rLL=78n", "-P-c", "-P-b", "-P-u", "-K", "utf8", file)
		cmd.Env = append(os.Environ(), "MANWIDTH=80")
		var out, warnings bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &warnings
		if err := cmd.Run(); err != nil || warnings.Len() > 0 {
			t.Errorf("groff %s: %v\n%s", filepath.Base(file), err, &warnings)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: a line of %d columns: %q", filepath.Base(file), n, line)
			}
		}
		// What mandoc does not know is about its own database or the base system.
		lint, err := exec.Command(mandoc, "-T", "lint", "-W", "style", file).CombinedOutput()
		if err != nil && len(bytes.TrimSpace(lint)) > 0 {
			t.Errorf("mandoc %s:\n%s", filepath.Base(file), lint)
		}
	}
}
