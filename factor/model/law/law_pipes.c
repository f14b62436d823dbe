/* SPDX-License-Identifier: MIT */
/* Throughput of arithmetic on the busiest multiprocessor. */
#include "law_parts.h"

#include <math.h>

enum { WARP = 32, SCHEDULERS = 4, MOST_WARPS = 32, WARPS_A_BLOCK = 4 /* of gpu.mma.*.blocks */ };

/* How few warps slow a pipe down. */
enum slows {
	BY_CURVE,   /* gpu.fma.s.curve */
	BY_LATENCY, /* a warp has an instruction a latency and chain: Little's law */
	BY_BLOCKS,  /* gpu.mma.*.blocks */
	BY_NOTHING
};

static const struct pipe {
	const char *rate, *slow; /* flop/s of the device */
	enum slows slows;
	double warp; /* flops of a warp's instruction; 0: of many scalar ones */
} pipes[PIPE_COUNT] = {
        [PIPE_FP32] = {"gpu.fma.s.rate", "gpu.fma.s.curve", BY_CURVE, 64},
        [PIPE_FP64] = {"gpu.fma.d.rate", "gpu.fma.d.latency", BY_LATENCY, 64},
        [PIPE_FP16] = {"gpu.fma.h.rate", "gpu.fma.h.latency", BY_LATENCY, 128},
        [PIPE_BF16] = {"gpu.fma.bf16.rate", "gpu.fma.bf16.latency", BY_LATENCY, 128},
        [PIPE_TENSOR_FP64] = {"gpu.mma.d.rate", "gpu.mma.d.blocks", BY_BLOCKS, 0},
        [PIPE_TENSOR_FP64_LARGE] = {"gpu.mma.d16.rate", "gpu.mma.d16.blocks", BY_BLOCKS, 0},
        [PIPE_TENSOR_TF32] = {"gpu.mma.tf32.rate", "gpu.mma.tf32.blocks", BY_BLOCKS, 0},
        [PIPE_TENSOR_BF16] = {"gpu.mma.bf16.rate", "gpu.mma.bf16.blocks", BY_BLOCKS, 0},
        [PIPE_TENSOR_FP16] = {"gpu.mma.h.rate", "gpu.mma.h.blocks", BY_BLOCKS, 0},
        [PIPE_GROUP_TF32] = {"gpu.wgmma.tf32.rate", NULL, BY_NOTHING, 0},
        [PIPE_GROUP_BF16] = {"gpu.wgmma.bf16.rate", NULL, BY_NOTHING, 0},
};

/* What stands for an instruction that the profile's build does not have: a smaller one. */
static const struct pipe *measured_pipe(struct cost_reader *r, int pipe)
{
	static const int smaller[PIPE_COUNT] = {[PIPE_TENSOR_FP64_LARGE] = PIPE_TENSOR_FP64,
	        [PIPE_GROUP_TF32] = PIPE_TENSOR_TF32,
	        [PIPE_GROUP_BF16] = PIPE_TENSOR_BF16};

	return &pipes[smaller[pipe] && !cost_known(r, pipes[pipe].rate) ? smaller[pipe] : pipe];
}

/* Seconds of a warp's instruction on a saturated multiprocessor. */
static const char *const issue[PIPE_COUNT] = {
        [PIPE_SPECIAL] = "gpu.special.ex2.issue", [PIPE_INTEGER] = "gpu.int.mad.issue"};

/* Warps with schedulers of their own do not slow each other down. A curve of few rows shows less
 * between them. */
static double unhindered(
        struct cost_reader *r, const char *curve, double warps, double chains, double last)
{
	const double one = cost_at2(r, curve, "chains", 1, "warps", 1),
	             most = cost_at2(r, curve, "chains", last, "warps", 1);

	return fmin(warps, SCHEDULERS) * fmin(chains * one, most);
}

/* flop/s of one multiprocessor with `warps` warps of `chains` independent instructions each. */
static double rate_of(
        struct cost_reader *r, const struct pipe *pipe, double warps, double chains, double sms)
{
	const double most = cost_scalar(r, pipe->rate) / sms;

	if (pipe->slows == BY_NOTHING || !cost_known(r, pipe->slow))
		return most;
	if (pipe->slows == BY_LATENCY)
		return fmin(most, warps * chains * pipe->warp / cost_scalar(r, pipe->slow));
	if (pipe->slows == BY_BLOCKS)
		return fmin(
		        most, cost_at(r, pipe->slow, "blocks", 1) * warps * chains / WARPS_A_BLOCK);
	const double last = cost_last(r, pipe->slow, "chains"), at = fmin(chains, last),
	             reached = cost_at2(
	                     r, pipe->slow, "chains", at, "warps", fmin(warps, MOST_WARPS)),
	             best = cost_at2(r, pipe->slow, "chains", last, "warps", MOST_WARPS);
	return most * fmin(1, fmax(reached, unhindered(r, pipe->slow, warps, at, last)) / best);
}

double law_arithmetic(struct cost_reader *r, const struct kernel_work *w, const struct law_place *p)
{
	const double share = p->busiest / w->blocks, chains = w->chains > 0 ? w->chains : 4;
	double longest = 0, sum = 0, instructions = w->wavefronts;

	for (int i = 0; i < PIPE_COUNT; i++) {
		const double operations = w->operations[i];
		if (!(operations > 0))
			continue;
		const double warp = issue[i] ? WARP : pipes[i].warp;
		const double seconds =
		        issue[i] ? operations * share / WARP * cost_scalar(r, issue[i])
		                 : operations * share /
		                           rate_of(r, measured_pipe(r, i), p->together * p->warps,
		                                   chains, p->sms);
		longest = fmax(longest, seconds);
		sum += seconds;
		if (isnan(seconds))
			return NAN;
		instructions += warp > 0 ? operations / warp : 0;
	}
	/* the pipes work at once for different warps of a scheduler */
	longest += (sum - longest) / fmax(1, p->together * p->warps / SCHEDULERS);
	longest *= law_clock(r);
	/* A scheduler starts an instruction a cycle, whatever its pipe. */
	instructions = fmax(instructions, w->instructions);
	if (instructions > 0 && cost_known(r, "gpu.clock.sm"))
		longest = fmax(longest,
		        instructions * share / SCHEDULERS / cost_scalar(r, "gpu.clock.sm"));
	return longest;
}
