package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// splitCommand takes what exec is to run off its arguments: everything from
// -- on, or from the first word that is neither a flag nor a flag's value.
// kong looks at every remaining argument again for each one that it passes
// through, which takes minutes for the arguments that a glob can bring.
func splitCommand(flags []*kong.Flag, args []string) (own, command []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--" || arg == "-" || !strings.HasPrefix(arg, "-"):
			return args[:i], args[i:]
		case takesValue(flags, arg):
			i++
		}
	}
	return args, nil
}

// takesValue tells a flag whose value is the next argument. What is no flag
// of ours is left for kong to name.
func takesValue(flags []*kong.Flag, arg string) bool {
	name, long := strings.CutPrefix(arg, "--")
	if strings.Contains(arg, "=") || (!long && len(arg) != 2) {
		return false
	}
	return slices.ContainsFunc(flags, func(f *kong.Flag) bool {
		same := long && f.Name == name || !long && string(f.Short) == arg[1:]
		return same && !f.IsBool() && !f.IsCounter()
	})
}

// execFlags are the flags of exec, and those that every command has.
func execFlags(k *kong.Kong) []*kong.Flag {
	flags := k.Model.Flags
	for _, node := range k.Model.Children {
		if node.Name == "exec" {
			flags = slices.Concat(flags, node.Flags)
		}
	}
	return flags
}
