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
expect 0 '^potrf  s fp32 * 1[0-9]* * 1 ' 'orders that a seed draws' "$bin/measure" --several --drawn 2 --seed 7 --largest 1500 --only potrf --math fp32 --output "$scratch"
expect 0 '^4$' 'two of them in both precisions, marked' sh -c "grep -c 'seed=7' '$scratch/several_gpus.tsv'"
# as if there had been two GPUs, and a prediction a quarter too long
awk -F '\t' -v OFS='\t' '/^potrf\tgpu\ts.*seed=7/ && !added++ { row = $0 }
	{ print }
	END { $0 = row; $1 = $1; for (i = 1; i <= NF; i++) sub(/gpus=1/, "gpus=2", $i); $13 = $14 = $15 = "0.004"; print
		$11 = "model"; $13 = $14 = $15 = "0.005"; print }' "$scratch/several_gpus.tsv" >"$scratch/more" && mv "$scratch/more" "$scratch/several_gpus.tsv"
expect 0 'drawn orders: median [|]error[|] 25[.]0 %, worst 25[.]0 %, 1 times' 'errors of predictions for several GPUs are summed up' \
	several --only potrf --math fp32
expect 2 'drawn belongs to --several' 'they are of this study' "$bin/measure" --bench --drawn 2 --output "$scratch"
expect 2 'only=gemm is none' 'other operations are refused' several --only gemm
echo "1..$number"
