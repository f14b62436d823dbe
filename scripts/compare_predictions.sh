#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the predictions of two builds, row by row: for changes that must not change the model.
#   compare_predictions.sh OLD_BIN NEW_BIN MACHINE...
# OLD_BIN and NEW_BIN are folders with the program `predict` (build/bin). MACHINE is a folder with a profile.tsv, or the
# name of one in data/. Compared are the rows of predictions.tsv, update_predictions.tsv, breakdown.tsv and bounds.tsv,
# all columns; the metadata (lines with #) are not. Prints a line a machine, "same: N rows", or the first rows that
# differ. Exit status: 0 all the same, 1 some differ, 2 wrong usage or a failed run.
# OLD_KEEP=FOLDER keeps the tables of the old build there, a folder a machine, and reuses them. PREDICT_OPTIONS: as --quick.
set -u

if [ $# -lt 3 ]; then
	echo "usage: compare_predictions.sh OLD_BIN NEW_BIN MACHINE..." >&2
	exit 2
fi
old=$1
new=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
scratch=$(mktemp -d) || exit 2
tables='predictions update_predictions breakdown bounds'

fail() {
	echo "compare_predictions: $1" >&2
	exit 2
}

# shellcheck disable=SC2086 # a list of options
# predict_into BIN PROFILE FOLDER: all tables of one build
predict_into() {
	if ! mkdir -p "$3" || ! cp "$2" "$3/profile.tsv"; then
		fail "cannot write $3"
	fi
	for update in '' --update; do
		"$1/predict" ${PREDICT_OPTIONS-} --seed 1 $update --output "$3" >>"$3/log" 2>&1 ||
			fail "$1/predict failed: $(tail -n 1 "$3/log")"
	done
	touch "$3/complete"
}

# rows FOLDER: every row with its table's name before it
rows() {
	for table in $tables; do
		[ ! -f "$1/$table.tsv" ] || sed -e '/^#/d' -e "s/^/$table	/" "$1/$table.tsv"
	done
}

status=0
for machine in "$@"; do
	folder=$machine
	[ -d "$folder" ] || folder=$root/data/$machine
	[ -f "$folder/profile.tsv" ] || fail "no $folder/profile.tsv"
	name=$(basename "$folder")
	before=${OLD_KEEP:-$scratch/old}/$name
	[ -f "$before/complete" ] || predict_into "$old" "$folder/profile.tsv" "$before"
	predict_into "$new" "$folder/profile.tsv" "$scratch/new/$name"
	rows "$before" >"$scratch/before"
	rows "$scratch/new/$name" >"$scratch/after"
	if cmp -s "$scratch/before" "$scratch/after"; then
		echo "$name: same: $(wc -l <"$scratch/after" | tr -d ' ') rows"
	else
		status=1
		echo "$name: different, the first rows (< old, > new):"
		diff "$scratch/before" "$scratch/after" | grep '^[<>]' | head -n 10
	fi
done
exit $status
