#!/bin/sh
# SPDX-License-Identifier: MIT
# make sanitize: runs the tests that use the GPU under compute-sanitizer (memory errors, races in shared memory, reads of what was
# never written, barriers), several at once.
# Usage: sanitize.sh FOLDER SECONDS JOBS TEST... with the sanitizer in $SANITIZER, and some of the tools in $TOOLS. The logs stay in
# FOLDER. Tests make small runs (FATHOM_TEST_SMALL=1, tests/tap.h); FATHOM_TEST_SMALL= in the environment asks for whole runs.
# A test that takes longer than SECONDS is stopped; its earlier checks count. Racecheck watches only our own kernels. Reports of
# tests/false_reports.txt do not count. Exit status: 0 nothing was reported, 1 a report or a failed test, 77 no sanitizer or no GPU.
set -u
LC_ALL=C
export LC_ALL
sanitizer=${SANITIZER-compute-sanitizer}

# Parts of the names of our kernels that use shared memory.
ours="_GLOBAL__N_ gemm_kernel gemm_double_kernel"

false_reports=$(dirname "$0")/../tests/false_reports.txt

# What the list has of a tool.
known() {
	awk -v tool="$1" '$1 == tool { print $2 }' "$false_reports"
}

# A report begins in the first column after the rule; its details are indented. Those of racecheck that name a file of the list are none.
reports() {
	awk -v files="$(known racecheck | paste -sd ' ' -)" '
	function close_report(   i) {
		for (i = 1; i <= count; i++)
			if (index(text, " " file[i] ":"))
				text = ""
		found += text != ""
		text = ""
	}
	BEGIN { count = split(files, file, " ") }
	/^========= [A-Z]/ { close_report() }
	/^========= [A-Z]/ && !/^========= (COMPUTE-SANITIZER|[A-Z]+ SUMMARY|Target application|Warning: Detected overflow)/ { text = " " }
	/^=========/ && text { text = text $0 " " }
	END { close_report(); print found + 0 }' "$1"
}

# One test with one tool: a line "tool test checks failed reports state".
run_one() {
	folder=$1 seconds=$2 tool=$3 test=$4
	name=$(basename "$test" .t)
	log=$folder/$name.$tool
	only='--print-limit 20'
	# shellcheck disable=SC2086 # lists of words
	case $tool in
	racecheck) only="--print-limit 1000 $(printf -- '--kernel-name kns=%s ' $ours)" ;;
	synccheck) only="$only --kernel-name-exclude $(known synccheck | sed 's/^/kns=/' | paste -sd , -)" ;;
	esac
	# shellcheck disable=SC2086
	timeout -k 10 "$seconds" "$sanitizer" --tool "$tool" $only "$test" >"$log" 2>&1
	status=$?
	found=$(reports "$log")
	failed=$(grep -c '^not ok' "$log")
	case $status in
	124 | 137) state="cut after $seconds s" ;;
	*) state=complete ;;
	esac
	if [ "$state" = complete ] && ! grep -q '^1\.\.' "$log"; then
		state="died ($status)"
	elif grep -q 'terminated before first instrumented' "$log"; then
		state=unused
	fi
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$tool" "$name" "$(grep -c '^ok' "$log")" "$failed" "$found" "$state" >"$log.line"
}

if [ "${1-}" = --one ]; then
	shift
	run_one "$@"
	exit 0
fi

folder=$1 seconds=$2 jobs=$3
shift 3
if ! command -v "$sanitizer" >/dev/null; then
	echo "sanitize: there is no $sanitizer: install the CUDA Toolkit's, or name one in SANITIZER" >&2
	exit 77
fi
# The same kernels of OpenBLAS as the tests have (tests/run.sh).
if [ -z "${OPENBLAS_CORETYPE-}" ] && grep -qsw avx2 /proc/cpuinfo; then
	OPENBLAS_CORETYPE=Haswell
	export OPENBLAS_CORETYPE
fi
FATHOM_TEST_ON=gpu # tests of both executors leave the host out
FATHOM_TEST_SMALL=${FATHOM_TEST_SMALL-1}
export FATHOM_TEST_ON FATHOM_TEST_SMALL
mkdir -p "$folder" || exit 1
rm -f "$folder"/*.line
for tool in ${TOOLS:-memcheck racecheck initcheck synccheck}; do
	for test in "$@"; do
		echo "$tool $test"
	done
done | xargs -P "$jobs" -L 1 sh "$0" --one "$folder" "$seconds"

cat "$folder"/*.line | sort | awk -F '\t' -v folder="$folder" '
$6 == "unused" { next }
{
	if (!count++)
		printf "%-10s %-28s %8s %8s %8s  %s\n", "tool", "test", "checks", "failed", "reports", "state"
	printf "%-10s %-28s %8d %8d %8d  %s\n", $1, $2, $3, $4, $5, $6
	bad += $4 > 0 || $5 > 0 || $6 ~ /^died/
	cut += $6 ~ /^cut/
	checks += $3
}
END {
	if (!count) {
		print "sanitize: none of the tests used a GPU" | "cat 1>&2"
		exit 77
	}
	printf "%d runs, %d of them cut, %d checks passed: %s\n", count, cut, checks,
		bad ? bad " with reports or failures, see " folder : "nothing was reported"
	exit bad > 0
}'
