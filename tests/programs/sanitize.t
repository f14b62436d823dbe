#!/bin/sh
# SPDX-License-Identifier: MIT
# What make sanitize makes of a sanitizer's words: clean, reported, failed, slow and dead programs, and tests that use no GPU; what it
# keeps for the next call, and which kernels were started.
# The sanitizer is one of our own, which says what the test's file holds. Then the same of make sanitize-host, whose sanitizers
# write a report into a file of their own.

. "$(dirname "$0")/../tap.sh"
script=$root/scripts/sanitize.sh
make_scratch
cat >"$scratch/sanitizer" <<'S'
#!/bin/sh
options=$*
tool=$2
while [ "$1" != "${1#-}" ]; do shift 2; done # OPTION WORD... PROGRAM
echo "$tool $(basename "$1" .t)" >>"$0.runs"
cat "$1"
sed -n 's/^kernel //p' "$1" >"$FATHOM_TEST_KERNELS"
echo "on the ${FATHOM_TEST_ON-}: $options, small: ${FATHOM_TEST_SMALL-}."
case $1 in
*slow*) exec sleep 60 ;;
*/probe*) mkdir "${options##* }" && echo curve >"${options##* }/$(basename "$1").tsv" ;;
*/broken) exit 9 ;;
esac
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
expect 0 'racecheck  clean  *2  *0  *0  *0  ended' 'a line for each tool' sanitize "$scratch/clean.t"
expect 0 'on the gpu' 'tests are told to leave the host out' cat "$scratch/logs/clean.memcheck"
expect 0 'small: 1\.' 'and to make small runs' cat "$scratch/logs/clean.memcheck"
expect 0 'kns=_GLOBAL__N_ .*clean.t' 'racecheck looks at our own kernels' cat "$scratch/logs/clean.racecheck"
expect 0 'print-limit 20 --report-api-errors no /.*clean.t' 'memcheck looks at every kernel' cat "$scratch/logs/clean.memcheck"
(FATHOM_TEST_SMALL='' && export FATHOM_TEST_SMALL && sanitize "$scratch/clean.t" >/dev/null)
expect 0 'small: \.' 'or whole runs, when the caller says so' cat "$scratch/logs/clean.memcheck"
expect 1 'racecheck  race  *1  *0  *1  *0  ended' 'a race is one report' sanitize "$scratch/clean.t" "$scratch/race.t"
expect 1 '4 with reports or failures' 'and the end says so' sanitize "$scratch/clean.t" "$scratch/race.t"
expect 0 '4 checks passed: nothing was reported' 'a false report that is known' sanitize "$scratch/known.t"
expect 0 'exclude kns=gram_kernel,kns=vectors_kernel' 'synccheck leaves kernels out' cat "$scratch/logs/known.synccheck"
expect 1 'memcheck  *wrong  *1  *1  *0' 'a check that fails' sanitize "$scratch/wrong.t"
expect 1 'dead .*died' 'a test that ends without a plan' sanitize "$scratch/dead.t"
expect 1 'unstarted .*died' 'and one that could not start, which is none of the host alone' sanitize "$scratch/unstarted.t"
expect 77 'none of the programs used a GPU' 'without a GPU' sanitize "$scratch/host.t"
expect 0 '4 runs .*, 0 did not end, 0 not run' 'a test of the host alone is left out' sanitize "$scratch/host.t" "$scratch/clean.t"
say skipped '1..0 # SKIP no GPU'
expect 77 'none of the programs used a GPU' 'as is one that skips all' sanitize "$scratch/skipped.t"
expect 77 'there is no /nowhere/sanitizer' 'without a sanitizer' \
	env SANITIZER=/nowhere/sanitizer sh "$script" "$scratch/logs" 2 2 "$scratch/clean.t"

# A probe, which says no results: its curve tells that it ended.
cp "$scratch/clean.t" "$scratch/probed"
mv "$scratch/probed" "$scratch/probe_a"
say broken 'a word'
mv "$scratch/broken.t" "$scratch/broken"
expect 0 'memcheck  *probe_a  *2  *0  *0  *0  ended' 'a probe' sanitize "$scratch/probe_a"
expect 0 'target-processes all .*/probe_a.*quick' 'with its processes' cat "$scratch/logs/probe_a.memcheck"
expect 1 'broken .*died (9)' 'a probe without a curve' sanitize "$scratch/broken"

# What is kept for the next call.
rm -rf "$scratch/logs"
one() { # PROGRAM...: one tool
	: >"$scratch/sanitizer.runs"
	TOOLS=initcheck sanitize "$@"
}
expect 0 '1 runs (0 of them earlier), .* 2 checks' 'one tool' one "$scratch/clean.t"
expect 0 '3 runs (1 of them earlier), .* 5 checks' 'a run that ended is not repeated' one "$scratch/clean.t" "$scratch/known.t" "$scratch/probe_a"
sort "$scratch/sanitizer.runs" | paste -sd , - | grep -qx 'initcheck known,initcheck probe_a'
result $? 'the others are made'
expect 1 'slow .*did not end in 2 s' 'a program that takes too long has not ended' one "$scratch/slow.t" "$scratch/clean.t"
expect 1 '2 runs (1 of them earlier), 1 did not end, ' 'and is run again' one "$scratch/slow.t" "$scratch/clean.t"
expect 1 '2 runs (1 of them earlier)' 'as is one with a report' one "$scratch/race.t" "$scratch/clean.t"
one "$scratch/race.t" "$scratch/clean.t" >/dev/null
grep -qx 'initcheck race' "$scratch/sanitizer.runs"
result $? 'each time'
echo 'ok 3 - c' >>"$scratch/clean.t"
expect 0 '1 runs (0 of them earlier), .* 3 checks' 'and one that has changed' one "$scratch/clean.t"
say new 'ok 1 - a' '1..1'
awk -F '\t' -v OFS='\t' '{ $7 = 30; $8 = "other"; print }' "$scratch/logs/clean.initcheck.line" >"$scratch/line"
mv "$scratch/line" "$scratch/logs/clean.initcheck.line"
awk -F '\t' -v OFS='\t' '{ $7 = 40; $8 = "other"; print }' "$scratch/logs/known.initcheck.line" >"$scratch/line"
mv "$scratch/line" "$scratch/logs/known.initcheck.line"
: >"$scratch/sanitizer.runs"
SANITIZER=$scratch/sanitizer TOOLS=initcheck sh "$script" "$scratch/logs" 2 1 "$scratch/clean.t" "$scratch/known.t" "$scratch/new.t" >/dev/null
paste -sd , "$scratch/sanitizer.runs" | grep -qx 'initcheck new,initcheck known,initcheck clean'
result $? 'new ones first, then the longest'
cp "$scratch/slow.t" "$scratch/slower.t"
minute() { # MINUTES, by a clock that has one second each
	mkdir -p "$scratch/clock"
	printf '#!/bin/sh\n[ "$1" = +%%s ] || exit 1\necho $((1000 + $(wc -c <"%s/ticks")))\nprintf 12345678901234567890 >>"%s/ticks"\n' \
		"$scratch" "$scratch" >"$scratch/clock/date"
	chmod +x "$scratch/clock/date"
	: >"$scratch/ticks"
	MINUTES=$1 TOOLS=memcheck PATH=$scratch/clock:$PATH SANITIZER=$scratch/sanitizer sh "$script" "$scratch/logs" 2 1 \
		"$scratch/slow.t" "$scratch/slower.t" "$scratch/new.t"
}
expect 1 '1 runs (0 of them earlier), 1 did not end, 2 not run' 'no run begins after MINUTES' minute 1

# Which kernels were started.
stub() { printf '0000000000000000 b _ZGVZ%s__device_stub_%s%sE5__tmp\n' $((14 + ${#1})) "$1" "${2-}"; }
mail=_ZN43_GLOBAL__N__0f6a4b07_10_letters_cu_1d1a24fd11mail_kernelILi
{
	stub "${mail}1EEEvi" i
	stub "${mail}2EEEvi" i
	stub _Z11room_kernelPi Pi
	stub _Z16memset_3d_devicePi Pi
} >"$scratch/symbols"
of_kernels() { SYMBOLS=$scratch/symbols one "$@"; }
say mail "kernel ${mail}2EEEvi" 'ok 1' '1..1'
say room 'kernel _Z11room_kernelPi' 'ok 1' '1..1'
expect 1 'initcheck: 1 of 2 kernels were started, 1 of their 3 instances; not: room_kernel' 'a kernel that no program starts' of_kernels "$scratch/mail.t"
expect 0 'initcheck: 2 of 2 kernels were started, 2 of their 3 instances$' 'all are, by runs of now and earlier' of_kernels "$scratch/mail.t" "$scratch/room.t"
expect 1 'not: letters.cu:mail_kernel' 'with the file that has it alone' of_kernels "$scratch/room.t"

echo '0000000000000030 b _ZGVZL32__device_stub__Z11tail_kernelPjiPjiE5__tmp' >"$scratch/symbols"
say tail 'kernel __nv_static_38__c27c4f50_16_device_launch_cu_bb70529c__Z11tail_kernelPji' 'ok 1' '1..1'
expect 0 'initcheck: 1 of 1 kernels were started, 1 of their 1 instances$' 'code that the device links has other names' of_kernels "$scratch/tail.t"

# Programs note what they start, also where no GPU is.
archive=$bin/../tests/kernels_started.a
cuda=${CUDA_HOME:-/usr/local/cuda}
cat >"$scratch/starts.cu" <<'S'
#include <cuda_runtime.h>
namespace {
template <int N> __global__ void one_kernel(int *p) { *p = N; }
__global__ void two_kernel(int *p) { *p = 2; }
__global__ void never_kernel(int *p) { *p = 3; }
} // namespace
int main(int argc, char **)
{
	int *p = nullptr;
	void *arguments[] = {&p};
	cudaLaunchConfig_t config = {};
	config.gridDim = config.blockDim = dim3(1);
	one_kernel<3><<<1, 1>>>(p);
	one_kernel<3><<<1, 1>>>(p);
	cudaLaunchKernelEx(&config, two_kernel, p);
	cudaLaunchCooperativeKernel((const void *)one_kernel<4>, dim3(1), dim3(1), arguments, 0, nullptr);
	if (argc > 1)
		never_kernel<<<1, 1>>>(p);
}
S
if [ -f "$archive" ] && [ -x "$cuda/bin/nvcc" ]; then
	# shellcheck disable=SC2046 # options
	"$cuda/bin/nvcc" -c -o "$scratch/starts.o" "$scratch/starts.cu" &&
		cc -o "$scratch/starts" "$scratch/starts.o" "$archive" \
			$(sed -n 's/^note_kernels.*--wrap=%,\(.*\))$/\1/p' "$root/Makefile" | sed 's/[^ ][^ ]*/-Xlinker --wrap=&/g') \
			-L"$cuda/lib64" -lcudart_static -lrt -lpthread -ldl -lstdc++ && FATHOM_TEST_KERNELS=$scratch/noted "$scratch/starts"
	sed 's/.*[0-9]\([a-z]*_kernel\)[EI]\(Li[0-9]\)*.*/\1\2/' "$scratch/noted" | paste -sd , - | grep -qx 'one_kernelLi3,two_kernel,one_kernelLi4'
	result $? 'kernels that a program starts, by any call of the runtime, are noted once'
else
	report ok 'kernels that a program starts are noted # SKIP no CUDA Toolkit'
fi

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
