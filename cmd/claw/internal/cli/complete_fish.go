package cli

import (
	"fmt"
	"slices"
	"strings"
)

// fishScript belongs into ~/.config/fish/completions/claw.fish, or is sourced.
func fishScript(spots []spot) string {
	cases := steps(spots, func(patterns []string, path string) string {
		for i, p := range patterns {
			patterns[i] = fishQuote(p)
		}
		return fmt.Sprintf("                    case %s\n                        set at %s\n", strings.Join(patterns, " "), fishQuote(path))
	})
	var takes []string
	for _, s := range spots {
		for _, f := range s.flags {
			pattern := s.path + " " + f.long
			if s.path == "" {
				pattern = "*" + pattern
			}
			if f.takes {
				takes = append(takes, fishQuote(pattern))
			}
		}
	}
	var lines strings.Builder
	for _, s := range spots {
		fishSpot(&lines, s)
	}
	return strings.NewReplacer("@STEPS@", cases, "@TAKES@", strings.Join(takes, " \\\n                    "), "@LINES@", lines.String()).Replace(fishTemplate)
}

// fishSpot writes what can stand in one place.
func fishSpot(b *strings.Builder, s spot) {
	here := "-n " + fishQuote("__claw_at "+fishQuote(s.path))
	first := "-n " + fishQuote("__claw_at "+fishQuote(s.path)+" first")
	for _, c := range s.subs {
		fmt.Fprintf(b, "complete -c claw %s -a %s -d %s\n", first, c.name, fishQuote(c.help))
	}
	for _, f := range s.flags {
		at := here
		if s.path == "" {
			at = "-n __claw_flags"
		}
		line := "complete -c claw " + at + " -l " + strings.TrimPrefix(f.long, "--")
		if f.short != "" {
			line += " -s " + strings.TrimPrefix(f.short, "-")
		}
		fmt.Fprintf(b, "%s%s -d %s\n", line, fishValues(f), fishQuote(f.help))
	}
	if s.many {
		first = here
	}
	switch {
	case s.args == "":
	case s.args == argsCommand:
		fmt.Fprint(b, "complete -c claw -n '__claw_at exec; or __claw_at command' -a '(__claw_command)'\n")
	case slices.Contains(askedKinds(), s.args):
		fmt.Fprintf(b, "complete -c claw %s -k -a '(__claw_ids %s)'\n", first, s.args)
	default:
		fmt.Fprintf(b, "complete -c claw %s -a %s\n", first, fishQuote(s.args))
	}
}

func fishValues(f flagWord) string {
	switch {
	case !f.takes:
		return ""
	case f.values == valueDir:
		return " -xa '(__fish_complete_directories)'"
	case f.values == valueFile:
		return " -rF"
	}
	if kind, ok := strings.CutPrefix(f.values, "<"); ok {
		return " -kxa '(__claw_ids " + strings.TrimSuffix(kind, ">") + ")'"
	}
	return " -xa " + fishQuote(f.values)
}

func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

const fishTemplate = `# fish completion for claw, printed by: claw completion fish

# Where the cursor is: the command's words, a blank line after them once an
# argument has been typed. Behind the command of exec it is "command".
function __claw_where
    set -l at ''
    set -l seen 0
    set -l skip 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$word"
            case --
                if test "$at" = exec
                    set at command
                    break
                end
            case '-*=*'
            case '-*'
                switch "$at $word"
                    case @TAKES@
                        set skip 1
                end
            case '*'
                set -l before "$at"
                switch "$at $word"
@STEPS@                    case '*'
                        set seen 1
                end
                if test "$before" = exec
                    set at command
                    break
                end
        end
    end
    echo "$at"
    echo $seen
end

function __claw_at # PATH [first]: is the cursor there, and before any argument
    set -l where (__claw_where)
    test "$where[1]" = "$argv[1]"; or return 1
    test "$argv[2]" != first; or test "$where[2]" = 0
end

function __claw_flags # do claw's own flags have a place here
    not __claw_at command
end

function __claw_ids
    set -l words (commandline -opc)
    $words[1] __complete $argv[1] $words[2..-1] 2>/dev/null
end

function __claw_command # complete the command of exec as one of its own
    set -l words (commandline -opc)
    set -l rest
    set -l at 0
    set -l skip 0
    set -l seen 0
    for i in (seq 2 (count $words))
        if test $skip = 1
            set skip 0
            continue
        end
        switch $words[$i]
            case --
                set rest $words[$i..-1]
                set rest $rest[2..-1]
                break
            case '-*=*'
            case '-*'
                switch "exec $words[$i]"
                    case @TAKES@
                        set skip 1
                end
            case '*'
                if test $seen = 1
                    set rest $words[$i..-1]
                    break
                end
                set seen 1 # exec itself
        end
    end
    if test -z "$rest"; and string match -q -- '-*' (commandline -ct)
        return # a flag of exec itself
    end
    complete -C (string join ' ' -- (string escape -- $rest) (commandline -ct))
end

complete -c claw -f
@LINES@`
