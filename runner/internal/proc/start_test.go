package proc_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"claw/runner/internal/proc"
)

// file writes an executable or other file into a new folder.
func file(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestB15StartErrors: every way a start can fail has its kind and code.
func TestB15StartErrors(t *testing.T) {
	plain := file(t, "plain", "data", 0o600)
	dir := t.TempDir()
	tests := []struct {
		name string
		spec proc.StartSpec
		kind proc.StartKind
		code int
	}{
		{"missing", proc.StartSpec{Path: dir + "/none"}, proc.NotFound, 127},
		{"below a file", proc.StartSpec{Path: plain + "/x"}, proc.NotFound, 127},
		{"not executable", proc.StartSpec{Path: plain}, proc.NotExecutable, 126},
		{"a folder", proc.StartSpec{Path: dir}, proc.NotExecutable, 126},
		{"no interpreter", proc.StartSpec{Path: file(t, "s", "#!/none/here\n", 0o700)}, proc.NoInterpreter, 126},
		{"no format", proc.StartSpec{Path: file(t, "s", "echo hi\n", 0o700)}, proc.BadFormat, 126},
		{"too big", proc.StartSpec{Path: "/bin/sh", Argv: []string{"sh", strings.Repeat("x", 8<<20)}}, proc.TooBig, 126},
		{"environment too big", proc.StartSpec{Path: "/bin/sh", Env: []string{"X=" + strings.Repeat("x", 8<<20)}}, proc.TooBig, 126},
		{"no such directory", proc.StartSpec{Path: "/bin/sh", Dir: dir + "/none"}, proc.NoDir, 125},
		{"directory is a file", proc.StartSpec{Path: "/bin/sh", Dir: plain}, proc.NoDir, 125},
		{"NUL in an argument", proc.StartSpec{Path: "/bin/sh", Argv: []string{"sh", "a\x00b"}}, proc.Refused, 125},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, session := range []bool{false, true} {
				tt.spec.NewSession = session
				_, err := proc.Start(tt.spec)
				var e *proc.StartError
				if !errors.As(err, &e) || e.Kind != tt.kind || e.Code() != tt.code {
					t.Fatalf("%v", err)
				}
				if msg := e.Error(); len(msg) == 0 || strings.Contains(msg, "\n") || e.Unwrap() == nil {
					t.Errorf("message %q, cause %v", msg, e.Err)
				}
			}
		})
	}
}

// run starts a shell script and gives what it printed and how it ended.
func run(t *testing.T, spec proc.StartSpec) (proc.Child, string, syscall.WaitStatus) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	spec.Files[1] = out
	child, err := proc.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(child.PID, &ws, 0, nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return child, string(b), ws
}

func TestStart(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	child, out, ws := run(t, proc.StartSpec{
		Path: "/bin/sh", Argv: []string{"other-name", "-c", `pwd; echo "$0 $A ${HOME-none}"; wc -c; exit 5`},
		Env: []string{"A=b", "PATH=" + proc.FallbackPATH}, Dir: dir, NewSession: true,
	})
	if got := strings.Fields(out); strings.Join(got, " ") != dir+" other-name b none 0" {
		t.Errorf("printed %q", got)
	}
	if ws.ExitStatus() != 5 || child.Ungrouped || child.Start == 0 {
		t.Errorf("%+v ended with %v", child, ws)
	}
}

func TestStartSession(t *testing.T) {
	for _, session := range []bool{true, false} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		child, err := proc.Start(proc.StartSpec{Path: "/bin/cat", NewSession: session, Files: [3]*os.File{r}})
		if err != nil {
			t.Fatal(err)
		}
		row, ok := proc.Present(child.Identity)
		if own := row.Group == child.PID && row.Session == child.PID; !ok || own != session || child.Ungrouped == session {
			t.Errorf("new session %v: %+v, ungrouped %v", session, row, child.Ungrouped)
		}
		r.Close()
		w.Close()
		syscall.Wait4(child.PID, nil, 0, nil)
	}
}

func TestLookPath(t *testing.T) {
	root := t.TempDir()
	put := func(path string, mode os.FileMode) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	put("one/tool", 0o600) // there, but not executable
	put("two/tool", 0o755)
	put("two/tool2", 0o755)
	put("cwd/here", 0o755)
	put("cwd/sub/tool", 0o755)
	put("cwd/script", 0o600)
	put("three/only/x", 0o755) // three/only is a folder

	one, two, cwd := root+"/one", root+"/two", root+"/cwd"
	tests := []struct {
		desc, name, dir, path string
		want                  string
		kind                  proc.StartKind // when want is empty
	}{
		{"first that may be executed", "tool", cwd, one + ":" + two, two + "/tool", 0},
		{"only one without the x bit", "tool", cwd, one, "", proc.NotExecutable},
		{"nowhere", "tool", cwd, root + "/none:" + cwd, "", proc.NotFound},
		{"a folder of that name", "only", cwd, root + "/three", "", proc.NotExecutable},
		{"relative entry is the child's", "tool", cwd, "sub", cwd + "/sub/tool", 0},
		{"empty entry is the child's directory", "here", cwd, two + "::" + one, cwd + "/here", 0},
		{"not in PATH, not the directory either", "here", cwd, two, "", proc.NotFound},
		{"slash: no search", "./here", cwd, two, cwd + "/here", 0},
		{"slash and absolute", two + "/tool2", cwd, "", two + "/tool2", 0},
		{"slash, missing", "./tool2", cwd, two, "", proc.NotFound},
		{"slash, no x bit", "./script", cwd, two, "", proc.NotExecutable},
		{"slash, a folder", "./sub", cwd, two, "", proc.NotExecutable},
		{"empty name", "", cwd, two, "", proc.NotFound},
		{"dot", ".", cwd, two, "", proc.NotFound},
		{"dots", "..", cwd, two, "", proc.NotFound},
		{"no PATH", "sh", cwd, "", "/bin/sh", 0},
	}
	for _, tt := range tests {
		t.Run(tt.desc, func(t *testing.T) {
			got, err := proc.LookPath(tt.name, tt.dir, tt.path)
			if tt.desc == "no PATH" {
				if err != nil || filepath.Base(got) != "sh" {
					t.Fatalf("%q, %v", got, err)
				}
				return
			}
			if got != tt.want {
				t.Fatalf("%q, %v", got, err)
			}
			var e *proc.StartError
			if tt.want == "" && (!errors.As(err, &e) || e.Kind != tt.kind) {
				t.Fatalf("error %v", err)
			}
		})
	}
}

// TestShell is spec/exec-process.md 1.3 and #69077.
func TestShell(t *testing.T) {
	const all = "/bin/bash /bin/sh /usr/bin/zsh /usr/bin/fish /usr/bin/false /sbin/nologin /bin/dash"
	tests := []struct {
		name, shell, installed, want string
	}{
		{"bash", "/bin/bash", all, "/bin/bash --noprofile --norc -c"},
		{"zsh", "/usr/bin/zsh", all, "/usr/bin/zsh -f -c"},
		{"others", "/bin/dash", all, "/bin/dash -c"},
		{"fish: bash is preferred", "/usr/bin/fish", all, "/bin/bash --noprofile --norc -c"},
		{"fish: then sh", "/usr/bin/fish", "/bin/sh /usr/bin/fish", "/bin/sh -c"},
		{"fish alone", "/usr/bin/fish", "/usr/bin/fish", "/usr/bin/fish --no-config -c"},
		{"false", "/usr/bin/false", all, "/bin/sh -c"},
		{"nologin", "/sbin/nologin", all, "/bin/sh -c"},
		{"false without sh", "/usr/bin/false", "/bin/bash /usr/bin/false", "/bin/bash --noprofile --norc -c"},
		{"unset", "", all, "/bin/sh -c"},
		{"not there", "/opt/gone/zsh", all, "/bin/sh -c"},
		{"nothing", "", "", "/bin/sh -c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			getenv := func(key string) string {
				if key != "SHELL" {
					t.Errorf("asked for %s", key)
				}
				return tt.shell
			}
			look := func(name string) (string, error) {
				for _, path := range strings.Fields(tt.installed) {
					if path == name || filepath.Base(path) == name {
						return path, nil
					}
				}
				return "", unix.ENOENT
			}
			path, args := proc.Shell(getenv, look)
			if got := path + " " + strings.Join(args, " "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
