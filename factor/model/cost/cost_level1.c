/* SPDX-License-Identifier: MIT */
/* Level 1: LAWN 202 eq. (2), alpha + bytes / beta, summed over all calls. Nothing overlaps, memory
 * has one bandwidth, and a kernel one start-up: gpu.launch.stream; a persistent kernel has a grid
 * barrier for each column. Words as in LAWN 202 section 3.8. */
#include "cost.h"

static struct cost call(struct cost_reader *r, double bytes)
{
	return (struct cost){.wait = true,
	        .term[TERM_LAUNCH] = cost_scalar(r, "gpu.launch.stream"),
	        .term[TERM_MEMORY] = bytes / cost_scalar(r, "gpu.copy.beta")};
}

static struct cost from_device(struct cost_reader *r, double bytes)
{
	return (struct cost){.wait = true,
	        .term[TERM_TRANSFER] = model_line(cost_scalar(r, "link.d2h.pinned.alpha"),
	                cost_scalar(r, "link.d2h.pinned.beta"), bytes)};
}

static struct cost to_device(struct cost_reader *r, double bytes)
{
	return (struct cost){.wait = true,
	        .term[TERM_TRANSFER] = model_line(cost_scalar(r, "link.h2d.pinned.alpha"),
	                cost_scalar(r, "link.h2d.pinned.beta"), bytes)};
}

static double ger_bytes(struct matrix a)
{
	return 2 * cost_bytes(a) + (double)(a.m + a.n) * word_bytes(a);
}

static struct cost iamax(struct cost_reader *r, struct matrix x)
{
	return call(r, cost_bytes(x));
}

static struct cost column_from_device(struct cost_reader *r, struct matrix x)
{
	return from_device(r, cost_bytes(x));
}

static struct cost swap(struct cost_reader *r, struct matrix row)
{
	return call(r, 4 * cost_bytes(row));
}

static struct cost scal(struct cost_reader *r, struct matrix x)
{
	return call(r, 2 * cost_bytes(x));
}

static struct cost ger(struct cost_reader *r, struct matrix a)
{
	return call(r, ger_bytes(a));
}

static struct cost zero_pivot(struct cost_reader *r, struct matrix a)
{
	return from_device(r, (double)a.n * word_bytes(a));
}

static struct cost store_pivots(struct cost_reader *r, int64_t n)
{
	return to_device(r, (double)(n + 1) * sizeof(int));
}

static struct cost fused_begin(struct cost_reader *r, struct matrix a)
{
	return call(r, (double)a.m * word_bytes(a));
}

static struct cost fused_pivot(struct cost_reader *r, struct matrix a, int64_t j)
{
	return call(r, 4 * (double)a.n * word_bytes(a));
}

static struct cost fused_update(struct cost_reader *r, struct matrix a, int64_t j)
{
	double column = 2 * (double)(a.m - j) * word_bytes(a);

	return call(r, column + 2 * cost_bytes(matrix_view(a, 0, 0, a.m - j - 1, a.n - j - 1)));
}

static struct cost resident_panel(
        struct cost_reader *r, struct matrix a, const struct panel_geometry *g)
{
	struct cost cost = call(r, 2 * cost_bytes(a));

	cost.term[TERM_BARRIER] = (double)a.n * cost_at2(r, "gpu.barrier.grid", "blocks",
	                                                 g->blocks, "threads", g->threads);
	return cost;
}

static double sync(struct cost_reader *r)
{
	return 0;
}

const struct cost_model cost_cuda_level1 = {iamax, column_from_device, iamax, column_from_device, swap,
        scal, scal, ger, zero_pivot, store_pivots, fused_begin, fused_pivot, fused_update,
        resident_panel, sync};

/* ---- the host: start-up is that of a short BLAS call ---- */

static struct cost host_call(struct cost_reader *r, const char *alpha, double bytes)
{
	return (struct cost){.wait = true,
	        .term[TERM_HOST] = cost_scalar(r, alpha),
	        .term[TERM_MEMORY] = bytes / cost_scalar(r, "host.memory.copy.peak")};
}

static struct cost host_iamax(struct cost_reader *r, struct matrix x)
{
	return host_call(r, "host.blas.level1", cost_bytes(x));
}

static struct cost host_swap(struct cost_reader *r, struct matrix row)
{
	return host_call(r, "host.blas.level1", 4 * cost_bytes(row));
}

static struct cost host_scal(struct cost_reader *r, struct matrix x)
{
	return host_call(r, "host.blas.level1", 2 * cost_bytes(x));
}

static struct cost host_ger(struct cost_reader *r, struct matrix a)
{
	return host_call(r, "host.blas.level2", ger_bytes(a));
}

static struct cost nothing(struct cost_reader *r, struct matrix a)
{
	return (struct cost){.wait = true};
}

static struct cost no_pivots(struct cost_reader *r, int64_t n)
{
	return (struct cost){.wait = true};
}

const struct cost_model cost_host_level1 = {.iamax = host_iamax,
        .iamax_host = host_iamax,
        .nrm2 = host_iamax,
        .get = nothing,
        .swap = host_swap,
        .scal = host_scal,
        .scale_by = host_scal,
        .ger = host_ger,
        .zero_pivot = nothing,
        .store_pivots = no_pivots,
        .sync = sync};
