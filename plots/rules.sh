#!/bin/sh
# SPDX-License-Identifier: MIT
# The design rules of a data folder, for the report and for `fathom rules`:
#   sh plots/rules.sh DIR "gpu host" table FILE    the parts' rules as a table, one row a rule
#   sh plots/rules.sh DIR "gpu host" both FILE     the same, and as markup (common.awk) on stdout
# gain: the factor in time that following the rule gains. value, low, high: the rule's first number.
set -u
LC_ALL=C
export LC_ALL
scripts=$(cd "$(dirname "$0")" && pwd) || exit 1
data=$1 parts=$2 form=$3 table=$4

run() { # programs, options...
	programs=$1
	shift
	set -- -v data="$data" -v papers="$scripts/../data/papers" -v rules_as="$form" -v rules_table="$table" -v rules="$scripts/rules.tsv" "$@" \
		-f "$scripts/common.awk"
	for program in $programs; do
		set -- "$@" -f "$scripts/$program.awk"
	done
	awk "$@"
}
printf 'part\trule\tvalue\tlow\thigh\tunit\tgain\tgain_low\tgain_high\ttext\tparameters\n' >"$table"
case $parts in *gpu*)
	run rules -v parts=gpu -v nb="$(run panel -v executor=cuda)"
	run 'bench bounds' -v rule=yes
	run 'bench travel' -v rule=yes
	run lawn_products -v rule=yes
	;;
esac
case $parts in *host*) run rules -v parts=host ;; esac
