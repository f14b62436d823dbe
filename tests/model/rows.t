#!/bin/sh
# SPDX-License-Identifier: MIT
# Every parameter that the model names is written by a fit: those of the recorded curves, of a machine with several GPUs, or of the list
# below. Otherwise a new machine's profile would lack what recorded ones have.
. "$(dirname "$0")/../tap.sh"
needs fit
make_scratch

# no probe times these kernels: their works stand under these names
timed_by_none='gpu.kerr_gemv.n gpu.kerr_gemv.t gpu.kerr_house gpu.lu_columns_unaligned gpu.lu_top_unaligned gpu.own_gemm_unaligned
	gpu.rank_unaligned gpu.double_tall_update_gram.d gpu.panel_geqrf_summed.d
	gpu.panel_geqrf_last.d gpu.panel_geqrf_last.s'
# assumed where no machine has measured them; measured since the recorded curves
others='link.network.alpha link.network.beta link.nccl.hop link.nccl.broadcast.queued link.nccl.enqueue
	gpu.alone.potrf gpu.alone.panel_cluster gpu.alone.panel_grid gpu.alone.panel_reflectors
	gpu.copy.running gpu.own_gemm_edge.d gpu.own_gemm_edge_shared.d gpu.own_gemm_shared.d'
# profiles of before have them: a what-if moves them
earlier='link.d2h.mapped.time link.d2h.pageable.time link.h2d.mapped.time link.h2d.pageable.time'

cp -r "$recorded" "$scratch/machine" && rm "$scratch/machine/profile.tsv" # no row stays from before
expect 0 'parameters: .* 0 failed' 'the recorded curves are fitted' "$bin/fit" --output "$scratch/machine"
cat "$scratch/machine/profile.tsv" "$root/data/nvidia-h200-x2/profile.tsv" | sed -n 's/^\([a-z0-9_.]*\)\(\[.*\)*	.*/\1/p' | sort -u >"$scratch/written"
for name in $timed_by_none $others $earlier; do
	echo "$name"
done >>"$scratch/written"
# a name stands for itself, with a precision, or as the beginning of several
find "$root/factor/model" "$root/lib/profile" -name '*.[ch]' -exec grep -ohE '"(gpu|host|link)[.][a-z0-9_.]*"' {} + | tr -d '"' | sort -u |
	awk 'NR == FNR { written[$1]; n = split($1, part, "."); p = part[1]; for (i = 2; i <= n; i++) { begun[p]; p = p "." part[i] } next }
		{ name = $1; sub(/[.]$/, "", name) }
		!(name in written) && !(name in begun)' "$scratch/written" - >"$scratch/unwritten"
[ ! -s "$scratch/unwritten" ]
result $? "no name of the model is written by nobody ($(wc -l <"$scratch/written") names)"
sed 's/^/# /' "$scratch/unwritten" >&2
echo "1..$number"
