/* SPDX-License-Identifier: MIT */
/* Level 1 on the device: LAWN 202 eq. (2), alpha + bytes / beta, or alpha + operations / gamma with
 * the highest rate of the gemm surface, summed over all calls. Nothing overlaps, memory has one
 * bandwidth, and a call is one kernel with one start-up, gpu.launch.stream. Words are counted as in
 * LAWN 202 section 3.8. The functions are of kernels whose columns follow each other with a
 * barrier.
 */
#include "cost_blocks.h"

#include <math.h>

static struct cost call(struct cost_reader *r, double bytes)
{
	return (struct cost){.wait = true,
	        .term[TERM_LAUNCH] = cost_scalar(r, "gpu.launch.stream"),
	        .term[TERM_MEMORY] = bytes / cost_scalar(r, "gpu.copy.beta")};
}

static struct cost compute(struct cost_reader *r, double flops, const char *rate)
{
	struct cost cost = call(r, 0);

	cost.term[TERM_ARITHMETIC] = flops / cost_scalar(r, rate);
	return cost;
}

static struct cost link(struct cost_reader *r, const char *alpha, const char *beta, double bytes)
{
	return (struct cost){.wait = true,
	        .term[TERM_TRANSFER] =
	                model_line(cost_scalar(r, alpha), cost_scalar(r, beta), bytes)};
}

static const char *gemm_peak(enum precision precision)
{
	return precision == SINGLE ? "gpu.gemm.s.peak" : "gpu.gemm.d.peak";
}

static struct cost by_work(struct cost_reader *r, struct operation_work work)
{
	switch (work.kind) {
	case WORK_FLOPS:
		return compute(r, work.amount, work.rate ? work.rate : gemm_peak(work.precision));
	case WORK_FETCH:
		return link(r, "link.d2h.pinned.alpha", "link.d2h.pinned.beta", work.amount);
	case WORK_SEND:
		return link(r, "link.h2d.pinned.alpha", "link.h2d.pinned.beta", work.amount);
	default:
		return call(r, work.amount);
	}
}

/* The panel is read and written once, with a grid barrier for each column: LAWN 202's (section 3.6)
 * where the profile has no other. */
static struct cost grid_barriers(
        struct cost_reader *r, struct matrix a, double blocks, double threads)
{
	struct cost cost = call(r, 2 * cost_bytes(a));

	const char *own = "gpu.barrier.grid",
	           *name = cost_known(r, own) ? own : "gpu.barrier.master";

	cost.term[TERM_BARRIER] =
	        (double)a.n * cost_at2(r, name, "blocks", blocks, "threads", threads);
	return cost;
}

static struct cost resident_panel(
        struct cost_reader *r, struct matrix a, const struct panel_geometry *g)
{
	return grid_barriers(r, a, g->blocks, g->threads);
}

static struct cost gram_panel(struct cost_reader *r, struct matrix a)
{
	return grid_barriers(
	        r, a, fmin(cost_scalar(r, "gpu.sm.count"), ceil((double)a.m / 128)), 256);
}

static struct cost panel_geqrf(struct cost_reader *r, struct matrix a, bool overlapped)
{
	return gram_panel(r, a);
}

/* One block: a barrier for each column, at least an access of shared memory. */
static struct cost block_barriers(struct cost_reader *r, struct matrix a)
{
	struct cost cost = call(r, 2 * cost_bytes(a));

	static const char name[] = "gpu.barrier.block";

	cost.term[TERM_BARRIER] =
	        (double)a.n * (cost_known(r, name) ? cost_at(r, name, "threads", 256)
	                                           : cost_scalar(r, "gpu.shared.latency"));
	return cost;
}

static struct cost potrf_block(struct cost_reader *r, struct matrix a, bool overlapped)
{
	struct matrix lower = a.m < a.n ? (struct matrix){NULL, 0, a.n, a.m, a.n, a.precision} : a;

	return block_barriers(r, lower);
}

static struct cost larft(struct cost_reader *r, struct matrix v)
{
	return compute(r, 2 * product_steps(v.n, v.n, v.m), gemm_peak(v.precision));
}

const struct cost_model cost_cuda_level1 = {.by_work = by_work,
        .resident_panel = resident_panel,
        .gram_panel = gram_panel,
        .gram_apply = cost_gram_apply,
        .trtri = block_barriers,
        .potrf_block = potrf_block,
        .panel_geqrf = panel_geqrf,
        .larft = larft,
        .host_getrf = cost_by_host_getrf,
        .host_geqrf = cost_by_host_geqrf,
        .host_reflect = cost_host_reflect,
        .host_potrf = cost_by_host_potrf};
