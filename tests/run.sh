#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs TAP programs under prove and sums up: a line a program, every failure with its diagnostics, the ten slowest programs, why
# tests were skipped, and last "N passed, N failed, N skipped" (single assertions; a program skipped as a whole counts as
# one). A program that dies, ends without a plan or cannot be run counts as one failure.
# Several programs run at once (TEST_JOBS, default: one a core), each with one BLAS thread. Those of tests/alone.txt measure
# time or free memory of the GPU, and run one after another behind the others.
# Usage: sh tests/run.sh build/tests/*/test_*.t tests/*/*.t

build=${BUILD:-build}
case ${1-} in */tests/*/test_*) build=${1%/tests/*/test_*} ;; esac
FATHOM_BIN=${FATHOM_BIN-$build/bin}
export FATHOM_BIN
log=$build/tests.log
logs=$build/tests.logs

# run_one FOLDER TEST: its TAP and its seconds.
if [ "${1-}" = --one ]; then
	name=$(echo "$3" | tr / _)
	start=$(date +%s.%N)
	{
		echo "=== $3"
		prove --exec '' --merge --verbose "$3" 2>&1
	} >"$2/$name"
	echo "$(date +%s.%N) $start $3" | awk '{ printf "%.1f %s\n", $1 - $2, $3 }' >"$2/$name.seconds"
	exit 0
fi

# The same kernels of OpenBLAS on every machine: it takes processors newer than itself for the oldest
# (Prescott), whose kernels add in 80 bits, and errors of sums in 64 bits are no longer like LAPACK's.
if [ -z "${OPENBLAS_CORETYPE-}" ] && grep -qsw avx2 /proc/cpuinfo; then
	OPENBLAS_CORETYPE=Haswell
	export OPENBLAS_CORETYPE
fi

if ! command -v prove >/dev/null; then
	echo "tests: prove is missing; install perl" >&2
	exit 2
fi
rm -rf "$logs"
mkdir -p "$logs" || exit 1
is_alone() {
	grep -qxF "$(basename "$1" .t)" "$(dirname "$0")/alone.txt"
}
for test in "$@"; do
	is_alone "$test" || echo "$test"
done | OPENBLAS_NUM_THREADS=1 xargs -P "${TEST_JOBS:-$(nproc)}" -n 1 sh "$0" --one "$logs"
for test in "$@"; do
	! is_alone "$test" || sh "$0" --one "$logs" "$test"
done
for test in "$@"; do
	cat "$logs/$(echo "$test" | tr / _)" 2>/dev/null
done >"$log"

slowest=$(cat "$logs"/*.seconds 2>/dev/null | sort -rn | head -n 10 |
	sed 's|\([^ ]*\) .*/|\1 s |; s|\.t$||' | paste -sd, - | sed 's/,/, /g')
awk -v names="$*" -v log_file="$log" -v slowest="$slowest" '
BEGIN {
	count = split(names, name, " ")
	for (i = 1; i <= count; i++)
		known[name[i]] = 1
}
function failure(text) { failures[file] = failures[file] "      " text "\n" }
function skipped(text) { skips[file]++; reasons = reasons "  skipped  " short(file) ": " text "\n" }
function short(path) { sub(/.*\//, "", path); return path }

/^=== / { summary = 0; file = ""; next }
/^Test Summary Report$/ { summary = 1 }
# prove heads each program with "path .. ", in its summary with "path (Wstat: ..."
$1 in known && (summary ? $2 == "(Wstat:" : $2 ~ /^\.+$/) {
	file = $1
	seen[file] = 1
	if ($3 == "skipped:") {
		sub(/^.* skipped: /, "")
		skipped($0)
	}
	diagnosing = 0
	next
}
summary && (/Parse errors:|Non-zero wait status:/ || (/Non-zero exit status:/ && !fails[file])) {
	sub(/^ */, "")
	failure($0)
	if (!died[file]++)
		fails[file]++
}
summary || file == "" { next }
/^skipped: / { sub(/^skipped: /, ""); skipped($0) }
/^ok / && /# [Ss][Kk][Ii][Pp]/ {
	sub(/^ok [0-9]* *-* */, "")
	sub(/ *# [Ss][Kk][Ii][Pp]/, ":")
	skipped($0)
	diagnosing = 0
	next
}
/^ok / { passes[file]++ }
/^not ok / { fails[file]++; failure($0) }
/^(not )?ok / { diagnosing = $1 == "not" }
/^#/ && diagnosing { failure($0) }

END {
	for (i = 1; i <= count; i++) {
		file = name[i]
		if (!seen[file]) {
			fails[file]++
			failure("did not run: is it there and executable? (see " log_file ")")
		}
		printf "  %-7s  %-22s %4d passed", fails[file] ? "FAILED" : passes[file] ? "ok" : "skipped",
			short(file), passes[file]
		printf fails[file] ? ", %d failed" : "", fails[file]
		printf skips[file] ? ", %d skipped\n" : "\n", skips[file]
		printf "%s", failures[file]
		passed += passes[file]
		failed += fails[file]
		skip += skips[file]
	}
	printf "slowest: %s\n", slowest
	printf "%s%d passed, %d failed, %d skipped\n", reasons, passed, failed, skip
	exit failed > 0 || passed + skip == 0
}' "$log"
