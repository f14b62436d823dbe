#!/bin/sh
# SPDX-License-Identifier: MIT
# fathom measure --several on a rank of the host: rows, their table, and continuation.
. "$(dirname "$0")/../tap.sh"
needs measure
make_scratch
CUDA_VISIBLE_DEVICES=
export CUDA_VISIBLE_DEVICES

several() {
	"$bin/measure" --several --smallest 1024 --largest 1024 --output "$scratch" "$@"
}
expect 0 '^potrf  s fp32 * 1024 * 1 .* 1\.00 ' 'Cholesky of 1024 columns has a time' several --only potrf --math fp32
expect 0 '^potrf  d fp64 * 1024 * 1 .* 1\.00 ' 'in double precision, too; the rows are kept' several --only potrf --math fp32
expect 0 . 'the rows name the number of GPUs' grep -P '^potrf\tgpu\td\t.*gpus=1' "$scratch/several_gpus.tsv"
expect 0 '^0\.[0-9]*[1-9]' 'and a residual that was checked' \
	awk -F '\t' '!/^#/ && !head++ { for (i = 1; i <= NF; i++) at[$i] = i; next } !/^#/ { print $at["residual"]; exit }' "$scratch/several_gpus.tsv"
expect 2 'only=gemm is none' 'other operations are refused' several --only gemm
echo "1..$number"
