#!/bin/sh
# SPDX-License-Identifier: MIT
# The design rules of a data folder, for the report and for `fathom rules`:
#   sh plots/rules.sh DIR "gpu host" markup [LEAN]        the parts' rules as markup (common.awk)
#   sh plots/rules.sh DIR "gpu host" table FILE [LEAN]    as a table, one row a rule
# LEAN: a folder with less of DIR's profile, which is read faster.
# gain: the factor in time that following the rule gains. value, low, high: the rule's first number.
set -u
LC_ALL=C
export LC_ALL
scripts=$(cd "$(dirname "$0")" && pwd) || exit 1
data=$1 parts=$2 form=$3 table=
shift 3
[ "$form" = markup ] || { table=$1; shift; }
lean=${1:-$data}

run() { # folder, programs, options...
	folder=$1 programs=$2
	shift 2
	set -- -v data="$folder" -v papers="$scripts/../data/papers" -v rules_as="$form" -v rules="$scripts/rules.tsv" "$@" -f "$scripts/common.awk"
	for program in $programs; do
		set -- "$@" -f "$scripts/$program.awk"
	done
	awk "$@"
}
all() {
	case $parts in *gpu*)
		run "$lean" rules -v parts=gpu -v nb="$(run "$lean" panel -v executor=cuda)"
		run "$data" 'bench bounds' -v rule=yes
		run "$data" 'bench travel' -v rule=yes
		run "$data" lawn_products -v rule=yes
		;;
	esac
	case $parts in *host*) run "$lean" rules -v parts=host ;; esac
}

[ "$form" = table ] || { all; exit; }
{
	printf 'part\trule\tvalue\tlow\thigh\tunit\tgain\tgain_low\tgain_high\ttext\tparameters\n'
	all
} >"$table"
