/* SPDX-License-Identifier: MIT */
#include "lib/host/clock.h"
#include "lib/device/gpu.h"
#include "lib/base/msg.h"
#include "factor/validation/check.h"
#include "paper_operations.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

static const double sample_seconds = 2e-3; /* calls of one sample last about this long */
enum { MOST_CALLS = 200, CHECKED = 12 /* elements or columns of a result */ };

struct paper_op_scene {
	struct timing_fixture fixture;
	struct paper_op_data data;
	uint64_t state; /* of the choice of what is checked */
};

/* Context of a candidate. */
struct paper_op_entry {
	struct executor *executor;
	const struct paper_op_way *way;
	const struct paper_op_data *data;
	int calls;
};

/* ---- candidates ---- */

static bool call_times(struct paper_op_entry *entry, int calls, struct fault *fault)
{
	struct executor *e = entry->executor;
	bool good = true;

	for (int i = 0; i < calls && good; i++)
		good = entry->way->call(e, entry->way, entry->data);
	return timing_lift(e, good && e->ops->sync(e), fault);
}

/* The first call loads code; the second one says how many a sample takes. */
static bool paper_op_prepare(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct paper_op_entry *entry = candidate->context;

	(void)problem;
	if (!call_times(entry, 1, fault))
		return false;
	const double start = clock_now();
	if (!call_times(entry, 1, fault))
		return false;
	const double wanted = sample_seconds / (clock_now() - start);
	entry->calls = wanted < 1 ? 1 : wanted > MOST_CALLS ? MOST_CALLS : (int)wanted;
	return true;
}

static bool paper_op_run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct paper_op_entry *entry = candidate->context;

	(void)problem;
	return call_times(entry, entry->calls, fault);
}

static bool start_over(const struct paper_op_data *data, struct executor *e, struct fault *fault)
{
	return timing_lift(e, e->ops->duplicate(e, data->original, data->result), fault);
}

/* What is checked is one call. */
static bool paper_op_after(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct paper_op_entry *entry = candidate->context;

	(void)problem;
	return start_over(entry->data, entry->executor, fault) && call_times(entry, 1, fault);
}

/* ---- data ---- */

static bool new_matrix(struct paper_op_scene *s, int64_t m, int64_t n, struct matrix *matrix,
        uint64_t seed, struct fault *fault)
{
	struct executor *e = s->fixture.executor;

	*matrix = (struct matrix){NULL, 0, m, n, m, SINGLE};
	if (!timing_lift(e, e->ops->alloc(e, m * n * 4, &matrix->data), fault))
		return false;
	gpu_fill_float(matrix->data, m * n, s->fixture.plan->seed + seed, NULL);
	GPU(cudaStreamSynchronize(NULL));
	return true;
}

/* A unit lower triangle next to the identity, so that repeated solves stay finite, and its inverse.
 */
static bool make_triangle(struct paper_op_scene *s, struct fault *fault)
{
	struct executor *e = s->fixture.executor;
	const int64_t m = s->data.problem.m;
	struct matrix l = matrix_view(s->data.x, 0, 0, m, m);
	struct matrix inverse = matrix_view(s->data.x, 0, m, m, m);
	float *host = xmalloc((size_t)(m * m) * sizeof *host);

	bool good = timing_lift(e, e->ops->download(e, l, host, m), fault);
	for (int64_t i = 0; i < m * m; i++)
		host[i] = i / m > i % m ? 0 : i / m == i % m ? 1 : 1e-3f * host[i];
	good = good && timing_lift(e,
	                       e->ops->upload(e, host, m, l) &&
	                               ex_trtri(e, LOWER, UNIT, l, inverse) && e->ops->sync(e),
	                       fault);
	free(host);
	return good;
}

/* A lower triangle and an upper one side by side, in zeros. */
static bool make_triangles(struct paper_op_scene *s, struct fault *fault)
{
	struct executor *e = s->fixture.executor;
	struct matrix x = s->data.x;
	float *host = xmalloc((size_t)(x.m * x.n) * sizeof *host);

	bool good = timing_lift(e, e->ops->download(e, x, host, x.m), fault);
	for (int64_t j = 0; j < x.m; j++) {
		for (int64_t i = 0; i < j; i++)
			host[i + j * x.m] = 0;
		for (int64_t i = j + 1; i < x.m; i++)
			host[i + (x.m + j) * x.m] = 0;
	}
	good = good && timing_lift(e, e->ops->upload(e, host, x.m, x) && e->ops->sync(e), fault);
	free(host);
	return good;
}

static bool make_pivots(struct paper_op_scene *s, struct fault *fault)
{
	struct executor *e = s->fixture.executor;
	struct paper_op_data *d = &s->data;
	void *data;

	for (int i = 0; i < PAPER_OP_EXCHANGES; i++) {
		s->state = s->state * 6364136223846793005u + 1442695040888963407u;
		d->ipiv[i] = i + 1 + (int)((s->state >> 33) % (uint64_t)(d->problem.m - i));
	}
	if (!timing_lift(e, e->ops->alloc(e, (PAPER_OP_EXCHANGES + 1) * 4, &data), fault))
		return false;
	d->pivots = (struct pivots){data, PAPER_OP_EXCHANGES};
	return timing_lift(e, e->ops->store_pivots(e, d->ipiv, 0, d->pivots), fault);
}

static bool make_work(struct paper_op_scene *s, struct fault *fault)
{
	struct executor *e = s->fixture.executor;
	struct paper_op_data *d = &s->data;

	d->work_bytes = PAPER_OP_SPLITS * d->problem.m * d->problem.n * 4;
	return timing_lift(e, e->ops->alloc(e, d->work_bytes, &d->work), fault);
}

static bool fixture_open(struct paper_op_scene *s, struct fault *fault)
{
	struct paper_op_data *d = &s->data;
	const struct paper_op_problem *p = &d->problem;
	const bool transposed = p->part == PAPER_OP_TRANSPOSE;
	const int64_t m = transposed ? p->n : p->m, n = transposed ? p->m : p->n;
	bool good = new_matrix(s, m, n, &d->original, 0, fault) &&
	            new_matrix(s, m, n, &d->result, 1, fault);

	if (p->part == PAPER_OP_GEMM || p->part == PAPER_OP_SMALL_GEMM || p->part == PAPER_OP_THIN_GEMM)
		good = good && new_matrix(s, m, p->k, &d->x, 2, fault) &&
		       new_matrix(s, p->k, n, &d->y, 3, fault);
	if (p->part == PAPER_OP_SMALL_GEMM)
		good = good && make_work(s, fault);
	if (p->part == PAPER_OP_SYRK)
		good = good && new_matrix(s, m, p->k, &d->x, 2, fault);
	if (p->part == PAPER_OP_TRMM)
		good = good && new_matrix(s, m, 2 * m, &d->x, 2, fault) &&
		       new_matrix(s, m, n, &d->y, 3, fault) && make_triangles(s, fault);
	if (transposed)
		good = good && new_matrix(s, n, m, &d->x, 2, fault);
	if (p->part == PAPER_OP_TRSM)
		good = good && new_matrix(s, m, 2 * m, &d->x, 2, fault) &&
		       new_matrix(s, m, n, &d->y, 0, fault) && make_triangle(s, fault);
	if (p->part == PAPER_OP_LASWP)
		good = good && make_pivots(s, fault);
	return good && timing_lift(s->fixture.executor,
	                       s->fixture.executor->ops->sync(s->fixture.executor), fault);
}

static void fixture_close(struct paper_op_scene *s)
{
	struct paper_op_data *d = &s->data;
	void *device[] = {
	        d->original.data, d->result.data, d->x.data, d->y.data, d->pivots.data, d->work};

	for (size_t i = 0; i < ARRAY_LEN(device); i++)
		if (device[i])
			s->fixture.executor->ops->release(s->fixture.executor, device[i]);
}

static bool restore(struct timing_fixture *fixture, struct fault *fault)
{
	return start_over(&((struct paper_op_scene *)fixture)->data, fixture->executor, fault);
}

/* ---- checks ---- */

static bool check(struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault)
{
	struct paper_op_scene *s = (struct paper_op_scene *)fixture;
	const struct paper_op_way *way = ((struct paper_op_entry *)candidate->context)->way;
	double worst = 0;

	for (int c = 0; c < CHECKED; c++) {
		const double ratio = paper_op_ratio(fixture->executor, way, &s->data, &s->state, fault);
		worst = ratio <= worst ? worst : ratio;
	}
	candidate->residual = worst;
	return worst < CHECK_THRESHOLD || fault_set(fault, "failed: residual ratio %.3g", worst);
}

bool timing_parts(struct executor *executor, const struct paper_op_problem *problem,
        const struct timing_plan *plan, const struct paper_op_way *const *way,
        struct candidate *candidate, int *calls, size_t count, struct fault *fault)
{
	struct paper_op_scene s = {.fixture = {executor, plan, {.x = {0}}, restore, check},
	        .data = {.problem = *problem},
	        .state = plan->seed};
	struct paper_op_entry entry[PAPER_OP_WAYS];

	for (size_t i = 0; i < count; i++) {
		entry[i] = (struct paper_op_entry){executor, way[i], &s.data, 1};
		candidate[i] = (struct candidate){.variant = way[i]->variant,
		        .run = paper_op_run,
		        .prepare = paper_op_prepare,
		        .after = paper_op_after,
		        .context = &entry[i],
		        .skip = way[i]->unchecked};
	}
	executor->queue = QUEUE_MAIN;
	bool good = fixture_open(&s, fault) && timing_turns(&s.fixture, candidate, count, fault);
	for (size_t i = 0; i < count; i++) {
		calls[i] = entry[i].calls;
		timing_per_call(&candidate[i], calls[i]);
	}
	fixture_close(&s);
	return good;
}
