#!/bin/sh
# SPDX-License-Identifier: MIT
# make analyse: cppcheck, but for what tests/cppcheck.txt lists, and clang-tidy with the checks of .clang-tidy, but for tests/clang-tidy.txt,
# over C files.
# Usage: analyse.sh BUILD FILE... with compiler flags in CUDA_FLAGS. ANALYSE_TOOLS (cppcheck clang-tidy): which. ANALYSE_SINCE:
# clang-tidy, which takes minutes, judges only files that changed since this commit. Exit status: 0 nothing was found, 1 something
# was, 77 a tool is missing.
set -u
LC_ALL=C
export LC_ALL
if [ "$1" = --tidy ]; then # FLAGS FILE...
	flags=$2
	shift 2
	# shellcheck disable=SC2086 # words
	exec clang-tidy --quiet "$@" -- $flags
fi
# unlisted LOG: clang-tidy's findings, each once, but for those of tests/clang-tidy.txt; false when there is one
unlisted() {
	sed "s|^$PWD/||; s|^\./||" "$1" | awk '
	FNR == NR { if (!/^#/ && NF == 2) listed[$0]; next }
	/^[^ ]*:[0-9]+:[0-9]+: (warning|error): .*\[[^ ]*\]$/ {
		split($1, at, ":")
		check = $NF
		gsub(/[][]|,.*/, "", check)
		if (check " " at[1] in listed || $0 in said) next
		said[$0]
		print
		bad = 1
	}
	END { exit bad }' tests/clang-tidy.txt -
}

build=$1
shift
found=0

for tool in ${ANALYSE_TOOLS:-cppcheck clang-tidy}; do
	if ! command -v "$tool" >/dev/null; then
		echo "analyse: no $tool: make setup-develop installs it" >&2
		exit 77
	fi
	begun=$(date +%s) count=$#
	case $tool in
	cppcheck)
		cppcheck --quiet --enable=warning,portability --std=c11 -j"$(nproc)" -D_GNU_SOURCE -I. -I"$build" --error-exitcode=1 \
			--suppressions-list=tests/cppcheck.txt --template='{file}:{line}: {message} [{id}]' "$@" || found=1
		;;
	clang-tidy)
		if [ -n "${ANALYSE_SINCE-}" ]; then
			if ! git rev-parse -q --verify "$ANALYSE_SINCE^{commit}" >/dev/null; then
				echo "analyse: ANALYSE_SINCE=$ANALYSE_SINCE names no commit here" >&2
				exit 2
			fi
			# shellcheck disable=SC2046 # words
			set -- $(git diff --name-only "$ANALYSE_SINCE" | while IFS= read -r name; do
				for file; do [ "$file" != "$name" ] || echo "$file"; done
			done)
			count=$#
		fi
		: >"$build/clang-tidy.log"
		[ "$count" -eq 0 ] || printf '%s\n' "$@" | xargs -P "$(nproc)" -n 8 sh "$0" --tidy \
			"-std=c11 -D_GNU_SOURCE -I. -I$build -fopenmp $(pkg-config --cflags hwloc openblas) ${CUDA_FLAGS-}" \
			>"$build/clang-tidy.log" 2>"$build/clang-tidy.said"
		unlisted "$build/clang-tidy.log" || found=1
		;;
	esac
	echo "analyse: $tool judged $count files in $(($(date +%s) - begun)) s"
done
[ "$found" -eq 0 ] && echo 'analyse: nothing was found'
