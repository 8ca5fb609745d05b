package cli

import "strings"

// examplesHead begins the examples in what a Help method returns.
const examplesHead = "Examples:\n\n"

// examples is the end of every command's help: two lines or more that can be
// typed as they stand, each with a comment behind two or more blanks if it
// needs one.
func examples(lines ...string) string {
	return examplesHead + "  " + strings.Join(lines, "\n  ")
}
