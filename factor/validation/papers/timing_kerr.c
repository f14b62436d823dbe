/* SPDX-License-Identifier: MIT */
#include "timing_kerr.h"

#include "factor/validation/check.h"
#include "factor/validation/fixture.h"
#include "kerr_protocol.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

struct kerr_fixture {
	struct timing_fixture fixture; /* problem.a: A, then R; problem.x: Q */
	struct matrix original;
	struct kerr_room room;
};

/* ---- candidates ---- */

static bool prepare(struct candidate *candidate)
{
	const struct kerr_entry *entry = candidate->context;
	const struct timing_problem *p = &candidate->fixture->problem;

	return timing_work(candidate, entry->executor,
	        kerr_work(entry->executor, entry->variant, entry->r, p->a, p->x));
}

static bool run(struct candidate *candidate)
{
	const struct kerr_entry *entry = candidate->context;
	const struct timing_problem *p = &candidate->fixture->problem;
	struct executor *e = entry->executor;

	return kerr_qr(e, entry->variant, entry->r, p->a, p->x, candidate->work, NULL) &&
	       e->ops->sync(e);
}

struct candidate candidate_kerr(struct kerr_entry *entry)
{
	return (struct candidate){.variant = kerr_variant_name[entry->variant],
	        .run = run,
	        .prepare = prepare,
	        .context = entry};
}

/* ---- the fixture ---- */

static bool check(struct timing_fixture *fixture, struct candidate *candidate)
{
	struct kerr_fixture *s = (struct kerr_fixture *)fixture;
	const struct timing_problem *p = &fixture->problem;
	const double unit = (double)p->a.m * check_eps(p->a.precision);
	struct kerr_errors errors;

	if (!kerr_errors(fixture->executor, s->original, p->a, p->x, &s->room, &errors))
		return false;
	candidate->residual = errors.residual / unit;
	candidate->orthogonality = errors.orthogonality / unit;
	return errors.passed ||
	       fault_set(&candidate->fault, "failed: errors %.3g, %.3g and %.3g, limit %.3g",
	               errors.residual, errors.orthogonality, errors.triangularity, errors.limit);
}

static bool restore(struct timing_fixture *fixture)
{
	struct kerr_fixture *s = (struct kerr_fixture *)fixture;
	struct executor *e = fixture->executor;

	return ex_fill(e, WHOLE, NAN, NAN, fixture->problem.x) &&
	       e->ops->duplicate(e, s->original, fixture->problem.a) && e->ops->sync(e);
}

static bool fixture_open(struct kerr_fixture *s, enum precision precision, int64_t m, int64_t n)
{
	struct timing_fixture *fixture = &s->fixture;
	struct executor *e = fixture->executor;
	const int64_t ld = fixture->plan->ld;
	void *host = xmalloc((size_t)(m * n * precision_bytes(precision)));

	kerr_matrix(host, m, n, precision, fixture->plan->seed);
	const bool ok = fixture_matrix(fixture, &s->original, m, n, ld, precision) &&
	                fixture_matrix(fixture, &fixture->problem.a, m, n, ld, precision) &&
	                fixture_matrix(fixture, &fixture->problem.x, m, m, m, precision) &&
	                kerr_room_take(fixture, m, n, &s->room) &&
	                e->ops->upload(e, host, m, s->original);
	free(host);
	return ok;
}

bool timing_kerr(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct kerr_fixture s = {
	        .fixture = {
	                .executor = executor, .plan = plan, .restore = restore, .check = check}};

	executor->queue = QUEUE_MAIN;
	return fixture_time(&s.fixture, fixture_open(&s, precision, m, n), candidate, count, fault);
}
