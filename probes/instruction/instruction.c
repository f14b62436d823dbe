/* SPDX-License-Identifier: MIT */
/* Question: how long does a dependent instruction take, and how many can an SM start at a time?
 *
 * Method: loops of one instruction in independent chains, one or two blocks on every SM, against
 * chains, warps and blocks (LAPACK Working Note 202, section 3.4). FMAs fed from shared memory and
 * constants (section 3.5). FMA and tensor-core products for two seconds, with clock and power.
 *
 * What can fool it: other code than intended (tests/instruction_code.t reads the machine code); the
 * loop itself (series overhead: a shorter body); a clock that drops under load (measured in every
 * sample); blocks that do not run at once (the median block counts); half-precision chains (the
 * compiler alternates between two units, so their latency is that of the hand-over).
 *
 * Unit: seconds per warp-wide instruction of one SM; with one warp and one chain its latency. A
 * warpgroup product counts as one instruction of its four warps. */
#include "lib/base/base.h"
#include "instruction_internal.h"

#include "lib/base/msg.h"
#include "lib/probe/probe_point.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

/* Every step of the sweep measures, or only counts its points when run is NULL. */

static int measure_chain(struct probe_run *run, struct instruction_bench *b, size_t index,
        int chains, int warps, int blocks, double seconds)
{
	if (run) {
		struct subject s = instruction_chains(b, index, chains, warps, blocks);
		instruction_point(run, &s, b->table[index].name, seconds);
	}
	return 1;
}

/* One chain of one warp, a saturated SM, and points between. Matrix products also against blocks of
 * as many warps as an SM has tensor cores. The first instruction, the single-precision FMA, in
 * full. */
static int sweep_chains(
        struct probe_run *run, struct instruction_bench *b, bool quick, double seconds)
{
	static const int all_warps[] = {1, 2, 4, 8, 16, 32};
	int points = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct instruction *x = &b->table[i];
		if (b->gpu.code < x->capability)
			continue;
		const bool matrix = x->body == INSTRUCTION_MMA_BODY;
		points += measure_chain(run, b, i, 1, 1, 1, seconds);
		points += measure_chain(run, b, i, matrix ? 4 : 8, 16, 1, seconds);
		if (!quick && matrix) {
			points += measure_chain(run, b, i, 2, 8, 1, seconds);
			points += measure_chain(run, b, i, 8, 4, 1, seconds);
			for (int blocks = 1; blocks <= INSTRUCTION_BLOCKS_MAX; blocks *= 2)
				points += measure_chain(run, b, i, 1, 4, blocks, seconds);
		}
		for (int chains = 1; i == 0 && chains <= 8; chains *= quick ? 8 : 2)
			for (size_t w = 0; w < ARRAY_LEN(all_warps); w += quick ? 3 : 1)
				if (!(chains == 1 && all_warps[w] == 1) &&
				        !(chains == 8 && all_warps[w] == 16))
					points += measure_chain(
					        run, b, i, chains, all_warps[w], 1, seconds);
		for (int chains = 1; i == 0 && chains <= 8; chains *= 8)
			points += measure_chain(run, b, i, chains, 1, 2, seconds);
	}
	return points;
}

static int sweep_overhead(struct probe_run *run, struct instruction_bench *b, double seconds)
{
	static const int warps[] = {1, 16};
	for (size_t i = 0; run && i < ARRAY_LEN(warps); i++) {
		struct subject s = instruction_chains(b, 0, i ? 8 : 1, warps[i], 1);
		s.kind = SHORT_CHAIN;
		s.instructions = (double)INSTRUCTION_SHORT_BODY * warps[i];
		instruction_point(run, &s, "overhead", seconds);
	}
	return ARRAY_LEN(warps);
}

static int sweep_fed(struct probe_run *run, struct instruction_bench *b, double seconds)
{
	static const char *const series[FED_SOURCES] = {
	        "fed_register", "fed_lane", "fed_broadcast", "fed_conflict", "fed_constant"};
	int points = 0;
	for (int source = 0; source < FED_SOURCES; source++) {
		const bool loads = source != FED_REGISTER && source != FED_CONSTANT;
		for (int width = 4; width <= (loads ? 16 : 4); width *= 2, points++) {
			struct subject s = {.bench = b,
			        .kind = FED,
			        .index = (size_t)source,
			        .chains = 8,
			        .warps = 16,
			        .blocks = 1,
			        .width = width,
			        .instructions = INSTRUCTION_FED_BODY * 16.0,
			        .flops = 64};
			if (run)
				instruction_point(run, &s, series[source], seconds);
		}
	}
	return points;
}

static int sweep_warpgroups(struct probe_run *run, struct instruction_bench *b, double seconds)
{
	if (!b->gpu.warpgroups)
		return 0;
	for (int i = 0; run && i < 2; i++) {
		const enum wgmma_kind kind = i ? WGMMA_BF16 : WGMMA_TF32;
		struct subject s = instruction_warpgroups(b, kind);
		instruction_point(
		        run, &s, kind == WGMMA_TF32 ? "wgmma.tf32" : "wgmma.bf16", seconds);
	}
	return 2;
}

static int sweep(struct probe_run *run, struct instruction_bench *b, bool quick, double seconds)
{
	return sweep_chains(run, b, quick, seconds) + sweep_overhead(run, b, seconds) +
	       sweep_fed(run, b, seconds) + sweep_warpgroups(run, b, seconds);
}

static void measure(struct probe_run *run)
{
	struct instruction_bench b = {0};
	probe_open_gpu(run, &b.gpu);
	const size_t blocks = (size_t)(INSTRUCTION_BLOCKS_MAX * b.gpu.sm_count);
	GPU(cudaMallocHost((void **)&b.span, blocks * sizeof *b.span));
	GPU(cudaMalloc((void **)&b.sink, sizeof *b.sink));
	b.duration = xmalloc(blocks * sizeof *b.duration);
	b.table = instruction_table(&b.count);
	const double hz = gpu_warm(&b.gpu, run->warm_seconds);

	const bool quick = run->common.quick;
	const int points = sweep(NULL, &b, quick, 0);
	sweep(run, &b, quick, run->seconds / points);
	if (run->process == 0)
		instruction_sustained(run, &b, !quick, quick ? 0.05 : 2);
	if (!quick)
		gpu_rest(&b.gpu, hz);

	free(b.duration);
	GPU(cudaFree(b.sink));
	GPU(cudaFreeHost(b.span));
	probe_watch_gpu(run, &b.gpu);
}

static const char *const arguments[] = {"chains", "warps", "blocks", "width", "flops", "watt"};
const struct probe instruction_probe = {
        .name = "instruction",
        .question = "How long does a dependent instruction take, and how many can an SM start?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 1.2,
        .processes = 3,
        .measure = measure,
        .fit = instruction_fit,
};
