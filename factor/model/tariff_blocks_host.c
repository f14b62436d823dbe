/* SPDX-License-Identifier: MIT */
/* Prices of the operations of blocked factorizations on the host: BLAS calls at the rate of a
 * square gemm of as many operations (all threads), LAPACKE's panels from their surfaces, what moves
 * data at the bandwidth of a copy in memory; transfers cost nothing, the data are there. Level 1:
 * the rate of the largest gemm measured, and the peak bandwidth. */
#include "price_blocks.h"

#include <math.h>

enum { HOST_LINE = 64 };

static struct price call(double seconds)
{
	return (struct price){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds};
}

/* `multiplications`: half the operations. */
static struct price blas(struct price_reader *r, enum precision precision, double multiplications)
{
	return call(price_host_gemm(r, precision, cbrt(multiplications)));
}

static struct price gemm(
        struct price_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	(void)ta;
	(void)tb;
	return blas(r, c.precision, (double)c.m * (double)c.n * (double)k);
}

static struct price syrk(struct price_reader *r, struct matrix c, int64_t k)
{
	return blas(r, c.precision, trapezoid_steps(c, k));
}

static struct price trsm(struct price_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision)
{
	(void)side;
	(void)diag;
	return blas(r, precision, (double)order * (double)order * (double)columns / 2);
}

static struct price larft(struct price_reader *r, struct matrix v)
{
	return blas(r, v.precision, (double)v.n * (double)v.n * (double)v.m / 2);
}

static struct price trtri(struct price_reader *r, struct matrix a)
{
	return blas(r, a.precision, pow((double)a.n, 3) / 6);
}

static struct price memory(struct price_reader *r, const char *name, double bytes)
{
	return (struct price){.engine = ENGINE_HOST,
	        .term[TERM_MEMORY] = bytes / price_host_rate(r, name, r->working_set)};
}

static struct price guard(struct price_reader *r, struct matrix triangle, int64_t columns)
{
	(void)columns;
	return memory(r, "host.memory.read", price_bytes(triangle));
}

static struct price gemv(struct price_reader *r, enum trans trans, struct matrix a)
{
	(void)trans;
	return memory(r, "host.memory.read", price_bytes(a));
}

static struct price move(struct price_reader *r, struct matrix a)
{
	return memory(r, "host.memory.copy", 2 * price_bytes(a));
}

static struct price copy(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return memory(r, "host.memory.copy", 2 * price_part(uplo, a));
}

static struct price fill(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return memory(r, "host.memory.copy", price_part(uplo, a));
}

static struct price settle_rows(struct price_reader *r, struct matrix a)
{
	return copy(r, LOWER, a);
}

/* Of every column the words of the top, which are side by side, and whole lines elsewhere, read and
 * written. */
static struct price laswp(struct price_reader *r, struct matrix a, int64_t swaps)
{
	const double bytes = 2 * (double)(HOST_LINE + precision_bytes(a.precision));

	return memory(r, "host.memory.copy", bytes * (double)swaps * (double)a.n);
}

static struct price lu_rows(
        struct price_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	const double words = exchanges ? 4 * (double)k * (double)c.m : 0;
	struct price swaps =
	        memory(r, "host.memory.copy", words * (double)precision_bytes(c.precision));

	return solves ? price_both(swaps, trsm(r, RIGHT, UNIT, k, c.m, c.precision)) : swaps;
}

static struct price lu_top(struct price_reader *r, struct matrix c, int64_t k)
{
	return price_both(laswp(r, c, k), trsm(r, LEFT, UNIT, k, c.n, c.precision));
}

static struct price lu_columns(struct price_reader *r, struct matrix c, int64_t k)
{
	return price_both(
	        lu_top(r, c, k), gemm(r, PLAIN, PLAIN, matrix_view(c, k, 0, c.m - k, c.n), k));
}

static struct price integers(struct price_reader *r, int64_t count)
{
	(void)r;
	(void)count;
	return call(0);
}

static struct price clear(struct price_reader *r)
{
	(void)r;
	return call(0);
}

static struct price no_transfer(struct price_reader *r, struct matrix a)
{
	(void)r;
	(void)a;
	return call(0);
}

static struct price getrf(struct price_reader *r, struct matrix a)
{
	return call(price_host_getrf(r, a));
}

static struct price geqrf(struct price_reader *r, struct matrix a)
{
	return call(price_host_geqrf(r, a));
}

static struct price panel_geqrf(struct price_reader *r, struct matrix a, bool beside)
{
	(void)beside;
	return geqrf(r, a);
}

static struct price host_potrf(struct price_reader *r, struct matrix a)
{
	return call(price_host_potrf(r, a));
}

static struct price potrf(struct price_reader *r, struct matrix a, bool beside)
{
	(void)beside;
	return host_potrf(r, a);
}

static double nothing(struct price_reader *r)
{
	(void)r;
	return 0;
}

const struct block_tariff blocks_host_full = {.gemm = gemm,
        .syrk = syrk,
        .trsm = trsm,
        .trsm_guard = guard,
        .gemv = gemv,
        .column_norms = price_gram_norms_host,
        .gram_pass = price_gram_pass_host,
        .gram_panel = price_gram_panel_host,
        .gram_apply = price_gram_apply_host,
        .trtri = trtri,
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
        .to_host = no_transfer,
        .to_device = no_transfer,
        .host_getrf = getrf,
        .host_geqrf = geqrf,
        .host_potrf = host_potrf,
        .event = nothing,
        .hop = nothing};

/* ---- level 1 ---- */

static double peak_gemm(struct price_reader *r, enum precision precision)
{
	const char *name = precision == SINGLE ? "host.gemm.s" : "host.gemm.d";
	double low, high = 1;

	if (!model_range(&r->model, name, "n", &low, &high))
		high = 1;
	return high * high * high / price_at(r, name, "n", high);
}

static struct price sums_gemm(
        struct price_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	(void)ta;
	(void)tb;
	return call((double)c.m * (double)c.n * (double)k / peak_gemm(r, c.precision));
}

static struct price sums_syrk(struct price_reader *r, struct matrix c, int64_t k)
{
	return call(trapezoid_steps(c, k) / peak_gemm(r, c.precision));
}

static struct price sums_trsm(struct price_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision)
{
	(void)side;
	(void)diag;
	return call((double)order * (double)order * (double)columns / 2 / peak_gemm(r, precision));
}

static struct price sums_larft(struct price_reader *r, struct matrix v)
{
	return call((double)v.n * (double)v.n * (double)v.m / 2 / peak_gemm(r, v.precision));
}

static struct price sums_trtri(struct price_reader *r, struct matrix a)
{
	return call(pow((double)a.n, 3) / 6 / peak_gemm(r, a.precision));
}

static struct price sums_memory(struct price_reader *r, double bytes)
{
	return (struct price){.engine = ENGINE_HOST,
	        .term[TERM_MEMORY] = bytes / price_scalar(r, "host.memory.copy.peak")};
}

static struct price sums_guard(struct price_reader *r, struct matrix triangle, int64_t columns)
{
	(void)columns;
	return sums_memory(r, price_bytes(triangle));
}

static struct price sums_gemv(struct price_reader *r, enum trans trans, struct matrix a)
{
	(void)trans;
	return sums_memory(r, price_bytes(a));
}

static struct price sums_move(struct price_reader *r, struct matrix a)
{
	return sums_memory(r, 2 * price_bytes(a));
}

static struct price sums_copy(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return sums_memory(r, 2 * price_part(uplo, a));
}

static struct price sums_fill(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return sums_memory(r, price_part(uplo, a));
}

static struct price sums_settle_rows(struct price_reader *r, struct matrix a)
{
	return sums_memory(r, price_bytes(a));
}

static struct price sums_laswp(struct price_reader *r, struct matrix a, int64_t swaps)
{
	return sums_memory(
	        r, 4 * (double)swaps * (double)a.n * (double)precision_bytes(a.precision));
}

static struct price sums_gram_norms(struct price_reader *r, struct matrix a)
{
	return sums_memory(r, price_bytes(a));
}

static struct price sums_gram_pass(struct price_reader *r, enum gram_step step, struct matrix a)
{
	return sums_memory(r, (step == GRAM_DOTS ? 1 : 2) * price_bytes(a));
}

static struct price sums_gram_panel(struct price_reader *r, struct matrix a)
{
	return price_gram_passes(r, a, sums_gram_pass);
}

static struct price sums_gram_apply(struct price_reader *r, struct matrix a, int64_t k, bool single)
{
	(void)k;
	(void)single;
	return sums_memory(r, 2 * price_bytes(a));
}

static struct price sums_lu_rows(
        struct price_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	const double words = exchanges ? 4 * (double)k * (double)c.m : 0;
	struct price swaps = sums_memory(r, words * (double)precision_bytes(c.precision));

	return solves ? price_both(swaps, sums_trsm(r, RIGHT, UNIT, k, c.m, c.precision)) : swaps;
}

static struct price sums_lu_top(struct price_reader *r, struct matrix c, int64_t k)
{
	return price_both(sums_laswp(r, c, k), sums_trsm(r, LEFT, UNIT, k, c.n, c.precision));
}

static struct price sums_lu_columns(struct price_reader *r, struct matrix c, int64_t k)
{
	return price_both(sums_lu_top(r, c, k),
	        sums_gemm(r, PLAIN, PLAIN, matrix_view(c, k, 0, c.m - k, c.n), k));
}

const struct block_tariff blocks_host_sums = {.gemm = sums_gemm,
        .syrk = sums_syrk,
        .trsm = sums_trsm,
        .trsm_guard = sums_guard,
        .gemv = sums_gemv,
        .column_norms = sums_gram_norms,
        .gram_pass = sums_gram_pass,
        .gram_panel = sums_gram_panel,
        .gram_apply = sums_gram_apply,
        .trtri = sums_trtri,
        .settle_rows = sums_settle_rows,
        .laswp = sums_laswp,
        .lu_columns = sums_lu_columns,
        .lu_rows = sums_lu_rows,
        .lu_top = sums_lu_top,
        .integers = integers,
        .clear = clear,
        .potrf_block = potrf,
        .panel_geqrf = panel_geqrf,
        .explicit_v = sums_move,
        .larft = sums_larft,
        .make_rotations = sums_move,
        .rotate = sums_move,
        .transpose = sums_move,
        .copy = sums_copy,
        .fill = sums_fill,
        .to_host = no_transfer,
        .to_device = no_transfer,
        .host_getrf = getrf,
        .host_geqrf = geqrf,
        .host_potrf = host_potrf,
        .event = nothing,
        .hop = nothing};
