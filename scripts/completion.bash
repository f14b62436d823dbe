# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion of fathom for bash: `fathom --complete` knows the words.
_fathom()
{
	local -a words
	local i word=
	# bash splits --option=value into three words
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == = ]]; then
			word+='='
		elif [[ $word == *= ]]; then
			word+=${COMP_WORDS[i]}
		else
			((i == 1)) || words+=("$word")
			word=${COMP_WORDS[i]}
		fi
	done
	words+=("$word")
	case $word in --*=*) word=${word#*=} ;; esac
	mapfile -t COMPREPLY < <(compgen -W "$("$1" --complete "${words[@]}" 2>/dev/null | cut -f 1)" -- "$word")
	[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
}
complete -o default -F _fathom fathom
