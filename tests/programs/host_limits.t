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

# ---- hosts of other shapes
fact() { # key, folder
	sed -n "s/^$1	//p" "$2/machine.tsv"
}
mkdir "$scratch/large" "$scratch/hybrid"
expect 0 . 'a host of 192 cores is described' \
	env HWLOC_SYNTHETIC='pack:2 numa:4 l3:3 core:8 pu:2' "$bin/machine" --output "$scratch/large"
test "$(fact host.cores "$scratch/large") $(fact host.threads "$scratch/large") $(fact host.numa_nodes "$scratch/large")" = '192 384 8'
result $? 'with its cores, threads and NUMA nodes'
HWLOC_SYNTHETIC='pack:2 numa:4 l3:3 core:8 pu:2' "$bin/probe" --quick --output "$scratch/large" host_parallel >/dev/null 2>&1
result $? 'probes run there, with as many threads as this process has processors'
if HWLOC_SYNTHETIC='pack:1 core:6 pu:2' "$bin/machine" --output "$scratch/hybrid" >/dev/null 2>&1; then
	sed 's|</topology>|<cpukind cpuset="0xf" forced_efficiency="1"/><cpukind cpuset="0xff0" forced_efficiency="0"/></topology>|' \
		"$scratch/hybrid/topology.xml" >"$scratch/hybrid/kinds.xml"
	expect 0 'the host has cores of 2 kinds' 'cores of two kinds are said' \
		env HWLOC_XMLFILE="$scratch/hybrid/kinds.xml" "$bin/machine" --output "$scratch/hybrid"
	test "$(fact host.core_kinds "$scratch/hybrid")" = 2
	result $? 'and recorded'
fi
needs measure
mkdir "$scratch/gram"
gram() { # topology
	env HWLOC_SYNTHETIC="$1" HWLOC_THISSYSTEM=1 "$bin/measure" --gram-host --quick --budget 1 --output "$scratch/gram"
}
expect 77 'caches are not known' 'matrices of half a cache need a cache' gram 'core:1 pu:1'
expect 0 . 'the second one is the last where there is no third' gram 'l2:1(size=1MB) core:1 pu:1'
expect 0 '^1056	1056$' 'and its size counts' cut -f 5,6 "$scratch/gram/gram_host.tsv"
test "$(sed -n 's/^# processors: //p' "$scratch/gram/gram_host.tsv")" = "$(fact host.processors "$scratch/large")"
result $? 'the processors are those before the measuring thread is bound'

# ---- containers with a cpuset or a CPU quota
if command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null; then
	mkdir "$scratch/cpuset"
	expect 0 . 'a process with one processor is described' taskset -c 0 "$bin/machine" --output "$scratch/cpuset"
	test "$(fact host.processors "$scratch/cpuset") $(fact host.openmp.threads "$scratch/cpuset")" = '0 1'
	result $? 'its processor is recorded, and no further thread is used'
	taskset -c 0 "$bin/probe" --quick --output "$scratch/cpuset" host_parallel >/dev/null 2>&1
	result $? 'probes keep to it'
	expect 0 '^# processors: 0$' 'and note it' grep '^# processors' "$scratch/cpuset/host_parallel.tsv"
	expect 77 'has one core: nothing to exchange' 'also where the machine has others' \
		taskset -c 0 "$bin/host_exchange" --quick --output "$scratch/cpuset"
else
	report ok 'a cpuset # SKIP no taskset, or processor 0 is not ours'
fi
mkdir "$scratch/groups"
echo '150000 100000' >"$scratch/groups/cpu.max"
echo '0::/' >"$scratch/group"
with_quota() {
	unshare -m sh -c "mount --bind '$scratch/groups' /sys/fs/cgroup && mount --bind '$scratch/group' /proc/self/cgroup; \"\$@\"" sh "$@"
}
if with_quota test -e /sys/fs/cgroup/cpu.max 2>/dev/null; then
	expect 0 'a CPU quota leaves this process the time of 1.5 processors' 'a CPU quota is said' \
		with_quota "$bin/machine" --output "$scratch"
	test "$(fact host.cpu_quota "$scratch")" = 1.5
	result $? 'and recorded'
else
	report ok 'a CPU quota # SKIP no mount of our own'
fi

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
mkdir "$scratch/part" && cp "$recorded"/*.tsv "$scratch/part"
sed -i 's/^# gpu_sms: .*/# gpu_sms: 40/' "$scratch/part/copy.tsv"
expect 1 'come from different machines (gpu_sms' 'nor do those of a part of a GPU and of the whole' "$bin/fit" --output "$scratch/part"
if unshare -u true 2>/dev/null; then
	"$bin/machine" --output "$scratch/before" >/dev/null 2>&1
	unshare -u sh -c "hostname elsewhere; '$bin/machine' --output '$scratch/after'" >/dev/null 2>&1
	expect 0 "$(sed -n 's/^machine	//p' "$scratch/before/machine.tsv")" 'the id does not depend on the host name' \
		grep '^machine	' "$scratch/after/machine.tsv"
else
	report ok 'the id # SKIP no unshare'
fi

# ---- GPUs that CUDA_VISIBLE_DEVICES hides
"$bin/machine" --output "$scratch" >/dev/null 2>&1
if [ "$(fact gpu.name "$scratch")" != none ]; then
	uuid=$(fact gpu.uuid "$scratch")
	if [ "$(fact gpu.mig "$scratch")" != yes ]; then
		expect 0 "^gpu.uuid  *$uuid" 'a GPU that CUDA_VISIBLE_DEVICES names by its UUID' \
			env CUDA_VISIBLE_DEVICES="$uuid" "$bin/machine" --output "$scratch"
	fi
	expect 0 "^gpu.uuid  *$uuid" 'and by --device' "$bin/machine" --device "$uuid" --output "$scratch"
	expect 0 'no GPU: CUDA_VISIBLE_DEVICES is empty' 'hidden GPUs are said' \
		env CUDA_VISIBLE_DEVICES= "$bin/machine" --output "$scratch"
	expect 0 'no GPU: CUDA_VISIBLE_DEVICES=-1 shows none' 'also by -1' \
		env CUDA_VISIBLE_DEVICES=-1 "$bin/machine" --output "$scratch"
	expect 0 'no GPU: ' 'and a slice that is not there' \
		env -u CUDA_VISIBLE_DEVICES "$bin/machine" --device MIG-0 --output "$scratch"
else
	report ok 'hidden GPUs # SKIP no GPU'
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
