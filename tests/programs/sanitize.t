#!/bin/sh
# SPDX-License-Identifier: MIT
# What make sanitize makes of a sanitizer's words: clean, reported, failed, cut and dead tests, and tests that use no GPU.
# The sanitizer is one of our own, which says what the test's file holds.

. "$(dirname "$0")/../tap.sh"
script=$root/scripts/sanitize.sh
make_scratch
cat >"$scratch/sanitizer" <<'S'
#!/bin/sh
options=$*
shift $(($# - 1)) # OPTION... TEST
cat "$1"
echo "on the ${FATHOM_TEST_ON-}: $options"
[ "$(basename "$1" .t)" != slow ] || exec sleep 60
S
chmod +x "$scratch/sanitizer"
say() {
	name=$1
	shift
	printf '%s\n' '========= COMPUTE-SANITIZER' "$@" >"$scratch/$name.t"
}
sanitize() {
	SANITIZER=$scratch/sanitizer sh "$script" "$scratch/logs" 2 2 "$@"
}

say clean 'ok 1 - a' 'ok 2 - b' '1..2' '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)'
say race 'ok 1 - a' '========= Error: Race reported between Read access at f()+0x10' \
	'=========     and Write access at g()+0x20 [8 hazards]' '1..1' '========= RACECHECK SUMMARY: 1 hazard displayed'
say wrong 'ok 1 - a' 'not ok 2 - b' '1..2'
say slow 'ok 1 - a'
say dead 'ok 1 - a'
say unstarted '========= Error: Target application terminated before first instrumented API call'
say host 'ok 1 - a' '1..1' '========= Error: Target application terminated before first instrumented API call'

expect 0 '4 checks passed: nothing was reported' 'a clean test' sanitize "$scratch/clean.t"
expect 0 'racecheck  clean  *2  *0  *0  complete' 'a line for each tool' sanitize "$scratch/clean.t"
expect 0 'on the gpu' 'tests are told to leave the host out' cat "$scratch/logs/clean.memcheck"
expect 0 'kns=_GLOBAL__N_ .*clean.t' 'racecheck looks at our own kernels' cat "$scratch/logs/clean.racecheck"
expect 0 'print-limit 20 /.*clean.t' 'memcheck looks at every kernel' cat "$scratch/logs/clean.memcheck"
expect 1 'racecheck  race  *1  *0  *1  complete' 'a race is one report' sanitize "$scratch/clean.t" "$scratch/race.t"
expect 1 '2 with reports or failures' 'and the end says so' sanitize "$scratch/clean.t" "$scratch/race.t"
expect 1 'memcheck  *wrong  *1  *1  *0' 'a check that fails' sanitize "$scratch/wrong.t"
expect 0 'slow .*cut after 2 s' 'a test that takes too long is cut' sanitize "$scratch/slow.t"
expect 1 'dead .*died' 'a test that ends without a plan' sanitize "$scratch/dead.t"
expect 1 'unstarted .*died' 'and one that could not start, which is none of the host alone' sanitize "$scratch/unstarted.t"
expect 77 'none of the tests used a GPU' 'without a GPU' sanitize "$scratch/host.t"
expect 0 '2 runs, 0 of them cut' 'a test of the host alone is left out' sanitize "$scratch/host.t" "$scratch/clean.t"
expect 77 'there is no /nowhere/sanitizer' 'without a sanitizer' \
	env SANITIZER=/nowhere/sanitizer sh "$script" "$scratch/logs" 2 2 "$scratch/clean.t"
echo "1..$number"
