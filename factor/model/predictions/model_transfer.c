/* SPDX-License-Identifier: MIT */
#include "model_transfer.h"

#include "factor/algorithms/host_transfer.h"
#include "factor/model/simulation/executor_model.h"

#include <math.h>

enum { NARROWEST = 32 };

static double there_and_back(
        const struct profile *profile, int64_t n, enum precision precision, int64_t width)
{
	struct executor *e = executor_model_new(profile, MODEL_CUDA, 2);
	const struct matrix a = {NULL, 0, n, n, n, precision};
	const bool ok =
	        matrix_to_device(e, LOWER, width, a, a) && matrix_to_host(e, LOWER, width, a, a);
	const double seconds = ok ? executor_model_seconds(e) : NAN;

	executor_free(e);
	return seconds;
}

int64_t model_triangle_width(const struct profile *profile, int64_t n, enum precision precision)
{
	double least = INFINITY;
	int64_t best = 0;

	for (int64_t width = NARROWEST; width < 2 * n; width *= 2) {
		const double seconds = there_and_back(profile, n, precision, width);
		if (seconds < least) {
			least = seconds;
			best = width;
		}
	}
	return best;
}
