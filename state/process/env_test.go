package process_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/state/process"
)

// The keys of spec/exec-process.md 1.5, by what is done about them.
const (
	droppedKeys = "NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONHOME RUBYLIB PERL5LIB BASH_ENV ENV GCONV_PATH IFS SSLKEYLOGFILE " +
		"LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH BASH_FUNC_ls"
	refusedKeys = "HOME ZDOTDIR SHELL SHELLOPTS PS4 BASHOPTS KSH_ENV FPATH PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS PYTHONBREAKPOINT " +
		"DOTNET_STARTUP_HOOKS GLIBC_TUNABLES TCLLIBPATH GIT_DIR GIT_WORK_TREE GIT_EXEC_PATH GIT_EDITOR CC CXX RUSTC_WRAPPER " +
		"CMAKE_C_COMPILER CMAKE_CXX_COMPILER CMAKE_Fortran_COMPILER CPP MAKEFLAGS MAVEN_OPTS KUBECONFIG AWS_SHARED_CREDENTIALS_FILE " +
		"EDITOR VISUAL PAGER LESSOPEN HTTP_PROXY HTTPS_PROXY ALL_PROXY SSL_CERT_FILE PIP_INDEX_URL UV_INDEX_URL GOPATH GOPROXY GOFLAGS " +
		"VIRTUAL_ENV XDG_CONFIG_HOME SSH_ASKPASS GIT_ASKPASS GIT_SSH GIT_SSH_COMMAND DOCKER_HOST GIT_CONFIG_GLOBAL GIT_CONFIG_COUNT " +
		"NPM_CONFIG_REGISTRY CARGO_REGISTRIES_X_INDEX"
	freeKeys = "FOO TERM LANG LC_ALL TZ USER PORT NODE_ENV DEBUG CI GIT_AUTHOR_NAME ENVIRONMENT LDFLAGS _ __ A1 CMAKE_GENERATOR PATHS XPATH"
)

func forbidden(key string) string {
	if key == "PATH" {
		return "Security Violation: Custom 'PATH' variable is forbidden during host execution."
	}
	return "Security Violation: Environment variable '" + key + "' is forbidden during host execution."
}

// TestCheckEnvEveryKey has a case for every key, in each way of writing it.
func TestCheckEnvEveryKey(t *testing.T) {
	keys := append(strings.Fields(droppedKeys+" "+refusedKeys), "PATH")
	for _, key := range keys {
		for _, written := range []string{key, strings.ToLower(key), " " + key + " ", "\t" + strings.ToLower(key), strings.ToUpper(key[:1]) + strings.ToLower(key[1:])} {
			err := process.CheckEnv([]string{"OK=1", written + "=x=y"})
			if err == nil || err.Error() != forbidden(strings.ToUpper(key)) {
				t.Errorf("%q: %v", written, err)
			}
		}
	}
}

func TestCheckEnvLetsTheRestPass(t *testing.T) {
	var all []string
	for _, key := range strings.Fields(freeKeys) {
		if err := process.CheckEnv([]string{key + "=1"}); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		all = append(all, key)
	}
	if err := process.CheckEnv(all); err != nil {
		t.Error(err)
	}
	if err := process.CheckEnv(nil); err != nil {
		t.Error(err)
	}
}

func TestCheckEnvTexts(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		want string
	}{
		{"PATH", []string{"Path=/x"}, "Security Violation: Custom 'PATH' variable is forbidden during host execution."},
		{"PATH twice", []string{"Path=/x", "PATH=/y"}, "Security Violation: Custom 'PATH' variable is forbidden during host execution."},
		{"several", []string{"PYTHONPATH=1", "ld_preload=2", " LD_PRELOAD =3"}, "Security Violation: blocked override keys: LD_PRELOAD, PYTHONPATH."},
		{"invalid", []string{"a-b=1"}, "Security Violation: invalid non-portable override keys: A-B."},
		{"both", []string{"1x=1", "a.b=2", "ENV=3"}, "Security Violation: blocked override keys: ENV; invalid non-portable override keys: 1X, A.B."},
		{"PATH among them", []string{"PATH=1", "ENV=3"}, "Security Violation: Custom 'PATH' variable is forbidden during host execution (blocked override keys: ENV, PATH)."},
		{"PATH and invalid", []string{"PATH=1", "a-b=3"}, "Security Violation: Custom 'PATH' variable is forbidden during host execution (blocked override keys: PATH; invalid non-portable override keys: A-B)."},
		{"a shell function is blocked, not invalid", []string{"BASH_FUNC_x%%=() { :; }"}, "Security Violation: Environment variable 'BASH_FUNC_X%%' is forbidden during host execution."},
	}
	for _, tt := range tests {
		err := process.CheckEnv(tt.env)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got  %v\nwant %s", tt.name, err, tt.want)
		}
		var ee *process.EnvError
		if !errors.As(err, &ee) || ee.Remedy() == "" {
			t.Errorf("%s: no remedy", tt.name)
		}
	}
}

func TestCheckEnvNames(t *testing.T) {
	for _, name := range []string{"", " ", "1A", "A B", "A-B", "Ä", "A\x00", "A\nB", "A%"} {
		if process.CheckEnv([]string{name + "=1"}) == nil {
			t.Errorf("%q passes", name)
		}
	}
}

func TestDropInherited(t *testing.T) {
	var in, want []string
	for _, key := range strings.Fields(droppedKeys) {
		in = append(in, key+"=x")
	}
	for _, key := range append(strings.Fields(refusedKeys+" "+freeKeys), "PATH") {
		in, want = append(in, key+"=a=b"), append(want, key+"=a=b")
	}
	given := slices.Clone(in)
	if diff := cmp.Diff(want, process.DropInherited(in)); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(in, given) {
		t.Error("the argument was changed")
	}
}

func TestMergeEnv(t *testing.T) {
	got := process.MergeEnv(
		[]string{"PATH=/bin", "A=1", "LD_PRELOAD=x", "B=2", "A=old"},
		[]string{" A =3", "C=x=y", "C=z", "D="},
	)
	if diff := cmp.Diff([]string{"PATH=/bin", "B=2", "A=3", "C=z", "D="}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzCheckEnv(f *testing.F) {
	for _, s := range []string{"A=1", "=", "", "ld_preload=x", " Path =", "ſhell=1", "A\xff=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, kv string) {
		if process.CheckEnv([]string{kv}) != nil {
			return
		}
		// What passes survives as it was given.
		if got := process.MergeEnv(nil, []string{kv}); len(got) != 1 || len(process.DropInherited(got)) != 1 {
			t.Fatalf("%q became %q", kv, got)
		}
	})
}
