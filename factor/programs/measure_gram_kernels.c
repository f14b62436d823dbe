/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/papers/gram_kernels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool measure_gram_kernel(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct gram_kernel kernel[MEASURE_CANDIDATES] = {0};
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++)
		kernel[i] = gram_kernel_of(&row[i]);
	measure->plan.seed += 1000;
	bool timed =
	        timing_gram_kernels(executor, kernel, &measure->plan, candidate, count, &fault);
	return measure_add_all(measure, row, candidate, count, timed, &fault, out);
}

bool measure_gram_kernels(struct measure *measure, const struct profile *profile, int64_t m,
        int64_t n, bool all, struct results *out)
{
	struct executor *executor = measure_executor(measure, "cuda");
	struct result *listed;
	size_t count = executor ? gram_kernels_documented(m, n, all, &listed) : 0, taken = 0;
	bool any = false;

	while (taken < count && !*measure->plan.stop) {
		struct result row[MEASURE_CANDIDATES];
		size_t some = 0;
		for (; taken < count && some < MEASURE_CANDIDATES; taken++) {
			measure_add_model(profile, &listed[taken], true, gram_kernel_predict, out);
			if (!results_find(out, &listed[taken]))
				row[some++] = listed[taken];
		}
		any = (some && measure_gram_kernel(measure, executor, row, some, out)) || any;
	}
	if (executor)
		free(listed);
	return any;
}
