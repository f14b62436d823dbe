#!/bin/sh
# SPDX-License-Identifier: MIT
# What may stand where the shell completes, a line each, with a tab and a description where there is one. `fathom --complete` runs
# it, for scripts/completion.bash and completion.zsh. All names and options come from the programs' own --help.
#   complete.sh FRONT WORD...      the words after the command's name; the last is the one to complete
set -u
LC_ALL=C
export LC_ALL
front=$1
shift
name=${1-}

if [ $# -le 1 ]; then
	"$front" --list-programs
	echo help
	exit
fi

# The current word, the one before it, and the help of a topic among the words.
before='' last='' help=$("$front" "$name" --help 2>/dev/null)
for word; do
	before=$last last=$word
	case $help in
	*"$name $word --help explains"*) topic=$word ;;
	esac
done
[ -z "${topic-}" ] || help=$help$("$front" "$name" "$topic" --help | sed -n '/^Options:/,$p')

# option<TAB>argument<TAB>text
options=$(printf '%s\n' "$help" | awk '
	function add(text,   tag, at) {
		sub(/^ */, "", text)
		if (text ~ /^-[a-zA-Z], /)
			text = substr(text, 5)
		tag = text
		sub(/ .*/, "", tag)
		text = substr(text, length(tag) + 1)
		sub(/^ */, "", text)
		at = index(tag, "=")
		print (at ? substr(tag, 1, at - 1) : tag) "\t" (at ? substr(tag, at + 1) : "") "\t" text
	}
	/^Of every program:/ { common = substr($0, 19); next }
	common != "" && /^  / { common = common substr($0, 2); next }
	common != "" { n = split(common, part, /; /); for (i = 1; i <= n; i++) add(part[i]); common = "" }
	/^  (-[a-zA-Z], )?--/ { add($0) }')
argument() { # of an option
	printf '%s\n' "$options" | awk -F '\t' -v option="$1" '$1 == option { print $2 }'
}
machines() {
	for profile in "${FATHOM_HOME:-.}"/data/*/profile.tsv "${FATHOM_HOME:-.}"/data/papers/*/profile.tsv; do
		[ ! -e "$profile" ] || basename "${profile%/profile.tsv}"
	done
}
# The alternatives of "s|d", "FOLDER|MACHINE [FOLDER|MACHINE]": words that stand for themselves, machines, probes.
alternatives() {
	for word in $(echo "$1" | tr '|[]' '   '); do
		case $word in
		NAME | MACHINE) machines ;;
		PROBE*) "$front" list probes | awk '$2 ~ /^(hardware|calibration)$/ { print $1 }' ;;
		OPERATION) printf '%s\n' "$help" | awk '/^OPERATION: / { gsub(/ or /, ", "); sub(/ on .*/, ""); gsub(/,/, ""); for (i = 2; i <= NF; i++) print $i }' ;;
		*[!a-z0-9_-]*) ;;
		*) echo "$word" ;;
		esac
	done | sort -u
}
value() { # of an option
	case $1=$(argument "$1") in
	--machine=* | --calibration=* | *=*'|'*) alternatives "$(argument "$1")" ;;
	esac
}

case $last in
--*=*) value "${last%%=*}" ;;
-*) printf '%s\n' "$options" | awk -F '\t' '{ print $1 ($2 != "" ? "=" : "") "\t" $3 }' ;;
*)
	if [ -n "$(argument "$before")" ]; then
		value "$before"
	else
		alternatives "$(printf '%s\n' "$help" | awk '/^Usage:/ { sub(/.*\[OPTION\][.]*/, ""); print; next } /^  / { print; next } { exit }')"
	fi
	;;
esac
