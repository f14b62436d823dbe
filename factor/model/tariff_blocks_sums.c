/* SPDX-License-Identifier: MIT */
/* Prices of the operations of blocked factorizations at level 1: for every call alpha + bytes /
 * beta, or alpha + operations / gamma with the highest rate of the gemm surface; nothing overlaps.
 * One kernel a call, a start-up a column where columns follow each other. */
#include "price_blocks.h"

#include <math.h>

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

static struct price call(struct price_reader *r, double bytes)
{
	return (struct price){.wait = true,
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.stream"),
	        .term[TERM_MEMORY] = bytes / price_scalar(r, "gpu.copy.beta")};
}

static struct price compute(struct price_reader *r, double flops, enum precision precision)
{
	struct price price = call(r, 0);

	price.term[TERM_ARITHMETIC] =
	        flops /
	        price_scalar(r, precision == SINGLE ? "gpu.gemm.s.peak" : "gpu.gemm.d.peak");
	return price;
}

static struct price gemm(
        struct price_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	(void)ta;
	(void)tb;
	return compute(r, 2.0 * (double)c.m * (double)c.n * (double)k, c.precision);
}

static struct price gemm_tf32(struct price_reader *r, struct matrix c, int64_t k, bool together)
{
	(void)together;
	struct price price = call(r, 0);

	price.term[TERM_ARITHMETIC] =
	        2.0 * (double)c.m * (double)c.n * (double)k / price_scalar(r, "gpu.gemm.tf32.peak");
	return price;
}

static struct price half_update(struct price_reader *r, enum uplo part, struct matrix c, int64_t k)
{
	struct price price = call(r, 0);

	price.term[TERM_ARITHMETIC] =
	        (part == WHOLE ? 2.0 * (double)c.m * (double)c.n * (double)k
	                       : 2 * trapezoid_steps(c, k)) /
	        price_scalar(r, part == WHOLE ? "gpu.half_gemm.s.peak" : "gpu.half_syrk.s.peak");
	return price;
}

/* Three products of its size. */
static struct price gemm_tall(struct price_reader *r, struct matrix c, int64_t k)
{
	return gemm_tf32(r, c, 3 * k, false);
}

static struct price split(struct price_reader *r, const struct splits *splits)
{
	return call(r, price_splits(splits));
}

static struct price add(struct price_reader *r, struct matrix blocks)
{
	return call(r, 1.5 * price_bytes(blocks));
}

static struct price syrk(struct price_reader *r, struct matrix c, int64_t k)
{
	return compute(r, 2 * trapezoid_steps(c, k), c.precision);
}

static struct price trsm(struct price_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision)
{
	(void)side;
	(void)diag;
	return compute(r, (double)order * (double)order * (double)columns, precision);
}

static struct price guard(struct price_reader *r, struct matrix triangle, int64_t columns)
{
	(void)columns;
	return call(r, price_bytes(triangle));
}

static struct price gram_norms(struct price_reader *r, struct matrix a)
{
	return call(r, price_bytes(a));
}

static struct price gram_pass(struct price_reader *r, enum gram_step step, struct matrix a)
{
	return call(r, (step == GRAM_DOTS ? 1 : 2) * price_bytes(a));
}

static struct price gram_shaped(
        struct price_reader *r, enum gram_step step, struct gram_shape shape, struct matrix a)
{
	(void)shape;
	return step == GRAM_SCALE ? call(r, 2 * price_bytes(matrix_view(a, 0, 0, a.m, 1)))
	                          : gram_pass(r, step, a);
}

static struct price gemv(struct price_reader *r, enum trans trans, struct matrix a)
{
	(void)trans;
	return call(r, price_bytes(a));
}

static struct price move(struct price_reader *r, struct matrix a)
{
	return call(r, 2 * price_bytes(a));
}

/* What is below the blocks, read and written. */
static struct price settle_rows(struct price_reader *r, struct matrix a)
{
	return call(r, price_bytes(a));
}

static struct price laswp(struct price_reader *r, struct matrix a, int64_t swaps)
{
	return call(r, 4 * (double)swaps * (double)a.n * word_of(a));
}

static struct price lu_top(struct price_reader *r, struct matrix c, int64_t k)
{
	return compute(r, (double)k * (double)k * (double)c.n, c.precision);
}

static struct price lu_columns(struct price_reader *r, struct matrix c, int64_t k)
{
	double flops = (double)k * (double)c.n * (2 * (double)c.m - (double)k);

	return compute(r, flops, c.precision);
}

static struct price lu_rows(
        struct price_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	(void)exchanges;
	return solves ? trsm(r, RIGHT, UNIT, k, c.m, c.precision)
	              : call(r, 4 * (double)k * (double)c.m * word_of(c));
}

static struct price integers(struct price_reader *r, int64_t count)
{
	return call(r, (double)count * sizeof(int));
}

static struct price clear(struct price_reader *r)
{
	return call(r, sizeof(int));
}

static struct price copy(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return call(r, 2 * price_part(uplo, a));
}

static struct price fill(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return call(r, price_part(uplo, a));
}

/* A barrier a column, and the block once. */
static struct price columns(struct price_reader *r, struct matrix a)
{
	struct price price = call(r, 2 * price_bytes(a));

	price.term[TERM_BARRIER] = (double)a.n * price_at(r, "gpu.barrier.block", "threads", 256);
	return price;
}

static struct price potrf(struct price_reader *r, struct matrix a, bool beside)
{
	struct matrix lower = a.m < a.n ? (struct matrix){NULL, 0, a.n, a.m, a.n, a.precision} : a;

	(void)beside;
	return columns(r, lower);
}

/* A barrier of the whole grid a column. */
static struct price panel_geqrf(struct price_reader *r, struct matrix a, bool beside)
{
	struct price price = call(r, 2 * price_bytes(a));
	double blocks = fmin(price_scalar(r, "gpu.sm.count"), ceil((double)a.m / 128));

	(void)beside;

	price.term[TERM_BARRIER] =
	        (double)a.n * price_at2(r, "gpu.barrier.grid", "blocks", blocks, "threads", 256);
	return price;
}

static struct price gram_panel(struct price_reader *r, struct matrix a)
{
	return panel_geqrf(r, a, false);
}

static struct price larft(struct price_reader *r, struct matrix v)
{
	return compute(r, 2.0 * (double)v.n * (double)v.n * (double)v.m, v.precision);
}

static struct price link(
        struct price_reader *r, const char *alpha, const char *beta, struct matrix a)
{
	return (struct price){.wait = true,
	        .term[TERM_TRANSFER] =
	                model_line(price_scalar(r, alpha), price_scalar(r, beta), price_bytes(a))};
}

static struct price to_host(struct price_reader *r, struct matrix a)
{
	return link(r, "link.d2h.pinned.alpha", "link.d2h.pinned.beta", a);
}

static struct price to_device(struct price_reader *r, struct matrix a)
{
	return link(r, "link.h2d.pinned.alpha", "link.h2d.pinned.beta", a);
}

static struct price by_host(double seconds)
{
	return (struct price){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds};
}

static struct price host_getrf(struct price_reader *r, struct matrix a)
{
	return by_host(price_host_getrf(r, a));
}

static struct price host_geqrf(struct price_reader *r, struct matrix a)
{
	return by_host(price_host_geqrf(r, a));
}

static struct price host_potrf(struct price_reader *r, struct matrix a)
{
	return by_host(price_host_potrf(r, a));
}

static double nothing(struct price_reader *r)
{
	(void)r;
	return 0;
}

const struct block_tariff blocks_cuda_sums = {.gemm = gemm,
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
        .gram_apply = price_gram_apply,
        .trtri = columns,
        .settle_rows = settle_rows,
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
        .hop = nothing};
