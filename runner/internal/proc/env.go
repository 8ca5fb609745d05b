package proc

import (
	"slices"
	"strings"
)

// Getenv is the value of a variable in an environment, "" without one. Of
// several the last counts, as in what a program is started with.
func Getenv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// Setenv is env with one NAME=value in place of every other; env itself stays.
func Setenv(env []string, name, value string) []string {
	kept := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if k, _, _ := strings.Cut(kv, "="); k != name {
			kept = append(kept, kv)
		}
	}
	return append(kept, name+"="+value)
}
