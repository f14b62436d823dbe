/* SPDX-License-Identifier: MIT */
#include "predict.h"
#include "factor/validation/predicted.h"

#include "lib/base/msg.h"
#include "factor/validation/cases.h"
#include "factor/model/predictions/model_factor.h"
#include "factor/validation/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLANS = 16, PARTS = 3 + 2 * (MATHS - 1) /* of a shape, at most */ };

bool whole_row_predict(const struct profile *profile, int level, struct result *row)
{
	struct whole_plan *plan = xmalloc(sizeof *plan);
	struct prediction prediction = {.seconds = NAN, .low = NAN, .high = NAN};
	char piece[24] = "0";

	whole_plan_parse(row->plan, whole_panels_on_host(row->variant), row->nb, plan);
	results_option(row->options, "piece", piece, sizeof piece);
	const struct factor_question asked = {.operation = results_factorization(row->operation),
	        .plan = &plan->plan,
	        .m = row->m,
	        .n = row->n,
	        .ld = result_lda(row),
	        .precision = row->precision,
	        .uplo = LOWER,
	        .math = row->math,
	        .from_host = result_has(row, "from"),
	        .piece = strtoll(piece, NULL, 10)};
	bool ok = model_factor_predict(profile, MODEL_CUDA, &asked, level, &prediction);
	predicted_fill(row, &prediction, ok);
	free(plan);
	return ok;
}

/* Plans of one shape that one thread predicts: the plans of one width each, or the model's plan
 * with the panels in one place, also from host memory; or a panel's plan. */
struct part {
	const struct bench_shape *shape;
	const struct draw *draw; /* NULL: a fixed shape */
	enum math math;
	bool model_plan, hybrid;
	struct results *results;
	size_t refused;
};

static bool is_panel(const struct bench_shape *shape)
{
	return results_factorization(shape->operation) != shape->operation;
}

static const double most_hybrid = 3e7; /* elements: larger drawn ones take long */

/* Panels have no plans of their own; only fp32 has panels on the host. Drawn shapes have plans
 * beside the model's in fp32 alone. */
static bool has_part(const struct profile *profile, const struct part *part)
{
	if (part->math != MATH_FP32 && (part->hybrid || !cases_split(part->shape) ||
	                                       !cases_estimated(profile, part->math)))
		return false;
	if (part->draw && part->math != MATH_FP32 && !part->model_plan)
		return false;
	if (part->draw && part->hybrid &&
	        (double)part->shape->m * (double)part->shape->n > most_hybrid)
		return false;
	return is_panel(part->shape) ? !part->model_plan : part->model_plan || !part->hybrid;
}

static size_t list_parts(const struct profile *profile, const struct bench_shape *shapes,
        size_t count, const struct draw *draw, struct part *parts)
{
	size_t listed = 0;

	for (size_t i = 0; i < count; i++)
		for (enum math math = MATH_FP32; math < MATHS; math++)
			for (int way = 0; way < 4; way++) {
				struct part part = {
				        &shapes[i], draw, math, way / 2, way % 2, NULL, 0};
				if (!has_part(profile, &part))
					continue;
				part.results = results_new();
				parts[listed++] = part;
			}
	return listed;
}

/* Plans of one width. Of a drawn shape: some with panels on the device at random, and one of a
 * drawn width. */
static size_t list_others(const struct part *part, struct result *row)
{
	enum { SOME = 2 };
	const struct bench_shape *s = part->shape;
	size_t count = cases_plans(s, "cuda", part->math, row, MOST_PLANS);

	if (!part->draw)
		return count;
	while (count > 0 && strcmp(row[count - 1].variant, "hybrid") == 0)
		count--;
	for (size_t i = 0; i < SOME && i < count; i++) {
		const size_t other = i + (size_t)draw_index(part->draw, s->m, s->n, (int64_t)i,
		                                 (int64_t)(count - i));
		const struct result swap = row[i];
		row[i] = row[other];
		row[other] = swap;
	}
	count = count < SOME ? count : SOME;
	row[count] = cases_width(s, false, draw_width(part->draw, s->m, s->n));
	return count + 1;
}

static size_t list_plans(const struct profile *profile, const struct part *part, struct result *row)
{
	const struct bench_shape *shape = part->shape;
	size_t count = 1;

	if (is_panel(shape))
		row[0] = cases_width(shape, part->hybrid, shape->n);
	else if (!part->model_plan)
		count = list_others(part, row);
	else if (!cases_model_plan(profile, shape, part->hybrid, part->math, &row[0]))
		count = 0;
	else if (cases_transfers(shape) && part->math == MATH_FP32)
		row[count++] = cases_from_host(profile, &row[0]);
	return count;
}

static void predict_part(const struct profile *profile, struct part *part)
{
	struct result row[MOST_PLANS];
	size_t plans = list_plans(profile, part, row);

	for (size_t p = 0; p < plans; p++) {
		if (part->draw)
			draw_mark_row(part->draw, &row[p]);
		part->refused +=
		        predicted_levels(part->results, profile, &row[p], whole_row_predict);
	}
}

/* Parts run in parallel; their rows keep the order of the shapes. */
static size_t predict_shapes(struct results *results, const struct profile *profile,
        const struct bench_shape *shapes, size_t count, const struct draw *draw, const char *what)
{
	struct part *parts = xcalloc(PARTS * count, sizeof *parts);
	size_t listed = list_parts(profile, shapes, count, draw, parts), refused = 0;

	double done = 0, all = 0; /* columns: about as many steps to simulate */

	for (size_t i = 0; i < listed; i++)
		all += (double)parts[i].shape->n;
	msg_progress_step(0, all, INFINITY, "%s of %zu factorizations", what, listed);
#pragma omp parallel for schedule(dynamic)
	for (size_t i = listed; i > 0; i--) { /* the largest first */
		predict_part(profile, &parts[i - 1]);
#pragma omp critical(progress)
		msg_progress_step(done += (double)parts[i - 1].shape->n, all, INFINITY,
		        "%s of %zu factorizations", what, listed);
	}
	for (size_t i = 0; i < listed; i++) {
		results_append(results, parts[i].results);
		refused += parts[i].refused;
		results_free(parts[i].results);
	}
	free(parts);
	return refused;
}

size_t predict_whole(
        struct results *results, const struct profile *profile, bool quick, const struct draw *draw)
{
	struct bench_shape *shapes, *panels;
	size_t count = cases_whole(quick, draw, &shapes), few = cases_panels(quick, draw, &panels);

	size_t refused = predict_shapes(results, profile, shapes, count, draw, "plans") +
	                 predict_shapes(results, profile, panels, few, draw, "panels");
	free(shapes);
	free(panels);
	return refused;
}
