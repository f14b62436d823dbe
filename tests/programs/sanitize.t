#!/bin/sh
# SPDX-License-Identifier: MIT
# What make sanitize makes of a sanitizer's words: clean, reported, failed, cut and dead tests, and tests that use no GPU.
# The sanitizer is one of our own, which says what the test's file holds. Then the same of make sanitize-host, whose sanitizers
# write a report into a file of their own.

. "$(dirname "$0")/../tap.sh"
script=$root/scripts/sanitize.sh
make_scratch
cat >"$scratch/sanitizer" <<'S'
#!/bin/sh
options=$*
shift $(($# - 1)) # OPTION... TEST
cat "$1"
echo "on the ${FATHOM_TEST_ON-}: $options, small: ${FATHOM_TEST_SMALL-}."
[ "$(basename "$1" .t)" != slow ] || exec sleep 60
S
chmod +x "$scratch/sanitizer"
say() {
	name=$1
	shift
	printf '%s\n' '========= COMPUTE-SANITIZER' "$@" >"$scratch/$name.t"
}
unset FATHOM_TEST_SMALL
sanitize() {
	SANITIZER=$scratch/sanitizer sh "$script" "$scratch/logs" 2 2 "$@"
}

say clean 'ok 1 - a' 'ok 2 - b' '1..2' '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)'
say race 'ok 1 - a' '========= Error: Race reported between Read access at f()+0x10' \
	'=========     and Write access at g()+0x20 [8 hazards]' '1..1' '========= RACECHECK SUMMARY: 1 hazard displayed'
# Files of the list are in the tree: a kernel's code that moves must not leave its line behind.
awk '$1 == "racecheck" { print $2 }' "$root/tests/false_reports.txt" | while read -r file; do
	find "$root/factor" "$root/probes" "$root/lib" -name "$file" | grep -q . || echo "$file"
done >"$scratch/gone"
[ ! -s "$scratch/gone" ]
result $? "files with false reports are in the tree: $(paste -sd ' ' "$scratch/gone")"

say known 'ok 1 - a' '========= Error: Race reported between Read access at f()+0x10 in potrf_columns.cuh:14' \
	'=========     and Write access at g()+0x20 in potrf_columns.cuh:9 [8 hazards]' '1..1' '========= RACECHECK SUMMARY: 1 hazard displayed'
say wrong 'ok 1 - a' 'not ok 2 - b' '1..2'
say slow 'ok 1 - a'
say dead 'ok 1 - a'
say unstarted '========= Error: Target application terminated before first instrumented API call'
say host 'ok 1 - a' '1..1' '========= Error: Target application terminated before first instrumented API call'

expect 0 '8 checks passed: nothing was reported' 'a clean test' sanitize "$scratch/clean.t"
expect 0 'racecheck  clean  *2  *0  *0  complete' 'a line for each tool' sanitize "$scratch/clean.t"
expect 0 'on the gpu' 'tests are told to leave the host out' cat "$scratch/logs/clean.memcheck"
expect 0 'small: 1\.' 'and to make small runs' cat "$scratch/logs/clean.memcheck"
expect 0 'kns=_GLOBAL__N_ .*clean.t' 'racecheck looks at our own kernels' cat "$scratch/logs/clean.racecheck"
expect 0 'print-limit 20 /.*clean.t' 'memcheck looks at every kernel' cat "$scratch/logs/clean.memcheck"
(FATHOM_TEST_SMALL='' && export FATHOM_TEST_SMALL && sanitize "$scratch/clean.t" >/dev/null)
expect 0 'small: \.' 'or whole runs, when the caller says so' cat "$scratch/logs/clean.memcheck"
expect 1 'racecheck  race  *1  *0  *1  complete' 'a race is one report' sanitize "$scratch/clean.t" "$scratch/race.t"
expect 1 '4 with reports or failures' 'and the end says so' sanitize "$scratch/clean.t" "$scratch/race.t"
expect 0 '4 checks passed: nothing was reported' 'a false report that is known' sanitize "$scratch/known.t"
expect 0 'exclude kns=gram_kernel,kns=vectors_kernel' 'synccheck leaves kernels out' cat "$scratch/logs/known.synccheck"
expect 0 '1 runs, 0 of them cut, 2 checks' 'one tool' env TOOLS=initcheck SANITIZER="$scratch/sanitizer" sh "$script" "$scratch/logs" 2 2 "$scratch/clean.t"
expect 1 'memcheck  *wrong  *1  *1  *0' 'a check that fails' sanitize "$scratch/wrong.t"
expect 0 'slow .*cut after 2 s' 'a test that takes too long is cut' sanitize "$scratch/slow.t"
expect 1 'dead .*died' 'a test that ends without a plan' sanitize "$scratch/dead.t"
expect 1 'unstarted .*died' 'and one that could not start, which is none of the host alone' sanitize "$scratch/unstarted.t"
expect 77 'none of the tests used a GPU' 'without a GPU' sanitize "$scratch/host.t"
expect 0 '4 runs, 0 of them cut' 'a test of the host alone is left out' sanitize "$scratch/host.t" "$scratch/clean.t"
expect 77 'there is no /nowhere/sanitizer' 'without a sanitizer' \
	env SANITIZER=/nowhere/sanitizer sh "$script" "$scratch/logs" 2 2 "$scratch/clean.t"

# ---- on the host
host=$root/scripts/sanitize_host.sh
mkdir "$scratch/host"
program() { # name, its lines, what it writes as a report
	printf '#!/bin/sh\n%s\n[ -z "%s" ] || echo "%s" >"${ASAN_OPTIONS##*log_path=}.7"\n' "$2" "${3-}" "${3-}" >"$scratch/$1"
	chmod +x "$scratch/$1"
}
on_host() { # NAME...: a table of them
	rm -f "$scratch/host"/*
	for name; do
		(cd "$root" && sh "$host" --one "$scratch/host" address "$name" "$scratch/$name")
	done
	sh "$host" --sum "$scratch/host"
}
program test_clean 'echo ok 1; echo ok 2; echo 1..2'
program test_leak 'echo ok 1; echo 1..1' '==1==ERROR: LeakSanitizer: detected memory leaks'
program test_warned 'echo ok 1; echo 1..1' '==1==WARNING: AddressSanitizer failed to allocate 0x3fff bytes'
program test_memcheck 'echo ok 1; echo 1..1' '==1== Invalid read of size 8'
program test_wrong 'echo not ok 1; echo 1..1; exit 1'
program test_dead 'echo ok 1; exit 134'
program host_probe 'exit 134'
expect 0 '2 checks passed: nothing was reported' 'host: a clean test' on_host test_clean
expect 1 'address  *test_leak  *1  *0  *1 ' 'host: a leak is a report' on_host test_clean test_leak
expect 1 '2 runs, 3 checks passed: 1 with reports' 'host: and the end says so' on_host test_clean test_leak
expect 1 'test_memcheck  *1  *0  *1 ' 'host: a report of valgrind' on_host test_memcheck
expect 0 'nothing was reported' 'host: a warning is none' on_host test_warned
expect 1 'test_wrong  *0  *1  *0 ' 'host: a check that fails' on_host test_wrong
expect 1 'test_dead .*died (134)' 'host: a test that ends without a plan' on_host test_dead
expect 1 'host_probe .*died (134)' 'host: a probe that does not end well' on_host host_probe
echo "1..$number"
