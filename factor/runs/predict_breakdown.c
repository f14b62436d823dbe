/* SPDX-License-Identifier: MIT */
#include "predict_breakdown.h"

#include "../../lib/msg.h"
#include "breakdown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SMALLEST = 64, LARGEST = 8192, LARGEST_QUICK = 512 };

static void simulate(struct table *table, const struct profile *profile,
        const struct factor_question *asked, enum breakdown_place place)
{
	enum model_target target = place == PLACE_HOST ? MODEL_HOST : MODEL_CUDA;
	struct executor *e = model_factor_executor(profile, target, asked, 2);

	if (model_factor_run(e, asked)) {
		const double seconds = executor_model_result(e).seconds;
		struct timeline *timeline = executor_model_timeline(e, asked->operation);
		if (seconds > 0)
			breakdown_add(table, asked, place, timeline, NAN, seconds);
		timeline_free(timeline);
	}
	executor_free(e);
}

struct table *predict_breakdown(const struct profile *profile, bool quick)
{
	static const char *const operations[] = {"getrf", "geqrf", "potrf"};
	struct plan_choice *choice = xmalloc(sizeof *choice);
	struct table *table = breakdown_table();

	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int64_t n = SMALLEST; n <= (quick ? LARGEST_QUICK : LARGEST); n *= 2) {
			struct factor_question asked = {
			        operations[o], NULL, n, n, SINGLE, LOWER, MATH_FP32};
			msg_progress("breakdown of %s %" PRId64, operations[o], n);
			for (enum breakdown_place place = 0; place < PLACE_COUNT; place++)
				if (breakdown_choose(profile, &asked, place, choice)) {
					asked.plan = &choice->plan;
					simulate(table, profile, &asked, place);
				}
		}
	msg_progress_end();
	free(choice);
	return table;
}
