#!/bin/sh
# SPDX-License-Identifier: MIT
# make sanitize: runs tests and probes that use the GPU under compute-sanitizer (memory errors, races in shared memory, reads of memory
# that was never written, barriers), several at once, longest first.
# Usage: sanitize.sh FOLDER SECONDS JOBS PROGRAM..., a program being a test (NAME.t) or one probe. In the environment: SANITIZER;
# TOOLS, some of the four; MINUTES, after which no run begins or goes on (0: no end); SYMBOLS, a file with nm's lines of all kernels.
# Tests make small runs (FATHOM_TEST_SMALL=1, tests/tap.h); FATHOM_TEST_SMALL= in the environment asks for whole runs.
# FOLDER keeps logs and a record of each run. A run that ended without a report is not repeated until its program changes.
# Racecheck watches only our own kernels. Reports of tests/false_reports.txt do not count. Exit status: 0 all runs ended without a report
# or a failed check, and started every kernel of SYMBOLS; 1 not so (a run that needs more than SECONDS has not ended); 77 no sanitizer or
# no GPU.
set -u
LC_ALL=C
export LC_ALL
sanitizer=${SANITIZER-compute-sanitizer}

# Parts of the names of our kernels that use shared memory.
ours="_GLOBAL__N_ gemm_kernel gemm_double_kernel turn_kernel"

false_reports=$(dirname "$0")/../tests/false_reports.txt

# The words that the list has of a tool.
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
	/^========= [A-Z]/ && !/^========= (COMPUTE-SANITIZER|[A-Z]+ SUMMARY|Target application|Warning: Detected overflow)/ &&
		!/terminated before first instrumented/ { text = " " }
	/^=========/ && text { text = text $0 " " }
	END { close_report(); print found + 0 }' "$1"
}

# Changes when the program does, and with the extent of the run. Symbols hold names of the compiler's temporary files.
key_of() { # PROGRAM COPY
	objcopy -S -R .note.gnu.build-id "$1" "$2" 2>/dev/null || cp "$1" "$2"
	echo "$(sha256sum <"$2" | cut -c 1-16)-$FATHOM_TEST_SMALL"
	rm -f "$2"
}

# One program under one tool. Its record: a line "tool name checks failed reports state seconds key".
run_one() {
	folder=$1 limit=$2 end=$3 tool=$4 program=$5 key=$6
	name=$(basename "$program" .t)
	log=$folder/$name.$tool
	begun=$(date +%s)
	[ "$end" -eq 0 ] || [ $((end - begun)) -gt "$limit" ] || limit=$((end - begun))
	[ "$limit" -gt 0 ] || exit 0
	only='--print-limit 20'
	# shellcheck disable=SC2086 # lists of words
	case $tool in
	memcheck) only="$only --report-api-errors no" ;; # our code checks what CUDA returns, and tests provoke errors
	racecheck) only="--print-limit 1000 $(printf -- '--kernel-name kns=%s ' $ours)" ;;
	synccheck) only="$only --kernel-name-exclude $(known synccheck | sed 's/^/kns=/' | paste -sd , -)" ;;
	esac
	rm -f "$log.line" "$log.kernels"
	set -- "$program"
	if [ "$program" = "${program%.t}" ]; then
		set -- "$program" --quick --processes 1 --seconds 0.02 --output "$log.data"
	fi
	# shellcheck disable=SC2086
	FATHOM_TEST_KERNELS=$log.kernels timeout -k 10 "$limit" "$sanitizer" --tool "$tool" --target-processes all $only "$@" >"$log" 2>&1 </dev/null
	status=$?
	found=$(reports "$log")
	failed=$(grep -c '^not ok' "$log")
	state="died ($status)"
	case $status in
	124 | 137) state="did not end in $limit s" ;;
	*)
		# A probe may fail to fit so few samples.
		[ "$program" != "${program%.t}" ] || [ ! -s "$log.data/$name.tsv" ] || state=ended
		! grep -q '^1\.\.' "$log" || state=ended
		# A test that skips all, or leaves the GPU alone.
		if [ "$program" != "${program%.t}" ] && [ "$state" = ended ] && grep -q -e '^1\.\.0' -e 'terminated before first instrumented' "$log"; then
			state=unused
		fi
		;;
	esac
	rm -rf "$log.data"
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$tool" "$name" "$(grep -c '^ok' "$log")" "$failed" "$found" "$state" \
		$(($(date +%s) - begun)) "$key" >"$log.line"
}

# Symbols or mangled names as "file:kernel" (or "kernel", outside of a file's own namespace) TAB mangled name, each once.
kernels() {
	awk '
	{ name = $NF }
	{ sub(/^__nv_static_.*__Z/, "_Z", name) } # as code that the device links has it
	match(name, /[0-9]+__device_stub_/) { # the length counts from the underscores on
		length_ = substr(name, RSTART, RLENGTH - 14) + 0
		name = substr(name, RSTART + RLENGTH, length_ - 14)
	}
	name ~ /^_Z/ && !seen[name]++ {
		rest = name
		file = kernel = ""
		sub(/^_ZN?L?/, "", rest)
		while (match(rest, /^[0-9]+/)) {
			part = substr(rest, RLENGTH + 1, substr(rest, 1, RLENGTH))
			rest = substr(rest, RLENGTH + 1 + length(part))
			if (part ~ /^_GLOBAL__N_/) {
				sub(/^_GLOBAL__N__[0-9a-f]+_[0-9]+_/, "", part)
				sub(/_cu_[0-9a-f]+$/, ".cu:", part)
				file = part
			} else
				kernel = part
		}
		print file kernel "\t" name
	}'
}

# Which kernels of SYMBOLS the runs of a tool started that ended: a line, and the kernels that none started.
started() { # TOOL FOLDER NAME...
	tool=$1 at=$2
	shift 2
	kernels <"$SYMBOLS" >"$at/kernels"
	for name; do cat "$at/$name.$tool.kernels" 2>/dev/null; done | kernels |
		awk -F '\t' -v tool="$tool" -v others="$(known unstarted | paste -sd ' ' -)" '
	BEGIN { count = split(others, word, " "); for (i = 1; i <= count; i++) other[word[i]] }
	!all_kernels { started[$1]; seen[$2]; next }
	$1 in other { next }
	{ cases++; cases_started += $2 in seen }
	!kernel[$1]++ {
		all++
		if ($1 in started)
			good++
		else
			lost = lost " " $1
	}
	END {
		printf "%s: %d of %d kernels were started, %d of their %d instances%s\n", tool, good, all, cases_started, cases, lost ? "; not:" lost : ""
		exit good < all
	}' - all_kernels=1 "$at/kernels"
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
# The same kernels of OpenBLAS as the tests have, on one thread of each program (tests/run.sh).
if [ -z "${OPENBLAS_CORETYPE-}" ] && grep -qsw avx2 /proc/cpuinfo; then
	OPENBLAS_CORETYPE=Haswell
	export OPENBLAS_CORETYPE
fi
OPENBLAS_NUM_THREADS=1
FATHOM_TEST_ON=gpu # tests of both executors leave the host out
FATHOM_TEST_SMALL=${FATHOM_TEST_SMALL-1}
export OPENBLAS_NUM_THREADS FATHOM_TEST_ON FATHOM_TEST_SMALL
mkdir -p "$folder" || exit 1
end=0
[ "${MINUTES:-0}" -eq 0 ] || end=$(($(date +%s) + MINUTES * 60))
tools=${TOOLS:-racecheck initcheck memcheck synccheck}

for program; do
	echo "$program $(key_of "$program" "$folder/copy")"
done >"$folder/programs"
# "seconds tool program key" of the runs that are to be made. New ones come before those whose seconds are known, longest first.
while read -r program key; do
	for tool in $tools; do
		line=$folder/$(basename "$program" .t).$tool.line
		[ -e "$line" ] || line=/dev/null
		awk -F '\t' -v key="$key" -v tool="$tool" -v program="$program" '
		{ last = $7; good = $8 == key && $4 == 0 && $5 == 0 && ($6 == "ended" || $6 == "unused") }
		END { if (!good) print NR ? last : 1000000, tool, program, key }' "$line"
	done
done <"$folder/programs" | sort -s -k 1,1nr >"$folder/runs"
# A tool's runs begin together where nothing is known.
for tool in $tools; do
	awk -v tool="$tool" '$1 == 1000000 && $2 == tool' "$folder/runs"
done >"$folder/order"
awk '$1 < 1000000' "$folder/runs" >>"$folder/order"
cut -d ' ' -f 2- "$folder/order" | xargs -r -P "$jobs" -L 1 sh "$0" --one "$folder" "$seconds" "$end"

while read -r program key; do
	for tool in $tools; do
		name=$(basename "$program" .t)
		grep -s "	$key\$" "$folder/$name.$tool.line" || printf '%s\t%s\t0\t0\t0\tnot run\t0\t\n' "$tool" "$name"
	done
done <"$folder/programs" | sort >"$folder/results"
awk -F '\t' -v folder="$folder" '
now { # the runs made now
	split($0, run, " ")
	sub(/.*\//, "", run[3])
	sub(/\.t$/, "", run[3])
	made[run[2], run[3]]
	next
}
$6 == "unused" { next }
{
	if (!count++)
		printf "%-10s %-28s %8s %8s %8s %8s  %s\n", "tool", "program", "checks", "failed", "reports", "seconds", "result"
	printf "%-10s %-28s %8d %8d %8d %8d  %s\n", $1, $2, $3, $4, $5, $7, $6
	bad += $4 > 0 || $5 > 0 || $6 ~ /^died/
	cut += $6 ~ /^did not end/
	left += $6 == "not run"
	checks += $3
	kept += !(($1, $2) in made)
}
END {
	if (!count) {
		print "sanitize: none of the programs used a GPU" | "cat 1>&2"
		exit 77
	}
	printf "%d runs (%d of them earlier), %d did not end, %d not run, %d checks passed: %s\n", count - left, kept, cut, left, checks,
		bad ? bad " with reports or failures, see " folder : "nothing was reported"
	exit bad + cut + left > 0
}' now=1 "$folder/order" now=0 "$folder/results"
status=$?
if [ -n "${SYMBOLS-}" ] && [ "$status" -ne 77 ]; then
	for tool in $tools; do
		# shellcheck disable=SC2046 # names
		started "$tool" "$folder" $(awk -F '\t' -v tool="$tool" '$1 == tool && $6 == "ended" { print $2 }' "$folder/results") || status=1
	done
fi
exit "$status"
