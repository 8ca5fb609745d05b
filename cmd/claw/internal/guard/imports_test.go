package guard_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// listed is one package, as go list prints it.
type listed struct {
	ImportPath   string
	Dir          string
	Standard     bool
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
	Module       *struct{ Path string }
	Error        *struct{ Err string }
}

func (p listed) own() bool { return p.Module != nil && p.Module.Path == "claw" }

// platforms are those claw is built for; files differ between them.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64"}

var packages = sync.OnceValues(func() (map[string][]listed, error) {
	all := map[string][]listed{}
	for _, platform := range platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "list", "-deps", "-json", "claw/...")
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
			var p listed
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			all[platform] = append(all[platform], p)
		}
	}
	return all, nil
})

func load(t *testing.T) map[string][]listed {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// under tells that path is dir or below it.
func under(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// layers: a package of claw may import, of claw, only what is listed for the
// first row that it is in. A trailing * is everything below.
var layers = []struct {
	in    string
	may   []string
	why   string
	alone bool // the row is for this package only, not for those below it
}{
	{in: "claw/cmd", may: []string{"claw/cmd/*", "claw/runner/*", "claw/state/*", "claw/prompts"}, why: "cmd is what a person types: it uses everything"},
	{in: "claw/runner", may: []string{"claw/runner/*", "claw/state/*", "claw/prompts"}, why: "runner is what claw does: cmd is above it"},
	{in: "claw/state", alone: true, may: []string{"claw/state/*"}, why: "state is what claw knows"},
	{in: "claw/state/statetest", may: []string{"claw/state/*"}, why: "it checks the whole store in tests"},
	{in: "claw/state/internal", may: []string{"claw/state/internal/*", "claw/state/ulid"}, why: "files, locks and ledgers know no nouns"},
	{in: "claw/state", may: []string{"claw/state/*"}, why: "the nouns know each other, not what is above"},
	{in: "claw/prompts", may: nil, why: "prompts is what claw says: it imports nothing of claw"},
	{in: "claw/man", may: nil, why: "man is what claw documents: it imports nothing of claw"},
}

func allowed(path, imported string) (ok bool, why string) {
	for _, l := range layers {
		if path != l.in && (l.alone || !under(path, l.in)) {
			continue
		}
		for _, may := range l.may {
			if dir, below := strings.CutSuffix(may, "/*"); imported == may || below && under(imported, dir) {
				return true, ""
			}
		}
		return false, l.why
	}
	return false, "the package is in no layer of the table"
}

func TestImportsPointDown(t *testing.T) {
	for platform, all := range load(t) {
		for _, p := range all {
			if !p.own() {
				continue
			}
			if p.Error != nil {
				t.Errorf("%s: %s", p.ImportPath, p.Error.Err)
			}
			for _, imported := range p.Imports {
				if !under(imported, "claw") {
					continue
				}
				if ok, why := allowed(p.ImportPath, imported); !ok {
					t.Errorf("%s: %s imports %s: %s", platform, p.ImportPath, imported, why)
				}
			}
		}
	}
}

// A façade is not imported by its own children.
func TestChildrenDoNotImportTheirFacade(t *testing.T) {
	for platform, all := range load(t) {
		for _, p := range all {
			for _, facade := range []string{"claw/state", "claw/runner"} {
				if p.ImportPath != facade && under(p.ImportPath, facade) && p.ImportPath != "claw/state/statetest" && slices.Contains(p.Imports, facade) {
					t.Errorf("%s: %s imports its façade %s", platform, p.ImportPath, facade)
				}
			}
		}
	}
}

// homes: these are imported by the packages listed and by no other of claw.
var homes = []struct {
	imported string
	by       []string
	why      string
}{
	{"github.com/alecthomas/kong", []string{"claw/cmd/claw/internal/cli", "claw/man"}, "the grammar has one home, and the manual reads it"},
	{"github.com/BurntSushi/toml", []string{"claw/cmd/claw/internal/config"}, "one place reads claw.toml"},
	{"github.com/pterm/pterm", []string{"claw/cmd/claw/internal/output"}, "one place draws tables"},
	{"github.com/mattn/go-runewidth", []string{"claw/cmd/claw/internal/output"}, "one place measures text"},
	{"github.com/gofrs/flock", []string{"claw/state/internal/lock"}, "one place locks"},
	{"github.com/fsnotify/fsnotify", []string{"claw/runner/wake"}, "one place watches"},
	{"github.com/creack/pty", []string{"claw/runner/internal/pty"}, "one place opens terminals"},
	{"unsafe", []string{"claw/runner/internal/proc", "claw/runner/internal/pty", "claw/runner/supervisor"}, "only next to the system"},
	{"log", nil, "errors are returned"},
	{"log/slog", []string{"claw/runner"}, "only the runner logs"},
	{"net", []string{"claw/runner/hook", "claw/runner/internal/http1"}, "webhooks are listened to in one place; the control socket uses x/sys/unix"},
	{"net/http", []string{"claw/runner/source", "claw/runner/deliver"}, "it costs start-up"},
	{"os/user", nil, "it costs start-up"},
	{"text/template", nil, "it costs start-up and size"},
	{"html/template", nil, "it costs start-up and size"},
	{"regexp", []string{"claw/state/automation"}, "it costs start-up; the parsers are written by hand, and only what a person writes is matched"},
	{"testing", []string{"claw/state/statetest"}, "it is for tests"},
}

func TestPackagesHaveOneHome(t *testing.T) {
	for platform, all := range load(t) {
		for _, p := range all {
			if !p.own() {
				continue
			}
			for _, h := range homes {
				if slices.Contains(p.Imports, h.imported) && !slices.Contains(h.by, p.ImportPath) {
					t.Errorf("%s: %s imports %s, which belongs to %v: %s", platform, p.ImportPath, h.imported, h.by, h.why)
				}
			}
		}
	}
}

// pure packages have no clock and do no I/O: decisions can be tested as
// tables.
func TestPurePackages(t *testing.T) {
	forbidden := []string{"os", "os/exec", "os/signal", "io/fs", "net", "syscall", "golang.org/x/sys/unix", "crypto/rand", "path/filepath"}
	for _, all := range load(t) {
		for _, p := range all {
			switch p.ImportPath {
			case "claw/state/task", "claw/state/event", "claw/state/ulid", "claw/state/automation", "claw/state/cron", "claw/state/crontab", "claw/state/session",
				"claw/state/delivery", "claw/state/flow", "claw/state/boot", "claw/state/heartbeat", "claw/state/external":
				for _, f := range forbidden {
					if slices.Contains(p.Imports, f) {
						t.Errorf("%s imports %s", p.ImportPath, f)
					}
				}
			}
		}
	}
}

// The program itself contains none of these, whoever would bring them.
func TestProgramIsSmall(t *testing.T) {
	for platform, all := range load(t) {
		for _, p := range all {
			if p.ImportPath != "claw/cmd/claw" {
				continue
			}
			for _, bad := range []string{"net/http", "text/template", "html/template", "crypto/tls", "database/sql", "encoding/gob", "claw/man", "claw/state/statetest", "claw/state/internal/vfs/faultfs"} {
				if slices.Contains(p.Deps, bad) {
					t.Errorf("%s: claw contains %s", platform, bad)
				}
			}
		}
	}
}

func TestNoDumpingGrounds(t *testing.T) {
	for _, all := range load(t) {
		for _, p := range all {
			if !p.own() {
				continue
			}
			for word := range strings.SplitSeq(p.ImportPath, "/") {
				switch word {
				case "util", "utils", "common", "helper", "helpers", "types", "models", "misc", "shared", "lib", "base":
					t.Errorf("%s: a package is named after what it is about", p.ImportPath)
				}
			}
		}
	}
}
