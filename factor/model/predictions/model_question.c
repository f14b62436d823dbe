/* SPDX-License-Identifier: MIT */
#include "model_question.h"

#include "factor/model/cost/cost_blocks.h"

#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double question_seconds(const struct question *q, bool overlap, struct model_result *result)
{
	struct executor *e = q->executor;

	executor_model_restart(e, overlap);
	bool ok = q->run(e, q->context);
	double seconds = executor_model_seconds(e);
	if (result)
		*result = executor_model_result(e);
	return ok ? seconds : NAN;
}

struct executor *prediction_executor(
        const struct profile *profile, enum model_target target, int level, int64_t bytes)
{
	struct executor *e = executor_model_new(profile, target, level);
	void *no_memory;

	e->ops->alloc(e, bytes, &no_memory);
	return e;
}

void prediction_bound(
        const struct asking *asking, double computed, double moved, struct prediction *out)
{
	const enum term limiter = computed > moved ? TERM_ARITHMETIC : TERM_MEMORY;

	out->seconds = out->low = out->high = fmax(computed, moved);
	out->parts = (struct model_result){.seconds = out->seconds, .limiter = limiter};
	out->parts.term[limiter] = out->seconds;
	out->model = executor_model_reader(asking->question.executor)->model;
}

double prediction_peak(const struct asking *asking, enum precision precision)
{
	struct cost_reader *reader = executor_model_reader(asking->question.executor);

	return asking->question.executor->on_host
	               ? cost_host_peak(reader, precision)
	               : cost_scalar(reader,
	                         precision == SINGLE ? "gpu.gemm.s.peak" : "gpu.gemm.d.peak");
}

static bool refuse(const struct asking *asking, struct prediction *out)
{
	struct executor *executor = asking->question.executor;

	out->seconds = out->low = out->high = out->parts.seconds = NAN;
	out->model = executor_model_reader(executor)->model;
	if (out->model.missing)
		return fault_set(&out->fault, "the profile has no %s%s", out->model.missing_name,
		        asking->after);
	out->fault = executor->fault;
	return false;
}

static bool with_host(const struct model *model)
{
	for (size_t u = 0; u < model->used_count; u++)
		if (strncmp(model->used[u], "host.", strlen("host.")) == 0)
			return true;
	return false;
}

static const struct interval_factor *factor_of(const struct cost_reader *reader)
{
	const struct model *model = &reader->model;

	return &interval_table.of[model->profile->hardware_alone
	                                  ? INTERVAL_ALONE
	                                  : interval_kind_of(model->regime, with_host(model))];
}

bool prediction_make(const struct asking *a, struct prediction *out)
{
	const struct question *q = &a->question;
	bool ok = !a->accepts || a->accepts(q);

	*out = (struct prediction){.low = NAN, .high = NAN};
	if (ok && !(a->level == 0 && a->bound_alone)) {
		out->seconds = question_seconds(q, false, &out->parts);
		out->model = executor_model_reader(q->executor)->model;
		ok = !isnan(out->seconds);
	}
	if (ok && a->level == 0) {
		a->bound(a, out);
		ok = !out->model.missing;
	} else if (ok) {
		if (a->interval && a->level == LEVEL_FULL)
			question_interval(q, 0, out);
		else if (a->interval &&
		         a->level == LEVEL_HARDWARE) /* the rest is small beside it */
			interval_ends(factor_of(executor_model_reader(q->executor)),
			        &(struct spread){0, 0}, out->seconds, &out->low, &out->high);
		out->seconds /= a->calls;
		out->low /= a->calls;
		out->high /= a->calls;
		out->below /= a->calls;
		out->above /= a->calls;
	}
	if (!ok)
		refuse(a, out);
	executor_free(q->executor);
	return ok;
}

void paper_refuse(
        struct executor *executor, double *total, double *phase, int phases, struct fault *fault)
{
	*total = NAN;
	for (int p = 0; p < phases; p++)
		phase[p] = NAN;
	*fault = executor_model_fault(executor);
}

/* Restarts the reader on another profile with the settings of `base`. */
static void start_like(
        struct cost_reader *reader, const struct cost_reader *base, const struct profile *profile)
{
	cost_reader_start(reader, profile);
	reader->hardware = base->hardware;
	reader->sums = base->sums;
	reader->working_set = base->working_set;
	reader->threads = base->threads;
}

/* Seconds with a parameter's rows at one end of their intervals, from the whole profile: the plan
 * may then need other parameters than at the values. */
static double seconds_apart(
        const struct question *q, const struct cost_reader *base, const char *name, int side)
{
	struct cost_reader *reader = executor_model_reader(q->executor);
	const struct profile *whole = base->model.profile;
	struct profile moved = profile_view(whole);

	profile_move_rows(&moved, whole, name, side);
	start_like(reader, base, &moved);
	const double seconds = question_seconds(q, false, NULL);
	cost_reader_copy(reader, base);
	profile_view_free(&moved);
	return seconds;
}

/* Each parameter at both ends of its interval, the others at their values. */
static void spread_parameters(const struct question *q, const struct profile *profile,
        const struct cost_reader *base, double seconds, struct spread *spread)
{
	struct cost_reader *reader = executor_model_reader(q->executor);
	struct profile shifted = profile_view(profile);

	reader->whole = base->whole;
	reader->model.profile = &shifted;
	for (size_t u = 0; u < base->model.used_count; u++) {
		const char *name = base->model.used[u];
		double below = 0, above = 0;
		for (int side = -1; side <= 1; side += 2) {
			if (!profile_move_rows(&shifted, profile, name, side))
				continue;
			cost_reader_change(reader, &shifted, name);
			double there = question_seconds(q, false, NULL);
			if (reader->model.missing)
				there = seconds_apart(q, base, name, side);
			const double off = there - seconds;
			above = fmax(above, off);
			below = fmax(below, -off);
		}
		profile_move_rows(&shifted, profile, name, 0);
		cost_reader_change(reader, &shifted, name);
		spread_widen(spread, below, above);
	}
	reader->model.profile = profile;
	profile_view_free(&shifted);
}

/* All parameters at an end of their intervals at once, each at one drawn for it: the mean square of
 * the change is the sum of the squares of the single changes. */
static void spread_draws(const struct question *q, const struct profile *profile,
        const struct cost_reader *base, double seconds, int draws, struct spread *spread)
{
	struct cost_reader *reader = executor_model_reader(q->executor);
	struct profile shifted = profile_view(profile);
	double squares = 0;
	int drawn = 0;

	reader->whole = base->whole;
	reader->model.profile = &shifted;
	for (int d = 0; d <= draws; d++) { /* the last one takes everything back */
		for (size_t u = 0; u < base->model.used_count; u++) {
			const char *name = base->model.used[u];
			const bool up = cost_hash((uint64_t)d + 1, u + 1) >> 32 & 1;
			profile_move_rows(&shifted, profile, name, d == draws ? 0 : up ? 1 : -1);
			cost_reader_change(reader, &shifted, name);
		}
		const double there = d < draws ? question_seconds(q, false, NULL) : NAN;
		if (isnan(there)) { /* a plan that needs other parameters */
			reader->model.missing = false;
			continue;
		}
		squares += (there - seconds) * (there - seconds);
		drawn++;
	}
	reader->model.profile = profile;
	profile_view_free(&shifted);
	if (drawn)
		spread_widen(spread, sqrt(squares / drawn), sqrt(squares / drawn));
}

/* With all overlaps, and with other interpolation, from the whole profile: the plan may then need
 * other parameters. */
static void spread_structure(const struct question *q, const struct cost_reader *base,
        double seconds, struct spread *spread)
{
	struct cost_reader *reader = executor_model_reader(q->executor);

	start_like(reader, base, base->model.profile);
	const double overlap = fabs(question_seconds(q, true, NULL) - seconds) / 2;
	start_like(reader, base, base->model.profile);
	reader->model.scale = PROFILE_LINEAR;
	double linear = fabs(question_seconds(q, false, NULL) - seconds) / 2;
	if (isnan(linear)) /* between logarithms alone */
		linear = 0;
	cost_reader_copy(reader, base);
	spread_widen(spread, overlap, overlap);
	spread_widen(spread, linear, linear);
}

void question_interval(const struct question *q, int draws, struct prediction *out)
{
	struct cost_reader *base = xmalloc(sizeof *base);
	struct spread spread = {0, 0};

	cost_reader_copy(base, executor_model_reader(q->executor));
	base->whole = base->model.profile; /* a part has no rows that are known, but not read */
	struct profile part = model_rows(&base->model);
	if (draws)
		spread_draws(q, &part, base, out->seconds, draws, &spread);
	else
		spread_parameters(q, &part, base, out->seconds, &spread);
	out->below = sqrt(spread.below);
	out->above = sqrt(spread.above);
	spread_structure(q, base, out->seconds, &spread);
	interval_ends(factor_of(base), &spread, out->seconds, &out->low, &out->high);
	executor_model_reader(q->executor)->whole = NULL;
	profile_view_free(&part);
	free(base);
}
