/* SPDX-License-Identifier: MIT */
#include "predict.h"

#include "lib/base/msg.h"
#include "factor/validation/breakdown.h"

#include <math.h>
#include <stdlib.h>

enum { SMALLEST = 64, LARGEST = 8192, LARGEST_QUICK = 512, SIZES = 8 };

struct run {
	struct factor_question asked;
	enum breakdown_place place;
	struct plan_choice choice;
	struct timeline *timeline; /* NULL: none */
	double seconds;
};

static void simulate(const struct profile *profile, struct run *run)
{
	enum model_target target = run->place == PLACE_HOST ? MODEL_HOST : MODEL_CUDA;
	struct executor *e;

	if (!breakdown_choose(profile, &run->asked, run->place, &run->choice))
		return;
	run->asked.plan = &run->choice.plan;
	e = model_factor_executor(profile, target, &run->asked, 2);
	if (model_factor_run(e, &run->asked)) {
		run->seconds = executor_model_result(e).seconds;
		run->timeline = executor_model_timeline(e, run->asked.operation);
	}
	executor_free(e);
}

struct table *predict_breakdown(const struct profile *profile, bool quick)
{
	static const char *const operations[] = {"getrf", "geqrf", "potrf"};
	struct run *run = xcalloc(ARRAY_LEN(operations) * SIZES * PLACE_COUNT, sizeof *run);
	struct table *table = breakdown_table();
	size_t count = 0;

	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int64_t n = SMALLEST; n <= (quick ? LARGEST_QUICK : LARGEST); n *= 2)
			for (enum breakdown_place place = 0; place < PLACE_COUNT; place++)
				run[count++] = (struct run){.asked = {.operation = operations[o],
				                                    .m = n,
				                                    .n = n,
				                                    .precision = SINGLE,
				                                    .uplo = LOWER,
				                                    .math = MATH_FP32},
				        .place = place};
	msg_progress("breakdown of %zu factorizations", count);
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++)
		simulate(profile, &run[i]);
	for (size_t i = 0; i < count; i++) {
		if (run[i].seconds > 0)
			breakdown_add(table, &run[i].asked, run[i].place, run[i].timeline, NAN,
			        run[i].seconds);
		timeline_free(run[i].timeline);
	}
	msg_progress_end();
	free(run);
	return table;
}
