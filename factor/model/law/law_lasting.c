/* SPDX-License-Identifier: MIT */
#include "law_lasting.h"

#include <math.h>

const char *law_lasting_row(enum precision precision, enum math math)
{
	static const char *const row[] = {[MATH_FP32] = "gpu.lasting.s",
	        [MATH_3XTF32] = "gpu.lasting.tf32",
	        [MATH_3XFP16] = "gpu.lasting.half"};

	return precision == DOUBLE ? "gpu.lasting.d" : row[math];
}

/* The first and the last time of the row; a constant (--set) holds for all. False without a row. */
static bool range_of(const struct profile *profile, const char *row, double *first, double *last)
{
	if (profile_range(profile, row, "seconds", first, last))
		return true;
	*first = 0;
	*last = INFINITY;
	return profile_get(profile, row, NULL, 0).found;
}

bool law_lasting_knows(const struct cost_reader *reader, const char *row, double seconds)
{
	const struct profile *profile = reader->model.profile;
	double first, last;

	return row && !reader->sums && range_of(profile, row, &first, &last) && seconds > first;
}

double law_lasting(struct cost_reader *reader, const char *row, double seconds, double arithmetic)
{
	double first, last;

	range_of(reader->model.profile, row, &first, &last);
	const struct arg at = {"seconds", fmin(seconds, last)};
	return arithmetic * (model_value(&reader->model, row, &at, 1) - 1);
}
