/* SPDX-License-Identifier: MIT */
/* Costs of the operations of blocked factorizations on the host: BLAS calls at the rate of a
 * square gemm of as many operations (all threads), LAPACKE's panels from their surfaces, what moves
 * data at the bandwidth of a copy in memory; transfers cost nothing, the data are there. Level 1:
 * the rate of the largest gemm measured, and the peak bandwidth. */
#include "cost_blocks.h"

#include <math.h>

enum { HOST_LINE = 64 };

static struct cost call(double seconds)
{
	return (struct cost){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds};
}

/* `multiplications`: half the operations. */
static struct cost blas(struct cost_reader *r, enum precision precision, double multiplications)
{
	return call(cost_host_gemm(r, precision, cbrt(multiplications)));
}

static struct cost gemm(
        struct cost_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	(void)ta;
	(void)tb;
	return blas(r, c.precision, (double)c.m * (double)c.n * (double)k);
}

static struct cost syrk(struct cost_reader *r, struct matrix c, int64_t k)
{
	return blas(r, c.precision, trapezoid_steps(c, k));
}

static struct cost trsm(struct cost_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision)
{
	(void)side;
	(void)diag;
	return blas(r, precision, (double)order * (double)order * (double)columns / 2);
}

static struct cost larft(struct cost_reader *r, struct matrix v)
{
	return blas(r, v.precision, (double)v.n * (double)v.n * (double)v.m / 2);
}

static struct cost trtri(struct cost_reader *r, struct matrix a)
{
	return blas(r, a.precision, pow((double)a.n, 3) / 6);
}

static struct cost memory(struct cost_reader *r, const char *name, double bytes)
{
	return (struct cost){.engine = ENGINE_HOST,
	        .term[TERM_MEMORY] = bytes / cost_host_rate(r, name, r->working_set)};
}

static struct cost guard(struct cost_reader *r, struct matrix triangle, int64_t columns)
{
	(void)columns;
	return memory(r, "host.memory.read", cost_bytes(triangle));
}

static struct cost gemv(struct cost_reader *r, enum trans trans, struct matrix a)
{
	(void)trans;
	return memory(r, "host.memory.read", cost_bytes(a));
}

static struct cost move(struct cost_reader *r, struct matrix a)
{
	return memory(r, "host.memory.copy", 2 * cost_bytes(a));
}

static struct cost copy(struct cost_reader *r, enum uplo uplo, struct matrix a)
{
	return memory(r, "host.memory.copy", 2 * cost_part(uplo, a));
}

static struct cost fill(struct cost_reader *r, enum uplo uplo, struct matrix a)
{
	return memory(r, "host.memory.copy", cost_part(uplo, a));
}

static struct cost apply_swaps(struct cost_reader *r, struct matrix a)
{
	return copy(r, LOWER, a);
}

/* Of every column the words of the top, which are side by side, and whole lines elsewhere, read and
 * written. */
static struct cost laswp(struct cost_reader *r, struct matrix a, int64_t swaps)
{
	const double bytes = 2 * (double)(HOST_LINE + precision_bytes(a.precision));

	return memory(r, "host.memory.copy", bytes * (double)swaps * (double)a.n);
}

static struct cost lu_rows(
        struct cost_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	const double words = exchanges ? 4 * (double)k * (double)c.m : 0;
	struct cost swaps =
	        memory(r, "host.memory.copy", words * (double)precision_bytes(c.precision));

	return solves ? cost_both(swaps, trsm(r, RIGHT, UNIT, k, c.m, c.precision)) : swaps;
}

static struct cost lu_top(struct cost_reader *r, struct matrix c, int64_t k)
{
	return cost_both(laswp(r, c, k), trsm(r, LEFT, UNIT, k, c.n, c.precision));
}

static struct cost lu_columns(struct cost_reader *r, struct matrix c, int64_t k)
{
	return cost_both(
	        lu_top(r, c, k), gemm(r, PLAIN, PLAIN, matrix_view(c, k, 0, c.m - k, c.n), k));
}

static struct cost integers(struct cost_reader *r, int64_t count)
{
	(void)r;
	(void)count;
	return call(0);
}

static struct cost clear(struct cost_reader *r)
{
	(void)r;
	return call(0);
}

static struct cost no_transfer(struct cost_reader *r, struct matrix a)
{
	(void)r;
	(void)a;
	return call(0);
}

static struct cost getrf(struct cost_reader *r, struct matrix a)
{
	return call(cost_host_getrf(r, a));
}

static struct cost geqrf(struct cost_reader *r, struct matrix a)
{
	return call(cost_host_geqrf(r, a));
}

static struct cost panel_geqrf(struct cost_reader *r, struct matrix a, bool beside)
{
	(void)beside;
	return geqrf(r, a);
}

static struct cost host_potrf(struct cost_reader *r, struct matrix a)
{
	return call(cost_host_potrf(r, a));
}

static struct cost potrf(struct cost_reader *r, struct matrix a, bool beside)
{
	(void)beside;
	return host_potrf(r, a);
}

static double nothing(struct cost_reader *r)
{
	(void)r;
	return 0;
}

const struct block_cost_model blocks_host_full = {.gemm = gemm,
        .syrk = syrk,
        .trsm = trsm,
        .trsm_guard = guard,
        .gemv = gemv,
        .column_norms = cost_gram_norms_host,
        .gram_pass = cost_gram_pass_host,
        .gram_panel = cost_gram_panel_host,
        .gram_apply = cost_gram_apply_host,
        .trtri = trtri,
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
        .to_host = no_transfer,
        .to_device = no_transfer,
        .host_getrf = getrf,
        .host_geqrf = geqrf,
        .host_potrf = host_potrf,
        .event = nothing,
        .stream_wait = nothing};

/* ---- level 1 ---- */

static double peak_gemm(struct cost_reader *r, enum precision precision)
{
	const char *name = precision == SINGLE ? "host.gemm.s" : "host.gemm.d";
	double low, high = 1;

	if (!model_range(&r->model, name, "n", &low, &high))
		high = 1;
	return high * high * high / cost_at(r, name, "n", high);
}

static struct cost sums_gemm(
        struct cost_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	(void)ta;
	(void)tb;
	return call((double)c.m * (double)c.n * (double)k / peak_gemm(r, c.precision));
}

static struct cost sums_syrk(struct cost_reader *r, struct matrix c, int64_t k)
{
	return call(trapezoid_steps(c, k) / peak_gemm(r, c.precision));
}

static struct cost sums_trsm(struct cost_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision)
{
	(void)side;
	(void)diag;
	return call((double)order * (double)order * (double)columns / 2 / peak_gemm(r, precision));
}

static struct cost sums_larft(struct cost_reader *r, struct matrix v)
{
	return call((double)v.n * (double)v.n * (double)v.m / 2 / peak_gemm(r, v.precision));
}

static struct cost sums_trtri(struct cost_reader *r, struct matrix a)
{
	return call(pow((double)a.n, 3) / 6 / peak_gemm(r, a.precision));
}

static struct cost sums_memory(struct cost_reader *r, double bytes)
{
	return (struct cost){.engine = ENGINE_HOST,
	        .term[TERM_MEMORY] = bytes / cost_scalar(r, "host.memory.copy.peak")};
}

static struct cost sums_guard(struct cost_reader *r, struct matrix triangle, int64_t columns)
{
	(void)columns;
	return sums_memory(r, cost_bytes(triangle));
}

static struct cost sums_gemv(struct cost_reader *r, enum trans trans, struct matrix a)
{
	(void)trans;
	return sums_memory(r, cost_bytes(a));
}

static struct cost sums_move(struct cost_reader *r, struct matrix a)
{
	return sums_memory(r, 2 * cost_bytes(a));
}

static struct cost sums_copy(struct cost_reader *r, enum uplo uplo, struct matrix a)
{
	return sums_memory(r, 2 * cost_part(uplo, a));
}

static struct cost sums_fill(struct cost_reader *r, enum uplo uplo, struct matrix a)
{
	return sums_memory(r, cost_part(uplo, a));
}

static struct cost sums_apply_swaps(struct cost_reader *r, struct matrix a)
{
	return sums_memory(r, cost_bytes(a));
}

static struct cost sums_laswp(struct cost_reader *r, struct matrix a, int64_t swaps)
{
	return sums_memory(
	        r, 4 * (double)swaps * (double)a.n * (double)precision_bytes(a.precision));
}

static struct cost sums_gram_norms(struct cost_reader *r, struct matrix a)
{
	return sums_memory(r, cost_bytes(a));
}

static struct cost sums_gram_pass(struct cost_reader *r, enum gram_step step, struct matrix a)
{
	return sums_memory(r, (step == GRAM_DOTS ? 1 : 2) * cost_bytes(a));
}

static struct cost sums_gram_panel(struct cost_reader *r, struct matrix a)
{
	return cost_gram_passes(r, a, sums_gram_pass);
}

static struct cost sums_gram_apply(struct cost_reader *r, struct matrix a, int64_t k, bool single)
{
	(void)k;
	(void)single;
	return sums_memory(r, 2 * cost_bytes(a));
}

static struct cost sums_lu_rows(
        struct cost_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	const double words = exchanges ? 4 * (double)k * (double)c.m : 0;
	struct cost swaps = sums_memory(r, words * (double)precision_bytes(c.precision));

	return solves ? cost_both(swaps, sums_trsm(r, RIGHT, UNIT, k, c.m, c.precision)) : swaps;
}

static struct cost sums_lu_top(struct cost_reader *r, struct matrix c, int64_t k)
{
	return cost_both(sums_laswp(r, c, k), sums_trsm(r, LEFT, UNIT, k, c.n, c.precision));
}

static struct cost sums_lu_columns(struct cost_reader *r, struct matrix c, int64_t k)
{
	return cost_both(sums_lu_top(r, c, k),
	        sums_gemm(r, PLAIN, PLAIN, matrix_view(c, k, 0, c.m - k, c.n), k));
}

const struct block_cost_model blocks_host_sums = {.gemm = sums_gemm,
        .syrk = sums_syrk,
        .trsm = sums_trsm,
        .trsm_guard = sums_guard,
        .gemv = sums_gemv,
        .column_norms = sums_gram_norms,
        .gram_pass = sums_gram_pass,
        .gram_panel = sums_gram_panel,
        .gram_apply = sums_gram_apply,
        .trtri = sums_trtri,
        .apply_swaps = sums_apply_swaps,
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
        .stream_wait = nothing};
