#!/bin/sh
# SPDX-License-Identifier: MIT
# Calls of the system that fail, one by one and from one on, in programs on the host: memory, files that cannot be opened, written,
# read, flushed or renamed, processes and threads that cannot start. Each run ends with a documented code, says one sentence when
# it fails, leaves no torn and no temporary file; a run that ends well and silently has said the same as without a fault.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/fixture.sh"
export CUDA_VISIBLE_DEVICES=
unset MACHINE FATHOM_DATA
needs host_parallel predict measure validate compare machine fit
make_scratch
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
FATHOM_HOME=$root OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
export FATHOM_HOME OPENBLAS_NUM_THREADS OMP_NUM_THREADS
# The injector uses second names of glibc's functions.
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o "$scratch/injector.so" "$root/tests/programs/fault_injector.c" -ldl 2>"$scratch/said" ||
	skip_all 'no C compiler, or no glibc'
LD_PRELOAD=$scratch/injector.so FAULT=memory:0 FAULT_IN=machine FAULT_LOG=$scratch/log "$bin/machine" --version >/dev/null 2>&1
grep -q '^calls [1-9]' "$scratch/log" || skip_all 'nothing can be preloaded here'

# What the programs read: a made-up profile, a few predictions, their measurements, two curves.
first=$scratch/first data=$scratch/data log=$scratch/log
mkdir "$first"
fixture_profile host >"$first/profile.tsv"
{
	"$bin/predict" --quick --seed 7 --output "$first" &&
		awk '/^#/ || /^operation/ || (/^panel_getrf.*\t750\t/ && n++ < 4)' "$first/predictions.tsv" >"$scratch/few" &&
		mv "$scratch/few" "$first/predictions.tsv" &&
		"$bin/measure" --quick --output "$first" && cp "$recorded/host_parallel.tsv" "$recorded/host_memory.tsv" "$first" &&
		cp -R "$first" "$scratch/other"
} >/dev/null 2>&1 || exit 1

# with FAULT PROGRAM ARGUMENTS...: status
with() {
	fault=$1 program=$2
	shift 2
	rm -rf "$data" "$log"
	cp -R "$first" "$data"
	FAULT=$fault FAULT_IN=$program FAULT_LOG=$log LD_PRELOAD=$scratch/injector.so \
		timeout 20 "$bin/$program" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
}

# What is wrong after a run with this status: a reason a line. Several things may fail in one process (N+), each said.
judge() {
	grep -v -e ': warning: ' -e '^$' -e '^fathom-compare: .*differ' "$scratch/err" >"$scratch/said"
	lines=$(wc -l <"$scratch/said")
	case $1 in
	0 | 1 | 2 | 77) ;;
	*) echo "exit status $1" ;;
	esac
	[ "$1" -eq "$good" ] || [ "$lines" -eq 1 ] || [ "$2" = + ] || echo "$lines sentences"
	[ "$1" -eq 0 ] || [ "$lines" -ge 1 ] || [ "$1" -eq "$good" ] || echo 'nothing said'
	[ "$1" -ne "$good" ] || [ -z "$same" ] || ! cmp -s "$scratch/err" "$scratch/usual.err" || cmp -s "$scratch/out" "$scratch/usual" ||
		echo 'another answer, silently'
	find "$data" -name '*.new'
	for file in "$data"/*.tsv; do
		awk -F '\t' '/^#/ && !cells { next } !cells { cells = NF } NF != cells { bad = 1 } END { exit bad || !cells }' "$file" &&
			[ -z "$(tail -c 1 "$file")" ] || echo "${file##*/} is torn"
	done
}

# sweep SAME PROGRAM ARGUMENTS...: every kind of fault; SAME: its answer does not depend on time
runs=0 failed=0
sweep() {
	same=$1
	shift
	for kind in memory open full read sync process; do
		with "$kind:0" "$@"
		good=$?
		cp "$scratch/out" "$scratch/usual"
		cp "$scratch/err" "$scratch/usual.err"
		calls=$(awk '$1 == "calls" && $2 > most { most = $2 } END { print most + 0 }' "$log")
		: >"$scratch/wrong"
		# fewer and fewer; all from one on fail only at every other place
		for n in $(awk -v calls="$calls" -v full="${FATHOM_TEST_FULL-}" 'BEGIN {
			for (n = 1; n <= calls; n = full ? (n < 60 ? n + 1 : int(n * 1.15)) : n < 100 ? 4 * n + 1 : 16 * n + 1) print n }'); do
			for all in '' +; do
				[ -z "$all" ] || [ $((n % 8)) -eq 1 ] || [ -n "${FATHOM_TEST_FULL-}" ] || continue
				with "$kind:$n$all" "$@"
				status=$?
				runs=$((runs + 1))
				[ $status -eq $good ] || failed=$((failed + 1))
				judge $status "$all" | sed "s,^,$kind:$n$all: ," >>"$scratch/wrong"
			done
		done
		[ ! -s "$scratch/wrong" ]
		result $? "$1: $kind, $calls calls"
		head -n 5 "$scratch/wrong" | sed 's/^/# /' >&2
	done
}

sweep same predict --quick --seed 7 --output "$data"
sweep same fit --output "$data"
sweep same validate --recorded --output "$data"
sweep '' machine --output "$data"
sweep '' host_parallel --quick --seconds 0.001 --processes 2 --output "$data"
sweep same compare "$scratch/other" "$data"
[ $failed -gt $((runs / 2)) ]
result $? "most runs fail by their faults: $failed of $runs"
echo "1..$number"
