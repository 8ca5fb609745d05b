package process

import (
	"slices"
	"strings"
)

// EnvError refuses the environment a command was to be given; the command must
// not be run. It never holds a value.
type EnvError struct {
	Blocked []string // sorted, unique, upper case; PATH is among them if it was given
	Invalid []string // not a name: letter or underscore, then letters, digits and underscores
}

const violation = "Security Violation: "

// Error is one of the texts of spec/exec-process.md 1.5.
func (e *EnvError) Error() string {
	const forbidden = " is forbidden during host execution"
	only := len(e.Blocked) == 1 && len(e.Invalid) == 0
	switch {
	case slices.Contains(e.Blocked, "PATH") && only:
		return violation + "Custom 'PATH' variable" + forbidden + "."
	case slices.Contains(e.Blocked, "PATH"):
		return violation + "Custom 'PATH' variable" + forbidden + " (" + e.list() + ")."
	case only:
		return violation + "Environment variable '" + e.Blocked[0] + "'" + forbidden + "."
	}
	return violation + e.list() + "."
}

// Remedy says where such a variable may be set instead.
func (e *EnvError) Remedy() string {
	if len(e.Blocked) == 0 {
		return "a name is a letter or an underscore, then letters, digits and underscores"
	}
	return "set it inside the command itself, or use tools.exec.pathPrepend for PATH"
}

func (e *EnvError) list() string {
	var parts []string
	if len(e.Blocked) > 0 {
		parts = append(parts, "blocked override keys: "+strings.Join(e.Blocked, ", "))
	}
	if len(e.Invalid) > 0 {
		parts = append(parts, "invalid non-portable override keys: "+strings.Join(e.Invalid, ", "))
	}
	return strings.Join(parts, "; ")
}

// CheckEnv is nil when a caller may set these variables, each NAME=VALUE or
// only a NAME, else an *EnvError (spec/exec-process.md 1.5). Names are compared
// trimmed and without case.
func CheckEnv(overrides []string) error {
	var e EnvError
	for _, kv := range overrides {
		name, _, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(strings.TrimSpace(name))
		switch {
		case classOf(name) != free:
			e.Blocked = append(e.Blocked, name)
		case !portableName(name):
			e.Invalid = append(e.Invalid, name)
		}
	}
	if len(e.Blocked) == 0 && len(e.Invalid) == 0 {
		return nil
	}
	e.Blocked, e.Invalid = sortedUnique(e.Blocked), sortedUnique(e.Invalid)
	return &e
}

func sortedUnique(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

func portableName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// DropInherited is environ without the variables that would run somebody
// else's code in every child, silently (spec/exec-process.md 1.5): the always
// blocked core and its prefixes. The later additions (CC, MAKEFLAGS,
// KUBECONFIG, SHELL and their like) are refused as overrides but inherited: the
// person's own shell set them, and a wrapper that hides CC from make is broken.
func DropInherited(environ []string) []string {
	kept := make([]string, 0, len(environ))
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if classOf(strings.ToUpper(strings.TrimSpace(name))) != core {
			kept = append(kept, kv)
		}
	}
	return kept
}

// MergeEnv is what a command is started with: the inherited variables that
// pass DropInherited, then the overrides under their trimmed names, the last
// of one name winning. The overrides must have passed CheckEnv.
func MergeEnv(inherited, overrides []string) []string {
	env := DropInherited(inherited)
	for _, kv := range overrides {
		name, value, _ := strings.Cut(kv, "=")
		prefix := strings.TrimSpace(name) + "="
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, prefix) })
		env = append(env, prefix+value)
	}
	return env
}
