package guard_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxBinary is the size of the stripped program, in bytes. Most of what it grows
// by is code of claw, which costs nothing before it runs; a package from outside
// shows in the list of what is linked.
const maxBinary = 13 << 20

// maxInit is what a package of claw may spend before main. Time is measured
// several times and the least counts; a busy machine only adds to it.
const maxInit = 0.1 // milliseconds

func TestBinary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claw")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "claw/cmd/claw")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxBinary {
		t.Errorf("claw has %d bytes, the most is %d", info.Size(), maxBinary)
	}
	t.Logf("claw has %d bytes of %d", info.Size(), maxBinary)

	least := map[string]float64{}
	for range 8 {
		for name, ms := range inits(t, path) {
			if old, ok := least[name]; !ok || ms < old {
				least[name] = ms
			}
		}
	}
	if len(least) == 0 {
		t.Fatal("no package says what its initialisation costs")
	}
	for name, ms := range least {
		if under(name, "claw") && ms > maxInit {
			t.Errorf("%s spends %.3f ms before main, the most is %.1f", name, ms, maxInit)
		}
	}
}

// inits are the milliseconds that each package spends before main, out of
// lines such as
//
//	init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
func inits(t *testing.T, path string) map[string]float64 {
	t.Helper()
	cmd := exec.Command(path, "version")
	cmd.Env = []string{"GODEBUG=inittrace=1", "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) >= 6 && f[0] == "init" && f[5] == "ms" {
			all[f[1]], _ = strconv.ParseFloat(f[4], 64)
		}
	}
	return all
}

// direct are the requirements of go.mod and what each is for; a new one is a
// decision, not an accident.
var direct = map[string]string{
	"github.com/BurntSushi/toml":      "claw.toml",
	"github.com/alecthomas/kong":      "the grammar",
	"github.com/creack/pty":           "terminals",
	"github.com/fsnotify/fsnotify":    "watching the state directory",
	"github.com/gofrs/flock":          "locks",
	"github.com/mattn/go-runewidth":   "the width of text in tables",
	"github.com/pterm/pterm":          "tables",
	"golang.org/x/sys":                "what package syscall lacks",
	"golang.org/x/term":               "is it a terminal, how wide is it",
	"github.com/google/go-cmp":        "tests",
	"github.com/rogpeppe/go-internal": "tests",
	"pgregory.net/rapid":              "tests",
}

func TestRequirements(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path, Version string
			Indirect      bool
		}
		Replace []any
		Tool    []any
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if _, known := direct[r.Path]; !r.Indirect && !known {
			t.Errorf("go.mod requires %s, which is not in the table", r.Path)
		}
		if r.Path == "github.com/mattn/go-runewidth" && older(r.Version, "v0.0.28") {
			// 0.0.26 and 0.0.27 fill a table of 2 MB before main: mattn/go-runewidth#104.
			t.Errorf("%s %s makes every start slow; at least v0.0.28", r.Path, r.Version)
		}
	}
	if len(mod.Replace)+len(mod.Tool) > 0 {
		t.Error("go.mod replaces modules or lists tools")
	}
}

// older compares versions of numbers alone.
func older(a, b string) bool {
	numbers := func(v string) (n []int) {
		for part := range strings.SplitSeq(strings.TrimPrefix(v, "v"), ".") {
			i, _ := strconv.Atoi(part)
			n = append(n, i)
		}
		return n
	}
	return slices.Compare(numbers(a), numbers(b)) < 0
}
