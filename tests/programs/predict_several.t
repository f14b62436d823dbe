#!/bin/sh
# SPDX-License-Identifier: MIT
# fathom predict of a factorization over several GPUs, and its trace: what the answer says, and what is refused.
. "$(dirname "$0")/../tap.sh"
needs predict trace
make_scratch
CUDA_VISIBLE_DEVICES=
export CUDA_VISIBLE_DEVICES
unset MACHINE FATHOM_DATA

# asks STATUS PATTERN WHAT ARGUMENT...: expect, of predict
asks() {
	status=$1 line=$2 what=$3
	shift 3
	expect "$status" "$line" "$what" "$bin/predict" "$@"
}
# seconds ARGUMENT...: the predicted time
seconds() {
	"$bin/predict" "$@" --json 2>/dev/null | sed -n 's/.*"seconds": *\([0-9.e-]*\).*/\1/p' | head -n 1
}
# longer A B WHAT
longer() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b && b > 0) }'
	result $? "$3"
}

mkdir "$scratch/copies"
grep -v '^link[.]nccl' "$root/data/nvidia-h200-x2/profile.tsv" >"$scratch/copies/profile.tsv"
two="--machine nvidia-h200-x2 --gpus 2 --nb 512"
many="--machine nvidia-h200 --gpus 8 --hosts 2 --nb 512"
# shellcheck disable=SC2086 # lists of options
{
	asks 0 '^time .* (.* \.\. .*)$' 'a time with its interval' getrf --n 2048 $two
	asks 0 '^speedup .* over one GPU, which takes' 'beside one GPU' geqrf --n 2048 $two --precision d
	asks 0 '^limited by .*updates .* broadcasts .* of the time' 'what limits it' potrf --n 2048 $two --math 3xtf32
	asks 0 '^measured .*broadcast.time (2 GPUs of a host)' 'two GPUs rest on what was measured with two' getrf --n 2048 $two
	asks 0 '^links measured with as many GPUs' 'and are no extrapolation' getrf --n 2048 $two
	asks 0 '^extrapolated' 'copies stand for broadcasts that were not measured, which is one' getrf --n 2048 --gpus 2 --nb 512 \
		--output "$scratch/copies"
	asks 0 '^extrapolated' 'more GPUs are' getrf --n 2048 --machine nvidia-h200-x2 --gpus 4 --nb 512
	asks 0 '^assumed .*link.nccl.broadcast.beta = ' 'a profile without links has assumptions, by name' getrf --n 2048 $many
	asks 0 'link.network.beta = 10 GB/s (--set)' 'which --set replaces' getrf --n 2048 $many --set link.network.beta=10GB/s
	asks 0 'DOES NOT FIT' 'a matrix that is too large is said to be' potrf --n 500000 --machine nvidia-h200 --gpus 4 --nb 4096
	asks 0 'speedup .*none: one GPU has' 'and one that one GPU cannot hold has no speedup' potrf --n 250000 --machine nvidia-h200 --gpus 4 \
		--nb 4096
	longer "$(seconds potrf --n 2048 $many --set link.network.beta=1GB/s)" "$(seconds potrf --n 2048 $many)" 'a slow network makes it longer'
	asks 0 '^sgetrf 2048 x 2048, 1 GPU in 1 host, by libfathom.s default plan$' 'one GPU, too' getrf --n 2048 --machine nvidia-h200

	asks 77 'ask for more --gpus' 'one GPU without the memory is refused' getrf --n 300000 --machine nvidia-h200
	asks 2 'no 3xtf32' 'split operands in double precision' getrf --n 2048 --precision d --math 3xtf32
	asks 2 'as many to each host' 'GPUs that the hosts cannot share are refused' getrf --n 2048 --gpus 6 --hosts 4
	asks 2 'gpus' 'so are absurd counts' getrf --n 2048 --gpus 100000
	asks 2 'larger --nb' 'and simulations without end' getrf --n 1000000 --gpus 4096 --nb 64
	asks 2 'give the size' 'a matrix without size' getrf --gpus 2
	asks 2 'square' 'Cholesky of a rectangle' potrf --m 10 --n 20
	asks 2 "operation 'gemm'" 'other operations' gemm --n 2048
	for option in '--gpus 4' '--precision d' '--m 5' '--math foo' '--machine nvidia-h200' '--nb 64'; do
		asks 2 "^fathom-predict: ${option% *} is for .*: leave it out of predict without an operation" "$option without an operation" $option
	done
	asks 2 'nb is for several GPUs: leave it out of predict getrf on one GPU' 'blocks over one GPU' getrf --n 10k --nb 64
	asks 2 'update is for predict without an operation' 'changes of a QR with an operation' getrf --n 10k --update
	asks 2 "math 'fast'" 'unknown math' getrf --n 512 --math fast
	asks 2 'no such parameter' 'a --set of no parameter' getrf --n 512 $two --set link.network.gamma=1

	asks 0 '^time  *[0-9.]* ms ([1-9][0-9.]* ms [.][.] [0-9.]* ms)$' 'an interval, also where parameters at their ends need others' \
		getrf --n 40000 --gpus 8 --machine nvidia-h200-x2
	for factor in 1 0.1; do
		"$bin/predict" getrf --n 10000 --gpus 2 --machine nvidia-h200-x2 --scale gpu.launch.sync=$factor --json 2>/dev/null |
			sed -n 's/.*"seconds": \([0-9.e-]*\).*/\1/p'
	done | paste -s -d ' ' - >"$scratch/synchronized"
	awk '{ exit !($2 > 0 && $2 <= $1) }' "$scratch/synchronized"
	result $? 'cheaper synchronization makes nothing slower'
	asks 0 '^rough  *without rows of their own' 'operations without rows are named' getrf --n 4096 --machine 8800gtx

	expect 0 '^GPU 1: ' 'a trace has lanes of every GPU' "$bin/trace" getrf --n 2048 --gpus 2 --machine nvidia-h200-x2 --svg "$scratch/two.svg"
	expect 0 '^2$' 'and draws their links' grep -c '>link<' "$scratch/two.svg"
	expect 2 'whole plan' 'without the plans of one GPU' "$bin/trace" getrf --n 2048 --gpus 2 --lookahead 0
}
echo "1..$number"
