/* SPDX-License-Identifier: MIT */
#include "predict_breakdown.h"

#include "../../lib/msg.h"
#include "../model/plan_choice.h"
#include "../model/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 64, LARGEST = 8192, LARGEST_QUICK = 512 };
/* Of the host alone: LAPACK's blocks. */
static const int64_t host_width = 64;

struct question {
	const char *operation, *variant;
	int64_t n;
};

static void add_row(struct table *table, const struct question *q, int64_t nb, const char *phase,
        double busy, double owed)
{
	size_t r = table_add_row(table);

	table_set_text(table, r, "operation", q->operation);
	table_set_text(table, r, "variant", q->variant);
	table_set_text(table, r, "precision", "s");
	table_set_int(table, r, "n", q->n);
	table_set_int(table, r, "nb", nb);
	table_set_text(table, r, "phase", phase);
	table_set_real(table, r, "busy_s", busy);
	table_set_real(table, r, "owed_s", owed);
}

static void add_phases(struct table *table, const struct question *q, int64_t nb,
        const struct timeline *timeline, double seconds)
{
	const struct exposure exposure = timeline_expose(timeline);
	double busy[PHASE_COUNT];

	timeline_busy(timeline, busy);
	for (int p = 0; p < PHASE_COUNT; p++)
		if (busy[p] > 0 || exposure.owed[p] > 0)
			add_row(table, q, nb, phase_name[p], busy[p], exposure.owed[p]);
	add_row(table, q, nb, "idle", NAN, exposure.owed[OWED_QUEUEING] + exposure.owed[OWED_IDLE]);
	add_row(table, q, nb, "all", NAN, seconds);
}

static void simulate(struct table *table, const struct profile *profile, const struct question *q,
        enum model_target target, const struct factor_question *asked)
{
	struct executor *e = model_factor_executor(profile, target, asked, 2);

	if (model_factor_run(e, asked)) {
		const double seconds = executor_model_result(e).seconds;
		struct timeline *timeline = executor_model_timeline(e, q->operation);
		if (seconds > 0)
			add_phases(table, q, asked->plan->widths[0], timeline, seconds);
		timeline_free(timeline);
	}
	executor_free(e);
}

static void on_device(struct table *table, const struct profile *profile, struct question q,
        struct factor_question asked, bool hybrid)
{
	struct plan_choice *choice = xmalloc(sizeof *choice);
	struct plan_fixed fixed = plan_free;

	fixed.hybrid = hybrid;
	q.variant = hybrid ? "hybrid" : "gpu";
	if (plan_choose(profile, &asked, &fixed, choice)) {
		asked.plan = &choice->plan;
		simulate(table, profile, &q, MODEL_CUDA, &asked);
	}
	free(choice);
}

static void on_host(struct table *table, const struct profile *profile, struct question q,
        struct factor_question asked)
{
	const int64_t width = q.n < host_width ? q.n : host_width;
	const struct plan plan = {.hybrid = true,
	        .panel = "persistent",
	        .widths = &width,
	        .count = 1,
	        .leaf = width,
	        .lookahead = 0};

	q.variant = "host";
	asked.plan = &plan;
	simulate(table, profile, &q, MODEL_HOST, &asked);
}

struct table *predict_breakdown(const struct profile *profile, bool quick)
{
	static const char *const columns[] = {
	        "operation", "variant", "precision", "n", "nb", "phase", "busy_s", "owed_s"};
	static const char *const operations[] = {"getrf", "geqrf", "potrf"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int64_t n = SMALLEST; n <= (quick ? LARGEST_QUICK : LARGEST); n *= 2) {
			const struct question q = {operations[o], "", n};
			const struct factor_question asked = {
			        operations[o], NULL, n, n, SINGLE, LOWER, MATH_FP32};
			msg_progress("breakdown of %s %" PRId64, operations[o], n);
			for (int hybrid = 0; hybrid < 2; hybrid++)
				on_device(table, profile, q, asked, hybrid);
			on_host(table, profile, q, asked);
		}
	msg_progress_end();
	return table;
}
