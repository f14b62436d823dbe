#!/bin/sh
# SPDX-License-Identifier: MIT
# make sanitize-host: the tests that need no GPU under the address, undefined and leak sanitizers; those that start threads
# under the thread sanitizer; those of readers under valgrind. A line for each, then a sum. The logs stay in BUILD/logs.
# make sanitize-quick: only readers, lib and random cases, under address, undefined and leak.
# Usage: sanitize_host.sh BUILD quick|full FOLDER, where FOLDER holds the usual build for valgrind.
# SANITIZE_TOOLS (address thread valgrind): which. Exit status: 0 nothing was reported, 1 a report or a failed check, or a tool
# that is missing (in a full run).
set -u
LC_ALL=C
export LC_ALL

readers='lib/test_table lib/test_profile lib/test_curve lib/test_machine model/test_kernel_counters model/test_timeline
	validation/test_validate'
# Of the suites of programs those that read and print most; the others repeat them at length.
programs='bad_tables errors cli json advise advise_kernel compare trace'
threads='lib/test_core_noise lib/test_sample lib/test_probe library/test_group_threads probes/test_pointer_chase_random
	executors/test_gram_host executors/test_distributed_queues executors/test_schedule_host algorithms/test_gram_schmidt'
memcheck='valgrind -q --leak-check=full --errors-for-leak-kinds=definite'
probes='host_exchange host_memory host_parallel host_gram'

# Tests ask for more memory than there is, and want NULL.
common=allocator_may_return_null=1
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS

# What begins a report, of the sanitizers and of valgrind; both also warn.
report_line='ERROR: |runtime error: |WARNING: ThreadSanitizer|^==[0-9]+== (Invalid|Conditional|Use of|Syscall|Process term|Mismatch|Source and|[0-9,]+ .*definitely lost)'

# One command under one tool: a line "tool name checks failed reports seconds state". A report is a file of its own.
run_one() {
	logs=$1 tool=$2 name=$3
	shift 3
	reports=$logs/$tool.$name.report log=$logs/$tool.$name.log
	rm -f "$reports".*
	# Only the slow unwinder finds hwloc below its PCI component, whose leak is known (tests/leaks.txt): most tests do without.
	options=$common
	if [ "$name" = test_topology ]; then
		options=$common:fast_unwind_on_malloc=0
	else
		HWLOC_COMPONENTS=-pci
		export HWLOC_COMPONENTS
	fi
	begun=$(date +%s)
	ASAN_OPTIONS=$options:detect_leaks=1:log_path=$reports \
		LSAN_OPTIONS=suppressions=$PWD/tests/leaks.txt:print_suppressions=0 \
		UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports \
		TSAN_OPTIONS=$common:ignore_noninstrumented_modules=1:die_after_fork=0:log_path=$reports \
		timeout -k 10 1800 "$@" >"$log" 2>&1 </dev/null
	status=$?
	found=$(grep -lsE "$report_line" "$reports".* | wc -l)
	failed=$(grep -c '^not ok' "$log")
	state=complete
	case $name:$status in
	test_*:0 | test_*:1) grep -q '^1\.\.' "$log" || state="died ($status)" ;;
	*:0 | *:77) ;;
	*) [ "$failed" -gt 0 ] || state="died ($status)" ;;
	esac
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$tool" "$name" "$(grep -c '^ok' "$log")" "$failed" "$found" $(($(date +%s) - begun)) \
		"$state" >"$logs/$tool.$name.line"
}

sum_up() { # LOGS
	cat "$1"/*.line | awk -F '\t' -v logs="$1" '
	BEGIN { printf "%-9s %-26s %7s %7s %8s %8s  %s\n", "tool", "program", "checks", "failed", "reports", "seconds", "state" }
	{
		printf "%-9s %-26s %7d %7d %8d %8d  %s\n", $1, $2, $3, $4, $5, $6, $7
		bad += $4 > 0 || $5 > 0 || $7 != "complete"
		checks += $3
	}
	END {
		printf "%d runs, %d checks passed: %s\n", NR, checks, bad ? bad " with reports or failures, see " logs : "nothing was reported"
		exit bad > 0 || NR == 0
	}'
}

case ${1-} in
--one)
	shift
	run_one "$@"
	exit 0
	;;
--sum)
	sum_up "$2"
	exit
	;;
esac

build=$1 extent=$2 usual=$3
logs=$build/logs
rm -rf "$logs"
mkdir -p "$logs" || exit 1
# The same kernels of OpenBLAS as the tests have (tests/run.sh).
if [ -z "${OPENBLAS_CORETYPE-}" ] && grep -qsw avx2 /proc/cpuinfo; then
	OPENBLAS_CORETYPE=Haswell
	export OPENBLAS_CORETYPE
fi

# build FOLDER COMPILER FLAGS TARGET...: the host part alone
build() {
	folder=$1 compiler=$2 flags=$3
	shift 3
	${MAKE:-make} --no-print-directory -j"$(nproc)" CC="$compiler" NVCC= CUDA_HOME=/none MPICC= GRAM_C= GRAM_FORTRAN= BUILD="$folder" \
		WERROR= CFLAGS="-g1 -O1 -fno-omit-frame-pointer $flags" "$@" >"$logs/build" 2>&1 || {
		tail -n 20 "$logs/build" >&2
		exit 1
	}
}
run_all() { # TOOL: lines of a name and a command on standard input
	xargs -P "${SANITIZE_JOBS:-$(nproc)}" -L 1 sh "$0" --one "$logs" "$1"
}
named() { # PROGRAM...: the same lines
	for program; do echo "$(basename "$program" .t) $program"; done
}
paths() { # FOLDER NAME...
	folder=$1
	shift
	for name; do echo "$folder/$name.t"; done
}

address() {
	flags='-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all'
	# shellcheck disable=SC2046,SC2086 # words
	if [ "$extent" = quick ]; then
		set -- $(paths "$build/address/tests" $readers algorithms/test_properties \
			$(find tests/lib -name 'test_*.c' ! -name '*_gpu.c' ! -name test_probe.c ! -name test_sample.c | sed 's|tests/||; s|\.c$||'))
		build "$build/address" gcc "$flags" "$@"
	else
		build "$build/address" gcc "$flags" test-programs
		set -- $(find "$build/address/tests" -name 'test_*.t' ! -name '*_gpu.t' | sort) $(paths tests/programs $programs)
	fi
	named "$@" | sort -u | FATHOM_BIN="$build/address/bin" run_all address
}

thread() {
	archer=$(find /usr/lib/llvm-* -name libarcher.so 2>/dev/null | sort | tail -n 1) # knows OpenMP's barriers
	if [ -z "$archer" ] || ! command -v clang >/dev/null; then
		echo "sanitize-host: no clang with libarcher.so: install clang and libomp-N-dev (N: clang's version)" >&2
		return 1
	fi
	# shellcheck disable=SC2046,SC2086 # words
	set -- $(paths "$build/thread/tests" $threads) $(for name in $probes; do echo "$build/thread/bin/$name"; done)
	build "$build/thread" clang -fsanitize=thread "$@" || return
	named "$@" | sed "s|.*/bin/.*|& --quick --output $build/thread/data|" |
		OMP_TOOL_LIBRARIES=$archer FATHOM_BIN="$build/thread/bin" run_all thread
}

# Programs that a test starts run under valgrind by a script in their place.
in_valgrind() {
	mkdir -p "$build/valgrind" || return
	for program in "$usual"/bin/*; do
		printf '#!/bin/sh\nexec %s --error-exitcode=99 --log-file="%s" "%s" "$@"\n' "$memcheck" \
			"$logs/valgrind.bad_tables.report.%p" "$program" >"$build/valgrind/$(basename "$program")"
	done
	chmod +x "$build/valgrind"/*
}

valgrind_readers() {
	if ! command -v valgrind >/dev/null; then
		echo "sanitize-host: no valgrind: install it" >&2
		return 1
	fi
	in_valgrind || return
	# shellcheck disable=SC2086 # words
	for name in $readers; do
		echo "${name#*/} $memcheck --log-file=$logs/valgrind.${name#*/}.report.%p $usual/tests/$name.t"
	done | run_all valgrind
	named tests/programs/bad_tables.t | FATHOM_BIN=$build/valgrind run_all valgrind
}

missing=
for tool in ${SANITIZE_TOOLS:-$([ "$extent" = quick ] && echo address || echo address thread valgrind)}; do
	case $tool in
	address | thread) $tool || missing="$missing $tool" ;;
	valgrind) valgrind_readers || missing="$missing valgrind" ;;
	esac
done
sum_up "$logs" || exit 1
if [ -n "$missing" ]; then
	echo "sanitize-host: not run:$missing" >&2
	exit 1
fi
