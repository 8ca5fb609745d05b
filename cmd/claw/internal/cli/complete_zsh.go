package cli

import (
	"fmt"
	"strings"
)

// zshScript can be sourced, or put as _claw into a folder of $fpath.
func zshScript(spots []spot) string {
	var tables strings.Builder
	for _, s := range spots {
		fmt.Fprintf(&tables, "\t%s)\n", shellQuote(s.path))
		fmt.Fprintf(&tables, "\t\targs=%s many=%s\n\t\tsubs=(", shellQuote(s.args), yes(s.many))
		for _, c := range s.subs {
			fmt.Fprintf(&tables, "\n\t\t\t%s", shellQuote(c.name+":"+c.help))
		}
		fmt.Fprint(&tables, ")\n\t\tflags=(")
		for _, f := range s.flags {
			fmt.Fprintf(&tables, "\n\t\t\t%s", shellQuote(f.long+":"+f.help))
			if f.short != "" {
				fmt.Fprintf(&tables, "\n\t\t\t%s", shellQuote(f.short+":"+f.help))
			}
		}
		fmt.Fprint(&tables, ")\n\t\t;;\n")
	}
	return strings.NewReplacer(
		"@STEPS@", caseSteps(spots), "@VALUES@", caseValues(spots), "@TABLES@", tables.String(), "@ASKED@", strings.Join(askedKinds(), " | "),
	).Replace(zshTemplate)
}

const zshTemplate = `#compdef claw
# zsh completion for claw, printed by: claw completion zsh

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
	subs=() flags=() args='' many=''
	case "$1" in
@TABLES@	esac
}

__claw_offer_value() {
	case $REPLY in
	'<dir>') _files -/ ;;
	'<file>') _files ;;
	'<'*'>') __claw_ids "${${REPLY#<}%>}" ;;
	'') _message 'value' ;;
	*) compadd -- ${=REPLY} ;;
	esac
}

__claw_ids() { # KIND
	local -a ids
	local line
	for line in "${(@f)$("${words[1]/#\~/$HOME}" __complete "$1" "${(@)words[2,CURRENT-1]}" 2>/dev/null)}"; do
		[[ -n $line ]] && ids+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") # a colon of the id is none of _describe
	done
	_describe -V id ids
}

_claw() {
	local cur=${words[CURRENT]} at='' flag='' REPLY='' args='' many='' word=''
	local -a subs flags own
	local -i i seen=0
	for ((i = 2; i < CURRENT; i++)); do
		word=${words[i]}
		if [[ -n $flag ]]; then
			flag=''
			continue
		fi
		case $word in
		--) ((i++)); [[ $at == exec ]] && break ;;
		-*=*) ;;
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
	if [[ -z $flag && $cur == --*=* && ! ( $at == exec && ( $seen == 1 || $word == -- ) ) ]]; then
		__claw_value "$at ${cur%%=*}" || return 1
		compset -P '*='
		__claw_offer_value
		return
	fi
	if [[ -n $flag ]]; then
		__claw_value "$at $flag"
		__claw_offer_value
		return
	fi
	__claw_spot "$at"
	own=("${flags[@]}")
	if [[ -n $at ]]; then
		local here=$args several=$many
		local -a below=("${subs[@]}")
		__claw_spot ''
		flags=("${own[@]}" "${flags[@]}") subs=("${below[@]}") args=$here many=$several
	fi
	if [[ $at == exec && ( $seen == 1 || $word == -- ) ]] || [[ $args == '<command>' && $cur != -* ]]; then
		words=("${(@)words[i,-1]}")
		((CURRENT -= i - 1))
		_normal
	elif [[ $cur == -* ]]; then
		_describe -o flag flags
	elif ((seen == 0)) && (($#subs)); then
		_describe command subs
	elif ((seen == 0)) || [[ -n $many ]]; then
		case $args in
		@ASKED@) __claw_ids "$args" ;;
		?*) compadd -- ${=args} ;;
		esac
	fi
}

if [[ ${funcstack[1]} == _claw ]]; then
	_claw "$@"
else
	compdef _claw claw
fi
`
