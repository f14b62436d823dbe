#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs TAP programs under prove. Prints a line per program, every failure with its diagnostics, the reason of every
# skip, and last "N passed, N failed, N skipped" (assertions; a program that is skipped counts as one). A program that
# dies, ends without a plan or cannot be run counts as one failure.
# Usage: sh tests/run.sh build/tests/test_*.t tests/*.t

build=build
case ${1-} in */tests/test_*) build=${1%/tests/test_*} ;; esac
FATHOM_BIN=${FATHOM_BIN-$build/bin}
export FATHOM_BIN
log=$build/tests.log

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
mkdir -p "$build" || exit 1
if [ $# -gt 0 ]; then
	prove --exec '' --merge --verbose "$@" >"$log" 2>&1
else
	: >"$log"
fi

awk -v names="$*" -v log_file="$log" '
BEGIN {
	count = split(names, name, " ")
	for (i = 1; i <= count; i++)
		known[name[i]] = 1
}
function failure(text) { failures[file] = failures[file] "      " text "\n" }
function skipped(text) { skips[file]++; reasons = reasons "  skipped  " short(file) ": " text "\n" }
function short(path) { sub(/.*\//, "", path); return path }

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
	printf "%s%d passed, %d failed, %d skipped\n", reasons, passed, failed, skip
	exit failed > 0 || passed + skip == 0
}' "$log"
