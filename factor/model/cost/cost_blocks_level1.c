/* SPDX-License-Identifier: MIT */
/* Costs of the operations of blocked factorizations at level 1: alpha + bytes / beta, or alpha +
 * operations / gamma with the highest rate of the gemm surface, for every call. Nothing overlaps. A
 * call is one kernel, with a start-up for each column where columns follow each other. */
#include "cost_blocks.h"

#include <math.h>

static struct cost call(struct cost_reader *r, double bytes)
{
	return (struct cost){.wait = true,
	        .term[TERM_LAUNCH] = cost_scalar(r, "gpu.launch.stream"),
	        .term[TERM_MEMORY] = bytes / cost_scalar(r, "gpu.copy.beta")};
}

static struct cost compute(struct cost_reader *r, double flops, enum precision precision)
{
	struct cost cost = call(r, 0);

	cost.term[TERM_ARITHMETIC] =
	        flops /
	        cost_scalar(r, precision == SINGLE ? "gpu.gemm.s.peak" : "gpu.gemm.d.peak");
	return cost;
}

static struct cost gemm(
        struct cost_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	return compute(r, 2.0 * (double)c.m * (double)c.n * (double)k, c.precision);
}

static struct cost gemm_tf32(struct cost_reader *r, struct matrix c, int64_t k, bool together)
{
	struct cost cost = call(r, 0);

	cost.term[TERM_ARITHMETIC] =
	        2.0 * (double)c.m * (double)c.n * (double)k / cost_scalar(r, "gpu.gemm.tf32.peak");
	return cost;
}

static struct cost half_update(struct cost_reader *r, enum uplo part, struct matrix c, int64_t k)
{
	struct cost cost = call(r, 0);

	cost.term[TERM_ARITHMETIC] =
	        (part == WHOLE ? 2.0 * (double)c.m * (double)c.n * (double)k
	                       : 2 * trapezoid_steps(c, k)) /
	        cost_scalar(r, part == WHOLE ? "gpu.half_gemm.s.peak" : "gpu.half_syrk.s.peak");
	return cost;
}

/* Three products of the same size. */
static struct cost gemm_tall(struct cost_reader *r, struct matrix c, int64_t k)
{
	return gemm_tf32(r, c, 3 * k, false);
}

static struct cost split(struct cost_reader *r, const struct splits *splits)
{
	return call(r, cost_splits(splits));
}

static struct cost add(struct cost_reader *r, struct matrix blocks)
{
	return call(r, 1.5 * cost_bytes(blocks));
}

static struct cost syrk(struct cost_reader *r, struct matrix c, int64_t k)
{
	return compute(r, 2 * trapezoid_steps(c, k), c.precision);
}

static struct cost trsm(struct cost_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision)
{
	return compute(r, (double)order * (double)order * (double)columns, precision);
}

static struct cost guard(struct cost_reader *r, struct matrix triangle, int64_t columns)
{
	return call(r, cost_bytes(triangle));
}

static struct cost gram_norms(struct cost_reader *r, struct matrix a)
{
	return call(r, cost_bytes(a));
}

static struct cost gram_pass(struct cost_reader *r, enum gram_step step, struct matrix a)
{
	return call(r, (step == GRAM_DOTS ? 1 : 2) * cost_bytes(a));
}

static struct cost gram_shaped(
        struct cost_reader *r, enum gram_step step, struct gram_shape shape, struct matrix a)
{
	return step == GRAM_SCALE ? call(r, 2 * cost_bytes(matrix_view(a, 0, 0, a.m, 1)))
	                          : gram_pass(r, step, a);
}

static struct cost gemv(struct cost_reader *r, enum trans trans, struct matrix a)
{
	return call(r, cost_bytes(a));
}

static struct cost move(struct cost_reader *r, struct matrix a)
{
	return call(r, 2 * cost_bytes(a));
}

/* The rows below the blocks, half of the matrix, are read and written. */
static struct cost apply_swaps(struct cost_reader *r, struct matrix a)
{
	return call(r, cost_bytes(a));
}

static struct cost laswp(struct cost_reader *r, struct matrix a, int64_t swaps)
{
	return call(r, 4 * (double)swaps * (double)a.n * word_bytes(a));
}

static struct cost lu_top(struct cost_reader *r, struct matrix c, int64_t k)
{
	return compute(r, (double)k * (double)k * (double)c.n, c.precision);
}

static struct cost lu_columns(struct cost_reader *r, struct matrix c, int64_t k)
{
	double flops = (double)k * (double)c.n * (2 * (double)c.m - (double)k);

	return compute(r, flops, c.precision);
}

static struct cost lu_rows(
        struct cost_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	return solves ? trsm(r, RIGHT, UNIT, k, c.m, c.precision)
	              : call(r, 4 * (double)k * (double)c.m * word_bytes(c));
}

static struct cost integers(struct cost_reader *r, int64_t count)
{
	return call(r, (double)count * sizeof(int));
}

static struct cost clear(struct cost_reader *r)
{
	return call(r, sizeof(int));
}

static struct cost copy(struct cost_reader *r, enum uplo uplo, struct matrix a)
{
	return call(r, 2 * cost_part(uplo, a));
}

static struct cost fill(struct cost_reader *r, enum uplo uplo, struct matrix a)
{
	return call(r, cost_part(uplo, a));
}

/* A barrier for each column; the block is read and written once. */
static struct cost columns(struct cost_reader *r, struct matrix a)
{
	struct cost cost = call(r, 2 * cost_bytes(a));

	cost.term[TERM_BARRIER] = (double)a.n * cost_at(r, "gpu.barrier.block", "threads", 256);
	return cost;
}

static struct cost potrf(struct cost_reader *r, struct matrix a, bool beside)
{
	struct matrix lower = a.m < a.n ? (struct matrix){NULL, 0, a.n, a.m, a.n, a.precision} : a;

	return columns(r, lower);
}

/* A barrier of the whole grid for each column. */
static struct cost panel_geqrf(struct cost_reader *r, struct matrix a, bool beside)
{
	struct cost cost = call(r, 2 * cost_bytes(a));
	double blocks = fmin(cost_scalar(r, "gpu.sm.count"), ceil((double)a.m / 128));

	cost.term[TERM_BARRIER] =
	        (double)a.n * cost_at2(r, "gpu.barrier.grid", "blocks", blocks, "threads", 256);
	return cost;
}

static struct cost gram_panel(struct cost_reader *r, struct matrix a)
{
	return panel_geqrf(r, a, false);
}

static struct cost larft(struct cost_reader *r, struct matrix v)
{
	return compute(r, 2.0 * (double)v.n * (double)v.n * (double)v.m, v.precision);
}

static struct cost link(
        struct cost_reader *r, const char *alpha, const char *beta, struct matrix a)
{
	return (struct cost){.wait = true,
	        .term[TERM_TRANSFER] =
	                model_line(cost_scalar(r, alpha), cost_scalar(r, beta), cost_bytes(a))};
}

static struct cost to_host(struct cost_reader *r, struct matrix a)
{
	return link(r, "link.d2h.pinned.alpha", "link.d2h.pinned.beta", a);
}

static struct cost to_device(struct cost_reader *r, struct matrix a)
{
	return link(r, "link.h2d.pinned.alpha", "link.h2d.pinned.beta", a);
}

static struct cost by_host(double seconds)
{
	return (struct cost){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds};
}

static struct cost host_getrf(struct cost_reader *r, struct matrix a)
{
	return by_host(cost_host_getrf(r, a));
}

static struct cost host_geqrf(struct cost_reader *r, struct matrix a)
{
	return by_host(cost_host_geqrf(r, a));
}

static struct cost host_potrf(struct cost_reader *r, struct matrix a)
{
	return by_host(cost_host_potrf(r, a));
}

static double nothing(struct cost_reader *r)
{
	return 0;
}

const struct block_cost_model blocks_cuda_sums = {.gemm = gemm,
        .split = split,
        .gemm_tf32 = gemm_tf32,
        .half_update = half_update,
        .gemm_tall = gemm_tall,
        .add = add,
        .syrk = syrk,
        .trsm = trsm,
        .trsm_guard = guard,
        .gemv = gemv,
        .column_norms = gram_norms,
        .gram_pass = gram_pass,
        .gram_shaped = gram_shaped,
        .gram_panel = gram_panel,
        .gram_apply = cost_gram_apply,
        .trtri = columns,
        .apply_swaps = apply_swaps,
        .laswp = laswp,
        .lu_columns = lu_columns,
        .lu_rows = lu_rows,
        .lu_top = lu_top,
        .integers = integers,
        .clear = clear,
        .potrf_block = potrf,
        .panel_geqrf = panel_geqrf,
        .explicit_v = move,
        .larft = larft,
        .make_rotations = move,
        .rotate = move,
        .transpose = move,
        .copy = copy,
        .fill = fill,
        .to_host = to_host,
        .to_device = to_device,
        .host_getrf = host_getrf,
        .host_geqrf = host_geqrf,
        .host_potrf = host_potrf,
        .event = nothing,
        .stream_wait = nothing};
