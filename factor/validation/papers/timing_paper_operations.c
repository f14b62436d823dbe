/* SPDX-License-Identifier: MIT */
#include "lib/host/clock.h"
#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "factor/validation/fixture.h"
#include "paper_operations.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

static const double sample_seconds = 2e-3; /* calls of one sample last about this long */
enum { MOST_CALLS = 200, CHECKED = 12 /* elements or columns of a result */ };

struct paper_op_scene {
	struct timing_fixture fixture;
	struct paper_op_data data;
};

static struct paper_op_scene *fixture_of(struct timing_fixture *fixture)
{
	return (struct paper_op_scene *)fixture;
}

/* ---- candidates ---- */

static bool call_times(struct candidate *candidate, int64_t calls)
{
	struct paper_op_data *d = &fixture_of(candidate->fixture)->data;
	bool good = true;

	d->way = candidate->way;
	for (int64_t i = 0; i < calls && good; i++)
		good = d->way->call(d);
	return good && d->executor->ops->sync(d->executor);
}

/* The first call loads code; the second call's time gives the number of calls of a sample. */
static bool paper_op_prepare(struct candidate *candidate)
{
	if (!call_times(candidate, 1))
		return false;
	const double start = clock_now();
	if (!call_times(candidate, 1))
		return false;
	candidate->calls =
	        (int64_t)fmin(fmax(sample_seconds / (clock_now() - start), 1), MOST_CALLS);
	return true;
}

static bool paper_op_run(struct candidate *candidate)
{
	return call_times(candidate, candidate->calls);
}

static bool restore(struct timing_fixture *fixture)
{
	const struct paper_op_data *data = &fixture_of(fixture)->data;

	return fixture->executor->ops->duplicate(fixture->executor, data->original, data->result);
}

/* The check is of one call. */
static bool paper_op_after(struct candidate *candidate)
{
	return restore(candidate->fixture) && call_times(candidate, 1);
}

/* ---- data ---- */

static bool new_matrix(
        struct paper_op_scene *s, int64_t m, int64_t n, struct matrix *matrix, uint64_t seed)
{
	if (!fixture_matrix(&s->fixture, matrix, m, n, m, SINGLE))
		return false;
	gpu_fill_float(matrix->data, m * n, s->fixture.plan->seed + seed, NULL);
	GPU(cudaStreamSynchronize(NULL));
	return true;
}

/* A unit lower triangle near the identity, so that repeated solves stay finite; its inverse. */
static bool make_triangle(struct paper_op_scene *s)
{
	struct executor *e = s->fixture.executor;
	const int64_t m = s->data.problem.m;
	struct matrix l = matrix_view(s->data.x, 0, 0, m, m);
	struct matrix inverse = matrix_view(s->data.x, 0, m, m, m);
	float *host = xmalloc((size_t)(m * m) * sizeof *host);

	bool good = e->ops->download(e, l, host, m);
	for (int64_t i = 0; i < m * m; i++)
		host[i] = i / m > i % m ? 0 : i / m == i % m ? 1 : 1e-3f * host[i];
	good = good && e->ops->upload(e, host, m, l) && ex_trtri(e, LOWER, UNIT, l, inverse) &&
	       e->ops->sync(e);
	free(host);
	return good;
}

/* A lower triangle and an upper one side by side, with zeros beside them. */
static bool make_triangles(struct paper_op_scene *s)
{
	struct executor *e = s->fixture.executor;
	struct matrix x = s->data.x;
	float *host = xmalloc((size_t)(x.m * x.n) * sizeof *host);

	bool good = e->ops->download(e, x, host, x.m);
	for (int64_t j = 0; j < x.m; j++) {
		for (int64_t i = 0; i < j; i++)
			host[i + j * x.m] = 0;
		for (int64_t i = j + 1; i < x.m; i++)
			host[i + (x.m + j) * x.m] = 0;
	}
	good = good && e->ops->upload(e, host, x.m, x) && e->ops->sync(e);
	free(host);
	return good;
}

static bool make_pivots(struct paper_op_scene *s)
{
	struct executor *e = s->fixture.executor;
	struct paper_op_data *d = &s->data;
	void *data;

	for (int i = 0; i < PAPER_OP_EXCHANGES; i++)
		d->ipiv[i] = i + 1 + (int)fixture_random(&d->state, d->problem.m - i);
	if (!fixture_alloc(&s->fixture, (PAPER_OP_EXCHANGES + 1) * 4, &data))
		return false;
	d->pivots = (struct pivots){data, PAPER_OP_EXCHANGES};
	return e->ops->store_pivots(e, d->ipiv, 0, d->pivots);
}

static bool make_operands(struct paper_op_scene *s, int64_t m, int64_t n)
{
	struct paper_op_data *d = &s->data;
	const int64_t k = d->problem.k;

	switch (d->problem.part) {
	case PAPER_OP_SMALL_GEMM:
		d->work_bytes = PAPER_OP_SPLITS * m * n * 4;
		if (!fixture_alloc(&s->fixture, d->work_bytes, &d->work))
			return false;
		/* fall through */
	case PAPER_OP_GEMM:
	case PAPER_OP_THIN_GEMM:
		return new_matrix(s, m, k, &d->x, 2) && new_matrix(s, k, n, &d->y, 3);
	case PAPER_OP_SYRK:
		return new_matrix(s, m, k, &d->x, 2);
	case PAPER_OP_TRMM:
		return new_matrix(s, m, 2 * m, &d->x, 2) && new_matrix(s, m, n, &d->y, 3) &&
		       make_triangles(s);
	case PAPER_OP_TRANSPOSE:
		return new_matrix(s, n, m, &d->x, 2);
	case PAPER_OP_SCOPY:
		return new_matrix(s, m, n, &d->x, 2);
	case PAPER_OP_TRSM:
		return new_matrix(s, m, 2 * m, &d->x, 2) && new_matrix(s, m, n, &d->y, 0) &&
		       make_triangle(s);
	default:
		return make_pivots(s);
	}
}

static bool fixture_open(struct paper_op_scene *s)
{
	const struct paper_op_problem *p = &s->data.problem;
	const bool transposed = p->part == PAPER_OP_TRANSPOSE || p->part == PAPER_OP_SCOPY;
	const int64_t m = transposed ? p->n : p->m, n = transposed ? p->m : p->n;

	return new_matrix(s, m, n, &s->data.original, 0) &&
	       new_matrix(s, m, n, &s->data.result, 1) && make_operands(s, m, n) &&
	       s->fixture.executor->ops->sync(s->fixture.executor);
}

/* ---- checks, at places chosen at random ---- */

/* A row or column as doubles; the caller frees it. NULL with the executor's fault. */
static double *line_of(struct paper_op_data *d, struct matrix line)
{
	double *to = xmalloc((size_t)(line.m * line.n) * sizeof *to);

	if (fixture_line(d->executor, line, to))
		return to;
	free(to);
	return NULL;
}

static double *row_of(struct paper_op_data *d, struct matrix a, int64_t i)
{
	return line_of(d, matrix_view(a, i, 0, 1, a.n));
}

static double *column_of(struct paper_op_data *d, struct matrix a, int64_t j)
{
	return line_of(d, matrix_view(a, 0, j, a.m, 1));
}

/* Deviations are in units of the rounding of the terms' magnitudes. */
static const double eps = 0x1p-24;

/* Element (i, j) of alpha a b + beta C, where a and b are lines of k elements, which are freed. */
static double sum_ratio(
        struct paper_op_data *d, double *a, double *b, double beta, int64_t i, int64_t j)
{
	double *before = column_of(d, d->original, j), *after = column_of(d, d->result, j);
	double sum = 0, magnitude = 0, ratio = NAN;

	if (a && b && before && after) {
		for (int64_t l = 0; l < d->problem.k; l++) {
			sum += a[l] * b[l];
			magnitude += fabs(a[l] * b[l]);
		}
		const double old = beta * before[i], off = after[i] - (old + PAPER_OP_ALPHA * sum);
		ratio = fabs(off) / eps / (fabs(old) + PAPER_OP_ALPHA * magnitude);
	}
	free(a);
	free(b);
	free(before);
	free(after);
	return ratio;
}

static double gemm_ratio(struct paper_op_data *d)
{
	const bool transposed = paper_op_has(d->way, "trans", "nt");
	const int64_t i = fixture_random(&d->state, d->problem.m);
	const int64_t j = fixture_random(&d->state, d->problem.n);

	return sum_ratio(d, row_of(d, d->x, i),
	        transposed ? row_of(d, d->y, j) : column_of(d, d->y, j), 1, i, j);
}

/* Moved words, not computed: infinite when one differs. Frees both. */
static double same_words(double *got, double *want, int64_t count)
{
	double ratio = got && want ? 0 : NAN;

	for (int64_t i = 0; i < count && ratio == 0; i++)
		ratio = got[i] == want[i] ? 0 : INFINITY;
	free(got);
	free(want);
	return ratio;
}

static double transpose_ratio(struct paper_op_data *d)
{
	const int64_t j = fixture_random(&d->state, d->result.n);

	return same_words(column_of(d, d->result, j), row_of(d, d->x, j), d->result.m);
}

/* Some words in a row. */
static double copy_ratio(struct paper_op_data *d)
{
	const int64_t count = min_int64(d->problem.m, 256);
	const int64_t j = fixture_random(&d->state, d->problem.m - count + 1);

	return same_words(line_of(d, matrix_view(d->result, 0, j, 1, count)),
	        line_of(d, matrix_view(d->x, 0, j, 1, count)), count);
}

static double laswp_ratio(struct paper_op_data *d)
{
	const bool by_row = paper_op_has(d->way, "layout", "row");
	const int64_t i = fixture_random(&d->state, by_row ? d->result.m : d->result.n);
	double *want = by_row ? row_of(d, d->original, i) : column_of(d, d->original, i);
	double *got = by_row ? row_of(d, d->result, i) : column_of(d, d->result, i);

	for (int e = 0; e < PAPER_OP_EXCHANGES && want; e++) {
		const double kept = want[e];
		want[e] = want[d->ipiv[e] - 1];
		want[d->ipiv[e] - 1] = kept;
	}
	return same_words(got, want, by_row ? d->result.n : d->result.m);
}

/* L x against the right-hand side, the largest ratio of a column. */
static double trsm_ratio(struct paper_op_data *d)
{
	const int64_t m = d->problem.m, j = fixture_random(&d->state, d->problem.n);
	float *l = xmalloc((size_t)(m * m) * sizeof *l);
	double *b = column_of(d, d->original, j), *x = column_of(d, d->result, j), worst = NAN;

	if (b && x &&
	        d->executor->ops->download(d->executor, matrix_view(d->x, 0, 0, m, m), l, m)) {
		worst = 0;
		for (int64_t i = 0; i < m; i++) {
			double sum = x[i], magnitude = fabs(x[i]) + fabs(b[i]);
			for (int64_t q = 0; q < i; q++) {
				sum += (double)l[i + q * m] * x[q];
				magnitude += fabs((double)l[i + q * m] * x[q]);
			}
			worst = check_worse(worst, fabs(sum - b[i]) / eps / magnitude);
		}
	}
	free(l);
	free(b);
	free(x);
	return worst;
}

/* An element of the triangle, or one above it, which only the full product may change. */
static double syrk_ratio(struct paper_op_data *d)
{
	const bool full = paper_op_has(d->way, "blocks", "full");
	const int64_t x = fixture_random(&d->state, d->problem.m);
	const int64_t y = fixture_random(&d->state, d->problem.m);
	const int64_t i = full && x < y ? y : x, j = full && x < y ? x : y;

	if (i >= j)
		return sum_ratio(d, row_of(d, d->x, i), row_of(d, d->x, j), 1, i, j);
	return same_words(line_of(d, matrix_view(d->result, i, j, 1, 1)),
	        line_of(d, matrix_view(d->original, i, j, 1, 1)), 1);
}

static double trmm_ratio(struct paper_op_data *d)
{
	const struct matrix triangle = paper_op_triangle(d);
	const bool left = paper_op_has(d->way, "side", "l");
	const int64_t i = fixture_random(&d->state, d->problem.m);
	const int64_t j = fixture_random(&d->state, d->problem.n);

	return sum_ratio(d, row_of(d, left ? triangle : d->y, i),
	        column_of(d, left ? d->y : triangle, j), 0, i, j);
}

/* Error of one element or column of the result, chosen by state, after one call on the original: in
 * units of the rounding of the terms' magnitudes; for moved words 0 or infinite. NaN when the
 * result could not be read. */
static double ratio(struct paper_op_data *d)
{
	switch (d->way->part) {
	case PAPER_OP_GEMM:
	case PAPER_OP_SMALL_GEMM:
	case PAPER_OP_THIN_GEMM:
		return gemm_ratio(d);
	case PAPER_OP_SYRK:
		return syrk_ratio(d);
	case PAPER_OP_TRMM:
		return trmm_ratio(d);
	case PAPER_OP_TRANSPOSE:
		return transpose_ratio(d);
	case PAPER_OP_SCOPY:
		return copy_ratio(d);
	case PAPER_OP_LASWP:
		return laswp_ratio(d);
	default:
		return trsm_ratio(d);
	}
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate)
{
	struct paper_op_data *d = &fixture_of(fixture)->data;
	double worst = 0;

	d->way = candidate->way;
	for (int c = 0; c < CHECKED; c++)
		worst = check_worse(worst, ratio(d));
	return fixture_residual(candidate, worst);
}

bool timing_parts(struct executor *executor, const struct paper_op_problem *problem,
        const struct timing_plan *plan, const struct paper_op_way *const *way,
        struct candidate *candidate, int *calls, size_t count, struct fault *fault)
{
	struct paper_op_scene s = {
	        .fixture = {.executor = executor, .plan = plan, .restore = restore, .check = check},
	        .data = {.executor = executor, .problem = *problem, .state = plan->seed}};

	for (size_t i = 0; i < count; i++)
		candidate[i] = (struct candidate){.variant = way[i]->variant,
		        .run = paper_op_run,
		        .prepare = paper_op_prepare,
		        .after = paper_op_after,
		        .way = way[i],
		        .skip = way[i]->unchecked};
	executor->queue = QUEUE_MAIN;
	bool good = fixture_time(&s.fixture, fixture_open(&s), candidate, count, fault);
	for (size_t i = 0; i < count; i++)
		calls[i] = (int)candidate[i].calls;
	return good;
}
