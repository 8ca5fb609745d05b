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
		"@ASKED@", strings.Join(askedKinds(), " | "),
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
	local IFS=$'\n' known
	COMPREPLY=($(compgen -W "$1" -- "$2"))
	if [[ $2 == *:* && $COMP_WORDBREAKS == *:* ]]; then # bash replaces what follows the colon
		known=${2%"${2##*:}"}
		COMPREPLY=("${COMPREPLY[@]#"$known"}")
	fi
}

__claw_ids() { # KIND WORD
	__claw_offer "$("${words[0]/#\~/$HOME}" __complete "$1" "${words[@]:1:${#words[@]}-2}" 2>/dev/null | cut -f1)" "$2"
}

__claw_words() { # the line up to the cursor, whose colons bash makes words of
	local i word
	words=() starts=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((${#words[@]} > 1)) && [[ $word == :* || ${words[${#words[@]} - 1]} == *: ]]; then
			words[${#words[@]} - 1]+=$word
		else
			words+=("$word") starts+=("$i")
		fi
	done
}

__claw_files() { # -d or -f
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen "$1" -- "$2"))
}

_claw() {
	local at='' flag='' REPLY='' subs flags args many word cur i seen=0
	local -a words starts
	COMPREPLY=()
	__claw_words
	cur=${words[${#words[@]} - 1]}
	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
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
		'<'*'>') REPLY=${REPLY#<} && __claw_ids "${REPLY%>}" "$cur" ;;
		*) __claw_offer "${REPLY// /$'\n'}" "$cur" ;;
		esac
		return
	fi
	__claw_spot "$at"
	if [[ $at == exec && ( $seen == 1 || $word == -- ) ]]; then
		__claw_command "${starts[i]}"
	elif [[ $cur == -* ]]; then
		__claw_offer "${flags// /$'\n'}" "$cur"
	elif [[ $args == '<command>' ]]; then
		__claw_command "${starts[i]}"
	elif ((seen == 0)) && [[ -n $subs ]]; then
		__claw_offer "${subs// /$'\n'}" "$cur"
	elif ((seen == 0)) || [[ -n $many ]]; then
		case $args in
		@ASKED@) __claw_ids "$args" "$cur" ;;
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
