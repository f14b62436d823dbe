/* SPDX-License-Identifier: MIT */
#include "predict_whole.h"

#include "../../lib/msg.h"
#include "cases.h"
#include "../model/model_factor.h"
#include "whole.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLANS = 16 };

/* A row becomes its prediction at one level. */
static bool predict(const struct profile *profile, int level, struct result *row)
{
	struct whole_plan *plan = xmalloc(sizeof *plan);
	struct prediction prediction = {.seconds = NAN, .low = NAN, .high = NAN};
	char text[2] = {(char)('0' + level), 0};

	whole_plan_parse(row->plan, strcmp(row->variant, "hybrid") == 0, row->nb, plan);
	const struct factor_question asked = {
	        row->operation, &plan->plan, row->m, row->n, row->precision, LOWER, row->math};
	bool ok = model_factor_predict(profile, MODEL_CUDA, &asked, level, &prediction);
	row->seconds = (struct estimate){prediction.seconds, prediction.low, prediction.high, 0};
	snprintf(row->regime, sizeof row->regime, "%s",
	        prediction.model.surface ? "surface" : "hardware");
	if (!ok)
		snprintf(row->note, sizeof row->note, "%s", prediction.fault.text);
	if (level < 2)
		results_option_add(row->options, "level", text);
	free(plan);
	return ok;
}

/* Returns whether the prediction proper was refused. */
static bool add_levels(
        struct results *results, const struct profile *profile, const struct result *row)
{
	bool refused = false;

	for (int level = 2; level >= 0; level--) {
		struct result one = *row;
		bool ok = predict(profile, level, &one);
		results_add(results, &one);
		refused = refused || (level == 2 && !ok);
	}
	return refused;
}

/* By 3xTF32; returns how many were refused. */
static size_t add_split(
        struct results *results, const struct profile *profile, const struct bench_shape *shape)
{
	struct result row[MOST_PLANS];
	size_t plans = cases_plans(shape, "cuda", MATH_3XTF32, row, MOST_PLANS - 1), refused = 0;

	plans += cases_chosen(profile, shape, false, MATH_3XTF32, &row[plans]);
	for (size_t p = 0; p < plans; p++)
		refused += add_levels(results, profile, &row[p]);
	return refused;
}

size_t predict_whole(struct results *results, const struct profile *profile, bool quick)
{
	struct bench_shape *shapes;
	size_t count = cases_whole(quick, &shapes), refused = 0;

	for (size_t i = 0; i < count; i++) {
		struct result row[MOST_PLANS];
		size_t plans = cases_plans(&shapes[i], "cuda", MATH_FP32, row, MOST_PLANS);
		msg_progress("%s %c %" PRId64 " x %" PRId64, shapes[i].operation,
		        (char)shapes[i].precision, shapes[i].m, shapes[i].n);
		for (size_t p = 0; p < plans; p++)
			refused += add_levels(results, profile, &row[p]);
		for (int hybrid = 0; hybrid < 2; hybrid++)
			if (cases_chosen(profile, &shapes[i], hybrid, MATH_FP32, &row[0]))
				refused += add_levels(results, profile, &row[0]);
		if (cases_split(&shapes[i]))
			refused += add_split(results, profile, &shapes[i]);
	}
	free(shapes);
	return refused;
}
