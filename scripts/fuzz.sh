#!/bin/sh
# SPDX-License-Identifier: MIT
# make fuzz: builds the targets of tests/fuzz with clang's libFuzzer under the address and undefined sanitizers, runs each for
# some seconds from its seeds, and prints a line for each. Inputs found stay in BUILD/found and are the next run's seeds, too; one
# that crashes stays in BUILD as TARGET-crash-... Exit status: 0 no crash, 1 a crash, 77 no clang with libFuzzer.
# Usage: fuzz.sh BUILD SECONDS [TARGET...]; FUZZ_SEED (0: a new one)
set -u
LC_ALL=C
export LC_ALL
build=$1 seconds=$2
shift 2
# shellcheck disable=SC2046 # words
[ $# -gt 0 ] || set -- $(basename -s .c tests/fuzz/fuzz_*.c | sed 's/fuzz_//')
flags='-g -O1 -fsanitize=address,undefined,float-cast-overflow,fuzzer-no-link -fno-sanitize-recover=all'

mkdir -p "$build" || exit 1
echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return n < 0 && d; }' >"$build/try.c"
if ! clang -fsanitize=fuzzer,address -fopenmp -o "$build/try" "$build/try.c" 2>"$build/try.said"; then
	echo "fuzz: clang, libFuzzer or OpenMP is missing: install clang, libclang-rt-N-dev and libomp-N-dev (N: clang's version)" >&2
	exit 77
fi
${MAKE:-make} --no-print-directory CC=clang NVCC= CUDA_HOME=/none MPICC= GRAM_C= GRAM_FORTRAN= CFLAGS="$flags" BUILD="$build" "$build/parts.a" || exit 1
for target; do
	# shellcheck disable=SC2086,SC2046 # words
	clang -std=c11 -D_GNU_SOURCE -I. -I"$build" $(pkg-config --cflags openblas 2>/dev/null) -Wall -Wextra $flags -fsanitize=fuzzer -fopenmp \
		-Wl,--wrap=msg_die,--wrap=exit -o "$build/fuzz_$target" "tests/fuzz/fuzz_$target.c" tests/fuzz/fuzz.c "$build/parts.a" \
		${HOST_LIBS:--llapacke -lopenblas -lhwloc} -lm -ldl -lpthread || exit 1
done

crashed=
printf '%-10s %8s %12s %8s %8s  %s\n' target seconds inputs edges seeds result
for target; do
	found=$build/found/$target
	mkdir -p "$found"
	begun=$(date +%s)
	UBSAN_OPTIONS=print_stacktrace=1 "$build/fuzz_$target" -max_total_time="$seconds" -seed="${FUZZ_SEED:-0}" -max_len=16384 \
		-timeout=20 -rss_limit_mb=4096 -close_fd_mask=1 -print_final_stats=1 -artifact_prefix="$build/$target-" \
		"$found" "tests/fuzz/corpus/$target" 2>"$build/$target.log"
	status=$?
	result='no crash'
	if [ $status -ne 0 ]; then
		result="CRASH: $(grep -m 1 -e 'ERROR: ' -e 'runtime error' "$build/$target.log"), see $build/$target.log"
		crashed="$crashed $target"
	fi
	edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$build/$target.log" | tail -n 1)
	printf '%-10s %8d %12d %8d %8d  %s\n' "$target" $(($(date +%s) - begun)) \
		"$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log")" "${edges:-0}" \
		"$(find "$found" "tests/fuzz/corpus/$target" -type f | wc -l)" "$result"
done
[ -z "$crashed" ]
