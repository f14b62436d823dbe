#!/bin/sh
# SPDX-License-Identifier: MIT
# Variables and limits of the caller's environment that could change results are said, or change nothing.

. "$(dirname "$0")/../tap.sh"

make_scratch
needs probe machine

# ---- another machine's topology
unset HWLOC_XMLFILE HWLOC_SYNTHETIC
expect 0 'HWLOC_SYNTHETIC is set' 'a topology from elsewhere is said' \
	env HWLOC_SYNTHETIC='pack:1 core:4 pu:1' "$bin/machine" --output "$scratch"
expect 0 'HWLOC_SYNTHETIC' 'and recorded' grep '^host.topology' "$scratch/machine.tsv"
expect 0 "this machine's" 'the own one is, too' \
	sh -c "'$bin/machine' --output '$scratch' >'$scratch/facts' && grep '^host.topology' '$scratch/machine.tsv'"
expect 0 '^none' 'without a warning' sh -c "'$bin/machine' --output '$scratch' 2>&1 | grep HWLOC_ || echo none"
expect 0 . 'processors, quota and threads are facts' \
	sh -c "for fact in processors cpu_quota cpu_throttled threads_asked; do grep \"^host.\$fact	.\" '$scratch/machine.tsv' || exit 1; done"

# ---- threads
probe() { # variables, probe
	# shellcheck disable=SC2086 # several variables
	env -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS $1 "$bin/probe" --quick --output "$scratch" "$2"
}
if [ "$(nproc --all)" -gt 1 ] && [ "$(env -u OMP_NUM_THREADS nproc)" -gt 1 ]; then
	for variable in OMP_NUM_THREADS OPENBLAS_NUM_THREADS; do
		expect 0 "$variable=1 does not limit the host probes" "$variable is said" probe $variable=1 host_rate
		expect 0 . 'the BLAS has all threads all the same' grep '^gemm_threads_s' "$scratch/host_rate.tsv"
	done
else
	report ok 'threads # SKIP one processor'
fi
expect 0 '^none' 'nothing is said without them' sh -c "env -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS \
	'$bin/probe' --quick --output '$scratch' host_parallel 2>&1 | grep 'does not limit' || echo none"

# ---- a container's host name
probe OMP_NUM_THREADS=1 host_parallel >/dev/null 2>&1
probe OMP_NUM_THREADS=1 host_chase >/dev/null 2>&1
rm -f "$scratch/host_rate.tsv"
sed -i 's/^# host: .*/# host: container/' "$scratch/host_parallel.tsv"
expect 0 '' 'curves of two containers on one host make one profile' "$bin/fit" --output "$scratch"
sed -i 's/^# machine: .*/# machine: 01234567/' "$scratch/host_parallel.tsv"
expect 1 'come from different machines' 'those of two hosts do not' "$bin/fit" --output "$scratch"
if unshare -u true 2>/dev/null; then
	"$bin/machine" --output "$scratch/before" >/dev/null 2>&1
	unshare -u sh -c "hostname elsewhere; '$bin/machine' --output '$scratch/after'" >/dev/null 2>&1
	expect 0 "$(sed -n 's/^machine	//p' "$scratch/before/machine.tsv")" 'the id does not depend on the host name' \
		grep '^machine	' "$scratch/after/machine.tsv"
else
	report ok 'the id # SKIP no unshare'
fi

# ---- variables of CUDA
if [ -x "$bin/launch" ]; then
	expect 0 'CUDA_LAUNCH_BLOCKING=1 CUDA_DEVICE_MAX_CONNECTIONS=1 changes timings of the GPU' \
		'variables that change timings are said and set aside' \
		sh -c "CUDA_LAUNCH_BLOCKING=1 CUDA_DEVICE_MAX_CONNECTIONS=1 '$bin/launch' --quick --output '$scratch' 2>&1; true"
	if [ -e "$scratch/launch.tsv" ]; then
		expect 0 'CUDA_LAUNCH_BLOCKING=1' 'and noted' grep '^# set_aside: ' "$scratch/launch.tsv"
	fi
else
	report ok 'variables of CUDA # SKIP no GPU probes'
fi
echo "1..$number"
