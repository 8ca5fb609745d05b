package cli

import (
	"fmt"
	"strings"
)

// bashScript works with bash 3.2 and later, with and without bash-completion.
func bashScript(spots []spot) string {
	var tables strings.Builder
	for _, s := range spots {
		var subs, flags []string
		for _, c := range s.subs {
			subs = append(subs, c.name)
		}
		for _, f := range s.flags {
			flags = append(flags, f.long)
			if f.short != "" {
				flags = append(flags, f.short)
			}
		}
		fmt.Fprintf(&tables, "\t%s) subs=%s flags=%s args=%s many=%s ;;\n", shellQuote(s.path),
			shellQuote(strings.Join(subs, " ")), shellQuote(strings.Join(flags, " ")), shellQuote(s.args), yes(s.many))
	}
	return strings.NewReplacer(
		"@STEPS@", caseSteps(spots), "@VALUES@", caseValues(spots), "@TABLES@", tables.String(), "@GLOBAL@", bashGlobals(spots),
	).Replace(bashTemplate)
}

func yes(b bool) string {
	if b {
		return "1"
	}
	return "''"
}

func bashGlobals(spots []spot) string {
	var all []string
	for _, f := range spots[0].flags {
		all = append(all, f.long)
	}
	return strings.Join(all, " ")
}

const bashTemplate = `# bash completion for claw, printed by: claw completion bash

__claw_step() { # "PATH WORD": where that leads, in REPLY
	case "$1" in
@STEPS@	*) return 1 ;;
	esac
}

__claw_value() { # "PATH FLAG": what its value can be, in REPLY; false without one
	case "$1" in
@VALUES@	*) return 1 ;;
	esac
}

__claw_spot() { # PATH: what can stand there
	subs='' flags='' args='' many=''
	case "$1" in
@TABLES@	esac
	[[ -n $1 ]] && flags+=' @GLOBAL@'
}

__claw_offer() { # candidates, one a line, that begin with the word
	local IFS=$'\n'
	COMPREPLY=($(compgen -W "$1" -- "$2"))
}

__claw_files() { # -d or -f
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen "$1" -- "$2"))
}

_claw() {
	local cur=${COMP_WORDS[COMP_CWORD]} at='' flag='' REPLY='' subs flags args many word i seen=0
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -n $flag ]]; then # bash makes a word of the = in --flag=value
			[[ $word == '=' ]] || flag=''
			continue
		fi
		case $word in
		--) ((i++)); [[ $at == exec ]] && break ;;
		-*) __claw_value "$at $word" && flag=$word ;;
		*)
			if ((seen == 0)) && __claw_step "$at $word"; then
				at=$REPLY
			else
				((++seen))
				[[ $at == exec ]] && break
			fi
			;;
		esac
	done
	if [[ -n $flag ]]; then
		[[ $cur == '=' ]] && cur=''
		__claw_value "$at $flag"
		case $REPLY in
		'<dir>') __claw_files -d "$cur" ;;
		'<file>') __claw_files -f "$cur" ;;
		*) __claw_offer "${REPLY// /$'\n'}" "$cur" ;;
		esac
		return
	fi
	__claw_spot "$at"
	if [[ $at == exec && ( $seen == 1 || $word == -- ) ]]; then
		__claw_command "$i"
	elif [[ $cur == -* ]]; then
		__claw_offer "${flags// /$'\n'}" "$cur"
	elif [[ $args == '<command>' ]]; then
		__claw_command "$i"
	elif ((seen == 0)) && [[ -n $subs ]]; then
		__claw_offer "${subs// /$'\n'}" "$cur"
	elif ((seen == 0)) || [[ -n $many ]]; then
		case $args in
		process | running | finished | task)
			__claw_offer "$("${COMP_WORDS[0]/#\~/$HOME}" __complete "$args" "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null | cut -f1)" "$cur"
			;;
		*) __claw_offer "${args// /$'\n'}" "$cur" ;;
		esac
	fi
}

__claw_command() { # INDEX of a command in a command line of its own
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif (($1 == COMP_CWORD)); then
		__claw_files -c "$cur"
	else
		__claw_files -f "$cur"
	fi
}

complete -F _claw claw
`
