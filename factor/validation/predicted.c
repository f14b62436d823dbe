/* SPDX-License-Identifier: MIT */
#include "predicted.h"

#include <stdio.h>
#include <stdlib.h>

bool predicted_fill(struct result *row, const struct prediction *made, bool good)
{
	row->seconds = (struct estimate){made->seconds, made->low, made->high, 0};
	snprintf(row->regime, sizeof row->regime, "%s", regime_of_both(made->model.regime, NULL));
	model_simpler_text(&made->model, row->note, sizeof row->note);
	if (!good)
		snprintf(row->note, sizeof row->note, "%s", made->fault.text);
	return good;
}

static const enum level order[] = {LEVEL_FULL, LEVEL_HARDWARE, LEVEL_SUMS, LEVEL_BOUND};

size_t predicted_levels(struct results *results, const struct profile *profile,
        const struct result *row, row_predictor predict)
{
	size_t refused = 0;

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		struct result one = *row;
		const bool hardware = order[i] == LEVEL_HARDWARE;
		if (hardware && !profile->by_hardware)
			continue;
		refused += !predict(hardware ? profile->by_hardware : profile, order[i], &one) &&
		           order[i] == LEVEL_FULL;
		if (order[i] != LEVEL_FULL)
			results_option_add(one.options, "level", results_level_name(order[i]));
		results_add(results, &one);
	}
	return refused;
}

size_t predicted_all(struct results *results, const struct profile *profile, struct result *rows,
        size_t count, row_predictor predict)
{
	size_t refused = 0;

	for (size_t i = 0; i < count; i++)
		refused += predicted_levels(results, profile, &rows[i], predict);
	free(rows);
	return refused;
}
