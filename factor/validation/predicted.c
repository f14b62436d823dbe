/* SPDX-License-Identifier: MIT */
#include "predicted.h"

#include <stdio.h>
#include <stdlib.h>

bool predicted_fill(struct result *row, const struct prediction *made, bool good)
{
	row->seconds = (struct estimate){made->seconds, made->low, made->high, 0};
	snprintf(row->regime, sizeof row->regime, "%s",
	        made->model.surface ? "surface" : "hardware");
	model_simpler_text(&made->model, row->note, sizeof row->note);
	if (!good)
		snprintf(row->note, sizeof row->note, "%s", made->fault.text);
	return good;
}

size_t predicted_levels(struct results *results, const struct profile *profile,
        const struct result *row, row_predictor predict)
{
	size_t refused = 0;

	for (int level = 2; level >= 0; level--) {
		struct result one = *row;
		char text[2] = {(char)('0' + level), 0};
		refused += !predict(profile, level, &one) && level == 2;
		if (level < 2)
			results_option_add(one.options, "level", text);
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
