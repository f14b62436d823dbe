/* SPDX-License-Identifier: MIT */
/* Predictions of panels: the algorithm on the model executor, once for the value, and once for
 * every source of uncertainty. */
#include "model_question.h"

#include "lib/base/msg.h"
#include "factor/algorithms/panel_getrf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 128 };

/* A panel, or a rank-1 update for "ger". */
struct panel {
	const char *variant;
	struct matrix a;
};

static bool run_panel(struct executor *e, const void *context)
{
	const struct panel *p = context;
	struct matrix a = p->a;

	if (strcmp(p->variant, "ger") == 0)
		return ex_ger(e, matrix_view(a, 0, 0, a.m, 1), matrix_view(a, 0, 0, 1, a.n), a);
	return panel_getrf(e, p->variant, a, NULL, (struct pivots){NULL, a.n});
}

static const struct panel *panel_of(const struct question *q)
{
	return q->context;
}

/* Seconds of the compulsory traffic: the panel read and written once. */
static double bound(
        struct cost_reader *r, enum model_target target, const struct question *q, enum term *term)
{
	double bytes = cost_bytes(panel_of(q)->a);

	*term = TERM_MEMORY;
	if (target == MODEL_HOST)
		return 2 * bytes / cost_scalar(r, "host.memory.copy.peak");
	if (strcmp(panel_of(q)->variant, "host") == 0) {
		*term = TERM_TRANSFER;
		return bytes / cost_scalar(r, "link.d2h.pinned.beta") +
		       bytes / cost_scalar(r, "link.h2d.pinned.beta");
	}
	bool in_l2 = bytes <= cost_scalar(r, "gpu.l2.stated");
	return 2 * bytes / cost_scalar(r, in_l2 ? "gpu.l2.copy" : "gpu.dram.copy");
}

/* The bound's interval is that of its bandwidths. */
static void predict_bound(
        const struct question *q, enum model_target target, struct prediction *out)
{
	struct cost_reader *reader = executor_model_reader(q->executor);
	const struct profile *profile = reader->model.profile;
	struct spread spread = {0, 0};
	enum term term;

	out->seconds = bound(reader, target, q, &term);
	out->model = reader->model;
	for (size_t u = 0; u < out->model.used_count; u++) {
		double below = 0, above = 0;
		for (int side = -1; side <= 1; side += 2) {
			struct profile *shifted =
			        profile_shifted(profile, out->model.used[u], side);
			cost_reader_start(reader, shifted);
			double off = bound(reader, target, q, &term) - out->seconds;
			if (off > above)
				above = off;
			if (-off > below)
				below = -off;
			profile_free(shifted);
		}
		spread_widen(&spread, below, above);
	}
	out->low = out->seconds - sqrt(spread.below);
	out->high = out->seconds + sqrt(spread.above);
	out->parts = (struct model_result){.seconds = out->seconds, .limiter = term};
	out->parts.term[term] = out->seconds;
}

static bool predict_run(const struct question *q, bool interval, struct prediction *out)
{
	out->seconds = question_seconds(q, false, &out->parts);
	out->model = executor_model_reader(q->executor)->model;
	out->low = out->high = out->seconds;
	if (isnan(out->seconds))
		return false;
	if (interval)
		question_interval(q, out);
	return true;
}

static bool accepts(const struct question *q)
{
	if (strcmp(panel_of(q)->variant, "ger") != 0)
		return panel_getrf_work(q->executor, panel_of(q)->variant, panel_of(q)->a) >= 0;
	return (panel_of(q)->a.m >= 1 && panel_of(q)->a.n >= 1) ||
	       fault_set(&q->executor->fault,
	               "a rank-1 update of %" PRId64 " x %" PRId64
	               " has nothing to do: m >= 1 and n >= 1 is needed",
	               panel_of(q)->a.m, panel_of(q)->a.n);
}

/* Without `interval` low and high are the value. */
static bool predict(const struct profile *profile, enum model_target target, const char *variant,
        int64_t m, int64_t n, enum precision precision, int level, unsigned skip, bool interval,
        struct prediction *out)
{
	int64_t line = LINE_BYTES / precision_bytes(precision);
	struct matrix a = {NULL, 0, m, n, (m + line - 1) / line * line, precision};
	struct panel panel = {variant, a};
	struct question q = {executor_model_new(profile, target, level), run_panel, &panel};
	void *no_memory;

	*out = (struct prediction){0};
	q.executor->skip = skip;
	q.executor->ops->alloc(q.executor, m * n * precision_bytes(precision), &no_memory);
	bool ok = accepts(&q);

	if (ok && level == 0)
		predict_bound(&q, target, out);
	else if (ok)
		ok = predict_run(&q, interval, out);
	if (!ok || isnan(out->seconds)) {
		char after[64];
		snprintf(after, sizeof after, ", which the cost of %s needs: run make probe",
		        variant);
		ok = prediction_refuse(q.executor, after, out);
	}
	executor_free(q.executor);
	return ok;
}

bool model_predict_without(const struct profile *profile, enum model_target target,
        const char *variant, int64_t m, int64_t n, enum precision precision, int level,
        unsigned skip, struct prediction *out)
{
	return predict(profile, target, variant, m, n, precision, level, skip, true, out);
}

bool model_predict(const struct profile *profile, enum model_target target, const char *variant,
        int64_t m, int64_t n, enum precision precision, int level, struct prediction *out)
{
	return predict(profile, target, variant, m, n, precision, level, 0, true, out);
}

double model_seconds_without(const struct profile *profile, enum model_target target,
        const char *variant, int64_t m, int64_t n, enum precision precision, unsigned skip)
{
	struct prediction out;

	return predict(profile, target, variant, m, n, precision, 2, skip, false, &out)
	               ? out.seconds
	               : NAN;
}
