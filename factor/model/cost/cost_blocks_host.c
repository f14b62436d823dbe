/* SPDX-License-Identifier: MIT */
/* Costs of the operations of blocked factorizations on the host. Level 2: BLAS calls at the rate of
 * a square gemm of as many operations (all threads), LAPACKE's panels from their surfaces, data
 * moved at the bandwidth of a copy in memory. Level 1: the rate of the largest gemm measured, and
 * the peak bandwidth. Transfers cost nothing: the data are in place. */
#include "cost_blocks.h"

#include <math.h>

enum { HOST_LINE = 64 };

static struct cost call(double seconds)
{
	return (struct cost){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds};
}

/* Multiplications a second of the largest gemm measured. */
static double peak_gemm(struct cost_reader *r, enum precision precision)
{
	const char *name = precision == SINGLE ? "host.gemm.s" : "host.gemm.d";
	double low, high = 1;

	if (!model_range(&r->model, name, "n", &low, &high))
		high = 1;
	return high * high * high / cost_at(r, name, "n", high);
}

/* `multiplications`: half the operations. */
static struct cost blas(struct cost_reader *r, enum precision precision, double multiplications)
{
	return call(r->sums ? multiplications / peak_gemm(r, precision)
	                    : cost_host_gemm(r, precision, cbrt(multiplications)));
}

static struct cost gemm(
        struct cost_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	return blas(r, c.precision, (double)c.m * (double)c.n * (double)k);
}

static struct cost syrk(struct cost_reader *r, struct matrix c, int64_t k)
{
	return blas(r, c.precision, trapezoid_steps(c, k));
}

static struct cost trsm(struct cost_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision)
{
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
	const double rate = r->sums ? cost_scalar(r, "host.memory.copy.peak")
	                            : cost_host_rate(r, name, r->working_set);

	return (struct cost){.engine = ENGINE_HOST, .term[TERM_MEMORY] = bytes / rate};
}

static struct cost guard(struct cost_reader *r, struct matrix triangle, int64_t columns)
{
	return memory(r, "host.memory.read", cost_bytes(triangle));
}

static struct cost gemv(struct cost_reader *r, enum trans trans, struct matrix a)
{
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

/* In every column the words of the top rows are contiguous; each other word takes a whole line. All
 * are read and written. Level 1 counts words alone. */
static struct cost laswp(struct cost_reader *r, struct matrix a, int64_t swaps)
{
	const double word = word_bytes(a), bytes = r->sums ? 4 * word : 2 * (HOST_LINE + word);

	return memory(r, "host.memory.copy", bytes * (double)swaps * (double)a.n);
}

static struct cost lu_rows(
        struct cost_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	const double words = exchanges ? 4 * (double)k * (double)c.m : 0;
	struct cost swaps = memory(r, "host.memory.copy", words * word_bytes(c));

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
	return call(0);
}

static struct cost clear(struct cost_reader *r)
{
	return call(0);
}

static struct cost no_transfer(struct cost_reader *r, struct matrix a)
{
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
	return geqrf(r, a);
}

static struct cost host_potrf(struct cost_reader *r, struct matrix a)
{
	return call(cost_host_potrf(r, a));
}

static struct cost potrf(struct cost_reader *r, struct matrix a, bool beside)
{
	return host_potrf(r, a);
}

static struct cost gram_pass(struct cost_reader *r, enum gram_step step, struct matrix a)
{
	return r->sums ? memory(r, "", (step == GRAM_DOTS ? 1 : 2) * cost_bytes(a))
	               : cost_gram_pass_host(r, step, a);
}

static struct cost column_norms(struct cost_reader *r, struct matrix a)
{
	return gram_pass(r, GRAM_DOTS, a);
}

static struct cost gram_panel(struct cost_reader *r, struct matrix a)
{
	return r->sums ? cost_gram_passes(r, a, gram_pass) : cost_gram_panel_host(r, a);
}

static struct cost gram_apply(struct cost_reader *r, struct matrix a, int64_t k, bool single)
{
	return r->sums ? move(r, a) : cost_gram_apply_host(r, a, k, single);
}

static double nothing(struct cost_reader *r)
{
	return 0;
}

const struct block_cost_model blocks_host = {.gemm = gemm,
        .syrk = syrk,
        .trsm = trsm,
        .trsm_guard = guard,
        .gemv = gemv,
        .column_norms = column_norms,
        .gram_pass = gram_pass,
        .gram_panel = gram_panel,
        .gram_apply = gram_apply,
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
