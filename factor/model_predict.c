/* SPDX-License-Identifier: MIT */
/* Predictions: the algorithm on the model executor, once for the value and once for every way in
 * which it may be off. */
#include "executor_model.h"

#include "../lib/msg.h"
#include "panel_getrf.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 128 };

/* What the laws leave out (instruction fetch, the host's jitter, what operations do to each other's
 * caches): the accuracy the model claims, declared before any run and tested by validation, which
 * counts how many measurements the interval covers. */
static const double claimed_accuracy = 0.10;

struct question {
	struct executor *executor;
	const char *variant;
	struct matrix a;
};

static bool run_ger(struct executor *e, struct matrix a)
{
	return ex_ger(e, matrix_view(a, 0, 0, a.m, 1), matrix_view(a, 0, 0, 1, a.n), a);
}

/* Seconds of one run; NaN when it is refused or something is missing. */
static double run(const struct question *q, bool overlap, struct model_result *result)
{
	struct executor *e = q->executor;
	struct pivots pivots = {NULL, q->a.n};

	executor_model_restart(e, overlap);
	bool ok = strcmp(q->variant, "ger") == 0 ? run_ger(e, q->a)
	                                         : panel_getrf(e, q->variant, q->a, NULL, pivots);
	*result = executor_model_result(e);
	return ok ? result->seconds : NAN;
}

/* Squares of the deviations below and above the value. */
struct spread {
	double below, above;
};

static void widen(struct spread *spread, double below, double above)
{
	spread->below += below * below;
	spread->above += above * above;
}

/* The profile's rows of the parameters that a prediction used; the rows' texts stay the profile's.
 */
static struct profile used_rows(const struct profile *profile, const struct model *model)
{
	struct profile part = {.row = xmalloc((profile->count + 1) * sizeof *part.row)};

	for (size_t r = 0; r < profile->count; r++)
		for (size_t u = 0; u < model->used_count; u++)
			if (strcmp(profile->row[r].name, model->used[u]) == 0)
				part.row[part.count++] = profile->row[r];
	return part;
}

/* Every parameter at both ends of its interval, the others at their values. */
static void spread_parameters(const struct question *q, const struct profile *profile,
        const struct price_reader *base, double seconds, struct spread *spread)
{
	struct price_reader *reader = executor_model_reader(q->executor);
	struct model_result ignored;

	for (size_t u = 0; u < base->model.used_count; u++) {
		const char *name = base->model.used[u];
		double below = 0, above = 0;
		for (int side = -1; side <= 1; side += 2) {
			struct profile *shifted = profile_shifted(profile, name, side);
			price_reader_change(reader, shifted, name);
			double off = run(q, false, &ignored) - seconds;
			if (off > above)
				above = off;
			if (-off > below)
				below = -off;
			profile_free(shifted);
			*reader = *base;
		}
		widen(spread, below, above);
	}
}

/* Whether all arguments of a row are even, or odd, powers of two or ends of their range. */
static bool every_other(const struct profile *profile, const struct parameter *row, int odd)
{
	double low, high;

	for (size_t i = 0; i < row->arg_count; i++) {
		double x = row->arg[i];
		profile_range(profile, row->name, row->arg_name[i], &low, &high);
		if (x != low && x != high && lround(log2(fmax(x, 1))) % 2 != odd)
			return false;
	}
	return true;
}

/* How far interpolation between the rows of rate surfaces may be off: with every other row only, in
 * each direction, the time moves by three times that, as the error of a chord grows with the square
 * of its length. */
static double spread_surface(const struct question *q, const struct profile *profile,
        const struct price_reader *base, double seconds)
{
	struct price_reader *reader = executor_model_reader(q->executor);
	struct profile coarse = {.row = xmalloc((profile->count + 1) * sizeof *coarse.row)};
	struct model_result ignored;
	double most = 0;

	for (int odd = 0; odd < 2; odd++) {
		coarse.count = 0;
		for (size_t r = 0; r < profile->count; r++)
			if (strcmp(profile->row[r].regime, "surface") != 0 ||
			        every_other(profile, &profile->row[r], odd))
				coarse.row[coarse.count++] = profile->row[r];
		price_reader_start(reader, &coarse);
		reader->working_set = base->working_set;
		double off = fabs(run(q, false, &ignored) - seconds);
		if (off > most) /* not when too few rows are left to tell */
			most = off;
	}
	*reader = *base;
	free(coarse.row);
	return most / 3;
}

static void spread_structure(const struct question *q, const struct profile *profile,
        const struct price_reader *base, double seconds, struct spread *spread)
{
	struct price_reader *reader = executor_model_reader(q->executor);
	struct model_result ignored;
	double overlap = fabs(run(q, true, &ignored) - seconds) / 2;

	price_reader_start(reader, profile);
	reader->working_set = base->working_set;
	reader->linear = true;
	double linear = fabs(run(q, false, &ignored) - seconds) / 2;
	*reader = *base;
	widen(spread, overlap, overlap);
	widen(spread, linear, linear);
	if (base->model.surface) {
		double between = spread_surface(q, profile, base, seconds);
		widen(spread, between, between);
	}
}

static void find_interval(const struct question *q, struct prediction *out)
{
	struct price_reader *base = xmalloc(sizeof *base);
	struct spread spread = {0, 0};

	*base = *executor_model_reader(q->executor);
	struct profile part = used_rows(base->model.profile, &base->model);
	spread_parameters(q, &part, base, out->seconds, &spread);
	spread_structure(q, &part, base, out->seconds, &spread);
	widen(&spread, claimed_accuracy * out->seconds, claimed_accuracy * out->seconds);
	out->low = fmax(0, out->seconds - sqrt(spread.below));
	out->high = out->seconds + sqrt(spread.above);
	free(part.row);
	free(base);
}

/* Seconds of the compulsory traffic: the panel read and written once. */
static double bound(
        struct price_reader *r, enum model_target target, const struct question *q, enum term *term)
{
	double bytes = price_bytes(q->a);

	*term = TERM_MEMORY;
	if (target == MODEL_HOST)
		return 2 * bytes / price_scalar(r, "host.memory.copy.peak");
	if (strcmp(q->variant, "host") == 0) {
		*term = TERM_TRANSFER;
		return bytes / price_scalar(r, "link.d2h.pinned.beta") +
		       bytes / price_scalar(r, "link.h2d.pinned.beta");
	}
	bool in_l2 = bytes <= price_scalar(r, "gpu.l2.stated");
	return 2 * bytes / price_scalar(r, in_l2 ? "gpu.l2.copy" : "gpu.dram.copy");
}

/* The bound's interval is that of its bandwidths. */
static void predict_bound(
        const struct question *q, enum model_target target, struct prediction *out)
{
	struct price_reader *reader = executor_model_reader(q->executor);
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
			price_reader_start(reader, shifted);
			double off = bound(reader, target, q, &term) - out->seconds;
			if (off > above)
				above = off;
			if (-off > below)
				below = -off;
			profile_free(shifted);
		}
		widen(&spread, below, above);
	}
	out->low = out->seconds - sqrt(spread.below);
	out->high = out->seconds + sqrt(spread.above);
	out->parts = (struct model_result){.seconds = out->seconds, .limiter = term};
	out->parts.term[term] = out->seconds;
}

static bool predict_run(const struct question *q, struct prediction *out)
{
	out->seconds = run(q, false, &out->parts);
	out->model = executor_model_reader(q->executor)->model;
	if (isnan(out->seconds))
		return false;
	find_interval(q, out);
	return true;
}

static bool accepts(const struct question *q)
{
	if (strcmp(q->variant, "ger") != 0)
		return panel_getrf_work(q->executor, q->variant, q->a) >= 0;
	return (q->a.m >= 1 && q->a.n >= 1) ||
	       fault_set(&q->executor->fault,
	               "a rank-1 update of %" PRId64 " x %" PRId64
	               " has nothing to do: m >= 1 and n >= 1 is needed",
	               q->a.m, q->a.n);
}

static bool explain(const struct executor *e, const char *variant, struct prediction *out)
{
	out->seconds = out->low = out->high = out->parts.seconds = NAN;
	if (!out->model.missing) {
		out->fault = e->fault;
		return false;
	}
	return fault_set(&out->fault,
	        "the profile has no %s, which the price of %s needs: run make probe",
	        out->model.missing_name, variant);
}

bool model_predict_without(const struct profile *profile, enum model_target target,
        const char *variant, int64_t m, int64_t n, enum precision precision, int level,
        unsigned skip, struct prediction *out)
{
	int64_t line = LINE_BYTES / precision_bytes(precision);
	struct matrix a = {NULL, 0, m, n, (m + line - 1) / line * line, precision};
	struct question q = {executor_model_new(profile, target, level), variant, a};
	void *no_memory;

	*out = (struct prediction){0};
	q.executor->skip = skip;
	q.executor->ops->alloc(q.executor, m * n * precision_bytes(precision), &no_memory);
	bool ok = accepts(&q);

	if (ok && level == 0)
		predict_bound(&q, target, out);
	else if (ok)
		ok = predict_run(&q, out);
	else
		out->model = executor_model_reader(q.executor)->model;
	if (!ok || isnan(out->seconds))
		ok = explain(q.executor, variant, out);
	executor_free(q.executor);
	return ok;
}

bool model_predict(const struct profile *profile, enum model_target target, const char *variant,
        int64_t m, int64_t n, enum precision precision, int level, struct prediction *out)
{
	return model_predict_without(profile, target, variant, m, n, precision, level, 0, out);
}
