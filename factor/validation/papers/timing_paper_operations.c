/* SPDX-License-Identifier: MIT */
#include "lib/host/clock.h"
#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "factor/validation/fixture.h"
#include "paper_operations.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

static const double sample_seconds = 2e-3; /* calls of one sample last about this long */
enum { MOST_CALLS = 200, CHECKED = 12 /* elements or columns of a result */ };

struct paper_op_scene {
	struct timing_fixture fixture;
	struct paper_op_data data;
	uint64_t state; /* of random choices */
};

static struct paper_op_scene *fixture_of(struct timing_fixture *fixture)
{
	return (struct paper_op_scene *)fixture;
}

/* ---- candidates, with the number of calls as context ---- */

static bool call_times(struct candidate *candidate, int calls)
{
	struct executor *e = candidate->fixture->executor;
	const struct paper_op_way *way = candidate->way;
	bool good = true;

	for (int i = 0; i < calls && good; i++)
		good = way->call(e, way, &fixture_of(candidate->fixture)->data);
	return good && e->ops->sync(e);
}

/* The first call loads code; the second call's time gives the number of calls of a sample. */
static bool paper_op_prepare(struct candidate *candidate)
{
	if (!call_times(candidate, 1))
		return false;
	const double start = clock_now();
	if (!call_times(candidate, 1))
		return false;
	const double wanted = sample_seconds / (clock_now() - start);
	*(int *)candidate->context = wanted < 1            ? 1
	                             : wanted > MOST_CALLS ? MOST_CALLS
	                                                   : (int)wanted;
	return true;
}

static bool paper_op_run(struct candidate *candidate)
{
	return call_times(candidate, *(int *)candidate->context);
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

/* A unit lower triangle next to the identity, so that repeated solves stay finite, and its inverse.
 */
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
		d->ipiv[i] = i + 1 + (int)fixture_random(&s->state, d->problem.m - i);
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
	const bool transposed = p->part == PAPER_OP_TRANSPOSE;
	const int64_t m = transposed ? p->n : p->m, n = transposed ? p->m : p->n;

	return new_matrix(s, m, n, &s->data.original, 0) &&
	       new_matrix(s, m, n, &s->data.result, 1) && make_operands(s, m, n) &&
	       s->fixture.executor->ops->sync(s->fixture.executor);
}

/* ---- checks ---- */

static bool check(struct timing_fixture *fixture, struct candidate *candidate)
{
	struct paper_op_scene *s = fixture_of(fixture);
	double worst = 0;

	for (int c = 0; c < CHECKED; c++)
		worst = fixture_worse(worst,
		        paper_op_ratio(fixture->executor, candidate->way, &s->data, &s->state));
	return fixture_residual(candidate, worst);
}

bool timing_parts(struct executor *executor, const struct paper_op_problem *problem,
        const struct timing_plan *plan, const struct paper_op_way *const *way,
        struct candidate *candidate, int *calls, size_t count, struct fault *fault)
{
	struct paper_op_scene s = {
	        .fixture = {.executor = executor, .plan = plan, .restore = restore, .check = check},
	        .data = {.problem = *problem},
	        .state = plan->seed};

	for (size_t i = 0; i < count; i++) {
		calls[i] = 1;
		candidate[i] = (struct candidate){.variant = way[i]->variant,
		        .run = paper_op_run,
		        .prepare = paper_op_prepare,
		        .after = paper_op_after,
		        .context = &calls[i],
		        .way = way[i],
		        .skip = way[i]->unchecked};
	}
	executor->queue = QUEUE_MAIN;
	bool good = fixture_time(&s.fixture, fixture_open(&s), candidate, count, fault);
	for (size_t i = 0; i < count; i++)
		timing_per_call(&candidate[i], calls[i]);
	return good;
}
