package cli

import "strings"

// examples is the end of every command's help: two lines or more that can be
// typed as they stand.
func examples(lines ...string) string {
	return "Examples:\n\n  " + strings.Join(lines, "\n  ")
}
