/* SPDX-License-Identifier: MIT */
/* The cost models of the host. Level 2: calls of the BLAS from the surfaces of the host_rate probe,
 * LU's steps each from its own, products and solves at the rate of a square gemm of as many
 * operations (all threads), LAPACKE's panels from theirs, data moved at the bandwidth of a copy in
 * memory. Level 1: the start of a short call, the rate of the largest gemm measured, the peak
 * bandwidth. Transfers cost nothing: the data are in place. The reference code of fused and
 * resident panels has no costs. */
#include "cost_blocks.h"

#include <math.h>

enum { HOST_LINE = 64 };

static struct cost traffic(double seconds)
{
	return (struct cost){.engine = ENGINE_HOST, .term[TERM_MEMORY] = seconds};
}

/* ---- by the work ---- */

double cost_host_peak(struct cost_reader *r, enum precision precision)
{
	const char *name = OF_PRECISION("host.gemm", precision);
	double low, n = 1;

	if (!model_range(&r->model, name, "n", &low, &n))
		n = 1;
	return 2 * n * n * n / cost_at(r, name, "n", n);
}

static struct cost by_work_level1(struct cost_reader *r, struct operation_work work)
{
	struct cost cost = {.engine = ENGINE_HOST};

	switch (work.kind) {
	case WORK_FLOPS:
		return cost_by_host(work.amount / cost_host_peak(r, work.precision));
	case WORK_FETCH:
	case WORK_SEND:
	case WORK_INTEGERS:
		return cost_by_host(0);
	case WORK_BLAS1:
		cost = cost_by_host(cost_scalar(r, "host.blas.level1"));
		break;
	case WORK_BLAS2:
		cost = cost_by_host(cost_scalar(r, "host.blas.level2"));
		break;
	default:
		break;
	}
	cost.term[TERM_MEMORY] = work.amount / cost_scalar(r, "host.memory.copy.peak");
	return cost;
}

static struct cost by_work_level2(struct cost_reader *r, struct operation_work work)
{
	switch (work.kind) {
	case WORK_FLOPS:
		return cost_by_host(cost_host_gemm(r, work.precision, cbrt(work.amount / 2)));
	case WORK_FETCH:
	case WORK_SEND:
	case WORK_INTEGERS:
		return cost_by_host(0);
	case WORK_READ:
		return traffic(work.amount / cost_host_rate(r, "host.memory.read", r->working_set));
	default:
		return traffic(work.amount / cost_host_rate(r, "host.memory.copy", r->working_set));
	}
}

static struct cost by_work(struct cost_reader *r, struct operation_work work)
{
	return r->sums ? by_work_level1(r, work) : by_work_level2(r, work);
}

/* ---- LU's panels, column by column, at level 2 ---- */

/* How many such parts the panel has. The surfaces need it to know the cache that holds the panel;
 * panels smaller and larger than measured lie in the same cache. */
static double times_in_panel(
        struct cost_reader *r, const char *name, const char *arg, struct matrix part)
{
	double times = r->working_set / cost_bytes(part), low, high;

	return model_range(&r->model, name, arg, &low, &high) ? fmin(fmax(times, low), high)
	                                                      : times;
}

static struct cost of_column(struct cost_reader *r, const char *name, struct matrix x)
{
	return cost_by_host(
	        cost_at2(r, name, "m", (double)x.m, "n", times_in_panel(r, name, "n", x)));
}

static struct cost iamax(struct cost_reader *r, struct matrix x)
{
	if (r->sums)
		return by_work(r, BLAS1(cost_bytes(x)));
	return of_column(r, OF_PRECISION("host.iamax", x.precision), x);
}

static struct cost scal(struct cost_reader *r, struct matrix x)
{
	return of_column(r, OF_PRECISION("host.scal", x.precision), x);
}

static struct cost swap(struct cost_reader *r, struct matrix row)
{
	const char *name = OF_PRECISION("host.swap", row.precision);

	return cost_by_host(
	        cost_at2(r, name, "m", times_in_panel(r, name, "m", row), "n", (double)row.n));
}

static struct cost ger(struct cost_reader *r, struct matrix a)
{
	const char *name = OF_PRECISION("host.ger", a.precision);

	return cost_by_host(cost_at2(r, name, "m", (double)a.m, "n", (double)a.n));
}

static struct cost zero_pivot(struct cost_reader *r, struct matrix a)
{
	return by_work(r, READS((double)a.n * HOST_LINE));
}

/* ---- LU's row swaps and what follows them, at both levels ---- */

/* In every column the words of the top rows are contiguous; each other word takes a whole line. All
 * are read and written. Level 1 counts words alone. */
static struct cost laswp(struct cost_reader *r, struct matrix a, int64_t swaps)
{
	const double word = word_bytes(a), bytes = r->sums ? 4 * word : 2 * (HOST_LINE + word);

	return by_work(r, COPIES(bytes * (double)swaps * (double)a.n));
}

static struct cost trsm(struct cost_reader *r, int64_t order, int64_t columns, struct matrix c)
{
	return by_work(r, FLOPS(product_steps(order, order, columns), c.precision));
}

static struct cost lu_rows(
        struct cost_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	const double words = exchanges ? 4 * (double)k * (double)c.m : 0;
	const struct cost swaps = by_work(r, COPIES(words * word_bytes(c)));

	return solves ? cost_both(swaps, trsm(r, k, c.m, c)) : swaps;
}

static struct cost lu_top(struct cost_reader *r, struct matrix c, int64_t k, bool aligned)
{
	return cost_both(laswp(r, c, k), trsm(r, k, c.n, c));
}

static struct cost lu_columns(struct cost_reader *r, struct matrix c, int64_t k, bool aligned)
{
	return cost_both(lu_top(r, c, k, aligned),
	        by_work(r, FLOPS(2 * product_steps(c.m - k, c.n, k), c.precision)));
}

/* ---- panels ---- */

static struct cost panel_geqrf(struct cost_reader *r, struct matrix a, bool overlapped)
{
	return cost_by_host_geqrf(r, a);
}

static struct cost potrf_block(struct cost_reader *r, struct matrix a, bool overlapped)
{
	return cost_by_host_potrf(r, a);
}

static struct cost gram_pass_level1(struct cost_reader *r, enum gram_step step, struct matrix a)
{
	return by_work(r, COPIES((step == GRAM_DOTS ? 1 : 2) * cost_bytes(a)));
}

static struct cost gram_panel_level1(struct cost_reader *r, struct matrix a)
{
	return cost_gram_passes(r, a, gram_pass_level1);
}

static struct cost column_norms(struct cost_reader *r, struct matrix a)
{
	return cost_gram_pass_host(r, GRAM_DOTS, a);
}

/* clang-format off */
#define BOTH_LEVELS \
	.by_work = by_work, .iamax_host = iamax, .laswp = laswp, .lu_columns = lu_columns, .lu_top = lu_top, \
	.lu_rows = lu_rows, .potrf_block = potrf_block, .panel_geqrf = panel_geqrf, \
	.host_getrf = cost_by_host_getrf, .host_geqrf = cost_by_host_geqrf, .host_potrf = cost_by_host_potrf, \
	.host_reflect = cost_host_reflect

const struct cost_model cost_host_level1 = {BOTH_LEVELS, .gram_panel = gram_panel_level1};
const struct cost_model cost_host_level2 = {BOTH_LEVELS, .iamax = iamax, .nrm2 = iamax, .swap = swap, .scal = scal,
	.scale_by = scal, .ger = ger, .zero_pivot = zero_pivot, .column_norms = column_norms,
	.gram_pass = cost_gram_pass_host, .gram_panel = cost_gram_panel_host, .gram_apply = cost_gram_apply_host};
/* clang-format on */
