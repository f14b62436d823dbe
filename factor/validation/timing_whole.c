/* SPDX-License-Identifier: MIT */
#include "timing_whole.h"

#include "lib/base/msg.h"
#include "check_whole.h"
#include "fixture.h"
#include "factor/algorithms/schedule.h"
#include "factor/executors/host/executor_host.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

struct whole_fixture {
	struct timing_fixture fixture;
	const struct whole *whole;
	whole_fill_kind *fill; /* NULL: whole_fill */
	const char *kind;
	struct matrix original;
	struct matrix results; /* pivots, info and tau as one column of words */
};

/* Stages 0 and up belong to the factorization. */
enum { HOST_STAGE = EXECUTOR_STAGES - 1 };

/* ---- ours ---- */

static bool whole_prepare(struct candidate *candidate)
{
	struct whole_entry *entry = candidate->context;
	struct executor *e = entry->executor;
	const struct matrix a = candidate->fixture->problem.a;
	int64_t bytes = whole_work(e, &entry->whole, &entry->plan.plan, a);

	return timing_work(candidate, e, bytes) &&
	       (!entry->whole.from_host ||
	               e->ops->stage(e, HOST_STAGE, a.m, a.n, a.precision, &entry->host));
}

/* The matrix to where it starts. The whole way back is timed. */
static bool to_start(struct candidate *candidate)
{
	struct whole_entry *entry = candidate->context;
	struct executor *e = entry->executor;

	e->queue = QUEUE_OUT;
	return e->ops->to_host(e, candidate->fixture->problem.a, entry->host) && e->ops->sync(e);
}

static bool ours_run(struct candidate *candidate)
{
	struct whole_entry *entry = candidate->context;
	const struct timing_problem *problem = &candidate->fixture->problem;
	struct executor *e = entry->executor;

	return whole_run(e, &entry->whole, &entry->plan.plan, problem->a, candidate->work,
	               problem->pivots, problem->tau, &entry->host) &&
	       e->ops->sync(e);
}

struct candidate candidate_whole(struct whole_entry *entry, const char *variant)
{
	return (struct candidate){.variant = variant,
	        .executor = entry->executor,
	        .run = ours_run,
	        .prepare = whole_prepare,
	        .before = entry->whole.from_host ? to_start : NULL,
	        .uplo = entry->whole.uplo,
	        .context = entry};
}

/* ---- LAPACKE ---- */

static bool lapacke_prepare(struct candidate *candidate)
{
	struct whole_entry *entry = candidate->context;
	const struct matrix a = candidate->fixture->problem.a;
	int64_t k = min_int64(a.m, a.n), w = precision_bytes(a.precision);

	entry->host =
	        (struct matrix){xmalloc((size_t)(a.m * a.n * w)), 0, a.m, a.n, a.m, a.precision};
	entry->tau = (struct matrix){xmalloc((size_t)(k * w)), 0, k, 1, k, a.precision};
	entry->ipiv = xmalloc((size_t)(k + 1) * sizeof *entry->ipiv);
	return true;
}

static bool lapacke_before(struct candidate *candidate)
{
	struct whole_entry *entry = candidate->context;
	const struct matrix a = candidate->fixture->problem.a;
	struct executor *e = entry->executor;

	return e->ops->download(e, a, entry->host.data, a.m);
}

#define LAPACKE(name, ...)                                                                         \
	(a.precision == SINGLE ? LAPACKE_s##name(LAPACK_COL_MAJOR, __VA_ARGS__)                    \
	                       : LAPACKE_d##name(LAPACK_COL_MAJOR, __VA_ARGS__))

static bool lapacke_run(struct candidate *candidate)
{
	struct whole_entry *entry = candidate->context;
	const struct matrix a = entry->host;
	const char triangle = entry->whole.uplo == UPPER ? 'U' : 'L';
	int m = (int)a.m, n = (int)a.n, info;

	host_threads_begin(true);
	if (entry->whole.operation == GETRF)
		info = LAPACKE(getrf, m, n, a.data, m, entry->ipiv);
	else if (entry->whole.operation == GEQRF)
		info = LAPACKE(geqrf, m, n, a.data, m, entry->tau.data);
	else
		info = LAPACKE(potrf, triangle, n, a.data, m);
	host_threads_end();
	entry->ipiv[entry->tau.m] = info;
	return info >= 0 || fault_set(&candidate->fault, "LAPACKE refused argument %d", -info);
}

/* Results to where they are checked. */
static bool lapacke_after(struct candidate *candidate)
{
	struct whole_entry *entry = candidate->context;
	const struct timing_problem *problem = &candidate->fixture->problem;
	struct executor *e = entry->executor;
	int64_t k = entry->tau.m;
	struct matrix words = {problem->pivots.data, 0, k + 1, 1, k + 1, SINGLE};

	return (e->ops->upload(e, entry->host.data, entry->host.m, problem->a) &&
	        e->ops->upload(e, entry->ipiv, k + 1, words) &&
	        (entry->whole.operation != GEQRF ||
	                e->ops->upload(e, entry->tau.data, k, problem->tau)));
}

static void lapacke_close(struct candidate *candidate)
{
	struct whole_entry *entry = candidate->context;

	free(entry->host.data);
	free(entry->tau.data);
	free(entry->ipiv);
}

struct candidate candidate_lapacke(struct whole_entry *entry)
{
	return (struct candidate){.variant = "openblas",
	        .run = lapacke_run,
	        .prepare = lapacke_prepare,
	        .before = lapacke_before,
	        .after = lapacke_after,
	        .close = lapacke_close,
	        .on_host = true,
	        .uplo = entry->whole.uplo,
	        .context = entry};
}

/* ---- the fixture ---- */

static bool restore(struct timing_fixture *fixture)
{
	struct whole_fixture *s = (struct whole_fixture *)fixture;
	struct executor *e = fixture->executor;

	return ex_fill(e, WHOLE, NAN, NAN, s->results) &&
	       e->ops->duplicate(e, s->original, fixture->problem.a) && e->ops->sync(e);
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate)
{
	struct whole_fixture *s = (struct whole_fixture *)fixture;
	const struct timing_problem *p = &fixture->problem;
	struct whole whole = *s->whole;
	struct whole_check check;

	whole.uplo = candidate->uplo;
	if (!check_whole(fixture->executor, &whole, s->original, p->a, p->pivots, p->tau, &check))
		return false;
	candidate->residual = check.residual;
	candidate->orthogonality = check.orthogonality;
	if (!check.passed)
		return fault_set(&candidate->fault,
		        "failed: residual ratio %.3g, orthogonality %.3g, %s", check.residual,
		        check.orthogonality,
		        check.pivots_valid ? "pivots valid" : "pivots or info wrong");
	return !s->fill || (check_error(fixture->executor, &whole, s->original, p->a, p->pivots,
	                           p->tau, s->kind ? FROBENIUS : LARGEST, &candidate->residual));
}

/* Words of the results: k pivots, info, and tau from an even word on. */
static int64_t tau_word(int64_t k)
{
	return (k + 2) / 2 * 2;
}

static bool fixture_open(struct whole_fixture *s, enum precision precision, int64_t m, int64_t n)
{
	struct timing_fixture *fixture = &s->fixture;
	struct timing_problem *problem = &fixture->problem;
	struct executor *e = fixture->executor;
	int64_t k = min_int64(m, n), words = tau_word(k) + k * precision_bytes(precision) / 4;
	int64_t ld = fixture->plan->ld;
	bool ok = fixture_matrix(fixture, &s->original, m, n, ld, precision) &&
	          fixture_matrix(fixture, &problem->a, m, n, ld, precision) &&
	          fixture_matrix(fixture, &s->results, words, 1, words, SINGLE) &&
	          (s->fill ? s->fill(e, s->whole, s->kind, s->original, fixture->plan->seed)
	                   : whole_fill(e, s->whole, s->original, fixture->plan->seed));

	if (!ok)
		return false;
	problem->pivots = (struct pivots){s->results.data, k};
	problem->tau =
	        (struct matrix){integer_at(s->results.data, tau_word(k)), 0, k, 1, k, precision};
	return true;
}

bool timing_whole(struct executor *executor, const struct whole *whole, enum precision precision,
        int64_t m, int64_t n, const struct timing_plan *plan, struct candidate *candidate,
        size_t count, struct fault *fault)
{
	struct whole_fixture s = {
	        .fixture = {.executor = executor, .plan = plan, .restore = restore, .check = check},
	        .whole = whole};

	return fixture_time(&s.fixture, fixture_open(&s, precision, m, n), candidate, count, fault);
}

bool timing_whole_errors(struct executor *executor, const struct whole *whole,
        whole_fill_kind *fill, const char *kind, enum precision precision, int64_t n,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct timing_plan once = *plan;
	struct whole_fixture s = {.fixture = {.executor = executor,
	                                  .plan = &once,
	                                  .restore = restore,
	                                  .check = check},
	        .whole = whole,
	        .fill = fill,
	        .kind = kind};

	once.long_seconds = DBL_MIN; /* any first run is the only one */
	bool ok = fixture_time(
	        &s.fixture, fixture_open(&s, precision, n, n), candidate, count, fault);
	for (size_t i = 0; i < count; i++)
		candidate[i].seconds = (struct estimate){NAN, NAN, NAN, 0};
	return ok;
}
