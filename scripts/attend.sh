# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Sourced by scripts that take long: an interruption ends what they run, and then the script, with 128 plus the signal.
attended='' ended=''
# Runs a command that a signal to this script reaches, too, beside those attended already; its exit status.
attend() {
	"$@" &
	attended="$attended $!"
	wait $!
	set -- $?
	ended=$!
	attended=${attended% *}
	return "$1"
}
leave() { # exit status
	trap '' INT TERM HUP
	set +u # a signal may come between the begin of a process and its entry in the list
	case " $attended $ended " in
	*" $! "*) ;;
	*) attended="$attended $!" ;;
	esac
	# shellcheck disable=SC2086 # several
	[ -z "$attended" ] || kill -TERM $attended 2>/dev/null
	for child in $attended; do # another signal may end a wait early
		until wait "$child" 2>/dev/null; [ $? -lt 128 ] || ! kill -0 "$child" 2>/dev/null; do :; done
	done
	exit "$1"
}
trap 'leave 130' INT
trap 'leave 143' TERM
trap 'leave 129' HUP
