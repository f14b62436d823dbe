#compdef fathom
# SPDX-License-Identifier: MIT
# Completion of fathom for zsh: `fathom --complete` knows the words.
local line
local -a plain open
for line in ${(f)"$($words[1] --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)"}; do
	line=${${line//:/\\:}/$'\t'/:} # word:description
	case ${line%%:*} in
	*=) open+=("$line") ;; # its value follows without a space
	*) plain+=("$line") ;;
	esac
done
if (( $#plain + $#open )); then
	compset -P '--*='
	_describe -t words fathom plain -- open -S ''
else
	_files
fi
