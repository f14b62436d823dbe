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

/* Seconds of the compulsory traffic: the panel read and written once. */
static double traffic(const struct question *q, enum term *term)
{
	const struct panel *p = q->context;
	struct cost_reader *r = executor_model_reader(q->executor);
	const double bytes = cost_bytes(p->a);

	*term = TERM_MEMORY;
	if (q->executor->on_host)
		return 2 * bytes / cost_scalar(r, "host.memory.copy.peak");
	if (strcmp(p->variant, "host") == 0) {
		*term = TERM_TRANSFER;
		return bytes / cost_scalar(r, "link.d2h.pinned.beta") +
		       bytes / cost_scalar(r, "link.h2d.pinned.beta");
	}
	bool in_l2 = bytes <= cost_scalar(r, "gpu.l2.stated");
	return 2 * bytes / cost_scalar(r, in_l2 ? "gpu.l2.copy" : "gpu.dram.copy");
}

/* The bound's interval is that of its bandwidths. */
static void bound(const struct asking *asking, struct prediction *out)
{
	const struct question *q = &asking->question;
	struct cost_reader *reader = executor_model_reader(q->executor);
	const struct profile *profile = reader->model.profile;
	struct spread spread = {0, 0};
	enum term term;

	out->seconds = traffic(q, &term);
	out->model = reader->model;
	for (size_t u = 0; u < out->model.used_count; u++) {
		double below = 0, above = 0;
		for (int side = -1; side <= 1; side += 2) {
			struct profile *shifted =
			        profile_shifted(profile, out->model.used[u], side);
			cost_reader_start(reader, shifted);
			const double off = traffic(q, &term) - out->seconds;
			above = fmax(above, off);
			below = fmax(below, -off);
			profile_free(shifted);
		}
		spread_widen(&spread, below, above);
	}
	out->low = out->seconds - sqrt(spread.below);
	out->high = out->seconds + sqrt(spread.above);
	out->parts = (struct model_result){.seconds = out->seconds, .limiter = term};
	out->parts.term[term] = out->seconds;
	reader->model = out->model;
}

static bool accepts(const struct question *q)
{
	const struct panel *p = q->context;

	if (strcmp(p->variant, "ger") != 0)
		return panel_getrf_work(q->executor, p->variant, p->a) >= 0;
	return (p->a.m >= 1 && p->a.n >= 1) ||
	       fault_set(&q->executor->fault,
	               "a rank-1 update of %" PRId64 " x %" PRId64
	               " has nothing to do: m >= 1 and n >= 1 is needed",
	               p->a.m, p->a.n);
}

static struct executor *start(struct panel *panel, const struct profile *profile,
        enum model_target target, const char *variant, int64_t m, int64_t n,
        enum precision precision, int level, unsigned skip)
{
	const int64_t line = LINE_BYTES / precision_bytes(precision);
	struct executor *e =
	        prediction_executor(profile, target, level, m * n * precision_bytes(precision));

	e->skip = skip;
	*panel = (struct panel){variant, {NULL, 0, m, n, (m + line - 1) / line * line, precision}};
	return e;
}

static bool predict(const struct profile *profile, enum model_target target, const char *variant,
        int64_t m, int64_t n, enum precision precision, int level, unsigned skip, bool interval,
        struct prediction *out)
{
	struct panel panel;
	struct executor *e = start(&panel, profile, target, variant, m, n, precision, level, skip);
	char after[64];

	snprintf(after, sizeof after, ", which the cost of %s needs: run fathom probe", variant);
	return prediction_make(&(struct asking){{e, run_panel, &panel}, level, interval, true, 1,
	                               accepts, bound, after},
	        out);
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

	return predict(profile, target, variant, m, n, precision, LEVEL_FULL, skip, false, &out)
	               ? out.seconds
	               : NAN;
}

struct model_panel {
	struct panel panel;
	struct question question;
};

struct model_panel *model_panel_new(const struct profile *profile, enum model_target target,
        const char *variant, int64_t m, int64_t n, enum precision precision, unsigned skip)
{
	struct model_panel *p = xcalloc(1, sizeof *p);

	p->question = (struct question){
	        start(&p->panel, profile, target, variant, m, n, precision, LEVEL_FULL, skip),
	        run_panel, &p->panel};
	return p;
}

double model_panel_seconds(struct model_panel *p)
{
	return accepts(&p->question) ? question_seconds(&p->question, false, NULL) : NAN;
}

struct cost_reader *model_panel_reader(struct model_panel *p)
{
	return executor_model_reader(p->question.executor);
}

void model_panel_free(struct model_panel *p)
{
	if (p)
		executor_free(p->question.executor);
	free(p);
}
