#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures GPUs and links of this host into OUTPUT/health/RANK-HOST, and judges them; `fathom health` runs it:
#   scripts/health.sh BIN OUTPUT --json|"" --quick|""
# Under mpirun or srun (one process a host, OUTPUT shared) the process of rank 0 waits for the others, at most HEALTH_WAIT (600) seconds,
# and judges all.
set -u
LC_ALL=C
export LC_ALL
bin=$1 output=$2 json=$3 quick=$4
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}
size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_NTASKS:-1}}}
run=${PMIX_NAMESPACE:-${OMPI_MCA_ess_base_jobid:-${SLURM_JOB_ID:-none}.${SLURM_STEP_ID:-0}}} # the same in all processes
health=$output/health
mine=$health/$rank-$(uname -n)

# shellcheck source=scripts/attend.sh
. "$(dirname "$0")/attend.sh"

fact() {
	awk -F '\t' -v key="$1" '$1 == key { print $2 }' "$mine/machine.tsv" 2>/dev/null
}

# Exit status of this host's measurement; what went wrong is said at once.
measure() {
	attend "$bin/machine" --output "$mine" >/dev/null || return
	if [ "$(fact gpu.name)" = none ]; then
		echo "health: $mine: $(fact gpu.reason)" >&2
		return 77
	fi
	probes='copy transfer'
	if [ "$(fact gpu.visible)" -gt 1 ]; then
		probes="$probes peer collective"
	else
		echo "health: $mine: one GPU: links between GPUs are not measured" >&2
	fi
	# shellcheck disable=SC2086 # names
	attend "$bin/probe" --output "$mine" ${quick:+"$quick"} $probes >/dev/null || return
	"$bin/fit" --output "$mine" >/dev/null 2>"$mine/fit.log" # its exit code also tells of what is odd
	[ -s "$mine/profile.tsv" ] || cat "$mine/fit.log" >&2
	[ -s "$mine/profile.tsv" ]
}
# Whether a file `ended`, with the run and the exit status, is of a process of this run.
of_this_run() {
	[ "$(cut -f 1 "$1" 2>/dev/null)" = "$run" ]
}
ended() { # how many processes of this run have ended
	count=0
	for file in "$health"/*/ended; do
		! of_this_run "$file" || count=$((count + 1))
	done
	echo $count
}

rm -rf "$health/$rank"-*
mkdir -p "$mine" || exit 1
# Without an id of the run, files of an earlier one must go: measuring takes longer than this.
[ "$rank$run" != 0none.0 ] || rm -f "$health"/*/ended
measure
printf '%s\t%s\n' "$run" "$?" >"$mine/ended"
[ "$rank" = 0 ] || exit 0 # another status would make mpirun end the others

waited=0
while [ "$(ended)" -lt "$size" ]; do
	if [ "$waited" -ge "${HEALTH_WAIT:-600}" ]; then
		echo "health: $(ended) of $size processes have ended after $waited s: the others are left out" >&2
		break
	fi
	sleep 1
	waited=$((waited + 1))
done
failed=
set --
for file in "$health"/*/ended; do
	of_this_run "$file" || continue
	status=$(cut -f 2 "$file")
	if [ "$status" = 0 ]; then set -- "$@" "${file%/ended}"; else failed=$status; fi
done
[ $# -gt 0 ] || exit "${failed:-1}"
"$bin/health" ${json:+"$json"} "$@" || exit
if [ -n "$failed" ] || [ $# -lt "$size" ]; then
	exit 1
fi
