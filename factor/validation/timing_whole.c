/* SPDX-License-Identifier: MIT */
#include "timing_whole.h"

#include "lib/base/msg.h"
#include "check_whole.h"
#include "kind_errors.h"
#include "factor/validation/papers/lawn_errors.h"
#include "factor/algorithms/schedule.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct whole_fixture {
	struct timing_fixture fixture;
	const struct whole *whole;
	bool (*fill)(struct executor *e, const struct whole *whole, struct matrix a, uint64_t seed);
	const char *kind; /* of the matrix instead, unless NULL */
	struct matrix original;
	struct matrix results, poison; /* pivots, info and tau as one column of words */
};

/* Stages 0 and up belong to the factorization. */
enum { HOST_STAGE = EXECUTOR_STAGES - 1 };

/* ---- ours ---- */

static bool whole_prepare(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct whole_entry *entry = candidate->context;
	struct executor *e = entry->executor;
	struct matrix a = problem->a;
	int64_t bytes = whole_work(e, &entry->whole, &entry->plan.plan, a);

	return timing_lift(e,
	        bytes >= 0 && (bytes == 0 || e->ops->alloc(e, bytes, &candidate->work)) &&
	                (!entry->whole.from_host ||
	                        e->ops->stage(e, HOST_STAGE, a.m, a.n, a.precision, &entry->host)),
	        fault);
}

/* The matrix to where it starts; all of the way back is timed. */
static bool to_start(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct whole_entry *entry = candidate->context;
	struct executor *e = entry->executor;

	e->queue = QUEUE_OUT;
	bool ok = e->ops->to_host(e, problem->a, entry->host) && e->ops->sync(e);
	return timing_lift(e, ok, fault);
}

static bool ours_run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct whole_entry *entry = candidate->context;
	struct executor *e = entry->executor;
	bool ok = whole_run(e, &entry->whole, &entry->plan.plan, problem->a, candidate->work,
	        problem->pivots, problem->tau, &entry->host);

	return timing_lift(e, ok && e->ops->sync(e), fault);
}

struct candidate candidate_whole(struct whole_entry *entry, const char *variant)
{
	return (struct candidate){.variant = variant,
	        .run = ours_run,
	        .prepare = whole_prepare,
	        .before = entry->whole.from_host ? to_start : NULL,
	        .uplo = entry->whole.uplo,
	        .context = entry};
}

/* ---- LAPACKE ---- */

static bool lapacke_prepare(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct whole_entry *entry = candidate->context;
	struct matrix a = problem->a;
	int64_t k = min_int64(a.m, a.n), w = precision_bytes(a.precision);

	(void)fault;
	entry->host =
	        (struct matrix){xmalloc((size_t)(a.m * a.n * w)), 0, a.m, a.n, a.m, a.precision};
	entry->tau = (struct matrix){xmalloc((size_t)(k * w)), 0, k, 1, k, a.precision};
	entry->ipiv = xmalloc((size_t)(k + 1) * sizeof *entry->ipiv);
	return true;
}

static bool lapacke_before(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct whole_entry *entry = candidate->context;
	struct executor *e = entry->executor;

	return timing_lift(
	        e, e->ops->download(e, problem->a, entry->host.data, problem->a.m), fault);
}

static int lapacke_single(struct whole_entry *entry, char triangle)
{
	struct matrix a = entry->host;
	int m = (int)a.m, n = (int)a.n;

	switch (entry->whole.operation) {
	case GETRF:
		return LAPACKE_sgetrf(LAPACK_COL_MAJOR, m, n, a.data, m, entry->ipiv);
	case GEQRF:
		return LAPACKE_sgeqrf(LAPACK_COL_MAJOR, m, n, a.data, m, entry->tau.data);
	default:
		return LAPACKE_spotrf(LAPACK_COL_MAJOR, triangle, n, a.data, m);
	}
}

static int lapacke_double(struct whole_entry *entry, char triangle)
{
	struct matrix a = entry->host;
	int m = (int)a.m, n = (int)a.n;

	switch (entry->whole.operation) {
	case GETRF:
		return LAPACKE_dgetrf(LAPACK_COL_MAJOR, m, n, a.data, m, entry->ipiv);
	case GEQRF:
		return LAPACKE_dgeqrf(LAPACK_COL_MAJOR, m, n, a.data, m, entry->tau.data);
	default:
		return LAPACKE_dpotrf(LAPACK_COL_MAJOR, triangle, n, a.data, m);
	}
}

static bool lapacke_run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct whole_entry *entry = candidate->context;
	char triangle = entry->whole.uplo == UPPER ? 'U' : 'L';

	(void)problem;
	entry->ipiv[entry->tau.m] = entry->host.precision == SINGLE
	                                    ? lapacke_single(entry, triangle)
	                                    : lapacke_double(entry, triangle);
	return entry->ipiv[entry->tau.m] >= 0 ||
	       fault_set(fault, "LAPACKE refused argument %d", -entry->ipiv[entry->tau.m]);
}

/* Results to where they are checked. */
static bool lapacke_after(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct whole_entry *entry = candidate->context;
	struct executor *e = entry->executor;
	int64_t k = entry->tau.m;
	struct matrix words = {problem->pivots.data, 0, k + 1, 1, k + 1, SINGLE};
	bool ok = e->ops->upload(e, entry->host.data, entry->host.m, problem->a) &&
	          e->ops->upload(e, entry->ipiv, k + 1, words);

	if (entry->whole.operation == GEQRF)
		ok = ok && e->ops->upload(e, entry->tau.data, k, problem->tau);
	return timing_lift(e, ok, fault);
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
	        .uplo = entry->whole.uplo,
	        .context = entry};
}

/* ---- the fixture ---- */

static bool restore(struct timing_fixture *fixture, struct fault *fault)
{
	struct whole_fixture *s = (struct whole_fixture *)fixture;
	struct executor *e = fixture->executor;
	const struct executor_ops *ops = e->ops;

	return timing_lift(e,
	        ops->duplicate(e, s->poison, s->results) &&
	                ops->duplicate(e, s->original, fixture->problem.a) && ops->sync(e),
	        fault);
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault)
{
	struct whole_fixture *s = (struct whole_fixture *)fixture;
	struct timing_problem *problem = &fixture->problem;
	struct whole whole = *s->whole;
	struct whole_check check;

	whole.uplo = candidate->uplo;
	if (!timing_lift(fixture->executor,
	            check_whole(fixture->executor, &whole, s->original, problem->a, problem->pivots,
	                    problem->tau, &check),
	            fault))
		return false;
	candidate->residual = check.residual;
	candidate->orthogonality = check.orthogonality;
	return check.passed ||
	       fault_set(fault, "failed: residual ratio %.3g, orthogonality %.3g, %s",
	               check.residual, check.orthogonality,
	               check.pivots_valid ? "pivots valid" : "pivots or info wrong");
}

static bool check_errors(
        struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault)
{
	struct whole_fixture *s = (struct whole_fixture *)fixture;
	struct timing_problem *problem = &fixture->problem;
	struct whole whole = *s->whole;

	whole.uplo = candidate->uplo;
	return check(fixture, candidate, fault) &&
	       timing_lift(fixture->executor,
	               check_error(fixture->executor, &whole, s->original, problem->a,
	                       problem->pivots, problem->tau, s->kind ? FROBENIUS : LARGEST,
	                       &candidate->residual),
	               fault);
}

/* Words of the results: k pivots, info, and tau from an even word on. */
static int64_t tau_word(int64_t k)
{
	return (k + 2) / 2 * 2;
}

static bool fixture_open(
        struct whole_fixture *s, enum precision precision, int64_t m, int64_t n, struct fault *fault)
{
	struct executor *e = s->fixture.executor;
	struct timing_problem *problem = &s->fixture.problem;
	int64_t k = min_int64(m, n), words = tau_word(k) + k * precision_bytes(precision) / 4;
	int64_t ld = s->fixture.plan->ld, bytes = ld * n * precision_bytes(precision);
	void *garbage = xmalloc((size_t)words * 4);

	memset(garbage, 0xff, (size_t)words * 4);
	s->original = problem->a = (struct matrix){NULL, 0, m, n, ld, precision};
	s->results = s->poison = (struct matrix){NULL, 0, words, 1, words, SINGLE};
	bool ok = e->ops->alloc(e, bytes, &s->original.data) &&
	          e->ops->alloc(e, bytes, &problem->a.data) &&
	          e->ops->alloc(e, words * 4, &s->results.data) &&
	          e->ops->alloc(e, words * 4, &s->poison.data) &&
	          e->ops->upload(e, garbage, words, s->poison) &&
	          (s->kind ? kind_errors_fill(e, s->kind, s->original, s->fixture.plan->seed)
	                   : s->fill(e, s->whole, s->original, s->fixture.plan->seed));
	free(garbage);
	if (!timing_lift(e, ok, fault))
		return false;
	problem->pivots = (struct pivots){s->results.data, k};
	problem->tau =
	        (struct matrix){integer_at(s->results.data, tau_word(k)), 0, k, 1, k, precision};
	return true;
}

static void fixture_close(struct whole_fixture *s)
{
	struct executor *e = s->fixture.executor;
	void *pieces[] = {
	        s->original.data, s->fixture.problem.a.data, s->results.data, s->poison.data};

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		if (pieces[i])
			e->ops->release(e, pieces[i]);
}

bool timing_whole(struct executor *executor, const struct whole *whole, enum precision precision,
        int64_t m, int64_t n, const struct timing_plan *plan, struct candidate *candidate,
        size_t count, struct fault *fault)
{
	struct whole_fixture s = {.fixture = {executor, plan, {.x = {0}}, restore, check},
	        .whole = whole,
	        .fill = whole_fill};
	bool ok = fixture_open(&s, precision, m, n, fault) &&
	          timing_turns(&s.fixture, candidate, count, fault);

	fixture_close(&s);
	return ok;
}

bool timing_whole_errors(struct executor *executor, const struct whole *whole, const char *kind,
        enum precision precision, int64_t n, const struct timing_plan *plan,
        struct candidate *candidate, size_t count, struct fault *fault)
{
	struct timing_plan once = *plan;
	struct whole_fixture s = {.fixture = {executor, &once, {.x = {0}}, restore, check_errors},
	        .whole = whole,
	        .fill = lawn_fill,
	        .kind = kind};

	once.long_seconds = DBL_MIN; /* any first run is the only one */
	bool ok = fixture_open(&s, precision, n, n, fault) &&
	          timing_turns(&s.fixture, candidate, count, fault);
	for (size_t i = 0; i < count; i++)
		candidate[i].seconds = (struct estimate){NAN, NAN, NAN, 0};
	fixture_close(&s);
	return ok;
}
